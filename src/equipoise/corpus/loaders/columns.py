"""Columns on a PDF's page: text in two columns whose lines are drawn across both, and tables, aligned or ruled.

Not by pdfplumber: it finds tables among pdfminer's characters, a second parser that knows nothing of hidden text.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell, grid_of, is_amount, is_number, told
from equipoise.corpus.loaders.layout import ITEM, LayoutPart
from equipoise.corpus.loaders.lines import PageLine, line_of_pieces
from equipoise.corpus.loaders.ruled import Bands, Rule, are_filled, grids, ruled

_LEAST_SHARED, _PROSE_WORDS = 5, 3.5  # least lines across both columns, and mean words of their halves
_LEAST_ROWS, _SHARE = 3, 0.6  # rows with two cells: in all, and of all lines of a table
_STEP = 3.2  # sizes from one row to the next
_LEVEL = 0.1  # of the size: most difference in height between pieces side by side
_APART = 0.3  # of the size: between columns
_WRAPPED = 0.8  # of the usual step from row to row: a line closer than that continues the row
_MOST_NAMES = 4  # rows that name columns
_FAR = 100  # lines between a label and the amounts beside it
_MOST_LINES = 400  # that are looked at together: a page has fewer


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
    """The end of the lines from `start` on that are in two columns of prose (`start` if there are none), and where the
    second column begins; `words` are the right edge and number of words of each line's pieces."""
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
    """The lines of a page in the order of reading, and those of tables as rows (`PageLine.row`).

    Ruled tables are found first, then columns of text, then aligned tables.
    """
    for grid in grids(rules):
        lines = ruled(lines, grid)
    joined = _level(lines)
    parts = {whole: tuple(part) for whole, part in joined if len(part) > 1}
    read = _with_tables(_in_columns([whole for whole, _ in joined]))
    return [part for line in read for part in (parts.get(line, (line,)))]


def _level(lines: Sequence[PageLine]) -> list[tuple[PageLine, list[PageLine]]]:
    """The lines, each with its parts: lines side by side, which pdfium split, are put together."""
    joined: list[tuple[PageLine, list[PageLine]]] = []
    apart = _apart(lines)
    for number, line in enumerate(lines):
        at = len(joined) - 1
        if number in apart:
            at = next(
                (row for row in range(at, max(-1, at - _FAR), -1) if _has_label(joined[row][0], line)), at
            )
        whole, parts = joined[at] if joined else (line, [])
        level = abs(whole.base - line.base) < _LEVEL * line.size and whole.page == line.page
        if (
            parts
            and level
            and line.left > whole.right
            and not (line.row or whole.row or line.mono or whole.mono)
        ):
            joined[at] = line_of_pieces(whole, [*whole.pieces, *line.pieces]), [*parts, line]
        else:
            joined.append((line, [line]))
    return joined


def _apart(lines: Sequence[PageLine]) -> set[int]:
    """The rows of lines with numbers only, in runs, which may have been drawn after the labels beside them."""
    found: set[int] = set()
    run: list[int] = []
    for row, line in enumerate(lines):
        run = [*run, row] if line.pieces and all(is_number(piece.text) for piece in line.pieces) else []
        found.update(run if len(run) >= _LEAST_ROWS else ())
    return found


def _has_label(label: PageLine, line: PageLine) -> bool:
    """Whether `line`, of numbers, is level with `label` and to its right, and `label` does not end with a number."""
    level = abs(label.base - line.base) < _LEVEL * line.size and label.page == line.page
    return level and label.right < line.left and bool(label.pieces) and not is_number(label.pieces[-1].text)


def table_parts(lines: Sequence[PageLine]) -> Iterator[LayoutPart]:
    """The rows of tables as blocks: titles, names of columns and what each row says.

    A table goes on at the top of the next page, and so does a row that begins there without a first cell.
    """
    for table in _tables(lines):
        bold = len(table) > 2 and table[0].bold and not table[1].bold
        grid = grid_of([line.row for line in table], _named_rows(table) or int(bold))
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


def _named_rows(table: Sequence[PageLine]) -> int:
    """How many rows at the top name the columns together: several without amounts, of which one has a first cell, above
    rows that all have amounts; 0 for others."""
    amounts = [any(is_amount(cell.text) for cell in line.row) for line in table]
    deep = amounts.index(True) if True in amounts else 0
    names = table[:deep]
    one_first = sum(bool(line.row[:1] and line.row[0].text) for line in names) == 1
    several = all(sum(bool(cell.text) for cell in line.row) > 1 for line in names)
    return deep if 1 < deep <= _MOST_NAMES and one_first and several and all(amounts[deep:]) else 0


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
        rows_ = _rows(table, bands)
        for row, line in enumerate(rows_):
            number += row > 0 and _names_anew(rows_[0], line, rows_[row + 1 : row + 2])
            found.append(replace(line, table=number))
        at += len(rows)
    return found


def _names_anew(first: PageLine, line: PageLine, below: Sequence[PageLine]) -> bool:
    """Whether a row, with amounts below it, names the columns of another table: it shares some names with the first row
    but is not the same, and has no amount."""
    names, cells = ({cell.text for cell in one.row if cell.text} for one in (first, line))
    amounts = any(is_amount(cell.text) for one in below for cell in one.row)
    return amounts and len(names & cells) > 1 and names != cells and not any(map(is_amount, cells))


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
    """The columns, widened by the pieces of a line; columns that come to touch are joined."""
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
    if wide < _LEAST_ROWS or wide < _SHARE * len(lines) or not are_filled(texts, len(lines) * len(bands)):
        return False
    first = [line.pieces[0].text for line in lines if line.pieces[0].left < bands[1][0] - line.size / 2]
    if len(bands) > 2:
        return True
    counted = all(text.isdecimal() for text in first) and [*map(int, first)] == sorted({*map(int, first)})
    return not counted and not all(ITEM.match(f"{text} ") or len(text) == 1 for text in first)


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
        if rows and close and len(row) > 1 and _wraps(rows[-1][1], row):
            joined = [f"{above} {below}".strip() for above, below in zip(rows[-1][1], row, strict=True)]
            rows[-1] = replace(rows[-1][0], base=line.base), joined
        else:
            rows.append((line, row))
    return [
        replace(line, row=tuple(map(Cell, row)), text=" | ".join(filter(None, row))) for line, row in rows
    ]


def _wraps(above: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a line continues the cells above it: it has no first cell and no number below a number, and does not both
    continue cells and fill empty ones, as another record may."""
    pairs = [(first, second) for first, second in zip(above, row, strict=True) if second]
    mixed = len({bool(first) for first, _ in pairs}) > 1
    return (
        not row[0]
        and not mixed
        and not any(is_number(first) and is_number(second) for first, second in pairs)
    )


def _cells(line: PageLine, borders: Sequence[float]) -> list[str]:
    cells = [""] * (len(borders) + 1)
    for piece in line.pieces:
        column = bisect_right(borders, piece.left)
        cells[column] = f"{cells[column]} {piece.text}".strip()
    return cells
