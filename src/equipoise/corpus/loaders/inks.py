"""Which text of a PDF page a reader sees: letters' size, place, colour and the colour of what is under them.

Hears the operators of a page before pypdf acts on them (ISO 32000-2, annex A) and empties the strings of those
that show nothing. Only paper on which nothing was painted is known to be white.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from equipoise.corpus.loaders.colors import Color, near
from equipoise.corpus.loaders.hidden import BLACK, WHITE, Look

Matrix = list[float]
Box = tuple[float, float, float, float]

_SHOWING = {b"Tj": 0, b"'": 0, b'"': 2, b"TJ": 0}  # which operand holds the text
_FILLING = frozenset({b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"})
_DRAWING = frozenset({b"S", b"s"})
_POINTS = {b"m": 1, b"l": 1, b"c": 3, b"v": 2, b"y": 2}
_UNSEEN_MODES = frozenset({3, 7})
_PIXELS = 4 / 3  # a PDF unit is a point
_MOST_BOXES = 200


class TooMuch(ValueError):
    """A page asks for more work than its file is worth."""


@dataclass(frozen=True, slots=True)
class _State:
    ink: Color | str = BLACK
    mode: int = 0
    size: float = 12.0


@dataclass(slots=True)
class Inks:
    """Follows one page. `hidden` and `invisible` count characters, `operations` may be 0 left at the least."""

    page: Box
    operations: int
    hidden: int = 0
    invisible: int = 0
    _state: _State = field(default_factory=_State)
    _saved: list[_State] = field(default_factory=list)
    _path: list[tuple[float, float]] = field(default_factory=list)
    _painted: list[Box] = field(default_factory=list)
    _everywhere: bool = False
    _forms: int = 0

    def before(self, operator: bytes, operands: list[Any], around: Matrix, text: Matrix) -> None:
        """One operator with its operands, the page's matrix and that of its text. Raises TooMuch."""
        self.operations -= 1 + sum(len(one) for one in operands if isinstance(one, list))
        if self.operations < 0:
            raise TooMuch
        if operator in _SHOWING:
            self._show(operator, operands, _product(text, around))
        elif operator == b"q":
            self._saved.append(self._state)
        elif operator == b"Q":
            self._state = self._saved.pop() if self._saved else self._state
        elif operator in {b"Tr", b"Tf", b"g", b"rg", b"k", b"sc", b"scn", b"cs"}:
            self._state = _changed(self._state, operator, operands)
        elif operator == b"Do":
            self._forms += 1
            self._paint([_moved(around, x, y) for x in (0.0, 1.0) for y in (0.0, 1.0)])
        elif operator in {b"sh", b"INLINE IMAGE"}:
            self._everywhere = True
        else:
            self._draw(operator, operands, around)

    def after(self, operator: bytes, _operands: list[Any], _around: Matrix, _text: Matrix) -> None:
        """The end of an operator; those of a form stand between the two of its `Do`."""
        if operator == b"Do":
            self._forms -= 1

    def _draw(self, operator: bytes, operands: list[Any], around: Matrix) -> None:
        numbers = _numbers(operands)
        if operator == b"re" and len(numbers) == 4:
            x, y, width, height = numbers
            self._path += [_moved(around, x, y), _moved(around, x + width, y + height)]
        elif operator in _POINTS and len(numbers) == 2 * _POINTS[operator]:
            self._path += [_moved(around, *numbers[place : place + 2]) for place in range(0, len(numbers), 2)]
        elif operator in _DRAWING or operator in _FILLING:
            ink = self._state.ink
            if operator in _DRAWING or not (isinstance(ink, tuple) and near(ink, WHITE)):
                self._paint(self._path)
            self._path = []
        elif operator == b"n":
            self._path = []

    def _paint(self, corners: list[tuple[float, float]]) -> None:
        if len(self._painted) >= _MOST_BOXES or self._forms > 1:
            self._everywhere = True
        elif corners:
            xs, ys = zip(*corners, strict=True)
            self._painted.append((min(xs), min(ys), max(xs), max(ys)))

    def _show(self, operator: bytes, operands: list[Any], matrix: Matrix) -> None:
        place = _SHOWING[operator]
        if len(operands) <= place:
            return
        shown = operands[place]
        strings = (
            [one for one in shown if isinstance(one, str | bytes)] if isinstance(shown, list) else [shown]
        )
        length = sum(len(one) for one in strings if isinstance(one, str | bytes))
        if self._state.mode in _UNSEEN_MODES:
            self.invisible += length
        elif not self._look(length, matrix).shows:
            self.hidden += length
            operands[place] = type(shown)()

    def _look(self, length: int, matrix: Matrix) -> Look:
        """The look of this text where it stands."""
        size = abs(self._state.size) * (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5
        x, y = matrix[4], matrix[5]
        left, bottom, right, top = self.page
        level = abs(matrix[1]) < abs(matrix[0]) / 100
        outside = (
            not self._forms
            and level
            and (x > right or y > top or y < bottom - size or x + length * size < left)
        )
        near_white = isinstance(self._state.ink, tuple) and near(self._state.ink, WHITE)
        covered = near_white and (
            self._everywhere
            or self._forms > 0
            or any(a <= x <= c and b <= y <= d for a, b, c, d in self._painted)
        )
        return Look(gone=outside, size=size * _PIXELS, ink=self._state.ink, paper="" if covered else WHITE)


def _changed(state: _State, operator: bytes, operands: list[Any]) -> _State:
    numbers = _numbers(operands)
    if operator == b"Tr":
        return replace(state, mode=int(numbers[0]) if numbers else 0)
    if operator == b"Tf":
        return replace(state, size=numbers[-1]) if numbers else state
    if operator == b"cs":
        return replace(state, ink="")
    return replace(state, ink=_ink(numbers, device=operator in {b"g", b"rg", b"k"}, count=len(operands)))


def _ink(numbers: list[float], *, device: bool, count: int) -> Color | str:
    """A colour by its number of components; of other colour spaces only white and black by all being 1 or 0."""
    if len(numbers) != count:
        return ""  # a pattern
    shares = [min(1.0, max(0.0, number)) for number in numbers]
    if len(shares) == 4 and device:
        cyan, magenta, yellow, black = shares
        return _color((1 - cyan) * (1 - black), (1 - magenta) * (1 - black), (1 - yellow) * (1 - black))
    if len(shares) == 3:
        return _color(*shares)
    return _color(shares[0], shares[0], shares[0]) if len(shares) == 1 and device else ""


def _color(red: float, green: float, blue: float) -> Color:
    return round(255 * red), round(255 * green), round(255 * blue)


def _numbers(operands: list[Any]) -> list[float]:
    return [float(one) for one in operands if isinstance(one, int | float)]


def _product(one: Matrix, other: Matrix) -> Matrix:
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return [a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m]


def _moved(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    return matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5]
