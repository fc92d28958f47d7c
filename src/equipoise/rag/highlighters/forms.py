"""What a question asks for by name must stand in the text that answers it (an e-mail or web address, a number to call),
and the text must not speak of the opposite: another day, before in place of after, a default in place of a limit."""

import re
from collections.abc import Sequence
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
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE)
_DAY_LABEL = re.compile(rf"\W{{0,4}}\b(?:{'|'.join(WEEKDAYS)})s?\b[^.:\n]{{0,40}}:", re.IGNORECASE)


def forms(question: str) -> list[re.Pattern[str]]:
    """The patterns that a text must match to answer; none for a yes/no question."""
    if next(iter(words(question)), "") in AUXILIARY:
        return []
    return [form for asked, form in zip(_ASKED, _HELD, strict=True) if asked.search(question)]


def says_the_opposite(question: str, text: str, headings: Sequence[str] = ()) -> bool:
    """Whether a text below its headings (the nearest last) speaks of another weekday or time than the question, or of a
    default where the question asks for a limit."""
    is_default = _DEFAULT.search(text) and not _LIMITED.search(text)
    if is_default and _EXTREME.search(question) and not _DEFAULT.search(question):
        return True
    asked, told = _times(question), _times("\n".join((*headings, text)))
    return any(noun in told and told[noun].isdisjoint(asked[noun]) for noun in asked) or (
        _is_of_another_day(question, text, headings)
    )


def _times(text: str) -> dict[str, set[str]]:
    """Before, during or after what, by the stem of the word that follows: {"probation": {"after"}}. A clause ("before
    they go back") counts for nothing: it may be said in many ways."""
    found: dict[str, set[str]] = {}
    said = words(text)
    for at, word in enumerate(said):
        if time := _TIMES.get(word):
            noun = next(dropwhile(_ARTICLES.__contains__, said[at + 1 :]), "")
            if noun not in STOP_WORDS:
                found.setdefault(stem(noun), set()).add(time)
    found.pop("", None)
    return found


def _is_of_another_day(question: str, text: str, headings: Sequence[str]) -> bool:
    """Whether the label of the text ("Monday lunch: ..."), else the nearest heading with a weekday, names one day, and
    the question only others. A yes/no question may be answered by what holds on another day."""
    asked = _weekdays(question)
    said = words(question)
    if not asked or "week" in said or said[0] in AUXILIARY:
        return False
    label = _DAY_LABEL.match(text)
    if not label and _weekdays(text):
        return False
    days = (
        _weekdays(label.group()) if label else next(filter(None, map(_weekdays, reversed(headings))), set())
    )
    return len(days) == 1 and days.isdisjoint(asked)


def _weekdays(text: str) -> set[str]:
    return {day.casefold() for day in _WEEKDAY.findall(text)}
