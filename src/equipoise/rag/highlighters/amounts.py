"""What a text says of the numbers and dates of a question: which are amounts, which lie between bounds that it gives,
and which it has in another form ("3 March", "2026-03-03")."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise
from math import inf

from equipoise.text.facts import YEARS
from equipoise.text.months import CALENDAR, SPELLINGS
from equipoise.text.references import ASKING
from equipoise.text.tokens import STOP_WORDS, WORD, numbers, words

UNIT = 2
"""Words behind a number that may be its unit: "30 working days"."""

_NUMBER = r"(\d{1,3}+(?:,\d{3})++|\d++(?:\.\d++)?+)"
_ENDS = r"(?![\d.,:-]*\d)"
_RANGE = re.compile(
    rf"(?<![\d.,:-]){_NUMBER}\s?(?:[€£$%°]\s?)?(?:to|bis|à|[-–])\s?[€£$]?{_NUMBER}{_ENDS}"
    rf"|\b(?:between|zwischen|entre) {_NUMBER} (?:and|und|et) {_NUMBER}{_ENDS}",
    re.IGNORECASE,
)
_AND = r"(?:\s[^\W\d_]+)?\s(?:and|or|und|oder|et|ou)\s"
_LEAST = re.compile(
    r"\b(?:over|above|after|at least|from|(?:more|older|longer|larger) than|über|ab|nach|mindestens|plus de|dès):? "
    rf"[€£$]?{_NUMBER}{_ENDS}(?!\s?(?:to|bis|à|[-–])\s?\d)"
    rf"|(?<![\d.,:-]){_NUMBER}(?:\+(?!\d)|{_AND}(?:over|above|older|more|up(?:wards)?|älter|mehr|plus)\b)",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"(?<!\d )\b(?:under|below|up to|at most|within|(?:less|younger|shorter|smaller) than|unter|bis|höchstens|moins de"
    rf"|jusqu'à):? [€£$]?{_NUMBER}{_ENDS}"
    rf"|(?<![\d.,:-]){_NUMBER}{_AND}(?:under|below|younger|less|jünger|weniger|moins)\b",
    re.IGNORECASE,
)
_BOUNDS: tuple[tuple[re.Pattern[str], Callable[[list[float], float], bool]], ...] = (
    (_RANGE, lambda told, value: told[0] <= value <= told[1]),
    (_LEAST, lambda told, value: told[0] <= value),
    (_MOST, lambda told, value: value <= told[0]),
)
_LIMIT = re.compile(
    r"\b(?:up to|at most|at least|within|maximum(?: of)?|minimum(?: of)?|höchstens|mindestens|au plus|au moins):? "
    rf"{_NUMBER}[ -]?([^\W\d_]+)",
    re.IGNORECASE,
)
"""A limit, which says something of every amount of its unit, also of those beyond it."""
_UNIT = re.compile(
    r"\s?([%°€£$]|(?!(?:and|or|are|is|may|can|to|pay|und|ist|et)\b)[a-z]{1,3}\b|(?:second|minute|hour|day|week|month|year)s?\b)",
    re.IGNORECASE,
)
"""What stands behind a bound and is its unit: a sign, a short word, or a time."""
_MONTH = "|".join(sorted(SPELLINGS, key=len, reverse=True))
_DATE = re.compile(
    rf"(?<![\w.:-])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?:of )?(?P<month>{_MONTH})\b"
    rf"|\b(?P<first>{_MONTH})\.? (?P<second>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:%])(?![.,]\d)"
    r"|(?<![\w.-])\d{4}-(?P<iso>\d\d-\d\d)(?![\w-])"
    r"|(?<![\w./-])(?P<written>\d{1,2}[./]\d{1,2})[./](?:\d{4}|\d\d)?(?![\w/]|\.\d)",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\W*(?:\d{4}\W*)?(?:to|until|till|and|bis|und|au|et|[-–—])\W*(?:the |zum |le )?", re.IGNORECASE
)

_SPACE = re.compile(r"[ \u00a0-]{0,2}")
MONTHS, DAYS = 12, 31
"""Months of a year, and most days of a month."""
Day = tuple[int, int]
"""Month and day."""


def missing_numbers(question: str, text: str) -> list[str]:
    """The numbers of the question that the text neither has nor covers by bounds. For an amount ("my 12 year old") it
    is enough to lie between amounts of its unit; in a yes/no question any amount of its unit in the text is enough."""
    asked, measured, beside = dates(question), measures(question, text), _beside_months(question)
    told, ranges = dates(text), list(_date_ranges(text))
    there = {str(day) for month, day in asked if any(_is_within((month, day), one) for one in ranges)}
    there |= {str(day) for month, day in asked if (month, day) in told}
    elsewhere = {str(day) for _, day in asked if told} - there
    present = numbers(text)

    def is_said(number: str) -> bool:
        if number in there or _is_there(number, present):
            return number not in elsewhere
        if number in measured:
            return ASKING.isdisjoint(words(question)) or _is_among(number, question, text)
        return number not in beside and is_within_bounds(number, text)

    return [number for number in dict.fromkeys(numbers(question)) if not is_said(number)]


def _is_there(number: str, present: Sequence[str]) -> bool:
    """Whether a number is among those present, or begins one of them: 2.0 is in 2.0.1."""
    return any(number == each or each.startswith(f"{number}.") for each in present)


def measures(question: str, text: str) -> frozenset[str]:
    """The numbers of the question that are amounts ("37 kg", "my 12 year old"): one of the UNIT words behind them
    stands behind a number of the text, too."""
    there = {unit for unit, _ in _measured(text)}
    return frozenset(number for unit, number in _measured(question) if unit in there)


def _measured(text: str) -> Iterator[tuple[str, str]]:
    """Each number with each word behind it that may be its unit; none behind a mark, as in "Line 17: Quarry"."""
    said = list(WORD.finditer(text))
    plain = words(text)
    for at, number in enumerate(plain):
        if not is_number(number) or number.count(".") > 1:
            continue
        for before, behind in pairwise(range(at, min(at + UNIT + 1, len(plain)))):
            if not _SPACE.fullmatch(text, said[before].end(), said[behind].start()):
                break
            unit = plain[behind]
            if not (unit in STOP_WORDS | CALENDAR or is_number(unit)):
                yield unit.removesuffix("s"), number


def _is_among(number: str, question: str, text: str) -> bool:
    """Whether an amount lies between others of its unit in the text, or within bounds there, or the text has a limit
    (`_LIMIT`) of its unit."""
    units = {unit for unit, each in _measured(question) if each == number}
    told = [float(each) for unit, each in _measured(text) if unit in units]
    limits = {limit[2].casefold().removesuffix("s") for limit in _LIMIT.finditer(text)}
    among = min(told, default=inf) <= float(number) <= max(told, default=-inf)
    return among or not limits.isdisjoint(units) or is_within_bounds(number, text, units)


def _beside_months(question: str) -> frozenset[str]:
    """The numbers beside a month or a day, which bounds of amounts say nothing of."""
    asked = words(question)
    beside = (set(asked[max(0, at - 1) : at + 2]) for at in range(len(asked)))
    return frozenset(word for word, near in zip(asked, beside, strict=True) if not CALENDAR.isdisjoint(near))


def is_within_bounds(number: str, text: str, units: Set[str] = frozenset()) -> bool:
    """Whether the text covers the number by bounds: 304 by "rooms 301 to 306", 70 by "over 67". Bounds in another unit
    do not cover an amount in `units`; none cover a year: a text may name years around it and not be about it."""
    if number.count(".") > 1 or not is_number(number) or float(number) in YEARS:
        return False
    value = float(number)
    for pattern, holds in _BOUNDS:
        for match in pattern.finditer(text):
            told = [float(bound.replace(",", "")) for bound in match.groups() if bound]
            if holds(told, value) and not (units and _other_unit(text, match.end(), units)):
                return True
    return False


def _other_unit(text: str, at: int, units: Set[str]) -> bool:
    """Whether a unit stands at `at` in the text, and is none of `units`."""
    unit = _UNIT.match(text, at)
    return unit is not None and unit[1].casefold().removesuffix("s") not in units


def is_number(word: str) -> bool:
    """Whether a word is one, without a sign."""
    return word.replace(".", "").isdigit()


def dates(text: str) -> frozenset[Day]:
    """The days that a text names, in words or in numbers ("3 March", "03/04/2026" as both days that it may be)."""
    return frozenset(day for match in _DATE.finditer(text) for day in _days(match))


def _days(match: re.Match[str]) -> list[Day]:
    part = match.groupdict()
    if part["iso"]:
        return [(int(part["iso"][:2]), int(part["iso"][3:]))]
    if part["written"]:
        one, other = map(int, re.split(r"\D", part["written"]))
        return [
            (month, day) for month, day in ((one, other), (other, one)) if month <= MONTHS and day <= DAYS
        ]
    month = part["month"] or part["first"]
    is_verb = part["first"] and month.islower()  # "may 4 people"
    return [] if is_verb else [(SPELLINGS[month.casefold()], int(part["day"] or part["second"]))]


def _date_ranges(text: str) -> Iterator[tuple[Day, Day]]:
    """The first and the last day of each period that a text names by both: "1 October to 31 March"."""
    for one, other in pairwise(_DATE.finditer(text)):
        first, last = _days(one), _days(other)
        if first and last and _JOINED.fullmatch(text, one.end(), other.start()):
            yield first[0], last[0]


def _is_within(day: Day, bounds: tuple[Day, Day]) -> bool:
    first, last = bounds
    return first <= day <= last if first <= last else day >= first or day <= last
