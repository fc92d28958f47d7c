"""Stored texts and their blocks; `core.types` re-exports most of them.

Offsets are Python string indices (code points) into `Document.text`, start inclusive, end exclusive.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from equipoise.core.metadata import Scalar


class Trust(StrEnum):
    """Who may have written a document: its owner only, or anybody. HELD: anybody, and it is kept out of everything
    until an operator lets it in."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"
    HELD = "held"


class BlockKind(StrEnum):
    """What a block of a document is. An ASIDE is found by search but never quoted: a line of a table of contents,
    a navigation bar, a label without a sentence."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"
    ROW = "row"
    ASIDE = "aside"

    __hash__ = str.__hash__  # Enum.__hash__ runs in Python, too slow for set lookups on every block


DEEPEST = 99
"""The highest level of a block."""


class Block(NamedTuple):
    """Document.text[start:end], which a reader sees as one thing.

    `level` is a heading's place in the outline (1 is the highest) and an item's depth in its list (1 is the outermost).
    `intro` is the row (index in `Document.blocks`) of the earlier block that introduces it, -1 for none: the sentence
    before a list, the line that announces code, the column names of a row. `line` is the 1-based line of the file it
    begins on, 0 where the format has no lines that a person sees. `under` is the row of the heading above it (of the
    enclosing one for a heading), -1 for none; loaders leave it to `text.outline.outlined`.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    intro: int = -1
    line: int = 0
    under: int = -1


class Corrected(NamedTuple):
    """A correction of text[start:end] of one document by text[low:high] of the document `doc_id`, whose source is
    `source`. `anew`: the correction restates all of it with other values."""

    start: int
    end: int
    doc_id: str
    source: str
    low: int
    high: int
    anew: bool


@dataclass(frozen=True, slots=True)
class Document:
    """A stored text. `sentences` are (start, end) of what may be quoted, in order, not overlapping; so are `blocks`.

    `pages` holds the offset at which each page begins, empty for formats without pages. `author` is who wrote it, as
    far as the operator tells writers apart: the documents of one author are one source, however many they are.
    `metadata` is what filters choose documents by (`core.where`). `newer` is the source of a newer version that was
    found beside it, `corrected` are the sentences of which a correction was found (`rag.versions`); neither is stored.
    """

    doc_id: str
    text: str
    source: str
    title: str = ""
    trust: Trust = Trust.TRUSTED
    sentences: Sequence[tuple[int, int]] = ()
    pages: tuple[int, ...] = ()
    blocks: Sequence[Block] = ()
    author: str = ""
    metadata: Mapping[str, Scalar] = field(default_factory=dict, hash=False)
    newer: str = field(default="", compare=False)
    corrected: tuple[Corrected, ...] = field(default=(), compare=False)

    @property
    def written_by(self) -> str:
        """Its author; the source stands in for one where no author was given."""
        return self.author or self.source

    def page_at(self, offset: int) -> int | None:
        """The 1-based page that `offset` lies on, None for formats without pages."""
        return bisect_right(self.pages, offset) if self.pages else None

    def block_row(self, offset: int) -> int:
        """The row of the block that `offset` lies in, or of the last one before it; -1 before the first."""
        return bisect_right(self.blocks, offset, key=lambda block: block.start) - 1

    def line_at(self, offset: int) -> int | None:
        """The 1-based line of the file that `offset` lies on, None for formats without lines."""
        row = self.block_row(offset)
        block = self.blocks[row] if row >= 0 else None
        if block is None or not block.line:
            return None
        return block.line + self.text.count("\n", block.start, offset)
