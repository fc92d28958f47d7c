"""What a quote says, clause by clause: its words, its numbers with their units, its names, and whether it denies."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from equipoise.text.months import ENGLISH, NUMBERS, WEEKDAYS
from equipoise.text.normal import normalise
from equipoise.text.numerals import Quantity, quantities
from equipoise.text.polar import denials
from equipoise.text.support import common_words, stem
from equipoise.text.tokens import STOP_WORDS, WORD, name_matches

_CALENDAR = frozenset(name.casefold() for name in (*ENGLISH, *WEEKDAYS))
TITLES = frozenset("mr ms mrs miss dr prof professor sir herr frau mme".split())  # noqa: SIM905
_FORMS = dict(
    pair.split(":")
    for pair in """
        needed:need taken:take took:take given:give gave:give paid:pay kept:keep sent:send found:find made:make
        held:hold left:leave chosen:choose broken:break went:go gone:go
    """.split()  # noqa: SIM905
)
"""Forms that `stem` does not bring together."""
_SHORT_PLURALS = frozenset({"ays", "eys", "oys", "uys"})
_EMPTY = frozenset(
    """
    according official officially confirm confirmed verify verified important warning please attention announcement
    simply usually normally generally currently default about around approximately roughly yes
    """.split()  # noqa: SIM905
)
"""Words that claim nothing about a thing: authority, hedges, fillers."""
_UNITS = {
    name: unit
    for unit, names in {
        "percent": "% percent pct",
        "euro": "€ eur euro",
        "pound": "£ gbp pound",
        "dollar": "$ usd dollar",
        "degree": "° °c degree",
        "second": "s sec second",
        "minute": "min minute",
        "hour": "h hr hour",
        "day": "day",
        "week": "week",
        "month": "month",
        "year": "year",
        "am": "am a.m",
        "pm": "pm p.m",
    }.items()
    for name in (*names.split(), stem(unit))
}
_IN_SMALLER = {
    "hour": (60, "minute"),
    "day": (1440, "minute"),
    "week": (10080, "minute"),
    "year": (12, "month"),
}
_AFTER = re.compile(r"[ -]?(%|€|£|\$|°[A-Za-z]?|[^\W\d_]{1,20})")
_CURRENCY = re.compile(r"([€£$]) ?\Z")
_MONTH = "|".join(ENGLISH)
_DATE = re.compile(
    rf"(?<![\w.-])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?(?P<month>{_MONTH})\b"
    rf"|\b(?P<first>{_MONTH}) (?P<second>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%])(?!\.\d)"
    r"|(?<![\w.-])\d{4}-(?P<iso>\d\d-\d\d)(?![\w-])"
)
_TIME = re.compile(
    r"(?<![\w.:])(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d)(?![:\d])(?: ?(?P<half>[ap])\.?m\b)?"
    r"| ?(?P<whole>[ap])\.?m\b)",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    r"\b(?:about|within|takes?|for|after|in|than|least|most|lasts?|to|nearly|almost)"
    r" (?P<single>an hour|a (?:minute|day|week|month|year))\b",
    re.IGNORECASE,
)
"""One of a unit, but not where it is a rate: "45 euros a year"."""
_SPLIT = re.compile(
    r"(?<=[.!?;:])\s|\n|\b(?:but|however|although|though|because|whereas|while|unless|except)\b",
    re.IGNORECASE,
)
_NO_CLAIM = re.compile(
    r"\?\Z|\b(?:whether|wonder(?:s|ed|ing)?|asks? if|asked if|like to know|want to know)\b", re.IGNORECASE
)
_VERDICT = re.compile(r"\A\W{0,9}(?:yes|no)[,.:;!-]", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]{0,60}|(?<!\w)[A-Za-z]\w{0,60}_\w{1,60}"
    r"|(?<![\w.@-])[A-Za-z][\w@-]{1,60}(?:\.[A-Za-z][\w-]{1,60}){1,6}|(?<![\w/])/[\w.-]{1,60}(?:/[\w.-]{1,60}){0,9}"
)
"""Options, names with an underscore, host and file names, paths."""
_BOUNDS = (
    (
        re.compile(
            r"\b(?:not?|never) (?:\w{1,20} )?(?:more|longer|later|higher|larger) than\b", re.IGNORECASE
        ),
        "most",
    ),
    (
        re.compile(
            r"\b(?:not?|never) (?:\w{1,20} )?(?:less|fewer|earlier|lower|smaller) than\b", re.IGNORECASE
        ),
        "least",
    ),
    (
        re.compile(r"\b(?:at most|up to|maximum|max|within|until|by|below|under|limit)\b", re.IGNORECASE),
        "most",
    ),
    (re.compile(r"\b(?:at least|minimum|min|or (?:newer|later|more|older|above))\b", re.IGNORECASE), "least"),
)
_NOT_DENYING = re.compile(
    r"\b(?:not only|(?:do not|don't) (?:forget|hesitate) to|no matter|no doubt)\b", re.IGNORECASE
)
YEARS = range(1900, 2100)
_POINTS = frozenset({"date", "time"})


class Number(NamedTuple):
    """A number with its unit in one form ("" where it has none), "2 hours" as ("120", "minute")."""

    value: str
    unit: str

    def is_like(self, other: "Number") -> bool:
        """Whether both are the same number, of the same unit where both have one."""
        return self.value == other.value and (self.unit == other.unit or "" in (self.unit, other.unit))

    def is_comparable(self, other: "Number") -> bool:
        """Whether both measure the same, as far as can be told: then they contradict each other where they differ."""
        return self.unit == other.unit or (
            "" in (self.unit, other.unit) and not _POINTS & {self.unit, other.unit}
        )

    def is_year(self) -> bool:
        """Whether it can be a year, 1900 to 2099, rather than an amount."""
        return not self.unit and self.value.isdigit() and int(self.value) in YEARS


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: `stems` of its content words in order, without numbers, denials and words of authority; its `numbers`,
    `names`, `identifiers` ("--no-color"), how many words deny, and whether numbers are bounds ("least", "most")."""

    text: str
    stems: tuple[str, ...]
    numbers: frozenset[Number]
    names: frozenset[str]
    identifiers: frozenset[str]
    denials: int
    bounds: frozenset[str]

    def denies(self) -> bool:
        """Whether it denies; what denies twice does not."""
        return self.denials % 2 == 1


def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of `text` that say something: without a "Yes," or "No," in front (`polar.verdict_in` tells it), and
    without questions, "whether" and "I wonder"."""
    even = _VERDICT.sub("", normalise(text).text)
    pieces = (piece.strip() for piece in _SPLIT.split(even))
    found = (_clause(piece) for piece in pieces if piece and not _NO_CLAIM.search(piece))
    return tuple(clause for clause in found if clause.stems or clause.numbers or clause.identifiers)


def _clause(text: str) -> Clause:
    identifiers = frozenset(match.group().casefold() for match in _IDENTIFIER.finditer(text))
    text = _IDENTIFIER.sub(" ", text)
    plain, bounds = text, set()
    for pattern, bound in _BOUNDS:
        if pattern.search(plain):
            bounds.add(bound)
            plain = pattern.sub(" ", plain)
    points, rest = _points(text)
    amounts = quantities(rest)
    return Clause(
        text,
        tuple(_stems(rest, amounts)),
        frozenset(points) | {_number(rest, amount) for amount in amounts},
        frozenset(_names(rest, amounts)),
        identifiers,
        denials(_NOT_DENYING.sub(" ", plain)),
        frozenset(bounds),
    )


def _points(text: str) -> tuple[set[Number], str]:
    """The dates, times and single units in `text` ("15 April" is ("4-15", "date")), and `text` without them."""
    found: set[Number] = set()
    for pattern in (_DATE, _TIME, _SINGLE):
        found |= {_point(match.groupdict()) for match in pattern.finditer(text)}
        text = pattern.sub(" | ", text)
    return found, text


def _point(part: dict[str, str | None]) -> Number:
    """The date, time or unit of which these are the parts."""
    if iso := part.get("iso"):
        return Number("-".join(str(int(piece)) for piece in iso.split("-")), "date")
    if single := part.get("single"):
        return _scaled("1", _unit(single.split()[1]))
    if hour := part.get("hour"):
        half = (part.get("half") or part.get("whole") or "").casefold()
        hours = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
        return Number(f"{hours}:{part.get('minute') or '00'}", "time")
    month, day = part.get("month") or part.get("first") or "", part.get("day") or part.get("second") or ""
    return Number(f"{NUMBERS[month.casefold()]}-{int(day)}", "date")


def root(word: str) -> str:
    """The stem of a word, the same for more forms of it than `support.stem` knows."""
    plain = word.casefold().removesuffix("'s")
    if plain[-3:] in _SHORT_PLURALS:  # `stem` leaves "day" and makes "dai" of "days"
        plain = plain[:-1]
    return stem(_FORMS.get(plain, plain))


def _stems(text: str, amounts: list[Quantity]) -> Iterator[str]:
    """The stems of the content words; numbers and their units are not among them."""
    counted = {
        match.start()
        for amount in amounts
        for match in WORD.finditer(text, amount.start, _unit_end(text, amount))
    }
    for match in WORD.finditer(text):
        word = match.group().casefold()
        if not (match.start() in counted or word in STOP_WORDS | _EMPTY | TITLES or denials(word)):
            yield root(word)


def _names(text: str, amounts: list[Quantity]) -> Iterator[str]:
    """The stems of names: `tokens.names`, the days and months, and a capital that begins a sentence before a name."""
    skip = {_unit_end(text, amount) for amount in amounts}
    named = {match.end(): match for match in name_matches(text) if match.end() not in skip}
    before: re.Match[str] | None = None
    for match in WORD.finditer(text):
        word = match.group().casefold()
        named_here = match.end() in named
        if named_here and before and _begins_name(before) and before.end() + 1 == match.start():
            yield root(before.group())
        in_calendar = match.group()[0].isupper() and word.removesuffix("s") in _CALENDAR
        if (named_here and word not in TITLES | _EMPTY) or in_calendar:
            yield root(word)
        before = match


def _begins_name(match: re.Match[str]) -> bool:
    word = match.group()
    return word[0].isupper() and word.casefold() not in STOP_WORDS | TITLES | _EMPTY | common_words()


def _unit_end(text: str, amount: Quantity) -> int:
    """Where the unit behind `amount` ends; where the amount does, if it has none."""
    after = _AFTER.match(text, amount.end)
    return after.end() if after and _unit(after.group(1)) else amount.end


def _number(text: str, amount: Quantity) -> Number:
    after, before = (
        _AFTER.match(text, amount.end),
        _CURRENCY.search(text, max(0, amount.start - 2), amount.start),
    )
    unit = _unit(before.group(1) if before else after.group(1) if after else "")
    written = text[amount.start : amount.end]
    if not unit and "." in written:
        return Number(written, "")  # a version: 3.10 is not 3.1
    return _scaled(amount.value, unit)


def _scaled(value: str, unit: str) -> Number:
    """The number in the smaller unit, where it is whole: 2 hours are 120 minutes."""
    factor, smaller = _IN_SMALLER.get(unit, (1, unit))
    return (
        Number(str(int(value) * factor), smaller) if value.isdigit() and factor > 1 else Number(value, unit)
    )


def _unit(word: str) -> str:
    """The unit that `word` names; "" for a word that can name none."""
    plain = word.casefold()
    if known := _UNITS.get(plain) or _UNITS.get(root(plain)):
        return known
    return "" if plain in STOP_WORDS or plain in _CALENDAR or not plain.isalpha() else root(plain)
