"""Where a quotation that a model wrote stands in a document.

Three steps: the exact string; the same after `normalise`; an approximate match. Highlighters that copy text
need it; the text that flows on is always re-read from the document, never the model's.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import LCSseq
from rapidfuzz.fuzz import ratio

from equipoise.text.normal import Normal, normalise

MAX_FUZZY_CHARS = 10_000  # a longer quotation is only looked for exactly and normalised
_MIN_SEED = 4  # shorter pieces of a quotation occur everywhere
_MAX_HITS = 64  # places of one piece that are looked at
_MAX_WINDOWS = 32  # stretches of the text that are compared in full

_OPENING = re.compile(r"""(?:[\s"'([]|\.\.\.|[•▪◦●*]|-(?=\s+[^\s\d])|>\s)+""")
_CLOSING = " \"'.,;:!?)]*"  # a normalised text has no other white space than spaces
_ITEM = re.compile(r"\d{1,2}[.)]\s+")


class Method(StrEnum):
    """How a quotation was placed."""

    EXACT = "exact"
    NORMALISED = "normalised"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class Alignment:
    """text[start:end] is the quotation. `score` is the Indel similarity, 0 to 100; 100 unless fuzzy.

    A fuzzy alignment may begin or end within a word.
    """

    start: int
    end: int
    method: Method
    score: float = 100.0


def align(
    quotation: str,
    text: str,
    start: int = 0,
    end: int | None = None,
    *,
    threshold: float = 95.0,
    fuzzy: bool = True,
) -> Alignment | None:
    """The place of `quotation` in text[start:end], the first one where there are several; None without one.

    Offsets count from the beginning of `text`. `threshold` is the least Indel similarity of a fuzzy match
    (95: about one character in 20 may be missing or added), case ignored; without `fuzzy` that step is left
    out. Its work is bounded by counts and not by a clock, so that what is found does not depend on the
    machine. Never raises, whatever the strings hold.
    """
    place = align_any(quotation, [text], [(start, end)], threshold=threshold, fuzzy=fuzzy)
    return place[1] if place else None


def align_any(
    quotation: str,
    texts: Sequence[str],
    bounds: Sequence[tuple[int, int | None]] | None = None,
    *,
    threshold: float = 95.0,
    fuzzy: bool = True,
) -> tuple[int, Alignment] | None:
    """The index of the text that has `quotation`, and its place there, as `align`; None without one.

    The first exact match in any text wins, then the first normalised one, then the best fuzzy one. `bounds`
    holds (start, end) for each text.
    """
    quotation = quotation.strip()
    if not quotation:
        return None
    pairs = bounds or [(0, None)] * len(texts)
    limits = [slice(*pair).indices(len(text)) for text, pair in zip(texts, pairs, strict=True)]
    for index, (text, (start, end, _)) in enumerate(zip(texts, limits, strict=True)):
        at = text.find(quotation, start, end)
        if at >= 0:
            return index, Alignment(at, at + len(quotation), Method.EXACT)
    normals = [normalise(text, start, end) for text, (start, end, _) in zip(texts, limits, strict=True)]
    wanted = normalise(quotation).text
    for needle in _variants(wanted):
        for index, normal in enumerate(normals):
            at = normal.text.find(needle)
            if at >= 0:
                return index, Alignment(*normal.original(at, at + len(needle)), Method.NORMALISED)
    return _best_fuzzy(_bare(wanted), normals, threshold) if fuzzy else None


def _bare(quotation: str) -> str:
    """A normalised `quotation` without marks around it; a minus sign before a digit is no bullet and stays."""
    opening = _OPENING.match(quotation)
    return quotation[opening.end() if opening else 0 :].rstrip(_CLOSING)


def _variants(quotation: str) -> Iterator[str]:
    """What may stand in the text for a normalised quotation, most faithful first; none is empty."""
    bare = _bare(quotation)
    seen = set()
    for form in (quotation, bare, _ITEM.sub("", bare, count=1)):
        for variant in (form, form[:1].swapcase() + form[1:]):
            if variant and variant not in seen and any(map(str.isalnum, variant)):
                seen.add(variant)
                yield variant


def _best_fuzzy(quotation: str, normals: Sequence[Normal], threshold: float) -> tuple[int, Alignment] | None:
    needle = _lower(quotation)
    best: tuple[int, Alignment] | None = None
    if not needle or len(needle) > MAX_FUZZY_CHARS:
        return None
    for index, normal in enumerate(normals):
        for start, end, score in _matches(needle, _lower(normal.text), threshold):
            if best is None or score > best[1].score:
                best = index, Alignment(*normal.original(start, end), Method.FUZZY, score)
    return best


def _lower(text: str) -> str:
    """Lower case of the same length."""
    lower = text.lower()
    return (
        lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    )


def _matches(needle: str, text: str, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Stretches of `text` with a similarity to `needle` of at least `threshold`, as (start, end, score).

    A match has at most e/(1-e) * 2 * len(needle) insertions and deletions, e = 1 - threshold/100. Of one more
    piece than that, one must occur unchanged: its places are the only ones compared (the pigeonhole filter of
    Baeza-Yates & Perleberg, 1992). No step takes longer than a few milliseconds, whatever the text repeats.
    """
    share = min(0.9, max(0.0, 1 - threshold / 100))
    edits = int(2 * len(needle) * share / (1 - share))
    slack = edits + edits // 2 + 1
    for guess in _likely_starts(needle, text, edits):
        low, high = max(0, guess - edits), min(len(text), guess + len(needle) + slack)
        score, start, end = _fitted(needle, text[low:high])
        if start < end and score >= threshold:
            yield low + start, low + end, score


def _likely_starts(needle: str, text: str, edits: int) -> list[int]:
    """Where `needle` may begin in `text`, the places with most unchanged pieces first."""
    size = max(_MIN_SEED, len(needle) // (edits + 1))
    width = edits // 2 + 1
    votes: Counter[int] = Counter()
    for offset in range(0, len(needle) - size + 1, size):
        seed = needle[offset : offset + size]
        at = text.find(seed)
        for _ in range(_MAX_HITS):
            if at < 0:
                break
            votes[(at - offset) // width] += 1
            at = text.find(seed, at + 1)
    return [bucket * width for bucket, _ in votes.most_common(_MAX_WINDOWS)]


def _fitted(needle: str, window: str) -> tuple[float, int, int]:
    """(score, start, end) of the part of `window` that is most like `needle`.

    Each common block of the two says where the ends of `needle` come to lie. The longest one is right nearly
    always; the outer ones correct it for what is missing or added in between, or are chance and score less.
    """
    blocks = [b for b in LCSseq.opcodes(needle, window).as_matching_blocks() if b.size]
    if not blocks:
        return 0.0, 0, 0
    solid = [b for b in blocks if b.size >= _MIN_SEED]
    longest = max(blocks, key=lambda b: b.size)
    starts = {max(0, b.b - b.a) for b in (*solid[:3], longest)} | {blocks[0].b}
    ends = {min(len(window), b.b - b.a + len(needle)) for b in (*solid[-3:], longest)}
    ends.add(blocks[-1].b + blocks[-1].size)
    likely = min(len(window), longest.b - longest.a + len(needle))
    start = max(sorted(starts), key=lambda start: ratio(needle, window[start:likely]))
    score, end = max((ratio(needle, window[start:end]), end) for end in ends)
    return score, start, end
