"""Finds characters that a reader does not see, or takes for others: hidden, turning, look-alike and stacked ones."""

import re
from collections.abc import Iterator

from equipoise.audit.scan.findings import Hit
from equipoise.audit.scan.words import LOOKALIKES

TAGS, HIDDEN_DATA, ZERO_WIDTH = "unicode/tags", "unicode/hidden-data", "unicode/zero-width"
BIDI, BIDI_MARK = "unicode/bidi", "unicode/bidi-mark"
HOMOGLYPH, STYLED, STACKED, CONTROL = (
    "unicode/homoglyph",
    "unicode/styled",
    "unicode/stacked",
    "unicode/control",
)

_RUN = 8
"""So many invisible characters one after the other carry a byte or more."""
_LONGEST_WORD = 100

_TAGS = re.compile("[\U000e0000-\U000e007f]++")
_INVISIBLE = re.compile(
    "[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0\u00ad\u200e\u200f]++"
)
_ZERO_WIDTH = frozenset("\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0")
_SELECTED = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}+")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]++")
_MARK = re.compile("[\u200e\u200f\u061c]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_OTHER_SCRIPT = re.compile("[\u0370-\u03ff\u0400-\u052f]++")
_STYLED = re.compile("[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d6a3]{4,}+")
_STACKED = re.compile("[\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff]{4,}+")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]++")
_EMOJI_TAGS = 0xE0000
_FLAG, _END_OF_FLAG, _LONGEST_FLAG = "\U0001f3f4", "\U000e007f", 7


def find(text: str) -> Iterator[Hit]:
    """Hits of the rules `unicode/...` in `text`."""
    for match in _CONTROL.finditer(text):
        yield Hit(CONTROL, match.start(), match.end())
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        if _is_flag(text, match):
            continue
        said = decoded_tags(match.group())
        yield Hit(TAGS, match.start(), match.end(), f"It says: {said[:200]}" if said.strip() else "")
    yield from _invisible(text)
    for pattern, rule in ((_SELECTED, HIDDEN_DATA), (_BIDI, BIDI), (_STYLED, STYLED), (_STACKED, STACKED)):
        for match in pattern.finditer(text):
            yield Hit(rule, match.start(), match.end())
    if not _RIGHT_TO_LEFT.search(text):
        for match in _MARK.finditer(text):
            yield Hit(BIDI_MARK, match.start(), match.end())
    yield from _mixed_words(text)


def decoded_tags(text: str) -> str:
    """What tag characters spell.

    >>> decoded_tags("\\U000e0068\\U000e0069")
    'hi'
    """
    return "".join(chr(ord(c) - _EMOJI_TAGS) for c in text if 0x20 <= ord(c) - _EMOJI_TAGS < 0x7F)


def _is_flag(text: str, match: re.Match[str]) -> bool:
    """The flag of a part of a country: a black flag, at most six tags, and the one that ends them."""
    run = match.group()
    return (
        text[match.start() - 1 : match.start()] == _FLAG
        and len(run) <= _LONGEST_FLAG
        and run[-1] == _END_OF_FLAG
    )


def _invisible(text: str) -> Iterator[Hit]:
    for match in _INVISIBLE.finditer(text):
        run = match.group()
        if len(run) >= _RUN:
            yield Hit(
                HIDDEN_DATA,
                match.start(),
                match.end(),
                f"{len(run)} invisible characters follow one another.",
            )
        elif _ZERO_WIDTH & set(run) and match.start() > 0:  # the first of a file is a byte order mark
            yield Hit(ZERO_WIDTH, match.start(), match.end())


def _mixed_words(text: str) -> Iterator[Hit]:
    """Words of Latin letters with others among them that look like Latin ones."""
    behind = 0
    for match in _OTHER_SCRIPT.finditer(text):
        if match.start() < behind or not all(c in LOOKALIKES for c in match.group()):
            continue
        start, end = match.start(), match.end()
        least, most = max(0, start - _LONGEST_WORD), end + _LONGEST_WORD
        while start > least and text[start - 1].isalpha():
            start -= 1
        while end < min(most, len(text)) and text[end].isalpha():
            end += 1
        behind, word = end, text[start:end]
        latin = sum(c.isascii() for c in word)
        if latin >= 2 and all(c.isascii() or c in LOOKALIKES for c in word) and len(word) >= 4:
            yield Hit(HOMOGLYPH, start, end, f"It reads as {''.join(LOOKALIKES.get(c, c) for c in word)}.")
