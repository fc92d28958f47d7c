"""The blocks of a plain text: headings, paragraphs, list items, code, rows, and asides.

Markdown, reStructuredText and plain text are read by the same rules, whatever the file's name: their marks hardly
differ. Two passes: over the lines (`_Lines`), which finds stretches and their kinds, and over the stretches, where
neighbours decide (`roles.settled`). Time grows linearly with the text.
"""

from dataclasses import dataclass

from equipoise.core.types import Block, BlockKind
from equipoise.text import lines
from equipoise.text.labels import is_name
from equipoise.text.lines import Line
from equipoise.text.roles import LITERAL, TERM, Stretch, settled
from equipoise.text.unmarked import mark_items

_FRONT = "---"
_ASIDES = (lines.is_contents, lines.is_border, lines.is_definition)
_UNDERLINED = 200  # characters of a line that may be a heading with a rule below it
_MARKED = ("**", "``")  # around a term
_DEEPER = 2  # spaces that a definition is indented by below its term


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of `text`, in order, not overlapping; what lies between them is white space only.

    No block crosses a blank line, but for code. `line` is 0: whoever knows the file counts its lines.
    """
    reading = _Lines(text)
    for line in lines.lines(text):
        reading.take(line)
    mark_items(reading.stretches)
    return settled(text, reading.stretches, reading.marks)


@dataclass(slots=True)
class _Region:
    """Lines that are indented by at least `indent` belong to one stretch, whatever they hold."""

    indent: int
    kind: BlockKind


class _Lines:
    """One pass over the lines."""

    def __init__(self, text: str) -> None:
        self.stretches: list[Stretch] = []
        self.marks: list[tuple[int, int]] = []  # blank lines of a quotation: its mark and nothing else
        self._fence = ""
        self._region: _Region | None = None
        self._open = self._in_list = self._quoted = False
        self._blank = True  # the line before was
        self._columns = False  # rows of a table without bars
        self._before = ""  # the line before, empty where nothing goes on from it
        self._front = text.startswith(_FRONT) and f"\n{_FRONT}\n" in text[3:]

    def take(self, line: Line) -> None:
        """The next line."""
        bare = line.bare
        if self._fence:
            self._fenced(line, bare)
        elif not bare:
            self._open, self._in_list, self._blank, self._before = False, False, True, ""
            self._columns = False
            if line.start < line.end:
                self.marks.append((line.start, line.end))
        elif self._front and not self.stretches:
            self._fence, self._blank = _FRONT, False
            self._add(BlockKind.ASIDE, line)
        elif (fence := lines.fence_of(line.raw)) and not self._underlines(bare):
            self._fence = fence
            self._add(BlockKind.CODE, line)
        elif not self._in_region(line, bare):
            if not self._alone(line, bare):
                self._running(line)
            self._blank = False

    def _fenced(self, line: Line, bare: str) -> None:
        if self._fence == _FRONT and line.start < line.end and bare != _FRONT:
            if line.indent and len(self.stretches) > 1:
                self.stretches[-1].add(line.end, bare)
            else:
                self._add(BlockKind.PARAGRAPH, line)
        elif self._fence == _FRONT and bare:
            self._add(BlockKind.ASIDE, line)
        elif line.start < line.end:  # in code the mark of a quotation is code
            self.stretches[-1].end = line.end
        if bare.startswith(self._fence) and not bare.strip(self._fence[0]):
            self._fence, self._before, self._blank = "", "", False

    def _add(self, kind: BlockKind, line: Line, level: int = 0, style: str = "") -> None:
        bare = line.bare
        self.stretches.append(
            Stretch(
                kind, line.start, line.end, line.indent, self._blank, bare, bare, level=level, style=style
            )
        )
        self._open, self._before, self._in_list = False, "", False

    def _in_region(self, line: Line, bare: str) -> bool:
        """True where the line belongs to indented code, or to what a directive lists."""
        if self._region and line.indent >= self._region.indent and self.stretches:
            if self._defines(line):
                self._region = None
                return False
            self.stretches[-1].add(line.end, bare)
            self._blank = False
            return True
        self._region = self._begun(line, bare) if self._blank and self.stretches else None
        if self._region:
            self._add(self._region.kind, line)
            self._blank = False
        return self._region is not None

    def _begun(self, line: Line, bare: str) -> _Region | None:
        before = self.stretches[-1]
        deeper = line.indent - before.indent
        if before.directive and deeper > 0:
            if before.directive in LITERAL:
                return _Region(before.indent + 1, BlockKind.CODE)
            return _Region(before.indent + 1, BlockKind.ASIDE) if before.lists else None
        if before.last.endswith("::") and deeper > 0 and not before.directive:
            return _Region(before.indent + 1, BlockKind.CODE)
        announced = before.last.endswith(":") and deeper > 1
        apart = deeper > 3 and before.kind is not BlockKind.ITEM and lines.looks_like_code(bare)
        if not (announced or apart) or lines.is_prose(bare):
            return None
        opens = lines.opens_item(line.raw, before="", in_list=False)
        return None if opens else _Region(min(line.indent, before.indent + 4), BlockKind.CODE)

    def _alone(self, line: Line, bare: str) -> bool:
        """Take a line that stands on its own; False for another one."""
        last = self.stretches[-1] if self.stretches and self._open else None
        if last and last.lines == 1 and last.kind is BlockKind.PARAGRAPH and lines.rules_columns(bare):
            last.kind, self._columns = BlockKind.ROW, True
        rule = lines.rule_of(bare)
        level = lines.atx_level(line.raw)
        if rule:
            self._rule(line, rule)
        elif level:
            self._add(BlockKind.HEADING, line, level, "#")
        elif self._separates(bare) or any(told(bare) for told in _ASIDES):
            self._add(BlockKind.ASIDE, line)
        elif self._columns or lines.is_row(line.raw):
            self._add(BlockKind.ROW, line)
        elif lines.is_prompt(line.raw):
            self._prompt(line, bare)
        elif depth := lines.section_depth(line.raw, self._before):
            self._add(BlockKind.HEADING, line, depth, "1")
        else:
            return False
        return True

    def _separates(self, bare: str) -> bool:
        """Whether strokes stand below the names of columns, or alone."""
        return lines.is_separator(bare) and (self._columns or not self._open)

    def _underlines(self, bare: str) -> bool:
        """Whether tildes are the underline of a heading, and open no code."""
        one_line = self._open and self.stretches[-1].lines == 1
        return one_line and self.stretches[-1].may_be_heading and lines.rule_of(bare) == "~"

    def _rule(self, line: Line, mark: str) -> None:
        """A rule is the underline of the single line before it, or stands for itself."""
        last = self.stretches[-1] if self.stretches and self._open else None
        if last is None or last.lines > 1 or last.end - last.start > _UNDERLINED or not last.may_be_heading:
            self._add(BlockKind.ASIDE, line, style=mark)
            return
        last.kind, last.style, last.end = BlockKind.HEADING, mark, line.end
        over = self.stretches[-2] if len(self.stretches) > 1 else None
        if over and over.kind is BlockKind.ASIDE and over.style == mark and not last.gap:
            last.start, last.gap, last.style = over.start, over.gap, f"{mark}{mark}"
            del self.stretches[-2]
        self._open, self._before, self._in_list = False, "", False

    def _prompt(self, line: Line, bare: str) -> None:
        last = self.stretches[-1] if self.stretches else None
        if last and last.style == "$" and not self._blank:
            last.add(line.end, bare)
        else:
            self._add(BlockKind.CODE, line, style="$")

    def _running(self, line: Line) -> None:
        """Prose or a list item: goes on from the line before, or begins."""
        item = lines.opens_item(line.raw, before=self._before, in_list=self._in_list)
        in_list = self._in_list or item
        opens = item or lines.opens_note(line.bare) or lines.opens_entry(line.bare)
        if opens or not self._open or line.quoted is not self._quoted or self._defines(line):
            self._add(BlockKind.ITEM if item else BlockKind.PARAGRAPH, line)
        else:
            self.stretches[-1].add(line.end, line.bare)
        self._open, self._before, self._in_list, self._quoted = True, line.raw, in_list, line.quoted

    def _defines(self, line: Line) -> bool:
        """Whether the line begins what a term above it means, as in a definition list of reStructuredText; the term
        becomes an item."""
        term = self.stretches[-1]
        deeper = term.lines == 1 and not term.style and line.indent >= term.indent + _DEEPER
        if not deeper or not is_name(term.first) or not _may_define(term.kind, line.bare):
            return False
        marked = term.first.startswith(_MARKED) and term.first.endswith(_MARKED)
        if (lines.looks_like_code(term.first) and not marked) or lines.opens_entry(term.first):
            return False
        term.kind, term.style = BlockKind.ITEM, TERM
        return True


def _may_define(kind: BlockKind, bare: str) -> bool:
    """Whether a line may tell what a term means; below what looks like code only prose."""
    return kind is BlockKind.PARAGRAPH or (kind is BlockKind.CODE and lines.is_prose(bare))
