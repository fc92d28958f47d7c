"""Mutations that know something of what they change: slices repeated, spliced and nested, numbers at their extremes.

Everything is a function of the `random.Random` that is passed in, so that a case can be made again.
"""

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from random import Random

MOST = 300_000
"""Characters or bytes of an input."""

SPECIAL = (
    "\0", "\x1b[2J", "\r", "\n\n", "\t", "\x0c", "\x85", "\xa0", "\xad", "\u200b", "\u200d", "\u202e", "\u2028",
    "\u2029", "\u3000", "\ufeff", "\ufffe", "\ud800", "\udfff", "\U0010ffff", "😀", "e\u0301", "İ", "ŉ", "ﬁ", "中",
    "。", "\"'", "“", "”", "«", "‘", "`", "```\n", "? ", "! ", ". ", "...", "Dr. ", "U.S.", "1,000", "-1", "1e999",
    "0x", "%s", "{", "}", "[", "]", "(", ")", "<", ">", "</", "<!--", "-->", "<![CDATA[", "&#x0;", "&#xd800;", "&amp;",
    "|", "\\", "\\u0000", "---\n", "# ", "    ", "- ", "1. ", "=", "\"", ",", ";", ":", "//", "../", "~", "$",
    "one million ",
)  # fmt: skip
NESTED = (
    ("<div>", "</div>"), ("<table><tr><td>", "</td></tr></table>"), ("<b>", "</b>"), ("[", "]"), ('{"a":', "}"),
    ("(", ")"), ("“", "”"), ("> ", ""), ("- ", "\n"), ("<<", ">>"), ("a.", ""), ("a = {", "}"),
)  # fmt: skip
NUMBERS = ("0", "-1", "1", "255", "65536", "2147483647", "2147483648", "4294967295", "9223372036854775808",
           "1e9", "1e400", "nan", "inf", "-0", "000", "9" * 400, "0." + "1" * 400, "1000000000")  # fmt: skip
_DIGITS, _WORD = re.compile(r"\d+"), re.compile(r"\w+")


def mutated(text: str, rng: Random, others: Sequence[str] = ()) -> str:
    """`text` after one to six mutations; `others` are texts that pieces are taken from."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        text = rng.choice(MUTATIONS)(text, rng, others)[:MOST]
    return text


def mutated_bytes(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """The same for bytes, of which each counts as a character."""
    wide = [other.decode("latin-1") for other in others]
    if rng.random() < 0.2:
        return _flipped(data, rng)
    return mutated(data.decode("latin-1"), rng, wide).encode("latin-1", "ignore")


def mutated_zip(data: bytes, rng: Random) -> bytes:
    """A zip file, one member of which is mutated and packed again; seldom its bytes as they are."""
    if rng.random() < 0.1:
        return mutated_bytes(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = rng.choice([name for name in names if "document.xml" in name] * 5 + names)
        for name in names:
            member = old.read(name)
            undated = zipfile.ZipInfo(name)  # by name alone, a member would be dated by the clock
            changed = mutated_bytes(member, rng) if name == chosen else member
            new.writestr(undated, changed, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _slice(text: str, rng: Random, longest: int = 200) -> tuple[int, int]:
    start = rng.randrange(len(text) + 1)
    return start, min(len(text), start + rng.choice((1, 2, 5, 20, longest)))


def _size(rng: Random) -> int:
    """How long something repeated gets: mostly short, seldom as long as an input may be."""
    return rng.choice((10, 100, 1_000, 1_000, 10_000, 50_000, MOST))


def _special(text: str, rng: Random, _: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + "".join(rng.choices(SPECIAL, k=rng.choice((1, 1, 2, 8)))) + text[at:]


def _repeated(text: str, rng: Random, _: Sequence[str]) -> str:
    start, end = _slice(text, rng)
    piece = text[start:end] if rng.random() < 0.6 else "".join(rng.choices(SPECIAL, k=rng.choice((1, 2))))
    return text[:start] + piece * (_size(rng) // max(1, len(piece))) + text[end:]


def _nested(text: str, rng: Random, _: Sequence[str]) -> str:
    words = list(_WORD.finditer(text[:10_000]))
    start, end = rng.choice(words).span() if words and rng.random() < 0.5 else _slice(text, rng)
    opening, closing = rng.choice(NESTED)
    depth = min(_size(rng), 100_000) // (len(opening) + len(closing))
    closings = rng.choice((depth, depth, depth // 2, 0))
    return text[:start] + opening * depth + text[start:end] + closing * closings + text[end:]


def _cut(text: str, rng: Random, _: Sequence[str]) -> str:
    start, end = _slice(text, rng)
    return text[:start] if rng.random() < 0.2 else text[:start] + text[end:]


def _spliced(text: str, rng: Random, others: Sequence[str]) -> str:
    other = rng.choice([text, *others])
    start, end = _slice(other, rng, 2_000)
    at = rng.randrange(len(text) + 1)
    return text[:at] + other[start:end] + text[at:]


def _numbers(text: str, rng: Random, _: Sequence[str]) -> str:
    digits = list(_DIGITS.finditer(text[:MOST]))
    if not digits:
        return text + rng.choice(NUMBERS)
    match = rng.choice(digits)
    return text[: match.start()] + rng.choice(NUMBERS) + text[match.end() :]


def _swapped(text: str, rng: Random, _: Sequence[str]) -> str:
    lines = text.split("\n")
    rng.shuffle(lines)
    return "\n".join(lines)


MUTATIONS: tuple[Callable[[str, Random, Sequence[str]], str], ...] = (
    _special, _special, _repeated, _repeated, _nested, _cut, _spliced, _numbers, _swapped,
)  # fmt: skip


def _flipped(data: bytes, rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 10))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(changed)
