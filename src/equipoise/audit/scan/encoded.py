"""Finds text in another form (base64, hexadecimal, escapes, rot13, spaced letters) and reads what it says."""

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from urllib.parse import unquote

from equipoise.audit.scan.characters import TAGS, decoded_tags
from equipoise.audit.scan.data_rules import phrases
from equipoise.audit.scan.findings import Hit
from equipoise.audit.scan.rules import Rules
from equipoise.audit.scan.words import Words, read_words

INSTRUCTION, TEXT = "encoded/instruction", "encoded/text"
LONGEST = 20_000
"""Characters of one run that are decoded."""
GROUPS = frozenset({"instruction", "tool"})
"""Groups of the rules by which decoded text is checked."""

_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{20,}+={0,2}+(?:\r?\n[A-Za-z0-9+/_-]{20,}+={0,2}+)*+"
)
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}[ :]?+){12,}+(?![0-9A-Za-z])")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}[A-Za-z]{0,20}+){6,}+")
_ENTITY = re.compile(r"(?:&#x?[0-9A-Fa-f]{1,6};\s?+){6,}+")
_ESCAPE = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}){6,}+")
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))")
_ROT13 = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm",
)
_FLUENT = 3  # words of letters: decoded text has so many, a decoded picture has not
_GLUED = (
    "ignoreall",
    "ignoreprev",
    "ignorethe",
    "disregardall",
    "disregardprev",
    "previousinstr",
    "priorinstr",
    "systemprompt",
)
_SPACED = 10  # single letters one after the other


def find(text: str, words: Words, instructions: Rules) -> Iterator[Hit]:
    """Hits of the rules `encoded/...`; `instructions` are the rules of GROUPS."""
    for pattern, decode in _FORMS:
        for match in pattern.finditer(text):
            yield from _read(decode(match.group()[:LONGEST]), match.start(), match.end(), instructions)
    for start, end, letters in _spaced(text, words):
        glued = letters.replace(" ", "")
        if any(known in glued for known in _GLUED):  # where all gaps are alike nobody sees where words end
            yield Hit(INSTRUCTION, start, end, f"It says: {letters[:200]}")
        else:
            yield from _instruction(letters, start, end, instructions)
    turned = Words([word.translate(_ROT13) for word in words.words], words.starts, words.ends)
    for hit in phrases(turned, instructions):
        yield Hit(
            INSTRUCTION, hit.start, hit.end, f"It says: {text[hit.start : hit.end].translate(_ROT13)[:200]}"
        )


def of_tags(hits: Iterator[Hit], text: str, instructions: Rules) -> Iterator[Hit]:
    """`hits`, and one more wherever tag characters spell an instruction."""
    for hit in hits:
        yield hit
        if hit.rule == TAGS:
            yield from _instruction(decoded_tags(text[hit.start : hit.end]), hit.start, hit.end, instructions)


def _read(decoded: str, start: int, end: int, instructions: Rules) -> Iterator[Hit]:
    if not decoded:
        return
    hits = list(_instruction(decoded, start, end, instructions))
    if not hits and _is_fluent(decoded):
        hits = [Hit(TEXT, start, end, f"It says: {decoded[:200]}")]
    yield from hits


def _instruction(decoded: str, start: int, end: int, instructions: Rules) -> Iterator[Hit]:
    if next(phrases(read_words(decoded), instructions), None):
        yield Hit(INSTRUCTION, start, end, f"It says: {decoded[:200]}")


def _is_fluent(decoded: str) -> bool:
    words = [word for word in decoded.split() if word.strip(".,;:!?\"'()").isalpha()]
    return len(words) >= _FLUENT and sum(map(len, words)) > len(decoded) / 2


def _base64(text: str) -> str:
    bare = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    bare = bare[: len(bare) - (len(bare) % 4 == 1)]
    return _printable(lambda: base64.b64decode(bare + "=" * (-len(bare) % 4)))


def _hexadecimal(text: str) -> str:
    bare = text.removeprefix("0x").replace(" ", "").replace(":", "")
    return _printable(lambda: bytes.fromhex(bare))


def _printable(decode: Callable[[], bytes]) -> str:
    """The decoded text, empty where it is none."""
    try:
        text = decode().decode("utf-8")
    except (ValueError, binascii.Error):
        return ""
    return text if all(c.isprintable() or c.isspace() for c in text) else ""


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), text)


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE64, _base64),
    (_HEX, _hexadecimal),
    (_PERCENT, unquote),
    (_ENTITY, html.unescape),
    (_ESCAPE, _escaped),
)


def _spaced(text: str, words: Words) -> Iterator[tuple[int, int, str]]:
    """Runs of single letters, joined where the gap between them is the smallest of the run."""
    row, single = 0, [len(word) == 1 and word.isalpha() for word in words.words]
    while row < len(single):
        behind = row
        while behind < len(single) and single[behind]:
            behind += 1
        if behind - row >= _SPACED:
            yield words.starts[row], words.ends[behind - 1], _joined(words, row, behind)
        row = behind + 1


def _joined(words: Words, first: int, behind: int) -> str:
    gaps = [words.starts[b] - words.ends[a] for a, b in pairwise(range(first, behind))]
    narrow = min(gaps)
    letters = [words.words[first]]
    for gap, letter in zip(gaps, words.words[first + 1 : behind], strict=True):
        letters.append(letter if gap == narrow else f" {letter}")
    return "".join(letters)
