"""Words that a question has and the corpus has not, and the word of the corpus that was probably meant."""

from collections.abc import Callable, Mapping, Sequence

from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from equipoise.text.numerals import quantities
from equipoise.text.tokens import WORD

SHORTEST = 4
"""Letters of a word that is looked up; shorter ones are near to everything."""
LONG = 7
"""Letters from which on two slips count as one word, not one."""
MOST = 8
"""Words of one question that are looked up."""
_LONGEST = 30

Correction = tuple[str, str]
"""A word as it was typed, and the word of the corpus."""


def unknown(text: str, known: Callable[[str], bool]) -> list[str]:
    """The different words of `text`, at most MOST, that could be misspelt: letters only, long enough, not `known`,
    and no numbers."""
    words = dict.fromkeys(match.group() for match in WORD.finditer(text))
    fitting = (word for word in words if word.isalpha() and SHORTEST <= len(word) <= _LONGEST)
    return [word for word in fitting if not any(map(known, _forms(word))) and not quantities(word)][:MOST]


def _forms(word: str) -> list[str]:
    """The word in lower case and with the endings of English: lists of common words often lack the plain form."""
    plain = word.casefold()
    stem = plain.removesuffix("e")
    return [plain, f"{plain}s", f"{stem}ed", f"{stem}ing", plain.removesuffix("s")]


def nearest(stem: str, vocabulary: Sequence[str], counts: Mapping[str, int]) -> str:
    """The word of `vocabulary` that a slip or two turn into `stem`, the commonest of the nearest; "" for none.

    A slip is a letter too many, too few, another one, or two that changed places (optimal string alignment). The
    first letter is right, or has changed places with the second.
    """
    most = 2 if len(stem) >= LONG else 1
    begins = [word for word in vocabulary if word[0] in stem[:2] and stem[0] in word[:2]]
    if not begins:
        return ""
    distances = cdist([stem], begins, scorer=OSA.distance, score_cutoff=most)[0]
    scored = zip(begins, distances, strict=True)
    near = [(int(slips), -counts[word], word) for word, slips in scored if slips <= most]
    return min(near)[2] if near else ""


def corrected(text: str, corrections: Sequence[Correction]) -> str:
    """`text` with each word as it was probably meant."""
    meant = dict(corrections)
    return WORD.sub(lambda match: meant.get(match.group(), match.group()), text)
