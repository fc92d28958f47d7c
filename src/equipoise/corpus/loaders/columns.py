"""Columns on a PDF's page: text in two columns whose lines are drawn across both, and tables, aligned or ruled.

Not by pdfplumber: it finds tables among pdfminer's characters, a second parser that knows nothing of hidden text.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell, grid_of, told
from equipoise.corpus.loaders.layout import ITEM, LayoutPart
from equipoise.corpus.loaders.lines import PageLine, Piece, line_of_pieces

Rule = tuple[float, float, float, float]
"""Left, bottom, right, top of a straight line or a thin box, in points from the page's lower left corner."""
Bands = list[tuple[float, float]]

_LEAST_SHARED, _PROSE_WORDS = 5, 3.5  # lines across both columns, and words of each half of one
_LEAST_ROWS, _SHARE = 3, 0.6  # rows with two cells: in all, and of all lines of a table
_FILLED = 0.4  # of a table's places
_STEP = 3.2  # sizes from one row to the next
_LEVEL = 0.1  # of the size: between the heights of what stands side by side
_APART = 0.3  # of the size: between columns
_WRAPPED = 0.8  # of the step from row to row: where a row goes on
_MOST_LINES = 400  # that are looked at together: a page has fewer
_AT_ONCE = 64  # rules that others are sought for
_TOUCH = 3.0  # points between rules that meet


def _in_columns(lines: list[PageLine]) -> list[PageLine]:
    """The lines of a page, those in two columns cut at the gutter: the left column before the right one."""
    ordered: list[PageLine] = []
    words = [[(piece.right, len(piece.text.split())) for piece in line.pieces] for line in lines]
    at = 0
    while at < len(lines):
        end, gutter = _shared(lines, words, at)
        if end == at:
            ordered.append(lines[at])
            at += 1
            continue
        for right in (False, True):
            halves = (_half(line, gutter, right=right) for line in lines[at:end])
            ordered += _in_columns([half for half in halves if half])
        at = end
    return ordered


def _shared(
    lines: Sequence[PageLine], words: Sequence[Sequence[tuple[float, int]]], start: int
) -> tuple[int, float]:
    """The row behind the last line from `start` on that stands in two columns of prose, and where the second begins;
    `words` are where the pieces of each line end, and how many they have."""
    first = next((line for line in lines[start : start + 2] if len(line.pieces) > 1), None)
    for piece in first.pieces[1:] if first else ():
        gutter = piece.left
        end = start
        while (
            end < min(len(lines), start + _MOST_LINES)
            and not _crosses(lines[end], gutter)
            and lines[end].page == lines[start].page
        ):
            end += 1
        if end - start < _LEAST_SHARED:
            continue
        both = [
            (left, right)
            for row in words[start:end]
            if (left := sum(many for ends, many in row if ends < gutter))
            and (right := sum(many for ends, many in row if ends >= gutter))
        ]
        least = _PROSE_WORDS * len(both)
        if len(both) >= _LEAST_SHARED and all(sum(column) >= least for column in zip(*both, strict=True)):
            return end, gutter
    return start, 0.0


def _crosses(line: PageLine, gutter: float) -> bool:
    return (
        line.mono
        or bool(line.row)
        or any(piece.left < gutter - line.size / 2 < piece.right for piece in line.pieces)
    )


def _half(line: PageLine, gutter: float, *, right: bool) -> PageLine | None:
    pieces = tuple(piece for piece in line.pieces if (piece.right >= gutter) is right)
    return line_of_pieces(line, pieces) if pieces else None


def arranged(lines: list[PageLine], rules: Sequence[Rule]) -> list[PageLine]:
    """The lines of a page in the order of reading, and those of tables as rows (`Line.row`).

    What stands between rules comes first, then columns of text, then what is aligned.
    """
    for grid in _grids(rules):
        lines = _ruled(lines, grid)
    joined = _level(lines)
    parts = {whole: tuple(part) for whole, part in joined if len(part) > 1}
    read = _with_tables(_in_columns([whole for whole, _ in joined]))
    return [part for line in read for part in (parts.get(line, (line,)))]


def _level(lines: Sequence[PageLine]) -> list[tuple[PageLine, list[PageLine]]]:
    """Lines that pdfium parted although they stand side by side, put together, each with its parts."""
    joined: list[tuple[PageLine, list[PageLine]]] = []
    for line in lines:
        whole, parts = joined[-1] if joined else (line, [])
        level = abs(whole.base - line.base) < _LEVEL * line.size and whole.page == line.page
        if (
            parts
            and level
            and line.left > whole.right
            and not (line.row or whole.row or line.mono or whole.mono)
        ):
            joined[-1] = line_of_pieces(whole, [*whole.pieces, *line.pieces]), [*parts, line]
        else:
            joined.append((line, [line]))
    return joined


def table_parts(lines: Sequence[PageLine]) -> Iterator[LayoutPart]:
    """The rows of tables as blocks: titles, names of columns and what each row says.

    A table goes on at the top of the next page, and so does a row that begins there without a first cell.
    """
    for table in _tables(lines):
        bold = len(table) > 2 and table[0].bold and not table[1].bold
        grid = grid_of([line.row for line in table], int(bold))
        places = [row for row, line in enumerate(table) if any(cell.text for cell in line.row)]
        titles = len(grid.titles)
        for place, title in zip(places, grid.titles, strict=False):
            yield LayoutPart([table[place]], BlockKind.PARAGRAPH, said=title)
        if grid.names:
            names = " | ".join(filter(None, grid.names))
            yield LayoutPart([table[places[titles]]], BlockKind.ASIDE, said=names)
        for row in told(grid.names, grid.rows):
            yield LayoutPart(
                [table[row.place]], BlockKind.ASIDE if row.is_section else BlockKind.ROW, said=row.text
            )


def _tables(lines: Sequence[PageLine]) -> Iterator[list[PageLine]]:
    """The rows of each table."""
    table: list[PageLine] = []
    for line in lines:
        before = table[-1] if table else line
        new_page = before.page != line.page
        if before.table != line.table if not new_page else _width(table) != _width([line]):
            yield table
            table = []
        if new_page and table and not line.row[0].text and len(line.row) == len(before.row):
            pairs = zip(before.row, line.row, strict=True)
            joined = tuple(a._replace(text=f"{a.text} {b.text}".strip()) for a, b in pairs)
            table[-1] = replace(before, row=joined)
        else:
            table.append(line)
    if table:
        yield table


def _width(rows: Sequence[PageLine]) -> int:
    return max(sum(cell.columns for cell in line.row) for line in rows)


def _with_tables(lines: list[PageLine]) -> list[PageLine]:
    """The lines, those that stand in columns as rows."""
    found: list[PageLine] = []
    at, number = 0, len({line.table for line in lines})
    while at < len(lines):
        rows = [] if lines[at].row else _aligned(lines, at)
        if not rows:
            found.append(lines[at])
            at += 1
            continue
        number += 1
        table = lines[at : at + len(rows)]
        bands = rows[-1]
        found += [replace(line, table=number) for line in _rows(table, bands)]
        at += len(rows)
    return found


def _aligned(lines: Sequence[PageLine], start: int) -> list[Bands]:
    """For each line of the table that begins at `start` the columns so far; empty where none begins."""
    first = lines[start]
    if len(first.pieces) < 2 or first.mono:
        return []
    bands: list[Bands] = [[(piece.left, piece.right) for piece in first.pieces]]
    for before, line in pairwise(lines[start : start + _MOST_LINES]):
        step = before.base - line.base
        if line.row or line.mono or line.page != first.page or not 0 < step < _STEP * line.size:
            break
        merged = _merged(bands[-1], line)
        alone = len(line.pieces) == 1 and (
            len(merged) > len(bands[-1]) or line.left < bands[0][0][0] - line.size
        )
        if len(merged) < len(bands[-1]) or alone:
            break
        bands.append(merged)
    while (
        len(bands) > 1
        and len(lines[start + len(bands) - 1].pieces) == 1
        and not _is_wrapped(lines, start, bands)
    ):
        bands.pop()
    return bands if _is_table(lines[start : start + len(bands)], bands[-1]) else []


def _is_wrapped(lines: Sequence[PageLine], start: int, bands: Sequence[Bands]) -> bool:
    """Whether the last line, of one piece, goes on in a column that is not the first."""
    last = lines[start + len(bands) - 1]
    return last.left >= bands[-1][1][0] - last.size


def _merged(bands: Bands, line: PageLine) -> Bands:
    """The columns with what a line has: those that it touches are one."""
    merged: Bands = []
    for left, right in sorted([*bands, *((piece.left, piece.right) for piece in line.pieces)]):
        if merged and left < merged[-1][1] + _APART * line.size:
            merged[-1] = merged[-1][0], max(merged[-1][1], right)
        else:
            merged.append((left, right))
    return merged


def _is_table(lines: Sequence[PageLine], bands: Bands) -> bool:
    """Whether enough lines have several columns, and the first is more than marks of a list or numbers of code."""
    wide = sum(len(line.pieces) > 1 for line in lines)
    texts = [piece.text for line in lines for piece in line.pieces]
    if wide < _LEAST_ROWS or wide < _SHARE * len(lines) or not _are_filled(texts, len(lines) * len(bands)):
        return False
    first = [line.pieces[0].text for line in lines if line.pieces[0].left < bands[1][0] - line.size / 2]
    if len(bands) > 2:
        return True
    counted = all(text.isdecimal() for text in first) and [*map(int, first)] == sorted({*map(int, first)})
    return not counted and not all(ITEM.match(f"{text} ") or len(text) == 1 for text in first)


def _are_filled(texts: Sequence[str], places: int) -> bool:
    """Whether enough of the places of a table have texts that say something: not those of a drawing or of notes."""
    said = sum(len(text) > 1 or text.isdigit() for text in texts)
    return len(texts) >= _FILLED * places and 2 * said >= len(texts)


def _rows(lines: Sequence[PageLine], bands: Bands) -> list[PageLine]:
    """The rows of an aligned table; a line that stands close below another, without a first cell, goes on with it."""
    borders = [left - 1 for left, _ in bands[1:]]
    cells = [_cells(line, borders) for line in lines]
    starts = [line.base for line, row in zip(lines, cells, strict=True) if row[0]]
    usual = median([a - b for a, b in pairwise(starts)] or [0.0])
    rows: list[tuple[PageLine, list[str]]] = []
    for line, row in zip(lines, cells, strict=True):
        step = rows[-1][0].base - line.base if rows else 0.0
        close = step < _WRAPPED * usual or sum(map(bool, row)) == 1
        if rows and not row[0] and close and len(row) > 1:
            joined = [f"{above} {below}".strip() for above, below in zip(rows[-1][1], row, strict=True)]
            rows[-1] = replace(rows[-1][0], base=line.base), joined
        else:
            rows.append((line, row))
    return [
        replace(line, row=tuple(map(Cell, row)), text=" | ".join(filter(None, row))) for line, row in rows
    ]


def _cells(line: PageLine, borders: Sequence[float]) -> list[str]:
    cells = [""] * (len(borders) + 1)
    for piece in line.pieces:
        column = bisect_right(borders, piece.left)
        cells[column] = f"{cells[column]} {piece.text}".strip()
    return cells


class _Grid(NamedTuple):
    """The rules of one table: places of the upright ones from the left, of the level ones from the foot, and for each
    place from where to where rules run along it."""

    xs: list[float]
    ys: list[float]
    upright: list[Bands]
    level: list[Bands]


def _grids(rules: Sequence[Rule]) -> Iterator[_Grid]:
    """Rules that meet, where they part at least two columns and two rows."""
    boxes = np.array(rules, np.float64).reshape(-1, 4)
    xs0, ys0, xs1, ys1 = np.ascontiguousarray(boxes.T)
    left = np.ones(len(rules), bool)
    while left.any():
        queue = [int(left.argmax())]
        left[queue] = False
        group: list[Rule] = []
        while queue:
            asked, queue = queue[:_AT_ONCE], queue[_AT_ONCE:]
            group += [rules[row] for row in asked]
            x0, y0, x1, y1 = boxes[asked].T[..., None]
            near = (xs0 <= x1 + _TOUCH) & (ys0 <= y1 + _TOUCH) & (xs1 >= x0 - _TOUCH) & (ys1 >= y0 - _TOUCH)
            met = np.flatnonzero(near.any(axis=0) & left)
            left[met] = False
            queue += met.tolist()
        upright = [(x0, x1, y0, y1) for x0, y0, x1, y1 in group if y1 - y0 > x1 - x0]
        level = [(y0, y1, x0, x1) for x0, y0, x1, y1 in group if y1 - y0 <= x1 - x0]
        xs, ys = _places([rule[0] for rule in upright]), _places([rule[0] for rule in level])
        if len(xs) > 2 and len(ys) > 2:
            yield _Grid(xs, ys, _along(xs, upright), _along(ys, level))


def _along(places: Sequence[float], rules: Sequence[Rule]) -> list[Bands]:
    """For each place from where to where the rules at it run."""
    return [
        [(a - _TOUCH, b + _TOUCH) for low, high, a, b in rules if low - _TOUCH <= place <= high + _TOUCH]
        for place in places
    ]


def _places(values: Sequence[float]) -> list[float]:
    """The different ones of some values, in order."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _TOUCH:
            places.append(value)
    return places


def _ruled(lines: list[PageLine], grid: _Grid) -> list[PageLine]:
    """The lines, those between the rules of a table as its rows, in place of the first of them."""
    left, right, foot, top = grid.xs[0], grid.xs[-1], grid.ys[0], grid.ys[-1]
    inside = [
        row
        for row, line in enumerate(lines)
        if not line.row
        and left - _TOUCH <= line.left
        and line.right <= right + _TOUCH
        and foot - _TOUCH <= line.base <= top
    ]
    if not inside:
        return lines
    slots: dict[tuple[int, int], list[tuple[float, float, Piece]]] = {}
    for row in inside:
        for piece in lines[row].pieces:
            column = min(max(bisect_right(grid.xs, piece.left + 1) - 1, 0), len(grid.xs) - 2)
            height = min(
                max(bisect_right(grid.ys, piece.base + lines[row].size / 4) - 1, 0), len(grid.ys) - 2
            )
            slots.setdefault((height, column), []).append((-piece.base, piece.left, piece))
    texts = [" ".join(piece.text for _, _, piece in held) for held in slots.values()]
    if not _are_filled(
        texts, sum(any(slot[0] == row for slot in slots) for row in range(len(grid.ys))) * (len(grid.xs) - 1)
    ):
        return lines
    number = len({line.table for line in lines})
    made: list[PageLine] = []
    for height in reversed(range(len(grid.ys) - 1)):
        cells = tuple(_spanning(grid, height, slots))
        text = " | ".join(cell.text for cell in cells if cell.text) or " "
        if text.strip() or made:
            line = replace(lines[inside[0]], base=grid.ys[height], left=left, right=right, bold=False)
            made.append(replace(line, row=cells or (Cell(""),), text=text, table=number))
    kept = set(inside)
    before = [line for row, line in enumerate(lines) if row < inside[0]]
    return [*before, *made, *(line for row, line in enumerate(lines) if row > inside[0] and row not in kept)]


def _spanning(
    grid: _Grid, height: int, slots: dict[tuple[int, int], list[tuple[float, float, Piece]]]
) -> Iterator[Cell]:
    """The cells of one row, with what they span where no rule parts them; those that others cover are left out."""
    middle = (grid.ys[height] + grid.ys[height + 1]) / 2
    column, last = 0, len(grid.xs) - 2
    while column <= last:
        wide = 1
        while column + wide <= last and not _is_ruled(grid.upright[column + wide], middle):
            wide += 1
        center = (grid.xs[column] + grid.xs[column + wide]) / 2
        above = height + 1 < len(grid.ys) - 1 and not _is_ruled(grid.level[height + 1], center)
        if not above:
            deep = 1
            while height - deep >= 0 and not _is_ruled(grid.level[height - deep + 1], center):
                deep += 1
            held = [
                piece
                for h in range(height - deep + 1, height + 1)
                for c in range(column, column + wide)
                for piece in slots.get((h, c), ())
            ]
            yield Cell(
                " ".join(piece.text for _, _, piece in sorted(held, key=lambda entry: entry[:2])), deep, wide
            )
        column += wide


def _is_ruled(bands: Bands, place: float) -> bool:
    """Whether a rule runs through a place."""
    return any(low <= place <= high for low, high in bands)
