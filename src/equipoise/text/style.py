"""How a text is written, apart from what it says: rates of lengths, marks and habits that a writer hardly watches.

Measured on the first LONGEST characters, in time linear in them. Single figures say little about one passage; what
they are good for is to compare passages with each other (`maths.coordinated`).
"""

import re
from collections.abc import Sequence
from math import log
from statistics import fmean, pstdev

LONGEST = 3000
"""Characters that are looked at."""
TYPES_OF = 100
"""Words whose share of different ones is taken: that share falls with the length of a text."""

MARKS = (",", ";", ":", "-–—", "(", ")", '"“”', "'’‘", "!", "?", "$£€", "%")
"""Each a rate of its own; characters written together count together."""

NAMES = (
    "word length", "sentence length", "spread of sentence lengths", "words", "types per token",
    *(f"mark {mark}" for mark in MARKS),
    "digits", "beyond ASCII", "capitals", "contractions", "spacing faults", "lower-case starts",
)  # fmt: skip
"""What the values of `style` are, in their order."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_END = re.compile(r"(?<=[.!?])[\"”’')\]]?\s+")
_SPACING = re.compile(r" [,.;:!?]|[,;:!?](?=[^\W\d_])|[a-z]\.(?=[A-Z])|  ")
_TYPOGRAPHIC = str.maketrans("", "", "“”‘’–—…")


def style(text: str) -> tuple[float, ...]:
    """The values that NAMES tells, (23,): lengths in characters and words, their logarithm, shares, and rates for each
    100 characters (marks, digits, beyond ASCII) or 100 words (the last four). A text without words has zeros.

    Worked value: "No! It isn't." has words of 2, 2 and 5 letters, sentences of 1 and 2 words, one contraction.
    """
    text = text[:LONGEST]
    words = _WORD.findall(text)
    if not words:
        return (0.0,) * len(NAMES)
    sentences = [sentence for sentence in _END.split(text) if _WORD.search(sentence)]
    lengths = [len(_WORD.findall(sentence)) for sentence in sentences]
    first = [word.casefold() for word in words[:TYPES_OF]]
    return (
        fmean(map(len, words)),
        fmean(lengths),
        pstdev(lengths),
        log(len(words)),
        len(set(first)) / len(first),
        *_character_rates(text),
        *_word_rates(text, words, sentences),
    )


def _character_rates(text: str) -> tuple[float, ...]:
    each = 100.0 / len(text)
    beyond = text.translate(_TYPOGRAPHIC)
    return (
        *(sum(map(text.count, mark)) * each for mark in MARKS),
        sum(map(str.isdigit, text)) * each,
        (len(beyond) - len(beyond.encode("ascii", "ignore"))) * each,
    )


def _word_rates(text: str, words: Sequence[str], sentences: Sequence[str]) -> tuple[float, ...]:
    each = 100.0 / len(words)
    return (
        sum(len(word) > 1 and word.isupper() for word in words) * each,
        sum("'" in word or "’" in word for word in words) * each,
        len(_SPACING.findall(text)) * each,
        sum(sentence.lstrip("\"“‘'([*- ")[:1].islower() for sentence in sentences) * each,
    )
