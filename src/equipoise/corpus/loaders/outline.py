"""The blocks of a document, put together while a loader reads it, and the text that they make."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders.grid import Cell, Row, grid_of, pairs, told
from equipoise.corpus.loaders.hidden import without_shapeless
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line, placed

APART, TIGHT = "\n\n", "\n"
"""What stands between two blocks: a blank line, or none between the rows of a table."""
_READ_WITH = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
_DEEPEST_LIST = 9
_SHAPED = re.compile(r"[!-~]")
_NUMBERED = re.compile(r"[\W\d_]*+(?:\w++[\W\d_]++){0,2}")  # "Page 3 of 12"


@dataclass(slots=True)
class Outline:
    """Collects the blocks of a document in reading order. `hidden` counts characters that were left out, `held` are the
    notes of the block or table that is being read."""

    hidden: int = 0
    blocks: list[Block] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _intros: list[int] = field(default_factory=list)
    _item: int = -1
    _last_item: int = -1
    _noted: tuple[int, int] = (-1, -1)  # where the notes of a block end, and the row of that block
    _margins: set[str] = field(default_factory=set)
    _code: list[str] = field(default_factory=list)
    _code_notes: list[str] = field(default_factory=list)
    _code_line: int = 0

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        intro: int = -1,
        gap: str = APART,
        line: int = 0,
    ) -> int:
        """Append a block, the white space `gap` before it unless it is the first.

        Returns its row; -1 for text without a visible character, which is left out and counted.
        """
        if self._code:
            self._end_code()
        text = clean(text)
        if not _SHAPED.search(text) and not without_shapeless(text).strip():
            self.hidden += len(text.strip())
            return -1
        gap = gap if self.blocks else ""
        start = self._length + len(gap)
        self._parts += [gap, text]
        self._length = start + len(text)
        self.blocks.append(Block(kind, start, self._length, level, intro, line))
        return len(self.blocks) - 1

    def put(self, kind: BlockKind, text: str, level: int = 0, *, more: bool = False, line: int = 0) -> None:
        """Append a block: a line of code, an item or `more` of the last item, or any other; then the notes held."""
        if kind is BlockKind.CODE:
            self.code(text.rstrip(), line)
            return
        text = text.strip()
        if kind is BlockKind.ITEM:
            row = self.more_of_item(text, line) if more else self.item(text, level, line)
        else:
            row = self.add(kind, text, level=level * (kind is BlockKind.HEADING), line=line)
        self.notes(row, self.held)

    def item(self, text: str, level: int, line: int = 0) -> int:
        """Append an item of a list that is known by its depth only, read with the item or paragraph above it."""
        self._end_code()
        level = max(1, min(level, _DEEPEST_LIST))
        last = len(self.blocks) - 1
        if last < 0 or last != self._last_item:
            self._intros, last = [self.introducing()], self.introducing()
        self._intros += [last] * (level - len(self._intros))
        del self._intros[level:]
        row = self.add(BlockKind.ITEM, text, level=level, intro=self._intros[-1], line=line)
        self._last_item = self._item = len(self.blocks) - 1
        return row

    def code(self, text: str, line: int = 0) -> None:
        """Append a line of code; lines that follow each other are one block, the notes held stand below it."""
        self._code_line = self._code_line if self._code else line
        self._code.append(text)
        self._code_notes += self.held
        self.held.clear()

    def _end_code(self) -> None:
        if self._code:
            code, self._code = "\n".join(self._code), []
            row = self.add(BlockKind.CODE, code, intro=self.introducing(), line=self._code_line)
            self.notes(row, self._code_notes)

    def more_of_item(self, text: str, line: int = 0) -> int:
        """Append a further paragraph of the item before it, read with that item."""
        self._end_code()
        is_inside = bool(self.blocks) and self._last_item == len(self.blocks) - 1
        row = self.add(BlockKind.PARAGRAPH, text, intro=self._item if is_inside else -1, line=line)
        self._last_item = row if is_inside and row >= 0 else self._last_item
        return row

    def notes(self, row: int, texts: list[str]) -> None:
        """Append the notes of the block at `row`, -1 for none, and empty their list; those of an item stand among the
        items of its list."""
        is_item = row >= 0 and self.blocks[row].kind is BlockKind.ITEM
        for text in texts:
            if is_item:
                self.more_of_item(text)
            else:
                self.add(BlockKind.PARAGRAPH, text, intro=row)
                self._noted = len(self.blocks), row
        texts.clear()

    def margins(self, margin: "Outline") -> None:
        """Append headers or footers of pages, each text once, without mere page numbers."""
        margin._end_code()
        self.hidden += margin.hidden
        for text in map(margin.text_of, range(len(margin.blocks))):
            if text not in self._margins and not _NUMBERED.fullmatch(text):
                self.add(BlockKind.PARAGRAPH, text)
            self._margins.add(text)

    def introducing(self) -> int:
        """The row of the last block but notes, if a list or code may be read with it (paragraph or item), else -1."""
        self._end_code()
        end, noted = self._noted
        row = noted if end == len(self.blocks) else len(self.blocks) - 1
        return row if row >= 0 and self.blocks[row].kind in _READ_WITH else -1

    def announcement(self) -> int:
        """The row of the last block where it announces what follows by a colon, else -1."""
        row = self.introducing()
        return row if row >= 0 and self.text_of(row).rstrip().endswith((":", "：")) else -1

    def change(self, row: int, kind: BlockKind) -> None:
        """Change the kind of the block at `row`."""
        self.blocks[row] = self.blocks[row]._replace(kind=kind)

    def text_of(self, row: int) -> str:
        """The text of the block at `row`."""
        return self._parts[2 * row + 1]

    def text(self) -> str:
        """The text of the document."""
        return "".join(self._parts)

    def loaded(self, title: str, *, fragment: str = "") -> LoadedDocument:
        """The document with this title; a paragraph that says the title and nothing else is its heading."""
        self._end_code()
        self.notes(-1, self.held)
        name = one_line(clean(title))
        for row, block in enumerate(self.blocks):
            if block.kind is BlockKind.PARAGRAPH and one_line(self.text_of(row)) == name:
                self.blocks[row] = block._replace(kind=BlockKind.HEADING, level=1, intro=-1)
        return LoadedDocument(
            self.text(), name, fragment=fragment, hidden=self.hidden, blocks=tuple(self.blocks)
        )

    def append(self, other: "Outline", line: int = 0) -> None:
        """Append the blocks of another outline, read with what announces them; those without a line get this one."""
        lead, first = self.announcement(), len(self.blocks)
        self.hidden += other.hidden
        for row, (kind, _, _, level, intro, own, _) in enumerate(other.blocks):
            self.add(
                kind,
                other.text_of(row),
                level=level,
                intro=first + intro if intro >= 0 else lead,
                gap=other._parts[2 * row] or APART,
                line=own or line,
            )

    def table(
        self,
        rows: Sequence[Sequence[Cell]],
        *,
        header: int = 0,
        caption: str = "",
        intro: int = -1,
        kind: BlockKind = BlockKind.ROW,
        lines: Sequence[int] = (),
    ) -> None:
        """Append a table whose first `header` rows hold names of columns, 0 where the file does not say how many;
        `lines` are those of the rows."""
        grid, gap, line = grid_of(rows, header), APART, lines[0] if lines else 0
        for title in filter(None, [caption, *grid.titles]):
            row = self.add(
                BlockKind.PARAGRAPH if kind is BlockKind.ROW else kind, title, intro=intro, gap=gap, line=line
            )
            intro, gap = (row, TIGHT) if row >= 0 else (intro, gap)
        below = grid.rows if grid.names else pairs(grid.rows)
        if kind is BlockKind.ROW and max((len(row.cells) for row in below), default=0) == 1:
            kind = BlockKind.PARAGRAPH  # no table: lines below each other
        self.rows(grid.names, below, intro=intro, kind=kind, gap=gap, line=line, lines=lines)
        self.notes(-1, self.held)

    def rows(
        self,
        names: Sequence[str],
        rows: Iterable[Row],
        *,
        intro: int = -1,
        kind: BlockKind = BlockKind.ROW,
        gap: str = APART,
        line: int = 0,
        lines: Sequence[int] = (),
    ) -> None:
        """Append the rows of a table as `grid.told` says them, each a line; the names by themselves are an aside.

        `line` is that of the names, 0 if unknown. The `place` of a row is its line, or an index into `lines` if given.
        """
        top = self.add(BlockKind.ASIDE, " | ".join(filter(None, names)), intro=intro, gap=gap, line=line)
        above = top if top >= 0 else intro
        for number, row in enumerate(told(names, rows)):
            self.add(
                BlockKind.ASIDE if row.is_section else kind,
                row.text,
                intro=above if row.is_plain else intro,
                gap=TIGHT if top >= 0 or number else gap,
                line=lines[row.place] if lines else line and row.place,
            )


@dataclass(slots=True)
class Runs:
    """The text of a paragraph, run by run: hidden runs are only counted, raised and lowered ones are marked."""

    outline: Outline
    parts: list[str] = field(default_factory=list)

    def add(self, text: str, *, shows: bool = True, place: str = "") -> None:
        """Append a run; `place` is "super" or "sub" for one above or below the line."""
        if shows:
            self.parts.append(placed(text, self.parts[-1] if self.parts else "", place))
        else:
            self.outline.hidden += len(one_line(text))

    def text(self) -> str:
        """All of it."""
        return "".join(self.parts)
