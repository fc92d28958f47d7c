"""Short sentences that say nothing by themselves: fragments, lead-ins, and labels that name what stands below them."""

import re
from collections.abc import Sequence

from equipoise.text.function_words import FUNCTION_WORDS
from equipoise.text.tokens import STOP_WORDS, words

FEW_WORDS = 8
"""A fragment has fewer."""
AMOUNT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|hundred|thousand|million|billion|half|twice|once|dozen|century|decade|never|always)s?\b",
    re.IGNORECASE,
)
ENDED = re.compile(r"[.!?;:\u2026。！？][\"'\u2019\u201d)\]]*$")
"""The end of a sentence that says something."""
_COUNTED = re.compile(r"\d{1,3}+[.)]?+\s++")
_TITLE_WORDS = 14
_CAPTION = re.compile(
    r"(?:table|figure|fig|listing|tabelle|abbildung|abb|tableau)\.?+ [\dA-Z]{1,3}(?!\w)", re.IGNORECASE
)
_SECTION = re.compile(r"\d{1,3}+(?:\.\d{1,3}+)++\.?+\s++[^\W\d_]")
_DOING = re.compile(
    r"\b(?:to|how|steps?|stages?|phases?|follow(?:s|ing)?|proceed|procedure|schritte?|wie|so|zum|étapes?)\b",
    re.IGNORECASE,
)
"""Words of what leads to steps, or counts them."""


def is_fragment(text: str) -> bool:
    """Whether a sentence is a heading or the like: short, no end mark, no number, no name with what is said of it
    ("-C: cleared ones only"). It answers nothing by itself."""
    return is_name(text) and not AMOUNT.search(text)


def is_name(text: str) -> bool:
    """Whether a text is a few words that are no sentence, as a term is with what it means below it."""
    return len(text.split()) < FEW_WORDS and ": " not in text and not ENDED.search(text)


def is_label(text: str) -> bool:
    """Whether a sentence only names what stands below it, its number aside ("2 Blue box"), or is a step of a few words
    ("3. Rinse the filter")."""
    number = _COUNTED.match(text)
    return number is not None and is_fragment(text[number.end() :])


def is_lead_in(text: str) -> bool:
    """Whether a sentence only leads to what comes after it: it ends in a colon, asks, or titles a table or section."""
    section = _SECTION.match(text) and not ENDED.search(text) and len(text.split()) <= _TITLE_WORDS
    leads = text.rstrip("*_\"'\u2019\u201d» ").endswith((":", "：", "?", "？"))
    return leads or _CAPTION.match(text) is not None or bool(section)


def are_of_one_kind(lead: str, names: Sequence[str]) -> bool:
    """Whether names, with what leads to them, are of several things that share a word ("Port locker", "Stern locker"),
    and no steps ("Open the lid"): each a few words, none of them a function word.

    >>> are_of_one_kind("On board:", ["Port locker", "Stern locker"])
    True
    """
    told = [frozenset(words(name)) for name in names]
    if len(told) < 2 or not all(map(is_fragment, names)) or _DOING.search("\n".join((lead, *names))):
        return False
    return bool(frozenset.intersection(*told)) and all(
        (STOP_WORDS | FUNCTION_WORDS).isdisjoint(one) for one in told
    )
