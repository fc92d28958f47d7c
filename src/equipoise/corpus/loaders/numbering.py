"""Automatic numbers of headings and list items, which their text does not contain: of Word (ECMA-376, part 1, 17.9),
OpenDocument and HTML."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborNode

from equipoise.corpus.loaders.hidden import Style
from equipoise.corpus.loaders.loaded import LOWEST, whole

OUTLINE = " outline"
_LEVELS = 10
_PLACE = re.compile(r"%([1-9])")
_ROMAN = {
    1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v", 4: "iv",
    1: "i",
}  # fmt: skip
_COUNTERS = {
    "none": "", "disc": "", "circle": "", "square": "", "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A",
    "upper-latin": "A", "lower-roman": "i", "upper-roman": "I", "decimal-leading-zero": "01", "decimal": "1",
}.items()  # fmt: skip
_MOST_ROMAN = 5_000
_LETTERED = frozenset({"lowerLetter", "upperLetter", "a", "A"})
_ROMANS = frozenset({"lowerRoman", "upperRoman", "i", "I"})
_UPPER = frozenset({"upperLetter", "upperRoman", "A", "I"})
_MOST_LETTERS = 260  # ten times the alphabet: "zzzzzzzzzz"
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
    _numbered: dict[str, str] = field(default_factory=dict)  # by id of a list, the id of its levels
    _begun: dict[tuple[str, int], int] = field(default_factory=dict)  # the number a list restarts with
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def read(self, root: Element) -> None:
        """Take the lists of numbering.xml."""
        for node in root.iterfind("abstractNum"):
            levels = {whole(each.get("ilvl")): _level(each) for each in node.iterfind("lvl")}
            self._lists[node.get("abstractNumId", "")] = levels
        for node in root.iterfind("num"):
            name = node.get("numId", "")
            self._numbered[name] = next((each.get("val", "") for each in node.iterfind("abstractNumId")), "")
            for each in node.iterfind("lvlOverride"):
                for start in each.iterfind("startOverride"):
                    self._begun[name, whole(each.get("ilvl"))] = whole(start.get("val"))

    def read_odf(self, root: Element) -> None:
        """Take the lists of a part of an OpenDocument file, and how its headings are numbered, which is list `OUTLINE`
        (part 3, 16.30 and 16.34)."""
        for node in root.iter():
            if node.tag in {"list-style", "outline-style"}:
                name = OUTLINE if node.tag == "outline-style" else node.get("name", "")
                self._lists[name] = {whole(each.get("level")) - 1: _odf_level(each) for each in node}
                self._numbered[name] = name

    def begin(self, name: str, depth: int = -1, start: str = "") -> None:
        """Begin a list anew; with a `depth`, only note with which number it goes on there, if `start` says one."""
        if depth < 0:
            self._counts.pop(name, None)
        elif start:
            self._begun[name, depth] = whole(start)

    def label(self, name: str, depth: str) -> str:
        """What stands before the next paragraph of a list at a depth; empty for a bullet or an unknown list."""
        holder, level = self._numbered.get(name, ""), whole(depth)
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
        return numeral(levels[row].kind if row in levels else "", counts[row]) if row in counts else ""

    return _PLACE.sub(number, levels[level].text[:_LONGEST]).strip()


def _level(node: Element) -> _Level:
    said = {each.tag: each.get("val", "") for each in node}
    return _Level(said.get("numFmt", "decimal"), said.get("lvlText", ""), whole(said.get("start"), 1))


def _odf_level(node: Element) -> _Level:
    level, kind = min(whole(node.get("level")), _LEVELS), node.get("num-format", "")
    shown = range(max(1, level - whole(node.get("display-levels"), 1) + 1), level + 1)
    text = ".".join(f"%{each}" for each in shown)
    text = f"{node.get('num-prefix', '')}{text}{node.get('num-suffix', '')}"
    return _Level(kind or "none", text, whole(node.get("start-value"), 1))


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


def numeral(kind: str, number: int) -> str:
    """A number as a list of this kind writes it, by Word's name or that of HTML and OpenDocument; in digits for an
    unknown one.

    >>> numeral("lowerLetter", 28), numeral("I", 4), numeral("decimal", 3)
    ('bb', 'IV', '3')
    """
    if kind in {"decimalZero", "01"}:
        return f"{number:02}"
    write = _letters if kind in _LETTERED else _roman if kind in _ROMANS else str
    return write(number).upper() if kind in _UPPER else write(number)


def html_list(node: LexborNode, style: Style) -> tuple[str, int, int]:
    """The kind of numbers of an <ol> with this `style`, the first one, and the step to the next (HTML, 4.4.5)."""
    said = node.attributes
    named = style.get("list-style-type") or style.get("list-style") or ""
    kind = next((kind for name, kind in _COUNTERS if name in named), said.get("type") or "1")
    if "reversed" not in said:
        return kind, whole(said.get("start"), 1, LOWEST), 1
    return kind, whole(said.get("start"), sum(child.tag == "li" for child in node.iter()), LOWEST), -1
