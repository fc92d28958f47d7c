"""Tables on a PDF's page that are ruled: what stands between the rules is a cell."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.lines import PageLine, Piece

Rule = tuple[float, float, float, float]
"""Left, bottom, right, top of a straight line or a thin box, in points from the page's lower left corner."""
Bands = list[tuple[float, float]]

_FILLED = 0.4  # of a table's places
_AT_ONCE = 64  # rules whose neighbours are looked for in one step
_TOUCH = 3.0  # points between rules that meet


def are_filled(texts: Sequence[str], places: int) -> bool:
    """Whether enough of the places of a table have texts that say something: not those of a drawing or of notes."""
    said = sum(len(text) > 1 or text.isdigit() for text in texts)
    return len(texts) >= _FILLED * places and 2 * said >= len(texts)


class _Grid(NamedTuple):
    """The rules of one table: places of the vertical ones from the left, of the horizontal ones from the foot,
    and for each place the stretches that rules cover there."""

    xs: list[float]
    ys: list[float]
    upright: list[Bands]
    level: list[Bands]


def grids(rules: Sequence[Rule]) -> Iterator[_Grid]:
    """Groups of rules that meet, if they make at least two columns and two rows."""
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
    """For each place the stretches (from, to) that the rules at it cover."""
    return [
        [(a - _TOUCH, b + _TOUCH) for low, high, a, b in rules if low - _TOUCH <= place <= high + _TOUCH]
        for place in places
    ]


def _places(values: Sequence[float]) -> list[float]:
    """The values in order, without those within _TOUCH of the last one kept."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > _TOUCH:
            places.append(value)
    return places


def ruled(lines: list[PageLine], grid: _Grid) -> list[PageLine]:
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
    if not are_filled(
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
