"""A document's text as it is laid out: headings, paragraphs, lists, code and tables, from the tree of its blocks.

It gives offsets, never text: the client slices the same text that quotes are cut from, so a document's own markup is
never shown as markup.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from equipoise.core.types import Block, BlockKind, Document
from equipoise.corpus.loaders import LOADERS, kind_of

Range = tuple[int, int]
Run = tuple[int, int, str]
"""(start, end, style); the style is "", "strong", "em" or "code"."""
DEEPEST = 6
_BULLET = re.compile(r"[-*+•‣◦·–][ \t]++")
_INLINE = re.compile(
    r"`([^`\n]++)`|\*\*([^*\n]++)\*\*|__([^_\n]++)__|(?<!\w)[*_]([^*_\s][^*_\n]*+)[*_](?!\w)"
    r"|!?\[([^\[\]\n]++)\]\((?:[^()\s]++|\([^()\s]*+\))*+\)"
)
_STYLES = ("code", "strong", "strong", "em", "")
_BETWEEN, _COLON = "; ", ": "


class Node(BaseModel):
    """A part of a document. A table has `head`, the places of its columns' names, and `rows` of cells, of which a
    single one spans all columns; all else has `runs` of its text, without the marks that set it. With `bullet` the
    client draws an item's bullet."""

    kind: Literal["heading", "paragraph", "item", "code", "note", "table"]
    level: int = 0
    bullet: bool = False
    runs: list[Run] = []
    head: list[Range] = []
    rows: list[list[list[Run]]] = []


def laid_out(document: Document, start: int, end: int) -> list[Node]:
    """The parts of `document` that stand in its text from `start` to `end`, cut there."""
    if not document.blocks:
        return [Node(kind="code", runs=[(start, end, "")])] if start < end else []
    return list(_Drawing(document, start, end).nodes())


def is_markdown(source: str) -> bool:
    """Whether this file is Markdown, so that Markdown's signs in it are markup."""
    kind = kind_of(Path(source.partition("#")[0]))
    return LOADERS.get(kind, "").endswith(":load_markdown")


class _Drawing:
    """Lays out a range of a document."""

    def __init__(self, document: Document, start: int, end: int) -> None:
        self.text, self.start, self.end = document.text, start, end
        self.blocks = [one for one in document.blocks if one.start < end]
        self.markdown = is_markdown(document.source)

    def nodes(self) -> Iterator[Node]:
        at = 0
        while at < len(self.blocks):
            after = self._table_end(at)
            part = self.blocks[at : max(at + 1, after)]
            if part[-1].end > self.start and (
                node := self._table(part) if after > at else self._node(part[0])
            ):
                yield node
            at += len(part)

    def _table_end(self, at: int) -> int:
        """The row after the table that begins with block `at`, or `at` if none does. A table has rows, column names
        with a bar between them right above the first, and lines that span all columns right above others."""
        if self.blocks[at].kind is not BlockKind.ROW and "|" not in self._said(self.blocks[at]):
            return at
        after = end = at
        while end < len(self.blocks) and self._goes_on(at, end):
            end += 1
            after = end if self.blocks[end - 1].kind is BlockKind.ROW else after
        return after

    def _goes_on(self, first: int, at: int) -> bool:
        """Whether the table that begins with the block `first` may go on with this one."""
        above, block = self.blocks[max(first, at - 1)], self.blocks[at]
        joined = at == first or self.text[above.end : block.start].strip(" ") == "\n"
        are_rows = block.kind is BlockKind.ROW and above.kind is BlockKind.ROW
        return are_rows or (joined and block.kind in {BlockKind.ROW, BlockKind.ASIDE})

    def _said(self, block: Block) -> str:
        return self.text[block.start : block.end]

    def _has_words(self, block: Block) -> bool:
        return any(map(str.isalnum, self._said(block)))

    def _node(self, block: Block) -> Node | None:
        start, said = block.start, self._said(block)
        if not self._has_words(block):
            return None
        if block.kind is BlockKind.CODE:
            return Node(kind="code", runs=self._cut([(*self._unfenced(block), "")]))
        if block.kind is BlockKind.ITEM:
            found = _BULLET.match(said)
            runs = self._runs(start + (found.end() if found else 0), block.end)
            return Node(kind="item", level=block.level, bullet=bool(found), runs=runs)
        if block.kind is BlockKind.HEADING:
            return Node(
                kind="heading", level=min(max(block.level, 1), DEEPEST), runs=self._runs(*self._bare(block))
            )
        kind: Literal["note", "paragraph"] = "note" if block.kind is BlockKind.ASIDE else "paragraph"
        return Node(kind=kind, runs=self._runs(*self._bare(block)))

    def _bare(self, block: Block) -> Range:
        """Without the signs that make it a heading or a quotation."""
        start, end = block.start, block.end
        if not self.markdown:
            return start, end
        said = self.text[start:end]
        end -= len(said) - len(said.rstrip("#=- \n")) if block.kind is BlockKind.HEADING else 0
        return start + len(said) - len(said.lstrip("#> " if block.kind is BlockKind.HEADING else "> ")), end

    def _unfenced(self, block: Block) -> Range:
        lines = self._said(block).split("\n")
        if len(lines) < 2 or not lines[0].startswith(("```", "~~~")):
            return block.start, block.end
        closed = lines[-1].startswith(lines[0][:3])
        return block.start + len(lines[0]) + 1, block.end - (len(lines[-1]) + 1 if closed else 0)

    def _runs(self, start: int, end: int) -> list[Run]:
        if not self.markdown:
            return self._cut([(start, end, "")])
        runs, at = [], start
        for found in _INLINE.finditer(self.text, start, end):
            group = found.lastindex or 0
            runs += [(at, found.start(), ""), (*found.span(group), _STYLES[group - 1])]
            at = found.end()
        return self._cut([*runs, (at, end, "")])

    def _cut(self, runs: Sequence[Run]) -> list[Run]:
        """The runs, cut to the range that is laid out."""
        inside = [(max(begin, self.start), min(stop, self.end), style) for begin, stop, style in runs]
        return [run for run in inside if run[0] < run[1]]

    def _table(self, blocks: Sequence[Block]) -> Node:
        """The table of these blocks, to its end, without the rows before the range that is laid out."""
        first = next((one for one in blocks if one.kind is BlockKind.ROW or self._has_words(one)), blocks[0])
        named = first if first.kind is BlockKind.ASIDE else None
        others = [one for one in blocks if one is not named]
        rows = [one for one in others if one.kind is BlockKind.ROW or self._has_words(one)]
        head = self._split(named) if named else self._names(rows[0])
        names = [self.text[start:end] for start, end in head]
        if any(_is_unnamed(self._said(row), names) for row in rows):
            head, names = [(head[0][0], head[0][0]), *head], ["", *names]
        cells, section = [], ""
        for row in rows:
            section = self._said(row) if row.kind is BlockKind.ASIDE else section
            if row.end > self.start:
                cells.append([self._runs(*cell) for cell in self._cells(row, names, section)])
        if head and head[0][0] < self.start:
            head = self._names_in(rows, names)
        return Node(kind="table", head=head, rows=cells)

    def _split(self, block: Block) -> list[Range]:
        """The cells between bars."""
        cells, at = [], block.start
        for part in self._said(block).split("|"):
            left = at + len(part) - len(part.lstrip())
            cells.append((left, max(left, at + len(part.rstrip()))))
            at += len(part) + 1
        return cells[bool(cells[0][0] == cells[0][1]) : len(cells) - (cells[-1][0] == cells[-1][1])]

    def _names(self, row: Block) -> list[Range]:
        """The column names in a row whose several cells all have one ("name: value"); else none."""
        names, at = [], row.start
        for pair in self._said(row).split(_BETWEEN):
            name, colon, _ = pair.partition(_COLON)
            if not colon:
                return []
            names.append((at, at + len(name)))
            at += len(pair) + len(_BETWEEN)
        return names if len(names) > 1 else []

    def _names_in(self, rows: Sequence[Block], names: Sequence[str]) -> list[Range]:
        """Where rows within the range repeat these names, for a table whose own heading is before it."""
        found: dict[int, Range] = {}
        for row in rows:
            if self.start <= row.start and row.end <= self.end:
                for column, (_, value) in _places(self._said(row), names).items():
                    end = row.start + value - len(_COLON) * bool(names[column])
                    found.setdefault(column, (end - len(names[column]), end))
        return [found.get(column, (self.start, self.start)) for column in range(len(names))] if found else []

    def _cells(self, row: Block, names: Sequence[str], section: str) -> list[Range]:
        """A cell for each name, empty where the row does not have it; one cell where the row is of another form. The
        `section` that the row stands in is left out where the row says it behind its first cell."""
        said = self._said(row)
        found = _places(said, names)
        if not found:
            split = self._split(row) if "|" in said else []
            return split if len(split) == len(names) > 0 else [(row.start, row.end)]
        cells = [(row.start, row.start)] * len(names)
        ends = [*(place for place, _ in found.values()), len(said)][1:]
        if section and said.endswith(again := f"{_BETWEEN}{section}", 0, ends[0]):
            ends[0] -= len(again)
        for (column, (_, value)), end in zip(found.items(), ends, strict=True):
            cells[column] = (row.start + value, row.start + end)
        return cells


def _places(said: str, names: Sequence[str]) -> dict[int, Range]:
    """By column, in order: where in a row its cell begins, with the separator before it, and where its value does. The
    first column may have no name."""
    found: dict[int, Range] = {}
    at = 0
    for column, name in enumerate(names):
        lead = f"{name}{_COLON}"
        if name and not found and said.startswith(lead):
            at = len(lead)
            found[column] = (0, at)
        elif name and (found or not names[0]) and (place := said.find(_BETWEEN + lead, at)) > 0:
            at = place + len(_BETWEEN + lead)
            found[column] = (place, at)
    first = min(found.values(), default=(0, 0))
    return {0: (0, 0)} | found if first[0] > 0 else found


def _is_unnamed(said: str, names: Sequence[str]) -> bool:
    """Whether the first cell of a row is of a column that is not among the names."""
    return bool(names) and f"{_BETWEEN}{names[0]}{_COLON}" in said and not _places(said, names)
