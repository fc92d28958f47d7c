"""Damage done to bytes and strings by a seed: what breaks parsers, and what makes patterns and trees grow."""

from random import Random

MOST = 400_000
"""Bytes of a mutated input: enough for what is quadratic to be felt."""

TOKENS = (
    b"\0", b"\r", b"\n\n", b"\x1b[2J", b"\xff\xfe", b"\xed\xa0\x80", "\u202e".encode(), "\u2028".encode(), b"\\",
    b'"', b"'", b'"\'', b"<", b">", b"<div>", b"</div>", b"<table><tr><td>", b"<!--", b"-->", b"<![CDATA[",
    b"&#x202e;", b"{", b"}", b'{"a":', b"[", b"]", b"[[", b"](", b"- ", b"# ", b"#" * 8, b"```\n", b"|", b" | ",
    b"\t", b" " * 40, b",", b";", b"=", b"---\n", b"1) ", b"e.g. ", b"U.S.", b"1,000", b"9" * 400, b"-1", b"0",
    b"1e999", b"NaN", b"null", b"true", b"?", b"? ", b"!", b"...", b"(", b")", b"hundred thousand ", b"-", b"obj",
    b"endobj", b"stream\n", b"/Kids", b"xref", b"style='display:none'", b"@media print{", b"a" * 300,
    "é".encode() * 50, "\U0001f469\u200d".encode(),
)  # fmt: skip


def mutated(data: bytes, chance: Random) -> bytes:
    """`data` after one to six changes, at most MOST bytes."""
    for _ in range(chance.randint(1, 6)):
        data = chance.choice(_CHANGES)(data, chance)[:MOST]
    return data


def text(seeds: tuple[str, ...], chance: Random) -> str:
    """A mutated text; what is no UTF-8 in it stays as lone halves of surrogate pairs."""
    return mutated(chance.choice(seeds).encode(), chance).decode("utf-8", "surrogateescape")


def _slice(data: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + 1 + int(chance.expovariate(1 / 30)))


def _inserted(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(TOKENS) + data[at:]


def _repeated(data: bytes, chance: Random) -> bytes:
    """A slice, or a token, many times over."""
    start, end = _slice(data, chance)
    piece = chance.choice((data[start:end], chance.choice(TOKENS), chance.choice(TOKENS) + data[start:end]))
    return data[:start] + piece * chance.choice((2, 30, 1_000, 20_000)) + data[end:]


def _nested(data: bytes, chance: Random) -> bytes:
    """Something that opens, many times, and what closes it as often, or not."""
    opening, closing = chance.choice(
        (
            (b"<div>", b"</div>"),
            (b"[", b"]"),
            (b'{"a":', b"}"),
            (b"(", b")"),
            (b"<b>", b""),
            (b"> ", b""),
            (b"**", b"**"),
        )
    )
    at, depth = chance.randrange(len(data) + 1), chance.choice((10, 500, 30_000))
    return data[:at] + opening * depth + data[at:][:1000] + closing * depth + data[at:]


def _deleted(data: bytes, chance: Random) -> bytes:
    start, end = _slice(data, chance)
    return data[:start] + data[end:]


def _flipped(data: bytes, chance: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(min(len(changed), chance.choice((1, 4, 40)))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _moved(data: bytes, chance: Random) -> bytes:
    start, end = _slice(data, chance)
    rest = data[:start] + data[end:]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + data[start:end] + rest[at:]


def _cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _extreme(data: bytes, chance: Random) -> bytes:
    """A number in the data becomes another one."""
    digits = [at for at in range(len(data)) if data[at : at + 1].isdigit()]
    if not digits:
        return data
    at = chance.choice(digits)
    number = chance.choice((b"0", b"-1", b"99999999999", b"1000000000", b"4294967296", b"1e308", b"0.0001"))
    return data[:at] + number + data[at + 1 :]


_CHANGES = (_inserted, _inserted, _repeated, _repeated, _nested, _deleted, _flipped, _moved, _cut, _extreme)
