"""The blocks of a document: their text, what of it may be quoted, and the block next to one."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from equipoise.core.types import Block, BlockKind, Document
from equipoise.text.lines import BULLETS

Offsets = tuple[int, int]

_MARKER = re.compile(rf"(?:[{BULLETS}#>]++\s++|#\.\s++|\[\d{{1,4}}+\]\s*+|\(?+\w{{1,3}}+[.)]\s++)*+")


def units_in(document: Document, start: int, end: int) -> Sequence[Offsets]:
    """What may be quoted of the document and begins in text[start:end], as (start, end) in order."""
    first, stop = (bisect_left(document.sentences, (offset, 0)) for offset in (start, end))
    return document.sentences[first:stop]


def pieces_of(document: Document, row: int) -> Sequence[Offsets]:
    """What may be quoted of the block `row`; nothing for row -1."""
    return units_in(document, document.blocks[row].start, document.blocks[row].end) if row >= 0 else ()


def next_row(document: Document, row: int, step: int) -> int:
    """The row of the nearest block on one side that is no aside, -1 for none."""
    at = row + step
    while 0 <= at < len(document.blocks) and document.blocks[at].kind is BlockKind.ASIDE:
        at += step
    return at if at < len(document.blocks) else -1


def without_marker(text: str) -> str:
    """`text` without the mark or number that its item or heading begins with."""
    marker = _MARKER.match(text)
    return text[marker.end() :] if marker else text


def text_of(document: Document, block: Block) -> str:
    """The text of a block without white space around it."""
    return document.text[block.start : block.end].strip()


def words_in(document: Document, pieces: Iterable[Offsets]) -> int:
    """How many words stretches have."""
    return sum(len(document.text[slice(*piece)].split()) for piece in pieces)


def fits(document: Document, pieces: Iterable[Offsets], most: int) -> bool:
    """Whether `pieces` have at most `most` words together; counting ends with the piece that is over it."""
    counted = accumulate(len(document.text[slice(*piece)].split()) for piece in pieces)
    return all(words <= most for words in counted)
