"""A document's text as it is laid out: headings, paragraphs, lists, code and tables, from the tree of its blocks.

Only where things stand is said, never their text: whoever draws them slices the same text that quotes are cut from, so
nothing of a document's own markup is ever shown as markup.
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
"""From where to where, and how it is set: "", "strong", "em" or "code"."""
DEEPEST = 6
_BULLET = re.compile(r"[-*+•‣◦·–][ \t]++")
_INLINE = re.compile(
    r"`([^`\n]++)`|\*\*([^*\n]++)\*\*|__([^_\n]++)__|(?<!\w)[*_]([^*_\s][^*_\n]*+)[*_](?!\w)"
    r"|!?\[([^\[\]\n]++)\]\((?:[^()\s]++|\([^()\s]*+\))*+\)"
)
_STYLES = ("code", "strong", "strong", "em", "")
_BETWEEN = "; "


class Node(BaseModel):
    """A part of a document. A table has `head`, where its columns' names stand, and `rows` of cells; all else `runs`
    of its text; the `bullet` of an item is left to who draws it. What is between the runs is marks that set it."""

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
    """Whether what stands between signs of Markdown in this file is meant so."""
    kind = kind_of(Path(source.partition("#")[0]))
    return LOADERS.get(kind, "").endswith(":load_markdown")


class _Drawing:
    """One look at a document."""

    def __init__(self, document: Document, start: int, end: int) -> None:
        self.text, self.start, self.end = document.text, start, end
        self.blocks = [one for one in document.blocks if one.end > start and one.start < end]
        self.markdown = is_markdown(document.source)

    def nodes(self) -> Iterator[Node]:
        rows: list[Block] = []
        for row, block in enumerate(self.blocks):
            if block.kind is BlockKind.ROW or self._is_head(row):
                rows.append(block)
                continue
            if rows:
                yield self._table(rows)
                rows = []
            if node := self._node(block):
                yield node
        if rows:
            yield self._table(rows)

    def _is_head(self, row: int) -> bool:
        """Whether names of columns, or a rule below them, stand here right above a row."""
        for block, below in zip(self.blocks[row:], self.blocks[row + 1 :], strict=False):
            joined = self.text[block.end : below.start].strip(" ") == "\n"
            if (
                block.kind is not BlockKind.ASIDE
                or not joined
                or "|" not in self.text[block.start : block.end]
            ):
                return False
            if below.kind is BlockKind.ROW:
                return True
        return False

    def _node(self, block: Block) -> Node | None:
        start, said = block.start, self.text[block.start : block.end]
        if not any(map(str.isalnum, said)):
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
        lines = self.text[block.start : block.end].split("\n")
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
        """What of them lies in the part that is looked at."""
        inside = [(max(begin, self.start), min(stop, self.end), style) for begin, stop, style in runs]
        return [run for run in inside if run[0] < run[1]]

    def _table(self, blocks: Sequence[Block]) -> Node:
        heads = [one for one in blocks if one.kind is BlockKind.ASIDE]
        rows = [one for one in blocks if one.kind is BlockKind.ROW]
        named = next((one for one in heads if any(map(str.isalnum, self.text[one.start : one.end]))), None)
        head = self._split(named) if named else self._names(rows[0])
        names = [self.text[start:end] for start, end in head]
        cells = [[self._runs(*cell) for cell in self._cells(row, names)] for row in rows]
        return Node(kind="table", head=[cell for cell in head if names], rows=cells)

    def _split(self, block: Block) -> list[Range]:
        """The cells between bars."""
        cells, at = [], block.start
        for part in self.text[block.start : block.end].split("|"):
            left = at + len(part) - len(part.lstrip())
            cells.append((left, max(left, at + len(part.rstrip()))))
            at += len(part) + 1
        return cells[bool(cells[0][0] == cells[0][1]) : len(cells) - (cells[-1][0] == cells[-1][1])]

    def _names(self, row: Block) -> list[Range]:
        """The names that a row says of its columns itself, where each cell has one."""
        names, at = [], row.start
        for pair in self.text[row.start : row.end].split(_BETWEEN):
            name, colon, _ = pair.partition(": ")
            if not colon:
                return []
            names.append((at, at + len(name)))
            at += len(pair) + len(_BETWEEN)
        return names

    def _cells(self, row: Block, names: Sequence[str]) -> list[Range]:
        """A cell for each name, empty where the row does not have it; one cell where the row is of another form."""
        said = self.text[row.start : row.end]
        starts = [-1] * len(names)
        at = 0
        for column, name in enumerate(names):
            lead = f"{name}: " if at == 0 else f"{_BETWEEN}{name}: "
            place = said.find(lead, at) if name else -1
            if place == 0 or (place > 0 and at > 0):
                starts[column] = at = place + len(lead)
        found = [column for column in range(len(names)) if starts[column] >= 0]
        if not found:
            split = self._split(row) if "|" in said else []
            return split if len(split) == len(names) else [(row.start, row.end)]
        cells = [(row.start, row.start)] * len(names)
        for column, after in zip(found, [*found[1:], None], strict=True):
            end = len(said) if after is None else starts[after] - len(f"{_BETWEEN}{names[after]}: ")
            cells[column] = (row.start + starts[column], row.start + end)
        return cells
