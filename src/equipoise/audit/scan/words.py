"""A text as words that patterns can be compared with, without disguises such as look-alike letters.

Case, accents, letters of other scripts that look like Latin ones, invisible characters inside words and digits for
letters are evened out, the same way in texts and in patterns; offsets are those of the text. The mark that ends a
sentence is a word of its own, so that only a gap of a pattern leads over it. Linear time.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from equipoise.text.normal import normalise

_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PLAIN = re.compile(r"[\w'\u0300-\u036f]++|[.!?](?=\s)")
_MIXED = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}](?:[^\W{_WIDE}]|['\u0300-\u036f])*+|[.!?](?=\s)|[。！？]")
_HAS_WIDE = re.compile(f"[{_WIDE}]")
_DIGITS = str.maketrans("013457", "oieast")
_COMBINING = dict.fromkeys(range(0x300, 0x370))

LOOKALIKES = dict(
    zip(
        "аеорсухіјѕԁһӏпгкмнтвАВЕКМНОРСТУХІЈЅαοερτυνικχωβηγΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxijsdhlnrkmhtbABEKMHOPCTYXIJSaoeptuvikxwbnyABEZHIKMNOPTYX",
        strict=True,
    )
)
"""Cyrillic and Greek letters, each with the Latin one it passes for. Own list, of what fonts draw alike."""


@dataclass(frozen=True, slots=True)
class Words:
    """The folded words of a text; word i is text[starts[i]:ends[i]]."""

    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]


def read_words(text: str) -> Words:
    """The words of `text`.

    >>> read_words("Ign\\u200bore ALL").words
    ['ignore', 'all']
    """
    if text.isascii():
        return _cut(text.replace("_", " "), None)
    normal = normalise(text)
    return _cut(normal.text.translate(_table()), normal.offsets)


def _cut(folded: str, offsets: Sequence[int] | None) -> Words:
    pattern = _MIXED if offsets is not None and _HAS_WIDE.search(folded) else _PLAIN
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in pattern.finditer(folded):
        word = match.group()
        if "'" in word or offsets is not None:
            word = word.strip("'").translate(_COMBINING)
            if not word:
                continue
        start, end = match.span()
        words.append(_folded(word))
        starts.append(start if offsets is None else offsets[start])
        ends.append(end if offsets is None else offsets[end - 1] + 1)
    return Words(words, starts, ends)


def _folded(word: str) -> str:
    if word.isascii() and not word.isalpha() and not word.isdecimal() and len(word) > 3:
        return word.lower().translate(_DIGITS)
    return word.lower()


@cache
def _table() -> dict[int, str]:
    """One character for one: look-alikes, accented and styled letters to plain ones, "_" to a space."""
    table = {ord(other): plain for other, plain in LOOKALIKES.items()}
    ranges = ((0xC0, 0x250), (0x1E00, 0x1F00), (0x2460, 0x2500), (0xFF01, 0xFF5F), (0x1D400, 0x1D800))
    for start, stop in ranges:
        for code in range(start, stop):
            plain = unicodedata.normalize("NFKD", chr(code))[:1]
            if plain.isascii() and plain.isalnum():
                table[code] = plain
    return table | {ord("_"): " "}
