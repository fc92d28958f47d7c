"""Which text of a PDF page a reader sees: letters' size, shape, place, colour and the colour of what is under them.

Walks the objects of a page in the order in which they are painted. A page is white paper; boxes of one colour are
paper of that colour; on a picture, a shade or any other shape the paper is unknown.
"""

import ctypes
import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from numpy.typing import NDArray

from equipoise.corpus.loaders.colors import FAINT, Color, near
from equipoise.corpus.loaders.hidden import WHITE

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points."""
Handle = Any
"""A pointer of pdfium's to a document, page, object or font."""
_Matrix = tuple[float, float, float, float, float, float]

_SMALLEST = 1.5  # points: letters in a figure that was scaled down are smaller than in text
_CELLS = 256  # of the grid that remembers the paper, in each direction
_UNKNOWN = -1
_MOST_RULES, _MOST_SEGMENTS, _THIN = 1_000, 400, 2.5  # strokes of a page, pieces of a path, points
_DEEPEST = 30  # forms in forms
_AS_IT_IS: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_UNSEEN_MODES = frozenset({pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP})
_STROKED_MODES = frozenset({1, 2, 5, 6})
_FILLED_MODES = frozenset({0, 2, 4, 6})
_SOLID = 255
_BOX_POINTS = range(4, 7)  # four corners, the first one perhaps again, and the point where the path begins


class PageTooMuch(ValueError):
    """A page asks for more work than its file is worth."""


@dataclass(slots=True)
class Visibility:
    """The text objects of a page, by address, that are not plainly seen; `left` is how many objects may follow.

    `hidden` ones show nothing, `invisible` ones are of render mode 3 or 7, `cut` ones reach over the page's edge.
    `rules` are the first upright and level strokes.
    """

    page: Box
    left: int
    hidden: set[int] = field(default_factory=set)
    invisible: set[int] = field(default_factory=set)
    cut: set[int] = field(default_factory=set)
    rules: list[Box] = field(default_factory=list)
    _paper: NDArray[np.int32] = field(
        default_factory=lambda: np.full((_CELLS, _CELLS), _number(WHITE), np.int32)
    )

    def walk(self, page: Handle) -> None:
        """Look at every object of a loaded page. Raises PageTooMuch."""
        count = pdfium.FPDFPage_CountObjects(page)
        for row in range(count):
            self._see(pdfium.FPDFPage_GetObject(page, row), _AS_IT_IS, 0)

    def _see(self, item: Handle, around: _Matrix, depth: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise PageTooMuch
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inside = _product(_matrix(item), around)
            for row in range(pdfium.FPDFFormObj_CountObjects(item)):
                self._see(pdfium.FPDFFormObj_GetObject(item, row), inside, depth + 1)
            return
        box = _moved(_bounds(item), around)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            self._see_text(item, box, around)
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            self._see_path(item, box, around)
        else:
            self._paint(box, _UNKNOWN)

    def _see_text(self, item: Handle, box: Box, around: _Matrix) -> None:
        address = ctypes.addressof(item.contents)
        mode = pdfium.FPDFTextObj_GetTextRenderMode(item)
        left, bottom, right, top = self.page
        if mode in _UNSEEN_MODES:
            self.invisible.add(address)
            return
        outside = box[0] > right or box[2] < left or box[1] > top or box[3] < bottom
        if outside or _is_dust(item, around) or self._is_lost(item, mode, box):
            self.hidden.add(address)
        elif box[0] < left or box[2] > right or box[1] < bottom or box[3] > top:
            self.cut.add(address)

    def _is_lost(self, item: Handle, mode: int, box: Box) -> bool:
        """True where letters, and their outlines, have the colour of all that is under them, or none."""
        inks = [_ink(item, stroked=True)] if mode in _STROKED_MODES else []
        inks += [_ink(item, stroked=False)] if mode in _FILLED_MODES or not inks else []
        return all(solidity == 0 or self._is_paper(ink, box) for ink, solidity in inks)

    def _is_paper(self, ink: Color, box: Box) -> bool:
        """True where all that is under a box has nearly this colour."""
        touched, _ = self._cells(box)
        under = self._paper[touched]
        first = int(under.flat[0])
        if first == _UNKNOWN or not near(ink, _color(first)):
            return False
        return all(cell != _UNKNOWN and near(ink, _color(cell)) for cell in np.unique(under).tolist())

    def _see_path(self, item: Handle, box: Box, around: _Matrix) -> None:
        filled, stroked = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(item, filled, stroked)
        if not filled.value and not stroked.value:
            return
        ink, solidity = _ink(item, stroked=not filled.value)
        if solidity == 0:
            return
        if len(self.rules) < _MOST_RULES:
            thin = min(box[2] - box[0], box[3] - box[1]) < _THIN
            self.rules += [box] if thin else _strokes(item, around) if stroked.value else []
        plain = filled.value and not stroked.value and solidity == _SOLID
        self._paint(box, _number(ink) if plain else _UNKNOWN, whole=bool(plain) and _is_box(item))

    def _paint(self, box: Box, color: int, *, whole: bool = False) -> None:
        """Put a colour on the paper: on all of the box if `whole`, else somewhere in it."""
        touched, inner = self._cells(box)
        under = self._paper[touched]
        under[under != color] = _UNKNOWN
        if whole:
            self._paper[inner] = color

    def _cells(self, box: Box) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """The cells that a box touches, at least one, and those that it covers: rows and columns."""
        left, bottom, right, top = self.page
        rows = _steps(box[1], box[3], bottom, top)
        columns = _steps(box[0], box[2], left, right)
        return (rows[0], columns[0]), (rows[1], columns[1])


def _steps(start: float, end: float, lowest: float, highest: float) -> tuple[slice, slice]:
    """The cells that start to end touch, and those that it covers, on one axis of the page."""
    share = _CELLS / max(highest - lowest, 1.0)
    first, last = _clipped((start - lowest) * share), _clipped((end - lowest) * share)
    begin = min(int(first), _CELLS - 1)
    return slice(begin, max(math.ceil(last), begin + 1)), slice(math.ceil(first), int(last))


def _clipped(place: float) -> float:
    return 0.0 if math.isnan(place) else min(max(place, 0.0), float(_CELLS))


def _bounds(item: Handle) -> Box:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


def _matrix(item: Handle) -> _Matrix:
    matrix = pdfium.FS_MATRIX(*_AS_IT_IS)
    pdfium.FPDFPageObj_GetMatrix(item, matrix)
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _product(left: _Matrix, right: _Matrix) -> _Matrix:
    a, b, c, d, e, f = left
    g, h, i, j, k, m = right
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _moved(box: Box, matrix: _Matrix) -> Box:
    if matrix is _AS_IT_IS:
        return box
    a, b, c, d, e, f = matrix
    xs = [a * x + c * y + e for x in (box[0], box[2]) for y in (box[1], box[3])]
    ys = [b * x + d * y + f for x in (box[0], box[2]) for y in (box[1], box[3])]
    return min(xs), min(ys), max(xs), max(ys)


def _is_dust(item: Handle, around: _Matrix) -> bool:
    """Whether letters are too small on the page, or squeezed or slanted to nearly a line."""
    size = ctypes.c_float()
    pdfium.FPDFTextObj_GetFontSize(item, size)
    a, b, c, d, _, _ = _product(_matrix(item), around)
    longer = max(math.hypot(a, b), math.hypot(c, d)) or 1.0
    share = abs(a * d - b * c) / longer  # how far the square of a letter reaches the other way
    return bool(abs(size.value) * share < _SMALLEST or share < FAINT * longer)


def _ink(item: Handle, *, stroked: bool) -> tuple[Color, int]:
    """The colour of an object, and how solid it is (0 to 255)."""
    red, green, blue, solidity = (ctypes.c_uint() for _ in range(4))
    ask = pdfium.FPDFPageObj_GetStrokeColor if stroked else pdfium.FPDFPageObj_GetFillColor
    if not ask(item, red, green, blue, solidity):
        return (0, 0, 0), _SOLID
    return (red.value, green.value, blue.value), solidity.value


def _is_box(item: Handle) -> bool:
    """True for a path that is one upright rectangle."""
    count = pdfium.FPDFPath_CountSegments(item)
    if count not in _BOX_POINTS or _matrix(item)[1:3] != (0.0, 0.0):
        return False
    points = [_point(pdfium.FPDFPath_GetPathSegment(item, row)) for row in range(count)]
    sides = pairwise(points)
    upright = all(a[0] == b[0] or a[1] == b[1] for a, b in sides)
    return (
        upright and len(set(points)) == 4 and len({x for x, _ in points}) == len({y for _, y in points}) == 2
    )


def _strokes(item: Handle, around: _Matrix) -> list[Box]:
    """The upright and level straight pieces of a path, on the page."""
    matrix = _product(_matrix(item), around)
    points: list[tuple[float, float]] = []
    boxes: list[Box] = []
    for row in range(min(pdfium.FPDFPath_CountSegments(item), _MOST_SEGMENTS)):
        segment = pdfium.FPDFPath_GetPathSegment(item, row)
        if pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_MOVETO:
            points = []
        points.append(_point(segment))
        ends = [points[-2:]] if len(points) > 1 else []
        ends += [[points[-1], points[0]]] if pdfium.FPDFPathSegment_GetClose(segment) else []
        boxes += [_moved((a[0], a[1], b[0], b[1]), matrix) for a, b in ends if a[0] == b[0] or a[1] == b[1]]
    return [box for box in boxes if min(box[2] - box[0], box[3] - box[1]) < _THIN]


def _point(segment: Handle) -> tuple[float, float]:
    """Where a straight piece of a path ends; nowhere for a curve."""
    if pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_BEZIERTO:
        return math.nan, math.nan
    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return round(x.value, 2), round(y.value, 2)


def _number(color: Color) -> int:
    return color[0] << 16 | color[1] << 8 | color[2]


def _color(number: int) -> Color:
    return number >> 16, number >> 8 & 255, number & 255
