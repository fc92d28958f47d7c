"""The blocks of a document, put together while a loader reads it, and the text that they make."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders.hidden import without_shapeless
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line

_READ_WITH = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
_LONGEST_NAME = 60  # characters of a column name that is said in every row
_MOST_TIMES, _ALWAYS_FINE = (
    4,
    10_000,
)  # characters of rows with column names for one without, and for any table
_DEEPEST_LIST = 9
_LONGEST_LABEL = 60  # characters of what may be a label and no sentence


@dataclass(slots=True)
class Outline:
    """Collects the blocks of a document in reading order. `hidden` counts characters that were left out."""

    hidden: int = 0
    blocks: list[Block] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _leads: list[int] = field(default_factory=list)
    _item: int = -1
    _last_item: int = -1

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        lead: int = -1,
        tight: bool = False,
        line: int = 0,
    ) -> int:
        """Append a block, a blank line before it, or a line end only where it is `tight`.

        Returns its row; -1 for text without a visible character, which is left out and counted.
        """
        text = clean(text)
        if not text.isascii() and not without_shapeless(text).strip():
            self.hidden += len(text.strip())
            return -1
        if not text.strip():
            return -1
        gap = ("\n" if tight else "\n\n") if self.blocks else ""
        start = self._length + len(gap)
        self._parts += [gap, text]
        self._length = start + len(text)
        self.blocks.append(Block(kind, start, self._length, level, lead, line))
        return len(self.blocks) - 1

    def item(self, text: str, level: int) -> int:
        """Append an item of a list that is known by its depth only, read with the item or paragraph above it."""
        level = max(1, min(level, _DEEPEST_LIST))
        last = len(self.blocks) - 1
        if last < 0 or last != self._last_item:
            self._leads, last = [self.lead_in()], self.lead_in()
        self._leads += [last] * (level - len(self._leads))
        del self._leads[level:]
        row = self.add(BlockKind.ITEM, text, level=level, lead=self._leads[-1])
        self._last_item = self._item = len(self.blocks) - 1
        return row

    def more_of_item(self, text: str) -> int:
        """Append a further paragraph of the item before it, read with that item."""
        is_inside = bool(self.blocks) and self._last_item == len(self.blocks) - 1
        row = self.add(BlockKind.PARAGRAPH, text, lead=self._item if is_inside else -1)
        self._last_item = row if is_inside and row >= 0 else self._last_item
        return row

    def lead_in(self) -> int:
        """The row of the last block where it is one that a list or code may be read with, else -1."""
        return len(self.blocks) - 1 if self.blocks and self.blocks[-1].kind in _READ_WITH else -1

    def announcement(self) -> int:
        """The row of the last block where it announces what follows by a colon, else -1."""
        row = self.lead_in()
        return row if row >= 0 and self.text_of(row).rstrip().endswith((":", "：")) else -1

    def change(self, row: int, kind: BlockKind) -> None:
        """Say what the block at `row` is after all."""
        self.blocks[row] = replace(self.blocks[row], kind=kind)

    def text_of(self, row: int) -> str:
        """The text of the block at `row`."""
        return self._parts[2 * row + 1]

    def text(self) -> str:
        """The text of the document."""
        return "".join(self._parts)

    def loaded(self, title: str, *, fragment: str = "") -> LoadedDocument:
        """The document with this title; a paragraph that says the title and nothing else is its heading."""
        name = one_line(clean(title))
        for row, block in enumerate(self.blocks):
            if block.kind is BlockKind.PARAGRAPH and one_line(self.text_of(row)) == name:
                self.blocks[row] = replace(block, kind=BlockKind.HEADING, level=1, lead=-1)
        return LoadedDocument(
            self.text(), name, fragment=fragment, hidden=self.hidden, blocks=tuple(self.blocks)
        )

    def table(
        self,
        rows: Sequence[Sequence[str]],
        *,
        header: bool,
        caption: str = "",
        lead: int = -1,
        kind: BlockKind = BlockKind.ROW,
    ) -> None:
        """Append a table, each row a line of cells, which are one line each.

        With a header its names are said in each row (`name: value; name: value`) and it is an aside itself. A row
        that does not fit it, or would be much longer, is ` | ` between cells, and the header its lead.
        """
        rows = [row for row in rows if any(row)]
        names = rows[0] if header and len(rows) > 1 else ()
        most = _ALWAYS_FINE + _MOST_TIMES * sum(len(cell) for row in rows for cell in row)
        above = self.add(BlockKind.PARAGRAPH if kind is BlockKind.ROW else kind, caption, lead=lead)
        lead = above if above >= 0 else lead
        for number, row in enumerate(rows):
            tight = number > 0 or above >= 0
            named = _named(names, row) if number else ""
            most -= len(named)
            if names and not number:
                top = self.add(BlockKind.ASIDE, " | ".join(row), lead=lead, tight=tight)
            elif named and most >= 0:
                self.add(kind, named, lead=lead, tight=tight)
            else:
                self.add(kind, " | ".join(row), lead=top if names else lead, tight=tight)


def _named(names: Sequence[str], row: Sequence[str]) -> str:
    """`name: value` for every cell with something in it, empty where names and cells do not fit each other."""
    if len(names) != len(row) or any(len(name) > _LONGEST_NAME for name in names):
        return ""
    pairs = zip(names, row, strict=True)
    return "; ".join(f"{name.rstrip(':')}: {cell}" if name else cell for name, cell in pairs if cell)


def is_label(text: str) -> bool:
    """True for a few words without the end of a sentence: a term, a caption, a name."""
    return len(text) <= _LONGEST_LABEL and not text.rstrip().endswith((".", "!", "?", "。", "！", "？"))
