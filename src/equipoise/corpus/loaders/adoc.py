"""AsciiDoc: kept as it is but for the rows of tables, so that lines are those of the file; comments become spaces."""

import re
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders import marked
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line

_HEADING = re.compile(r"(={1,6})[ \t]++(?=\S)")
_ITEM = re.compile(r"[ \t]*+(?:(\*{1,5}|-|\.{1,5})|\d{1,4}[.)])[ \t]++(?=\S)")
_TERM = re.compile(r"[^:\n]*+(?::(?!:)[^:\n]*+)*+(:{2,4})(?:[ \t]|\Z)")
_DIRECTIVE = re.compile(
    r":!?[\w-]++!?:(?:[ \t]|\Z)|\[[^\]\n]*+\][ \t]*+\Z|(?:include|toc|ifdef|ifndef|endif)::"
)
_FENCE = re.compile(r"(?:-{4,}|\.{4,}|={4,}|_{4,}|\*{4,}|\+{4,}|/{4,}|\|={3,}|--|`{3,}[\w-]*+)[ \t]*+\Z")
_STRUCK = re.compile(r"\[\.?line-through\](?:#[^#\n]++#|\*[^*\n]++\*)")
_CODE = frozenset("-.+`")  # what fences of code begin with
_DEEPEST = 8


def load_adoc(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the source text. Its title is that of the document, else the first heading."""
    reading = _Reading(decode(path, data))
    text, blocks = marked.named(reading.read(), reading.blocks, adoc=True)
    return [LoadedDocument(text, reading.title or path.stem, hidden=reading.hidden, blocks=blocks)]


@dataclass(slots=True)
class _Current:
    """A block that is being read."""

    kind: BlockKind
    start: int
    end: int
    line: int
    level: int = 0
    intro: int = -1


class _Reading:
    """Goes through the lines once. `title` is the first heading, `hidden` counts the characters of comments."""

    def __init__(self, text: str) -> None:
        self.title = ""
        self.hidden = 0
        self.blocks: list[Block] = []
        self._lines = text.split("\n")
        self._current: _Current | None = None
        self._fence = ""
        self._place = self._number = 0
        self._intro = self._term = self._header = -1
        self._items: list[tuple[str, int]] = []

    def read(self) -> str:
        """The text, with spaces in place of comments."""
        kept: list[str] = []
        for number, line in enumerate(self._lines, 1):
            self._number = number
            if (line.startswith("//") or self._fence.startswith("//")) and self._is_comment(line):
                self.hidden += len(one_line(line))
                kept.append(" " * len(line))
                self._end()
            else:
                kept.append(self._unstruck(line) if "line-through" in line else line)
                self._take(kept[-1])
            self._place += len(line) + 1
        self._end()
        return "\n".join(kept)

    def _unstruck(self, line: str) -> str:
        """The line with spaces in place of what is crossed out."""
        self.hidden += sum(len(one_line(struck)) for struck in _STRUCK.findall(line))
        return _STRUCK.sub(lambda struck: " " * len(struck.group()), line)

    def _is_comment(self, line: str) -> bool:
        bare = line.rstrip()
        if self._fence.startswith("//"):
            self._fence = "" if bare == self._fence else self._fence
            return True
        if not self._fence and line.startswith("////") and _FENCE.match(line):
            self._fence = bare
            return True
        return not self._fence and line.startswith("//") and not line.startswith("///")

    def _take(self, line: str) -> None:
        bare = line.rstrip()
        if not bare and self._fence[:1] not in _CODE:
            self._end()
        elif self._fence and bare == self._fence:
            self._end()
            self._fence, self._header = "", -1
            self._single(BlockKind.ASIDE, line)
        elif self._fence.startswith("|"):
            self._take_row(line)
        elif self._fence:
            self._go_on(BlockKind.CODE, line, intro=self._intro)
        elif line[0].isalpha() and "::" not in line:
            self._run_on(line)
        elif _FENCE.match(line) and (self._current is None or self._current.kind is not BlockKind.CODE):
            self._open_fence(line, bare)
        else:
            self._take_line(line)

    def _open_fence(self, line: str, bare: str) -> None:
        self._end()
        is_block = bare != "--" and bare[0] in _CODE | {"|"}
        self._fence = ("```" if bare[0] == "`" else bare) if is_block else ""
        self._single(BlockKind.ASIDE, line)

    def _take_line(self, line: str) -> None:
        """A line outside of code and tables."""
        if heading := _HEADING.match(line):
            self._end()
            self.title = self.title or one_line(line[heading.end() :])
            self._intro = self._term = -1
            self._single(BlockKind.HEADING, line, level=len(heading[1]))
        elif _DIRECTIVE.match(line) or line.rstrip() in {"+", "'" * 3, "<<<"}:
            self._end()
            self._single(BlockKind.ASIDE, line)
        elif item := _ITEM.match(line):
            self._start_item(item[1] or "1", line)
        elif term := _TERM.match(line):
            self._start_term(line, is_label=not line[term.end() :].strip())
        elif self._current is None and line.startswith(" ") and self._term < 0:
            self._go_on(BlockKind.CODE, line, intro=self._intro)
        elif self._current is None and line.startswith(".") and not line.startswith(".."):
            self._single(BlockKind.PARAGRAPH, line)
            self._intro = len(self.blocks) - 1
        else:
            self._run_on(line)

    def _run_on(self, line: str) -> None:
        """A line without marks: of what is being read, the text of a term, or a paragraph."""
        if self._current is None and self._term >= 0:
            self._go_on(BlockKind.ITEM, line, intro=self._term, level=1)
            self._term = -1
        else:
            self._go_on(BlockKind.PARAGRAPH, line)

    def _start_item(self, mark: str, line: str) -> None:
        """A list item: lists inside have longer marks, or marks that the ones around have not."""
        self._end()
        known = [outer for outer, _ in self._items]
        if mark in known:
            del self._items[known.index(mark) + 1 :]
        else:
            self._items = [*self._items[:_DEEPEST], (mark, self._intro)]
        self._go_on(BlockKind.ITEM, line, intro=self._items[-1][1], level=len(self._items))

    def _start_term(self, line: str, *, is_label: bool) -> None:
        self._end()
        if is_label:
            self._single(BlockKind.ASIDE, line)
            self._term = len(self.blocks) - 1
        else:
            self._go_on(BlockKind.ITEM, line, level=1)

    def _take_row(self, line: str) -> None:
        """A line of a table; the first is a header if it stands alone."""
        after = "".join(self._lines[self._number : self._number + 1])
        is_header = self._header == -1 and line.count("|") > 1 and not after.strip()
        kind, end = BlockKind.ASIDE if is_header else BlockKind.ROW, self._place + len(line.rstrip())
        self.blocks.append(Block(kind, self._place, end, 0, -1, self._number))
        self._header, self._intro = -2, -1

    def _go_on(self, kind: BlockKind, line: str, *, intro: int = -1, level: int = 0) -> None:
        """Add a line to the block that is being read, or begin one."""
        if self._current is None:
            self._current = _Current(kind, self._place, self._place, self._number, level, intro)
        if bare := line.rstrip():
            self._current.end = self._place + len(bare)

    def _single(self, kind: BlockKind, line: str, *, level: int = 0) -> None:
        self._go_on(kind, line, level=level)
        self._end()

    def _end(self) -> None:
        """The block that is being read ends here."""
        current, self._current = self._current, None
        if current is None or current.end == current.start:
            return
        level = 0 if current.kind in {BlockKind.ROW, BlockKind.ASIDE} else current.level
        self.blocks.append(
            Block(current.kind, current.start, current.end, level, current.intro, current.line)
        )
        row = len(self.blocks) - 1
        if current.kind in {BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.HEADING}:
            self._items = []
        if current.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM}:
            self._intro = row
        elif current.kind is not BlockKind.ASIDE:
            self._intro = -1
