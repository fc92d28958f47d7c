"""What a question asks for by name must stand in the text that answers it (an e-mail or web address, a number to call),
and the text must not speak of the opposite: another day, before in place of after, a default in place of a limit."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from equipoise.text.months import WEEKDAYS
from equipoise.text.references import AUXILIARY
from equipoise.text.support import stem
from equipoise.text.tokens import STOP_WORDS, words

_FORMS = (
    (
        r"e-?mail[ -]?address(?:es)?|e-?mail[ -]?adressen?|adresse (?:e-?mail|électronique|de courriel)",
        r"[^\s@]@[^\s@]|\S \(?at\)? \S+ \(?dot\)? ",
    ),
    (
        r"(?:(?:tele)?phone|mobile|cell|fax|extension|hotline) numbers?"
        r"|number (?:to|can|do|should|must) (?:\w+ )?(?:call|ring|dial)"
        r"|(?:telefon|handy|mobil|fax|ruf)nummern?|numéros? de (?:téléphone|portable|fax|poste)",
        r"(?<![\d.,/-])(?!\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}\b)\d(?:[ ()/.\u2011\u2013-]{0,3}\d){4,}"
        r"|\b(?:ext|extension|durchwahl|poste)\b\W{0,3}\d",
    ),
    (
        r"web[ -]?(?:address|adresse)|address of the (?:web ?site|home ?page)|internetadresse|adresse du site",
        r"\w://|\bwww\.|\w\.[a-z]{2,20}\b",
    ),
)
_ASKED = tuple(re.compile(rf"\b(?:{asked})\b", re.IGNORECASE) for asked, _ in _FORMS)
_HELD = tuple(re.compile(form, re.IGNORECASE) for _, form in _FORMS)

_TIMES = {"before": "before", "prior": "before", "during": "during", "after": "after", "following": "after"}
"""Words that say when something is, in three classes."""
_ARTICLES = frozenset("to the a an my your our their his her its this that".split())  # noqa: SIM905
_EXTREME = re.compile(
    r"\b(?:smallest|shortest|lowest|least|min(?:imum|imal)?|largest|biggest|longest|highest|most|max(?:imum|imal)?|limits?)\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    rf"{_EXTREME.pattern}"
    r"|\b(?:up to|at least|between|from|range|below|under|over|above|exceed|less|more|cannot|must|only)\b",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
_DAYS = frozenset(map(str.casefold, WEEKDAYS))
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE)
_DAY_LABEL = re.compile(rf"\W{{0,4}}\b(?:{'|'.join(WEEKDAYS)})s?\b[^.:\n]{{0,40}}:", re.IGNORECASE)


def forms(question: str) -> list[re.Pattern[str]]:
    """The patterns that a text must match to answer; none for a yes/no question."""
    if _is_polar(question):
        return []
    return [form for asked, form in zip(_ASKED, _HELD, strict=True) if asked.search(question)]


def _is_polar(question: str) -> bool:
    """Whether it asks for yes or no."""
    return next(iter(words(question)), "") in AUXILIARY


@dataclass(frozen=True, slots=True)
class Opposite:
    """What a text must not speak of alone to answer: other `days` than those asked for, another time than each of
    `times`, a default if `wants_limit`."""

    days: frozenset[str]
    times: Mapping[str, frozenset[str]]
    wants_limit: bool

    @classmethod
    def of(cls, question: str) -> "Opposite":
        """That of a question. A yes/no question may be answered by what holds on another day."""
        any_day = _is_polar(question) or "week" in words(question)
        wants_limit = bool(_EXTREME.search(question)) and not _DEFAULT.search(question)
        return cls(frozenset() if any_day else _weekdays(question), _times(question), wants_limit)

    def is_said(self, text: str, headings: Sequence[str] = ()) -> bool:
        """Whether the text, below its headings (the nearest last), speaks of it."""
        if self.wants_limit and _DEFAULT.search(text) and not _LIMITED.search(text):
            return True
        told = _times("\n".join((*headings, text))) if self.times else {}
        is_another_time = any(told[noun].isdisjoint(self.times[noun]) for noun in told.keys() & self.times)
        return is_another_time or (bool(self.days) and _day_of(text, headings).isdisjoint(self.days))


def _times(text: str) -> dict[str, frozenset[str]]:
    """Before, during or after what, by the stem of the word that follows: {"probation": {"after"}}. A clause ("before
    they go back") counts for nothing: it may be said in many ways."""
    found: dict[str, frozenset[str]] = {}
    said = words(text)
    for at, word in enumerate(said):
        if time := _TIMES.get(word):
            noun = next(dropwhile(_ARTICLES.__contains__, said[at + 1 :]), "")
            if noun and noun not in STOP_WORDS:
                found[stem(noun)] = found.get(stem(noun), frozenset()) | {time}
    return found


def _day_of(text: str, headings: Sequence[str]) -> frozenset[str]:
    """The only weekday that the label of a text ("Monday lunch: ...") names, else the nearest heading with a weekday.
    All of them, if there is no such day."""
    label = _DAY_LABEL.match(text)
    places = [label.group()] if label else [] if _weekdays(text) else reversed(headings)
    days = next(filter(None, map(_weekdays, places)), _DAYS)
    return days if len(days) == 1 else _DAYS


def _weekdays(text: str) -> frozenset[str]:
    return frozenset(day.casefold() for day in _WEEKDAY.findall(text))
