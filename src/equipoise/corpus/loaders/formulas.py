"""Formulas of a sheet whose values were not stored: sums, means and arithmetic of its own cells.

A reader of our own for these few, since the library `formulas` brings SciPy and takes seconds to start.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from equipoise.corpus.loaders.loaded import whole

_TOKEN = re.compile(
    r"\s*+(?:(?P<number>\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+)|(?P<name>[A-Z]++)(?=\()|(?P<cell>\$?[A-Z]{1,3}\$?\d{1,7})"
    r"(?::(?P<to>\$?[A-Z]{1,3}\$?\d{1,7}))?+|(?P<sign>[-+*/^%(),;]))"
)
_DEEPEST, _MOST_CELLS = 50, 100_000
_LETTERS = 3  # of a column's name

Place = tuple[int, int]
"""Row and column, from 1."""


class NotKnown(ValueError):
    """A formula is of a kind that is not computed."""


@dataclass(slots=True)
class Formulas:
    """The numbers and formulas of a sheet by place; `left` is how many cells may still be looked at."""

    numbers: Mapping[Place, float]
    formulas: Mapping[Place, str]
    left: int = _MOST_CELLS
    _known: dict[Place, float] = field(default_factory=dict)
    _waiting: set[Place] = field(default_factory=set)

    def value(self, place: Place) -> float | None:
        """The value of a formula, None where it is not computed."""
        try:
            return self._cell(place) or 0.0
        except (NotKnown, ArithmeticError, IndexError):
            return None

    def _cell(self, place: Place) -> float | None:
        """The number in a cell, None for one without a number."""
        self.left -= 1
        if self.left < 0:
            raise NotKnown
        if place not in self.formulas or place in self._known:
            return self._known.get(place, self.numbers.get(place))
        if place in self._waiting or len(self._waiting) > _DEEPEST:
            raise NotKnown
        self._waiting.add(place)
        reading = _Reading(self, self.formulas[place].replace("$", ""))
        self._known[place] = reading.whole()
        self._waiting.discard(place)
        return self._known[place]

    def cells(self, first: str, last: str) -> list[float]:
        """The numbers between two cells."""
        (top, left), (bottom, right) = place_of(first), place_of(last)
        if (bottom - top + 1) * (right - left + 1) > self.left:
            raise NotKnown
        places = ((row, column) for row in range(top, bottom + 1) for column in range(left, right + 1))
        return [number for number in map(self._cell, places) if number is not None]


def place_of(reference: str) -> Place:
    """The row and the column of a reference such as AB12, 0 for what it does not have."""
    letters = reference.rstrip("0123456789")
    column = 0
    for letter in letters[:_LETTERS] if letters.isascii() and letters.isupper() else "":
        column = 26 * column + ord(letter) - ord("A") + 1
    return whole(reference[len(letters) :]), column


class _Reading:
    """One formula, read from left to right."""

    def __init__(self, sheet: Formulas, text: str) -> None:
        self._sheet = sheet
        self._tokens: list[re.Match[str]] = []
        place = 0
        while place < len(text.rstrip()):
            token = _TOKEN.match(text, place)
            if token is None or len(self._tokens) > _DEEPEST * 10:
                raise NotKnown
            self._tokens.append(token)
            place = token.end()
        self._at = 0

    def whole(self) -> float:
        """The value of the formula. Raises NotKnown."""
        value = self._sum()
        if self._at < len(self._tokens):
            raise NotKnown
        return value

    def _takes(self, *signs: str) -> str:
        sign = self._tokens[self._at]["sign"] if self._at < len(self._tokens) else None
        self._at += sign in signs
        return sign if sign is not None and sign in signs else ""

    def _sum(self) -> float:
        value = self._product()
        while sign := self._takes("+", "-"):
            value += self._product() * (1 if sign == "+" else -1)
        return value

    def _product(self) -> float:
        value = self._power()
        while sign := self._takes("*", "/"):
            value = value * self._power() if sign == "*" else value / self._power()
        return value

    def _power(self) -> float:
        sign = -1 if self._takes("-") else 1
        self._takes("+")
        value = sign * self._single()
        while self._takes("^"):
            value = float(value ** self._single())
        while self._takes("%"):
            value /= 100
        return value

    def _single(self) -> float:
        if self._takes("("):
            value = self._sum()
            if not self._takes(")"):
                raise NotKnown
            return value
        token = self._tokens[self._at]
        self._at += 1
        if token["number"]:
            return float(token["number"])
        if token["cell"] and not token["to"]:
            return sum(self._sheet.cells(token["cell"], token["cell"]))
        return self._called(token["name"] or "")

    def _called(self, name: str) -> float:
        if not self._takes("("):
            raise NotKnown
        given: list[float] = []
        while not self._takes(")"):
            token = self._tokens[self._at]
            if token["to"]:
                self._at += 1
                given += self._sheet.cells(token["cell"], token["to"])
            else:
                given.append(self._sum())
            self._takes(",", ";")
        if name == "ROUND" and len(given) == 2:
            step = Decimal(1).scaleb(-int(given[1]))
            return float(Decimal(repr(given[0])).quantize(step, ROUND_HALF_UP))
        if name == "AVERAGE" and given:
            return sum(given) / len(given)
        if name in {"MIN", "MAX"} and given:
            return min(given) if name == "MIN" else max(given)
        if name in {"SUM", "COUNT"}:
            return sum(given) if name == "SUM" else float(len(given))
        if name == "ABS" and len(given) == 1:
            return abs(given[0])
        raise NotKnown
