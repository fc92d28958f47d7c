"""The numbers that Word shows before headings and items, which stand in no paragraph (ECMA-376, part 1, 17.9)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_ROMAN = {
    1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v", 4: "iv",
    1: "i",
}  # fmt: skip
_MOST_ROMAN = 5_000
_MOST_LETTERS = 260  # then a word of ten letters
_LONGEST = 40  # characters of a label


class _Level(NamedTuple):
    """How a level is numbered."""

    kind: str = "bullet"
    text: str = ""
    start: int = 1


@dataclass(slots=True)
class Numbering:
    """The lists of a document, and how far each is counted."""

    _lists: dict[str, dict[int, _Level]] = field(default_factory=dict)
    _numbered: dict[str, str] = field(default_factory=dict)  # by number of a list, that of its levels
    _begun: dict[tuple[str, int], int] = field(default_factory=dict)  # where a list begins again
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def read(self, root: Element) -> None:
        """Take the lists of numbering.xml."""
        for node in root.iterfind("abstractNum"):
            levels = {_small(each.get("ilvl", "")): _level(each) for each in node.iterfind("lvl")}
            self._lists[node.get("abstractNumId", "")] = levels
        for node in root.iterfind("num"):
            name = node.get("numId", "")
            self._numbered[name] = next((each.get("val", "") for each in node.iterfind("abstractNumId")), "")
            for each in node.iterfind("lvlOverride"):
                for start in each.iterfind("startOverride"):
                    self._begun[name, _small(each.get("ilvl", ""))] = _small(start.get("val", ""))

    def label(self, name: str, depth: str) -> str:
        """What stands before the next paragraph of a list at a depth; empty for a bullet or an unknown list."""
        holder, level = self._numbered.get(name, ""), _small(depth)
        levels = self._lists.get(holder, {})
        if level not in levels:
            return ""
        counts = self._counts.setdefault(holder, {})
        again = self._begun.pop((name, level), -1)
        counts[level] = again if again >= 0 else counts.get(level, levels[level].start - 1) + 1
        for other in range(_LEVELS):
            if other > level:
                counts.pop(other, None)
            elif other < level and other in levels:
                counts.setdefault(other, levels[other].start)
        return _label(levels, counts, level)


def _label(levels: dict[int, _Level], counts: dict[int, int], level: int) -> str:
    if levels[level].kind in {"bullet", "none"}:
        return ""

    def number(place: re.Match[str]) -> str:
        row = int(place[1]) - 1
        write = _KINDS.get(levels[row].kind, str) if row in levels else str
        return write(counts[row]) if row in counts else ""

    return _PLACE.sub(number, levels[level].text[:_LONGEST]).strip()


def _level(node: Element) -> _Level:
    said = {each.tag: each.get("val", "") for each in node}
    return _Level(said.get("numFmt", "decimal"), said.get("lvlText", ""), _small(said.get("start", "1")))


def _small(text: str) -> int:
    """A number of at most six digits, else 0."""
    return int(text) if text.isdecimal() and len(text) < 7 else 0


def _letters(number: int) -> str:
    if not 0 < number <= _MOST_LETTERS:
        return str(number)
    times, letter = divmod(number - 1, 26)
    return chr(ord("a") + letter) * (times + 1)


def _roman(number: int) -> str:
    if not 0 < number < _MOST_ROMAN:
        return str(number)
    text = ""
    for value, sign in _ROMAN.items():
        times, number = divmod(number, value)
        text += sign * times
    return text


_KINDS: dict[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "decimalZero": lambda number: f"{number:02}",
}
