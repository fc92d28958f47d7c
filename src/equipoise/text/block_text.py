"""What stands in the blocks of a document, and next to them."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate

from equipoise.core.types import Block, BlockKind, Document

Offsets = tuple[int, int]

_MARKER = re.compile(r"(?:[-*+•‣▪◦●#>]++\s++|\[\d{1,4}+\]\s*+|\(?+\w{1,3}+[.)]\s++)*+")


def units_in(document: Document, start: int, end: int) -> Sequence[Offsets]:
    """What may be quoted that begins in a stretch."""
    first, stop = (bisect_left(document.sentences, (offset, 0)) for offset in (start, end))
    return document.sentences[first:stop]


def pieces_of(document: Document, row: int) -> Sequence[Offsets]:
    """What may be quoted of a block."""
    return units_in(document, document.blocks[row].start, document.blocks[row].end) if row >= 0 else ()


def next_row(document: Document, row: int, step: int) -> int:
    """The row of the nearest block on one side that is no aside, -1 for none."""
    at = row + step
    while 0 <= at < len(document.blocks) and document.blocks[at].kind is BlockKind.ASIDE:
        at += step
    return at if at < len(document.blocks) else -1


def without_marker(text: str) -> str:
    """A text behind the mark or number of its item or heading."""
    marker = _MARKER.match(text)
    return text[marker.end() :] if marker else text


def text_of(document: Document, block: Block) -> str:
    """Without white space around it."""
    return document.text[block.start : block.end].strip()


def words_in(document: Document, pieces: Iterable[Offsets]) -> int:
    """How many words stretches have."""
    return sum(len(document.text[slice(*piece)].split()) for piece in pieces)


def fits(document: Document, pieces: Iterable[Offsets], most: int) -> bool:
    """Whether stretches have no more words than that; no more are counted, however long they are."""
    counted = accumulate(len(document.text[slice(*piece)].split()) for piece in pieces)
    return all(words <= most for words in counted)
