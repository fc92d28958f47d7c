"""What a question asks for by name must stand in what answers it: an e-mail or web address, a number to call."""

import re

from equipoise.text.references import AUXILIARY
from equipoise.text.tokens import words

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


def forms(question: str) -> list[re.Pattern[str]]:
    """The patterns that a text must match to answer; none for a yes/no question."""
    if next(iter(words(question)), "") in AUXILIARY:
        return []
    return [form for asked, form in zip(_ASKED, _HELD, strict=True) if asked.search(question)]
