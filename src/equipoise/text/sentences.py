"""Where sentences begin and end, as exact offsets, and which pieces of a document may be quoted.

The rules of English sentence ends are sentencex's (MIT, https://github.com/wikimedia/sentencex). Around it:
blocks (`blocks.blocks`, or those of a file's loader), repairs at its borders, and a length limit.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import sentencex  # type: ignore[import-untyped]

from equipoise.core.errors import InputError
from equipoise.core.types import Block, BlockKind
from equipoise.text.blocks import blocks
from equipoise.text.lines import BULLETS
from equipoise.text.months import GERMAN

Offsets = tuple[int, int]

LONGEST, LONGEST_ROW = 600, 1_000
"""Characters of what is quoted as one: a sentence or a stretch of code, and a row of a table."""

_UNQUOTED = frozenset({BlockKind.HEADING, BlockKind.ASIDE})
_CODE_BREAKS, _ROW_BREAKS = ("\n\n", "\n"), ("; ", " | ", "\t")
_ODD_SPACE = re.compile(r"[^\S \n]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LEADING_CLOSERS = re.compile(r"[)\]}*_\"”’»]+(?=\s|\Z)")
_MARKER = re.compile(
    rf"\s*+(?:>\s*+)?(?:[{BULLETS}]\s++)?(?:\(?(?:\d{{1,3}}+(?:\.\d{{1,3}}+)*+|[A-Za-z#])[.)])?\s*+\Z"
)
_ABBREVIATION = re.compile(
    r"\b(?:al|approx|avg|ca|cf|ch|chap|dept|ed|eds|eq|eqs|est|fig|figs|incl|max|min|no|nos|ref|refs|sec|sect"
    r"|tab|temp|vol|vols|vs|op|art)\.\s*\Z",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?<!\d)\d{1,2}\.\s*\Z")
_MONAT = re.compile(rf"(?:{'|'.join(GERMAN)}|Jänner)(?!\w)")
_LABELLED = re.compile(r"[:;,]\s++\(?+[\divxa-z]{1,3}+[.)]\s*+\Z")
_CLOSING_FIRST = re.compile(r"[^()\s]{1,12}\)")
_WINDOW = 4_000  # characters that sentencex gets at once: longer than nearly every paragraph
_SPACE = re.compile(r"\s*+")
_GLUED = re.compile(r"(?:[^\W\d_][)\]]?|\d)\.\Z")
_BREAKS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r".*[.!?。！？][\"”’)\]]*(?=\s)|.*[。！？]",
        r".*[;:\n](?=\s)|.*\n",
        r".*,(?=\s)|.*[，、；]",
        r".*(?=\s)",
    )
)


def sentence_spans(text: str, *, max_chars: int = LONGEST) -> tuple[Offsets, ...]:
    """(start, end) of every sentence of `text`: in order, not overlapping, without white space at the ends.

    Every character that is not white space lies in exactly one of them. No sentence crosses a blank line or
    a line that stands on its own (heading, list item, table row); a hard-wrapped line does not end one. Code is
    one sentence. One longer than `max_chars` is cut at the last sentence end, semicolon, comma or space that fits,
    and within a word only where there is no space. Time grows linearly with the length of `text`.
    Raises InputError where `max_chars` is below 1.
    """
    if max_chars < 1:
        raise InputError(f"max_chars is {max_chars}: give a length of 1 character or more")
    return tuple(piece for block in blocks(text) for piece in pieces(text, block, max_chars, max_chars))


def units(text: str, stretches: Iterable[Block]) -> tuple[Offsets, ...]:
    """(start, end) of what may be quoted of `text` with these blocks, in order, without white space at the ends.

    These are the sentences of paragraphs and items, code and rows, each as one; what is too long (LONGEST,
    LONGEST_ROW characters) is cut. Headings and asides give none, unless there is nothing else.
    """
    every = list(stretches)
    quotable = [block for block in every if block.kind not in _UNQUOTED]
    return tuple(piece for block in quotable or every for piece in pieces(text, block))


def prose_spans(text: str) -> tuple[Offsets, ...]:
    """As `sentence_spans`, for a text that is one paragraph whatever it looks like: what somebody types."""
    return tuple(pieces(text, Block(BlockKind.PARAGRAPH, 0, len(text)))) if text else ()


def pieces(
    text: str, block: Block, max_chars: int = LONGEST, row_chars: int = LONGEST_ROW
) -> Iterator[Offsets]:
    """The sentences of one block; of a heading, code or a row it is itself, cut where it is too long."""
    start, end = _trimmed(text, block.start, block.end)
    if block.kind is BlockKind.CODE:
        yield from _cut_at(_CODE_BREAKS, text, start, end, max_chars)
    elif block.kind is BlockKind.ROW:
        yield from _cut_at(_ROW_BREAKS, text, start, end, row_chars)
    elif block.kind is BlockKind.HEADING:
        yield from _limited(text, start, end, max_chars)
    else:
        for low, high in _prose(text[block.start : block.end]):
            yield from _limited(text, block.start + low, block.start + high, max_chars)


def _cut_at(marks: Sequence[str], text: str, start: int, end: int, max_chars: int) -> Iterator[Offsets]:
    """text[start:end] in pieces of at most `max_chars`, cut behind the first of `marks` that is late enough."""
    while end - start > max_chars:
        places = (text.rfind(mark, start + max_chars // 3, start + max_chars) for mark in marks)
        cut = next((at + len(mark) for at, mark in zip(places, marks, strict=True) if at >= 0), 0)
        if not cut:
            break
        yield _trimmed(text, start, cut)
        start, _ = _trimmed(text, cut, end)
    yield from _limited(text, start, end, max_chars)


def _prose(block: str) -> list[Offsets]:
    """Sentences of one block, white space included: they tile it."""
    borders = [0]
    for start, end in _raw(block):
        if start > borders[-1]:
            borders.append(start)
        if borders[-1] == start and (closers := _LEADING_CLOSERS.match(block, start, end)) and start:
            borders[-1] = closers.end()
    borders.append(len(block))
    pieces: list[Offsets] = []
    for start, end in pairwise(borders):
        if pieces and _belong_together(block, pieces[-1], (start, end)):
            pieces[-1] = (pieces[-1][0], end)
        elif end > start:
            pieces.append((start, end))
    return pieces


def _raw(block: str) -> Iterator[Offsets]:
    """sentencex's borders. It panics on a white space of several bytes before an initial, hence the plain
    spaces; its indices are code points, so a replacement of the same length keeps them.

    Its time is quadratic in the quotation marks, so a long block goes through it in windows. Each begins with a
    sentence of the one before it that has text enough behind it to be right, or goes on within one too long for that.
    """
    plain = _SURROGATE.sub("?", _ODD_SPACE.sub(" ", block))
    at, within = 0, False
    while at < len(plain):
        end = min(len(plain), at + _WINDOW)
        boundaries = sentencex.get_sentence_boundaries("en", plain[at:end])
        spans = [(at + sentence["start_index"], at + sentence["end_index"]) for sentence in boundaries]
        cut = _settled([start for start, _ in spans], at) if end < len(plain) else None
        yield from (span for span in spans[within:] if cut is None or span[0] < cut)
        within = cut is None
        at = end if cut is None else cut


def _settled(starts: Sequence[int], at: int) -> int | None:
    """The last start in the third quarter of the window at `at`, else the first one in the fourth; else None."""
    quarters = [4 * (start - at) // _WINDOW for start in starts]
    for quarter, row in ((2, -1), (3, 0)):
        if rows := [start for start, its in zip(starts, quarters, strict=True) if its == quarter]:
            return rows[row]
    return None


def _belong_together(block: str, left: Offsets, right: Offsets) -> bool:
    """True where the border between two neighbours is none: a list marker, an abbreviation, a dotted name,
    a German date."""
    before = block[max(left[0], left[1] - 40) : left[1]]
    after = block[right[0] : right[0] + 40].lstrip()
    if not any(c.isalnum() for c in after) and right[1] - right[0] <= 40:
        return True
    if _CLOSING_FIRST.match(after):
        return True
    if left[1] - left[0] <= 12 and left[0] == 0 and _MARKER.match(before):
        return True
    if _LABELLED.search(before[-12:]) or (_DAY.search(before[-12:]) and _MONAT.match(after)):
        return True
    if (after[:1].islower() or after[:1].isdigit()) and _ABBREVIATION.search(before[-12:]):
        return True
    return _GLUED.search(before[-3:]) is not None and not (before[-2:-1].islower() and after[:2].istitle())


def _limited(text: str, start: int, end: int, max_chars: int) -> Iterator[Offsets]:
    """text[start:end] trimmed, in pieces of at most `max_chars`."""
    start, end = _trimmed(text, start, end)
    while end - start > max_chars:
        cut = start + _cut(text[start : start + max_chars + 1], max_chars)
        yield _trimmed(text, start, cut)
        start, _ = _trimmed(text, cut, end)
    if end > start:
        yield start, end


def _cut(window: str, max_chars: int) -> int:
    """Where to cut a window of max_chars + 1: the strongest break in its last two thirds, else any space."""
    for pattern in _BREAKS:
        match = pattern.match(window)
        if match and max_chars // 3 < match.end() <= max_chars:
            return match.end()
    match = _BREAKS[-1].match(window)
    return match.end() if match and 0 < match.end() <= max_chars else max_chars


def _trimmed(text: str, start: int, end: int) -> Offsets:
    """The same stretch without white space at its ends."""
    if space := _SPACE.match(text, start, end):
        start = space.end()
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
