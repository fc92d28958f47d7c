"""AsciiDoc: the source text, each block with its line in the file; tables become rows, comments are left out."""

import re
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, repeat
from pathlib import Path

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.corpus.loaders.marked import Marked
from equipoise.corpus.loaders.outline import TIGHT, Outline

_HEADING = re.compile(r"(={1,6})[ \t]++(?=\S)")
_ITEM = re.compile(r"[ \t]*+(?:(\*{1,5}|-|\.{1,5})|\d{1,4}[.)])[ \t]++(?=\S)")
_TERM = re.compile(r"[^:\n]*+(?::(?!:)[^:\n]*+)*+(:{2,4})(?:[ \t]|\Z)")
_DIRECTIVE = re.compile(
    r":!?[\w-]++!?:(?:[ \t]|\Z)|\[[^\]\n]*+\][ \t]*+\Z|(?:include|toc|ifdef|ifndef|endif)::"
)
_FENCE = re.compile(r"(?:-{4,}|\.{4,}|={4,}|_{4,}|\*{4,}|\+{4,}|/{4,}|\|={3,}|--|`{3,}[\w-]*+)[ \t]*+\Z")
_COMMENT = re.compile(r"\[[ \t]*+comment(?:[,#.%][^\]\n]*+)?+\][ \t]*+\Z")
_TITLE = re.compile(r"\.\.?[^ \t.]")
_STRUCK = re.compile(r"\[\.?line-through\](?:#[^#\n]++#|\*[^*\n]++\*)")
_CODE = frozenset("-.+`")  # what fences of code begin with
_LEADS = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
_DEEPEST = 8
_BAR = re.compile(r"(?<!\\)\|")
_SPEC = re.compile(
    r"(?:^|(?<=\s))(?:(\d{1,3})?(?:\.(\d{1,3}))?([+*]))?[<^>]?(?:\.[<^>])?([adehlmsv])?\Z", re.MULTILINE
)
_SPECIFIED = re.compile(r"[adehlmsv<^>+*]\|")
_LONGEST_SPEC, _SPEC_ENDS = 12, frozenset("adehlmsv<^>+*")
_PLAIN = ("", 1, 1, 1)
_MOST_TIMES = 100
_COLUMNS = re.compile(r"""\bcols=(?:["']([^"']{1,500})["']|([^,\]\s]{1,9}))""")
_HEADER = re.compile(r"%\s*header|options=[\"']?[\w,]{0,40}header")


def load_adoc(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the source text. Its title is that of the document, else the first heading."""
    reading = _Reading()
    for line in decode(path, data).split("\n"):
        reading.take(line)
    reading.finish()
    return [reading.outline.loaded(reading.title or path.stem)]


@dataclass(slots=True)
class _Reading:
    """Goes through the lines once. `title` is the first heading."""

    outline: Outline = field(default_factory=Outline)
    title: str = ""
    _kind: BlockKind = BlockKind.PARAGRAPH  # of the lines that are being read
    _lines: list[str] = field(default_factory=list)
    _table: list[str] = field(default_factory=list)
    _begun: tuple[int, int] = (0, -1)  # level and intro of the lines that are being read
    _fence: str = ""
    _comment: str = ""  # of the style "comment": "next" before its block, "--" or "paragraph" inside
    _number: int = 0
    _last: int = 0  # the line that the last block ends on
    _intro: int = -1
    _term: int = -1
    _items: list[tuple[str, int]] = field(default_factory=list)

    def take(self, line: str) -> None:
        """The next line."""
        self._number += 1
        bare = line.rstrip()
        if self._fence[:1] == "|" and bare != self._fence and "line-through" not in bare:
            self._table.append(bare)
            return
        may_be = self._comment or line.startswith(("//", "[")) or self._fence.startswith("//")
        if may_be and (self._is_styled(line, bare) or self._is_comment(line)):
            self.outline.hidden += len(one_line(line))
            self.end(self._number - 1)
            return
        if "line-through" in line:
            self.outline.hidden += sum(len(one_line(struck)) for struck in _STRUCK.findall(line))
            line = _STRUCK.sub(lambda struck: " " * len(struck.group()), line)
            bare = line.rstrip()
        if self._fence and bare == self._fence:
            self._close_fence(line)
        elif self._fence[:1] == "|":
            self._table.append(bare)
        elif self._fence:
            self._go_on(BlockKind.CODE, line, intro=self._intro)
        elif not bare:
            self.end(self._number - 1)
        elif line[0].isalpha() and "::" not in line:
            self._run_on(line)
        elif _FENCE.match(line) and not (self._lines and self._kind is BlockKind.CODE):
            self._open_fence(line, bare)
        else:
            self._take_line(line)

    def _is_comment(self, line: str) -> bool:
        bare = line.rstrip()
        if self._fence.startswith("//"):
            self._fence = "" if bare == self._fence else self._fence
            return True
        if not self._fence and line.startswith("////") and _FENCE.match(line):
            self._fence = bare
            return True
        return not self._fence and line.startswith("//") and not line.startswith("///")

    def _is_styled(self, line: str, bare: str) -> bool:
        """Whether a line belongs to an open block or a paragraph of the style "comment"."""
        if self._comment == "--":
            self._comment = "" if bare == "--" else "--"
            return True
        if self._fence:
            return False
        if _COMMENT.match(line):
            self._comment = "next"
            return True
        if not self._comment:
            return False
        said = _DIRECTIVE.match(line)
        begins = said or _FENCE.match(line)
        if self._comment == "paragraph":
            self._comment = "paragraph" if bare and not begins else ""
        elif bare == "--":
            self._comment = "--"
        elif not bare or said or line.startswith("//"):
            return False
        else:
            begins = begins or _HEADING.match(line) or _ITEM.match(line) or _TERM.match(line)
            self._comment = "" if begins else "next" if _TITLE.match(line) else "paragraph"
        return self._comment != ""

    def _open_fence(self, line: str, bare: str) -> None:
        is_block = bare != "--" and bare[0] in _CODE | {"|"}
        self._fence = ("```" if bare[0] == "`" else bare) if is_block else ""
        self._single(BlockKind.ASIDE, line)

    def _close_fence(self, line: str) -> None:
        self.end(self._number - 1)
        if self._fence.startswith("|"):
            self._end_table()
        self._fence = ""
        self._single(BlockKind.ASIDE, line)

    def _end_table(self) -> None:
        """Append the table that ends; its lines as they are if they make no table."""
        lines, self._table = self._table, []
        above = len(self.outline.blocks) - 2  # the block above the fence
        table = _table(self.outline.text_of(above) if above >= 0 else "", lines, self._number - len(lines))
        if table.rows:
            self.outline.table(table.rows, header=table.header, lines=table.lines)
        else:
            self._add_lines(lines, self._number)
        self._last, self._intro = self._number - 1, -1

    def _add_lines(self, lines: list[str], end: int) -> None:
        for number, line in enumerate(lines, end - len(lines)):
            self.outline.add(BlockKind.ROW, line, gap=TIGHT, line=number)

    def finish(self) -> None:
        """End the last block; a table that never ends is added line by line."""
        self.end(self._number)
        self._add_lines(self._table, self._number + 1)

    def _take_line(self, line: str) -> None:
        """A line outside of code and tables."""
        if heading := _HEADING.match(line):
            self.title = self.title or one_line(line[heading.end() :])
            self._intro = self._term = -1
            self._single(BlockKind.HEADING, line, level=len(heading[1]))
        elif _DIRECTIVE.match(line) or line.rstrip() in {"+", "'" * 3, "<<<"}:
            self._single(BlockKind.ASIDE, line)
        elif item := _ITEM.match(line):
            self._start_item(item[1] or "1", line)
        elif term := _TERM.match(line):
            self._start_term(line, is_label=not line[term.end() :].strip())
        elif not self._lines and line.startswith(" ") and self._term < 0:
            self._go_on(BlockKind.CODE, line, intro=self._intro)
        elif not self._lines and line.startswith(".") and not line.startswith(".."):
            self._intro = self._single(BlockKind.PARAGRAPH, line)
        else:
            self._run_on(line)

    def _run_on(self, line: str) -> None:
        """A line without marks: it continues the open block, explains a term, or begins a paragraph."""
        if not self._lines and self._term >= 0:
            self._go_on(BlockKind.ITEM, line, intro=self._term, level=1)
            self._term = -1
        else:
            self._go_on(BlockKind.PARAGRAPH, line)

    def _start_item(self, mark: str, line: str) -> None:
        """A list item; a mark that none of the open lists has begins a list inside the innermost."""
        self.end(self._number - 1)
        known = [outer for outer, _ in self._items]
        if mark in known:
            del self._items[known.index(mark) + 1 :]
        else:
            self._items = [*self._items[:_DEEPEST], (mark, self._intro)]
        self._go_on(BlockKind.ITEM, line, intro=self._items[-1][1], level=len(self._items))

    def _start_term(self, line: str, *, is_label: bool) -> None:
        if is_label:
            self._term = self._single(BlockKind.ASIDE, line)
        else:
            self.end(self._number - 1)
            self._go_on(BlockKind.ITEM, line, level=1)

    def _go_on(self, kind: BlockKind, line: str, *, intro: int = -1, level: int = 0) -> None:
        """Add a line to the block that is being read, or begin one."""
        if not self._lines:
            self._kind, self._begun = kind, (level, intro)
        self._lines.append(line)

    def _single(self, kind: BlockKind, line: str, *, level: int = 0) -> int:
        """Append a block of one line and return its row."""
        self.end(self._number - 1)
        return self._add(kind, line.rstrip(), self._number, level, -1)

    def end(self, last: int) -> None:
        """The block that is being read ends on line `last`."""
        if self._lines:
            first = last - len(self._lines) + 1
            text = "\n".join(self._lines).rstrip()
            self._lines = []
            if text:
                self._add(self._kind, text, first, *self._begun)

    def _add(self, kind: BlockKind, text: str, first: int, level: int, intro: int) -> int:
        """Append a block that begins on line `first` and return its row."""
        gap = "\n" * (first - self._last) if first > self._last else "\n"
        row = self.outline.add(kind, text, level=level, intro=intro, gap=gap, line=first)
        self._last = first + text.count("\n")
        if kind is BlockKind.ASIDE:
            return row
        if kind is not BlockKind.ITEM:
            self._items = []
        self._intro = row if kind in _LEADS else -1
        return row


def _table(said: str, lines: list[str], number: int) -> Marked:
    """The table in `lines`, the first of which has this `number` in the file. Its cells fill rows in order, whatever
    lines they are on: `said`, the line above it, or the cells on its first line tell how many columns there are. A
    first line with a blank one below it names the columns. No rows for another format, or for one row or column."""
    cells, at, specs = ([], [], []) if "format=" in said else _cells(lines)
    if not cells:
        return Marked([], [], 0)
    wide = sum(cell.columns for cell in cells[: at.count(at[0])]) if specs else at.count(at[0])
    columns = _columns(said) or wide
    alone = lines[at[0]].count("|") > 1 and not any(lines[at[0] + 1 : at[0] + 2])
    header = int(alone or _HEADER.search(said) is not None)
    starts = list(range(0, len(cells), columns))
    if specs:
        starts, names = _row_starts(cells, columns, specs)
        header = max(header, names)
    rows = [cells[low:high] for low, high in pairwise([*starts, len(cells)])]
    places = [number + at[start] for start in starts]
    return Marked(rows, places, header) if len(rows) > 1 and columns > 1 else Marked([], [], 0)


def _row_starts(cells: list[Cell], columns: int, styles: list[str]) -> tuple[list[int], int]:
    """The index of the first cell of each row, and how many rows at the top have only header cells (style "h")."""
    starts: list[int] = []
    below: list[tuple[int, int]] = []  # of cells that span rows: how many rows are left, and their columns
    room = header = 0
    named = next((at for at, style in enumerate(styles) if style != "h"), len(styles))
    for number, cell in enumerate(cells):
        if room <= 0:
            header = len(starts) if number <= named else header
            below = [(left - 1, wide) for left, wide in below if left > 1]
            room = columns - sum(wide for _, wide in below)
            starts.append(number)
        if cell.rows > 1:
            below.append((cell.rows, cell.columns))
        room -= cell.columns
    return starts, header


def _cells(lines: list[str]) -> tuple[list[Cell], list[int], list[str]]:
    """The cells of a table, the index of the line that each begins on, and the style of each, no styles if no cell has
    a specifier. A line without a bar continues the cell above it."""
    text = "\n".join(lines)
    pieces = _BAR.split(text) if "\\" in text else text.split("|")
    at = [*accumulate(map(str.count, pieces[:-1], repeat("\n")))]
    said = [_PLAIN] * len(at)
    specified = _SPECIFIED.search(text) is not None
    for number, piece in enumerate(pieces[:-1] if specified else ()):
        if piece[-1:] in _SPEC_ENDS:
            pieces[number], said[number] = _spec(piece)
    texts = [" ".join(piece.split()) for piece in pieces[1:]]
    if "\\" in text:
        texts = [one.replace("\\|", "|") for one in texts]
    if not specified:
        return [*map(Cell, texts)], at, []
    every = [
        (Cell(one, rows, columns), place, style)
        for one, place, (style, rows, columns, times) in zip(texts, at, said, strict=True)
        for _ in range(times)
    ]
    return [cell for cell, _, _ in every], [place for _, place, _ in every], [style for _, _, style in every]


def _spec(piece: str) -> tuple[str, tuple[str, int, int, int]]:
    """What stands before a bar, split into the text of one cell and the specifier of the next: its style, how many rows
    and columns it spans, and how often it is repeated."""
    spec = _SPEC.search(piece, max(0, len(piece) - _LONGEST_SPEC))
    if spec is None:
        return piece, _PLAIN
    down, many = int(spec[2] or 1), int(spec[1] or 1)
    times = (down, many, 1) if spec[3] == "+" else (1, 1, min(many, _MOST_TIMES))
    return piece[: spec.start()], (spec[4] or "", *times)


def _columns(said: str) -> int:
    """How many columns the line above a table says it has, 0 where it does not."""
    found = _COLUMNS.search(said)
    parts = re.split("[,;]", found[1] or found[2]) if found else []
    return sum(
        int(part.partition("*")[0][:3]) if "*" in part and part.strip()[0].isdecimal() else 1
        for part in parts
    )
