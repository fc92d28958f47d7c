"""What a question names by a number, a code or a title, and the mentions of its kind in a text: "ward 3", "E06", "Dr
Achterberg". A kind counts only if the documents name something of it, too."""

import re
from collections.abc import Callable
from functools import partial
from itertools import chain, pairwise, takewhile

from equipoise.rag.highlighters.amounts import measures
from equipoise.text.facts import TITLES
from equipoise.text.months import CALENDAR
from equipoise.text.support import stem
from equipoise.text.tokens import STOP_WORDS, WORD, words

_JOINING = frozenset(
    {"to", "and", "or", "until", "through", "bis", "und", "oder", "à", "et", "ou", "a", "y", "no"}
)
_CODE = re.compile(r"(?<![\w.-])[A-Z\d]\w*+(?:[./-]\w++)*+")
_SCALE = frozenset("age aged size weigh weighs weighing cost costs costing rated worth".split())  # noqa: SIM905
"""Words that stand before amounts, not before the number of a thing."""

_BOUNDING = frozenset(
    "since from until before after than as see cf later newer above higher earlier older".split()  # noqa: SIM905
)
"""Words around a number that make it a bound ("until 5") or a reference ("see 5")."""

Mention = tuple[str, ...]
"""The numbers, codes or names of one kind that stand together, from the least to the greatest."""
Kind = Callable[[str], list[Mention]]
"""Finds the mentions of a kind in a text, in order."""


def labels(question: str, text: str) -> dict[Kind, frozenset[str]]:
    """For each kind of which the text names something, the numbers, codes or titled names in the question."""
    found: dict[Kind, frozenset[str]] = {}
    codes: dict[str, set[str]] = {}
    for code in _codes(question):
        codes.setdefault(_shape(code), set()).add(code)
    numbered: dict[str, set[str]] = {}
    asked, amounts = words(question), measures(question, text)
    for before, word in pairwise(asked):
        if _is_label(before) and word[0].isdigit() and word not in amounts:
            numbered.setdefault(stem(before), set()).add(word)
    found |= {partial(_shaped, shape): frozenset(some) for shape, some in codes.items()}
    found |= {partial(_numbered, label): frozenset(some) for label, some in numbered.items()}
    if people := _people(question, text):
        found[_titled] = people
    return {kind: values for kind, values in found.items() if kind(text)}


def _is_label(word: str) -> bool:
    return word.isalpha() and word not in STOP_WORDS | CALENDAR | _SCALE


def _shape(code: str) -> str:
    """The pattern of a code: E06 and E11 have the same, and so have 4711-B and 4117-C."""
    digits = re.sub(r"\d+", "9", code)
    return digits if code[0].isalpha() else re.sub("[A-Za-z]+", "A", digits)


def _codes(text: str) -> list[str]:
    """The codes in a text, which have a capital and a digit, in order."""
    found = _CODE.findall(text)
    return [code for code in found if any(map(str.isdigit, code)) and any(map(str.isupper, code))]


def _shaped(shape: str, text: str) -> list[Mention]:
    return [(code,) for code in _codes(text) if _shape(code) == shape]


def _numbered(label: str, text: str) -> list[Mention]:
    """The numbers behind each `label` (a stem), but for bounds and references: "since", "see", "or later"."""
    said = words(text)
    found = []
    for at, word in enumerate(said[:-1], 1):
        if said[at][0].isdigit() and stem(word) == label:
            behind = list(takewhile(lambda other: other in _JOINING or other[0].isdigit(), said[at:]))
            around = {*said[max(0, at - 3) : at - 1], *said[at + len(behind) : at + len(behind) + 1]}
            if around.isdisjoint(_BOUNDING):
                found.append(tuple(other for other in behind if other[0].isdigit()))
    return found


def _people(question: str, text: str) -> frozenset[str]:
    """Names behind a title in the question; one in lower case counts if it stands behind a title in the text."""
    behind = {name for title, name in pairwise(words(question)) if title in TITLES}
    return frozenset(chain(*_titled(question), behind.intersection(chain(*_titled(text)))))


def _titled(text: str) -> list[Mention]:
    """The names behind titles: "Dr Maria Lee", "Mr Lee and Ms Ray"."""
    found: list[list[str]] = [[]]
    titled = False
    for match in WORD.finditer(text):
        token, word = match.group(), match.group().casefold()
        titled = word in TITLES or (titled and token[0].isupper())
        if titled and word not in TITLES:
            found[-1].append(word)
        elif not titled and word not in _JOINING and found[-1]:
            found.append([])
    return [tuple(one) for one in found if one]


def holds(mention: Mention, asked: frozenset[str]) -> bool:
    """Whether one of those asked for is in the mention, or between the least and the greatest number of it."""
    if not asked.isdisjoint(mention):
        return True
    bounds = [float(one) for one in mention if one.isdecimal()]
    return len(bounds) > 1 and any(
        min(bounds) <= float(one) <= max(bounds) for one in asked if one.isdecimal()
    )
