"""Decides what the stretches of a text are by their neighbours: headings, lead-ins, contents, depths of lists.

`blocks.blocks` finds the stretches; `settled` makes blocks of them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from equipoise.core.types import DEEPEST, Block, BlockKind
from equipoise.text import lines

LITERAL = frozenset(
    """
    code-block code sourcecode parsed-literal prompt doctest testcode
    raw math literalinclude highlight
    """.split()  # noqa: SIM905
)
"""Directives of reStructuredText whose content is shown as it is written."""

_LISTS = frozenset(
    """
    toctree contents image include autosummary autoclass
    automodule autofunction index
    """.split()  # noqa: SIM905
)
TERM = "term"  # the style of a stretch that the one below it defines
_LITERAL = "::"
"""Alone on a line of reStructuredText: code follows."""
_DIRECTIVE = re.compile(r"\.\.\s++(?:\|[^|]*+\|\s++)?+([\w-]++(?::[\w-]++)*+)::")
_TARGET = re.compile(r"\.\.\s++_")
_PICTURE = re.compile(r"!\[(?:[^\[\]\s]++\s++){2}[^\[\]]++\]\(")
"""A picture with a text of three words or more, which says something about it."""
_NOTE = re.compile(r"(\[\^[^\[\]\s]++\]):\s|\.\.\s(\[[#\w]++\])(?:\s|\Z)|(\[fn:\w++\])\s")
_NOTED = re.compile(r"\[(?:\^|fn:)?[#\w-]++\](?!:)")
_LINK = r"!?+\[(?:[^\[\]]|\[[^\[\]]*+\](?:\([^()]*+\))?+)*+\](?:\([^()]*+\)|\[[^\[\]]*+\])"
_LINKS = re.compile(rf"(?:{_LINK}[\s|,·•/]*+)++")
_ELSEWHERE = re.compile(r"\[[^\[\]!][^\[\]]*+\]\(https?://", re.IGNORECASE)
"""A link that leads out of the documents: in a list it names something, and is no navigation."""
_ENTITY = re.compile(r"&(?:#\d{1,7}+|#x[\da-f]{1,6}+|[a-z]\w{1,31}+);", re.IGNORECASE)
_TAGS = re.compile(r"(?:</?+[a-zA-Z][^<>]*+>\s*+)++")
_QUOTES = re.compile(r"^(?:[ ]{0,3}+>)++[ ]?+", re.MULTILINE)
_MARK = re.compile(rf"(?:[{lines.BULLETS}]|\(?+(?P<number>\w{{1,3}}+)[.)])\s++")
_NUMBERED = re.compile(r"\(?+\d{1,3}+[.)]\s++[A-ZÀ-Þ]")
_SECTIONED = re.compile(r"((?:\d{1,3}+|[A-Z])(?:\.\d{1,3}+)++)\.?+\s++[A-ZÀ-Þ]")
_CHAPTER = re.compile(
    r"(?:chapter|appendix|part|kapitel|anhang|teil|chapitre|annexe|partie)\s++(?:\d{1,3}+|[a-z]|[ivx]++)(?:[.:)]|\s+[-–—])"
    r"\s++\S",
    re.IGNORECASE,
)
_FURNITURE = re.compile(
    r"[\[(\s-]*+(?:(?:page|seite)\s++)?+(?:[ivxlc\d]{1,4}+|[a-z])\s*+(?:(?:/|of|von)\s*+\d{1,4}+)?+[\].)\s-]*+",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*[^*]++\*\*|__[^_]++__")
_TAGGED = re.compile(r"<h([1-6])(?:\s[^<>]*+)?+>[^<>]++(?:<(?!/h)[^<>]*+>[^<>]*+)*+</h\1>", re.IGNORECASE)
_LED = frozenset({BlockKind.ITEM, BlockKind.CODE, BlockKind.ROW})
_LONGEST_HEADING = 100
_LONGEST_LOOK = 2_000
_FEW_WORDS, _TITLE_WORDS, _LABEL_WORDS, _NAME_WORDS = 8, 12, 6, 2
_NOT_IN_TITLES = frozenset("=@{}")
_SECTIONS = 8
"""With so many numbered sections a document numbers its headings, and no other line that stands alone is one."""
_SHORT_ITEM = 120
_DEEPEST_SECTION = 6
_RUN = 3
_NUMBERED_LEVEL, _BOLD_LEVEL, _CAPITALS_LEVEL, _ALONE_LEVEL, _LABEL_LEVEL = 6, 14, 15, 16, 17


@dataclass(slots=True)
class Stretch:
    """A block in the making. `gap`: a blank line stands before it; `first` and `last` are its lines without white
    space around them; `style` is what a heading or a rule is made of."""

    kind: BlockKind
    start: int
    end: int
    indent: int
    gap: bool
    first: str
    last: str
    lines: int = 1
    level: int = 0
    style: str = ""
    intro: int = -1

    def add(self, end: int, line: str) -> None:
        """One more line."""
        self.end, self.last, self.lines = end, line, self.lines + 1

    @property
    def directive(self) -> str:
        """The name of the reStructuredText directive that it begins with, empty without one."""
        match = _DIRECTIVE.match(self.first) if self.first.startswith("..") else None
        return match[1] if match else ""

    @property
    def lists(self) -> bool:
        """Whether its directive lists files or names."""
        return self.directive in _LISTS

    @property
    def may_be_heading(self) -> bool:
        """Whether a rule below it makes it one: a line of prose, or a numbered title."""
        if self.kind is BlockKind.ITEM:
            return _NUMBERED.match(self.first) is not None
        return self.kind is BlockKind.PARAGRAPH and any(c.isalnum() for c in self.first)


def settled(text: str, stretches: list[Stretch], marks: Sequence[tuple[int, int]] = ()) -> tuple[Block, ...]:
    """The blocks made of the stretches of `text`; `marks` are empty lines of quotations, which belong to no stretch."""
    for row, stretch in enumerate(stretches):
        _settle(
            text,
            stretch,
            stretches[row - 1] if row else None,
            stretches[row + 1] if row + 1 < len(stretches) else None,
        )
    _by_number(stretches)
    _contents(stretches)
    _levels(stretches)
    _Intros(stretches).find()
    _define(stretches)
    _place_notes(text, stretches)
    return tuple(_blocks(stretches, marks))


def _blocks(stretches: Sequence[Stretch], marks: Sequence[tuple[int, int]]) -> Iterator[Block]:
    """The stretches, and an aside for each mark that lies in none of them, in order; intros are rows of the result."""
    rows: list[int] = []
    row = at = end = 0
    for stretch in [*stretches, None]:
        while at < len(marks) and (stretch is None or marks[at][0] < stretch.start):
            if marks[at][0] >= end:
                yield Block(BlockKind.ASIDE, *marks[at])
                row += 1
            at += 1
        if stretch is not None:
            rows.append(row)
            intro = rows[stretch.intro] if stretch.intro >= 0 else -1
            yield Block(stretch.kind, stretch.start, stretch.end, stretch.level, intro)
            row, end = row + 1, stretch.end


def _settle(text: str, stretch: Stretch, before: Stretch | None, after: Stretch | None) -> None:
    """Make a stretch a heading, code or an aside, where its words and neighbours say so."""
    if stretch.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
        return
    if _is_aside(text, stretch):
        stretch.kind = BlockKind.ASIDE
    elif level := _marked_level(text, stretch, after) or _heading_level(text, stretch, before, after):
        stretch.kind, stretch.level = BlockKind.HEADING, level
    elif stretch.kind is BlockKind.PARAGRAPH and before and _is_announced(text, stretch, before):
        stretch.kind = BlockKind.CODE


def _is_announced(text: str, stretch: Stretch, before: Stretch) -> bool:
    """Whether a stretch is code that the line before it announces with a colon; it need not be indented."""
    announces = before.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM) and before.last.endswith(":")
    if not announces or not stretch.gap or stretch.end - stretch.start > _LONGEST_LOOK:
        return False
    rows = text[stretch.start : stretch.end].splitlines()
    return not lines.is_closed(stretch.last) and all(lines.looks_like_code(row.strip()) for row in rows)


def _is_aside(text: str, stretch: Stretch) -> bool:
    if stretch.end - stretch.start > _LONGEST_LOOK:
        return False
    if stretch.directive:
        bare = stretch.directive == "figure" and stretch.lines == 1  # its text and caption are none
        return stretch.directive in LITERAL or stretch.lists or bare
    whole = _QUOTES.sub("", text[stretch.start : stretch.end])
    mark = _MARK.match(whole) if stretch.kind is BlockKind.ITEM else None
    body = whole[mark.end() :] if mark else whole
    if not any(c.isalnum() for c in _ENTITY.sub("", body)) or (stretch.lines == 1 and _TARGET.match(body)):
        return True
    says = _PICTURE.match(body) or (mark and _ELSEWHERE.match(body))
    if _TAGS.fullmatch(body) or (_LINKS.fullmatch(body) and not says):
        return True
    alone = stretch.lines == 1 and stretch.gap and _FURNITURE.fullmatch(body)
    rows = body.splitlines()
    return bool(alone) or (len(rows) >= _RUN and all(lines.has_page_number(row.strip()) for row in rows))


def _marked_level(text: str, stretch: Stretch, after: Stretch | None) -> int:
    """The level of a paragraph that is bold as a whole, or between HTML's tags of a heading; 0 for another."""
    if stretch.end - stretch.start > 3 * _LONGEST_HEADING or not stretch.gap:
        return 0
    if tagged := _TAGGED.fullmatch(text, stretch.start, stretch.end):
        return int(tagged[1])
    bold = after is not None and after.gap and _BOLD.fullmatch(text, stretch.start, stretch.end)
    return _BOLD_LEVEL if bold else 0


def _heading_level(text: str, stretch: Stretch, before: Stretch | None, after: Stretch | None) -> int:
    """The level of a line that is a heading by where and how it stands, 0 for another stretch."""
    apart = stretch.lines == 1 and stretch.gap and after is not None
    if not apart or after is None or len(stretch.first) > _LONGEST_HEADING:
        return 0
    line, words = stretch.first, stretch.first.split()
    if stretch.kind is BlockKind.ITEM:
        return _NUMBERED_LEVEL + 1 if _is_numbered_title(stretch, before, after) else 0
    if after.kind is BlockKind.CODE or _is_announced(text, after, stretch) or not _may_be_title(line, words):
        return 0
    if level := _numbered_level(line):
        return level
    if len(words) <= _LABEL_WORDS and _is_label(line, stretch, after):
        return _LABEL_LEVEL
    return _titled_level(line, words) if after.gap else 0


def _numbered_level(line: str) -> int:
    """The level of a title that begins with its number, 0 for another line."""
    if section := _SECTIONED.match(line):
        return _NUMBERED_LEVEL + 1 + min(section[1].count("."), _DEEPEST_SECTION)
    return _NUMBERED_LEVEL + 1 if _CHAPTER.match(line) else 0


def _may_be_title(line: str, words: Sequence[str]) -> bool:
    return len(words) <= _TITLE_WORDS and _NOT_IN_TITLES.isdisjoint(line)


def _is_label(line: str, stretch: Stretch, after: Stretch) -> bool:
    """Whether a few words name the deeper paragraph below them, or end in a colon that leads to no list or code."""
    if line.endswith(":"):
        return after.kind not in _LED and len(line.split()) <= _NAME_WORDS and line[0].isupper()
    return after.indent > stretch.indent + 1 and after.gap and not lines.is_closed(line)


def _is_numbered_title(stretch: Stretch, before: Stretch | None, after: Stretch) -> bool:
    """A number and a title between paragraphs, or above "8.1" if it is "8."; beside other items it is one of them."""
    if not _NUMBERED.match(stretch.first) or lines.is_closed(stretch.first) or not after.gap:
        return False
    beside = [other.first for other in (before, after) if other and other.kind is BlockKind.ITEM]
    apart = not any(_NUMBERED.match(line) for line in beside) and after.indent < stretch.indent + 2
    return apart or after.first.startswith(stretch.first.partition(" ")[0])


def _titled_level(line: str, words: Sequence[str]) -> int:
    if not _is_titled(line, words):
        return 0
    return _CAPITALS_LEVEL if line.isupper() else _ALONE_LEVEL


def _is_titled(line: str, words: Sequence[str]) -> bool:
    """Whether a line reads as a title: few words, or most of them with capitals, and no full stop."""
    opens = line[0].isupper() or line[0].isdecimal()
    if not opens or " | " in line or not (line[-1].isalnum() or line[-1] in ")?"):
        return False
    if len(words) <= _FEW_WORDS:
        return True
    long = [word for word in words if len(word) > 3 and word[0].isalpha()]
    return sum(word[0].isupper() for word in long) * 4 >= len(long) * 3 > 0


def _contents(stretches: Sequence[Stretch]) -> None:
    """Lines of a table of contents: several numbered titles one right below the other."""
    run: list[Stretch] = []
    for stretch in stretches:
        if run and (stretch.gap or not _is_entry(stretch)):
            _close(run)
            run = []
        if _is_entry(stretch):
            run.append(stretch)
    _close(run)


def _is_entry(stretch: Stretch) -> bool:
    if stretch.kind is BlockKind.HEADING:
        return stretch.style == "1"
    return (
        stretch.kind is BlockKind.ITEM and stretch.lines == 1 and _NUMBERED.match(stretch.first) is not None
    )


def _close(run: Sequence[Stretch]) -> None:
    if len(run) >= _RUN and any(stretch.kind is BlockKind.HEADING for stretch in run):
        for stretch in run:
            stretch.kind, stretch.level = BlockKind.ASIDE, 0


def _by_number(stretches: Sequence[Stretch]) -> None:
    """In a document of numbered sections, lines that only stand alone, or begin with `#`, are no headings."""
    numbered = range(_NUMBERED_LEVEL + 1, _NUMBERED_LEVEL + 2 + _DEEPEST_SECTION)
    headings = [stretch for stretch in stretches if stretch.kind is BlockKind.HEADING]
    by_number = [
        heading.style == "1" or (heading.level in numbered and not _CHAPTER.match(heading.first))
        for heading in headings
    ]
    if sum(by_number) < _SECTIONS:
        return
    for stretch in headings[by_number.index(True) :]:  # a title stands before the first
        if stretch.level in (_ALONE_LEVEL, _LABEL_LEVEL) or stretch.style == "#":
            stretch.kind, stretch.level, stretch.style = BlockKind.PARAGRAPH, 0, ""


def _levels(stretches: Sequence[Stretch]) -> None:
    """Levels of underlined headings by the order of their rules, below those of `#`; then numbered ones."""
    marked = any(stretch.style == "#" for stretch in stretches)
    order: dict[str, int] = {"=": 1, "-": 2} if marked else {}
    for stretch in stretches:
        if stretch.kind is BlockKind.HEADING and stretch.style == "1":
            stretch.level = _NUMBERED_LEVEL + min(stretch.level, 1 + _DEEPEST_SECTION)
        elif stretch.kind is BlockKind.HEADING and stretch.style and stretch.style != "#":
            stretch.level = min(order.setdefault(stretch.style, len(order) + 1), _NUMBERED_LEVEL)


def _define(stretches: Sequence[Stretch]) -> None:
    """Make items of what terms mean, and asides of the terms, with which these are read."""
    for term, meaning in pairwise(stretches):
        if term.style == TERM and term.kind is BlockKind.ITEM and meaning.kind is BlockKind.PARAGRAPH:
            term.kind, meaning.kind, meaning.level = BlockKind.ASIDE, BlockKind.ITEM, term.level


def _place_notes(text: str, stretches: Sequence[Stretch]) -> None:
    """Notes are read with the first block above them that refers to them."""
    notes = {row: next(filter(None, note.groups())) for row, one in enumerate(stretches)
             if one.kind is BlockKind.PARAGRAPH and (note := _NOTE.match(one.first))}  # fmt: skip
    places: dict[str, int] = {}
    for found in _NOTED.finditer(text) if notes else ():
        places.setdefault(found.group(), found.start())
    starts = [one.start for one in stretches]
    for row, mark in notes.items():
        intro = bisect_right(starts, places.get(mark, -1)) - 1
        stretches[row].intro = intro if intro < row else -1


class _Intros:
    """Which earlier stretch each one is read with, and how deep items lie."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches
        self._items: list[int] = []  # the items that enclose what comes, outermost first
        self._list_intro = -1

    def find(self) -> None:
        """Fill in intros and depths."""
        for row, stretch in enumerate(self._stretches):
            if stretch.kind is BlockKind.ITEM:
                self._item(row, stretch)
            elif stretch.kind is BlockKind.CODE:
                stretch.intro = self._announcer(row)
            elif stretch.kind is BlockKind.PARAGRAPH:
                self._paragraph(row, stretch)
            elif stretch.kind is BlockKind.HEADING:
                self._items = []
        self._tables()

    def _item(self, row: int, stretch: Stretch) -> None:
        led = self._list_intro < 0 or stretch.indent >= self._stretches[self._list_intro].indent
        goes_on = bool(self._items) and led
        self._leave(stretch.indent)
        if not goes_on:
            before = self._stretches[row - 1] if row else None
            paragraph = before is not None and before.kind is BlockKind.PARAGRAPH
            introduces = before is not None and (before.last.endswith(":") or not stretch.gap)
            self._list_intro = row - 1 if paragraph and introduces else -1
        stretch.intro = self._items[-1] if self._items else self._list_intro
        self._items.append(row)
        stretch.level = min(len(self._items), DEEPEST)

    def _paragraph(self, row: int, stretch: Stretch) -> None:
        self._leave(stretch.indent)
        if self._items:
            item = self._stretches[self._items[-1]]
            stretch.intro = self._items[-1] if item.end - item.start <= _SHORT_ITEM else -1

    def _leave(self, indent: int) -> None:
        """Close the open items that do not enclose something indented by `indent`."""
        while self._items and self._stretches[self._items[-1]].indent >= indent:
            self._items.pop()

    def _announcer(self, row: int) -> int:
        """The paragraph or item right before code, past a directive or `::` alone."""
        for at in range(row - 1, max(row - 3, -1), -1):
            stretch = self._stretches[at]
            if stretch.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM):
                return at
            if stretch.kind is not BlockKind.ASIDE or not (stretch.directive or stretch.first == _LITERAL):
                break
        return -1

    def _tables(self) -> None:
        """Every row of a table is read with its first one."""
        rows = range(len(self._stretches))
        for is_table, group in groupby(rows, key=self._in_table):
            head = -1
            for row in group if is_table else ():
                stretch = self._stretches[row]
                head = -1 if stretch.gap else head
                if stretch.kind is BlockKind.ROW:
                    stretch.intro, head = head, row if head < 0 else head

    def _in_table(self, row: int) -> bool:
        stretch = self._stretches[row]
        return stretch.kind is BlockKind.ROW or (
            stretch.kind is BlockKind.ASIDE and lines.is_separator(stretch.first)
        )
