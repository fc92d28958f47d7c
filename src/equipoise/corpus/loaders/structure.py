"""What the parts of a PDF are: headings and their level, items and their depth, lines of contents, rows of tables."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.layout import LayoutPart, Usual, has_ended, is_note
from equipoise.corpus.loaders.lines import PageLine

LARGER = 1.12  # times the size of text: type of a heading
_AS_LARGE = 0.95
_HEADING_WORDS, _HEADING_LINES = 25, 3
_BOLD_WORDS = 14
_MOST_HEADINGS = 0.5  # of all parts: if more are bold, bold type makes no headings
_DEEPEST = 6
_LEAST_NAMED = 3
NUMBERING = re.compile(
    r"(?:(?:chapter|appendix|section|part|kapitel|abschnitt|anhang|teil|chapitre|annexe|partie)\s++(?:\d{1,3}+"
    r"(?:\.\d{1,3}+)*+|[a-z]|[ivx]++)|\d{1,3}+(?:\.\d{1,3}+)*+|[a-z](?:\.\d{1,3}+)++|(?:[a-z]|[ivx]++)(?=[.:)]))"
    r"[.:)]?+(?:\s++|$)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:chapter|appendix|part|kapitel|anhang|teil|chapitre|annexe|partie)\s", re.IGNORECASE)
_CONTENTS = re.compile(
    r"(?:table of )?+contents|(?:[\w,-]++ ){0,5}+(?:index|register|verzeichnis)|inhalt(?:sverzeichnis)?+|"
    r"stichwortverzeichnis|sachregister|table des matières|sommaire|list of (?:figures|tables)",
    re.IGNORECASE,
)
_PAGE = re.compile(r"\d{1,4}+|[ivxl]{1,7}+")
_LEADERS = 3  # dots on their own
_LEAST_CONTENTS, _SHARE_OF_CONTENTS = 3, 0.3
_LISTED = 0.5  # of a page's lines that end with a number: contents without dots, an index
_CELLS = 1.4  # of the size: a gap between two cells
_ALIGNED = 0.5  # of the size
_SHIFT = 2.0  # points: items that begin so near to each other are of one depth


class Bookmark(NamedTuple):
    """A bookmark: its words, its depth (1 is the outermost), and the page it leads to, counted from 0."""

    title: str
    level: int
    page: int


def kinds(lines: Sequence[PageLine]) -> Iterator[tuple[BlockKind, list[PageLine]]]:
    """Stretches of lines: of contents (ASIDE), of a table (ROW), and of all else (PARAGRAPH)."""
    asides = _listed(lines)
    stretch: list[PageLine] = []
    kind = BlockKind.PARAGRAPH
    for row, line in enumerate(lines):
        new = BlockKind.ASIDE if row in asides else BlockKind.ROW if line.row else BlockKind.PARAGRAPH
        if stretch and new is not kind:
            yield kind, stretch
            stretch = []
        kind = new
        stretch.append(line)
    if stretch:
        yield kind, stretch


def _listed(lines: Sequence[PageLine]) -> set[int]:
    """The rows of lines of a table of contents or an index."""
    pages: dict[int, list[int]] = defaultdict(list)
    for row, line in enumerate(lines):
        pages[line.page].append(row)
    listed: set[int] = set()
    before = False
    for rows in pages.values():
        leaders = {row for row in rows if is_led(lines[row].text)}
        listed |= leaders
        named = any(_CONTENTS.fullmatch(lines[row].text) for row in rows[:3])
        ends = sum(1 for row in rows if _ends_with_page(lines[row].text))
        by_name = (before or named) and ends >= max(_LISTED * len(rows), _LEAST_CONTENTS)
        if by_name or len(leaders) >= max(_LEAST_CONTENTS, _SHARE_OF_CONTENTS * len(rows)):
            listed |= {row for row in rows if not _CONTENTS.fullmatch(lines[row].text)}
            before = True
        else:
            before = False
    return listed


def is_led(text: str) -> bool:
    """True for a line with dots that lead to a page number."""
    words = text.split()
    dots = sum(1 for word in words if len(word) >= _LEADERS and not word.strip(".…")) * _LEADERS
    dots += sum(1 for word in words if word == ".")
    return dots >= _LEADERS and _PAGE.fullmatch(words[-1].lstrip(".")) is not None


def without_leaders(text: str) -> str:
    """A line of contents with one ellipsis for its dots."""
    words = text.split()
    last = len(words) - 1
    while last > 0 and not words[last - 1].strip(".…"):
        last -= 1
    if last == len(words) - 1 or last == 0 or _PAGE.fullmatch(words[-1].lstrip(".")) is None:
        return text
    return f"{' '.join(words[:last]).rstrip('.')} … {words[-1].lstrip('.')}"


def _ends_with_page(text: str) -> bool:
    words = text.split()
    return len(words) > 1 and _PAGE.fullmatch(words[-1]) is not None


def mark_headings(parts: Sequence[LayoutPart], known: Usual, outline: Sequence[Bookmark]) -> None:
    """Turn those into headings that the outline names or whose type is larger or bolder than the text's; no light type
    below the first heading named where those named are bold (labels of drawings)."""
    named: dict[tuple[int, str], int] = {}
    for entry in outline:
        for words in _bare(entry.title):
            named.setdefault((entry.page, words), entry.level)
    levels: dict[tuple[float, bool], Counter[int]] = defaultdict(Counter)
    bold = _bold_counts(parts, known)
    told = [_outline_level(part, named) for part in parts]
    light_until = _first_bold(parts, told, known)
    for row, (part, level) in enumerate(zip(parts, told, strict=True)):
        may_be = part.first.bold or row < light_until
        if level or (may_be and _looks_like_one(part, known, bold=bold)):
            part.kind, part.level = BlockKind.HEADING, level or _numbered_level(part)
        if part.kind is BlockKind.HEADING and part.level:
            levels[_style(part)][part.level] += 1
    _give_levels(parts, levels)


def joined_headings(parts: Sequence[LayoutPart]) -> list[LayoutPart]:
    """The parts, a heading that is a number alone ("Chapter 3") put together with the one below it."""
    joined: list[LayoutPart] = []
    for part in parts:
        before = joined[-1] if joined else None
        both = before is not None and before.kind is part.kind is BlockKind.HEADING
        if before and both and len(before.lines) == 1 and NUMBERING.fullmatch(before.first.text):
            before.lines += part.lines
            before.level = min(before.level, part.level)
        else:
            joined.append(part)
    return joined


def _first_bold(parts: Sequence[LayoutPart], told: Sequence[int], known: Usual) -> int:
    """The row of the first heading named, from which on light type makes no heading: where some of those named are bold
    and none is light and larger than the text; else the number of rows."""
    rows = [row for row, level in enumerate(told) if level]
    lines = [parts[row].first for row in rows]
    light = any(not line.bold and line.size >= LARGER * known.size for line in lines)
    return rows[0] if sum(line.bold for line in lines) >= _LEAST_NAMED and not light else len(parts)


def _outline_level(part: LayoutPart, named: dict[tuple[int, str], int]) -> int:
    if len(part.lines) > _HEADING_LINES or part.kind in {BlockKind.ROW, BlockKind.ASIDE}:
        return 0
    text = " ".join(line.text for line in part.lines)
    return next(
        (named[part.first.page, words] for words in _bare(text) if (part.first.page, words) in named), 0
    )


def _bare(text: str) -> list[str]:
    """The letters and digits of a heading, with its numbering, without the word before it, and without both."""
    number, named = NUMBERING.match(text), _NAMED.match(text)
    variants = [text, text[named.end() :] if named else "", text[number.end() :] if number else ""]
    bare = ["".join(letter for letter in variant.lower() if letter.isalnum()) for variant in variants]
    return [variant for variant in bare if variant]


def _looks_like_one(part: LayoutPart, known: Usual, *, bold: bool) -> bool:
    if part.kind in {BlockKind.ROW, BlockKind.ASIDE} or len(part.lines) > _HEADING_LINES:
        return False
    text = " ".join(line.text for line in part.lines)
    words, size = len(text.split()), part.first.size
    letters = sum(letter.isalpha() for letter in text)
    if letters < 2 or letters * 2 < len(text.replace(" ", "")) or words > _HEADING_WORDS or text[-1] in ",;":
        return False
    if size >= LARGER * known.size:
        return not has_ended(text) or words <= _BOLD_WORDS or text[-1] == "?"
    return (
        bold
        and part.kind is not BlockKind.CODE
        and _is_bold_heading(part, known)
        and words <= _BOLD_WORDS
        and not has_ended(text)
    )


def _is_bold_heading(part: LayoutPart, known: Usual) -> bool:
    pieces = part.first.pieces
    gaps = [b.left - a.right for a, b in pairwise(pieces) if b.left - a.right > _CELLS * part.first.size]
    is_row = len(gaps) > 1 or (len(gaps) == 1 and NUMBERING.fullmatch(pieces[0].text) is None)
    return part.first.bold and not is_row and part.first.size >= _AS_LARGE * known.size


def _bold_counts(parts: Sequence[LayoutPart], known: Usual) -> bool:
    """False where so much is bold that it says nothing."""
    return sum(part.first.bold for part in parts) <= _MOST_HEADINGS * len(parts)


def _numbered_level(part: LayoutPart) -> int:
    """The depth that the number of a heading says, 0 without one."""
    match = NUMBERING.match(part.first.text)
    if not match:
        return 0
    return 1 if _NAMED.match(part.first.text) else match.group().strip().rstrip(".:)").count(".") + 1


def _style(part: LayoutPart) -> tuple[float, bool]:
    return part.first.size, part.first.bold


def _give_levels(parts: Sequence[LayoutPart], levels: dict[tuple[float, bool], Counter[int]]) -> None:
    """Levels for headings without one: that of others in the same type, else by size among all."""
    headings = [part for part in parts if part.kind is BlockKind.HEADING]
    ranks = {
        style: row + 1 for row, style in enumerate(sorted({_style(part) for part in headings}, reverse=True))
    }
    for part in headings:
        known = levels.get(_style(part))
        if not part.level:
            part.level = known.most_common(1)[0][0] if known else ranks[_style(part)]
        part.level = min(part.level, _DEEPEST)


def mark_items(parts: Sequence[LayoutPart], known: Usual) -> list[int]:
    """Give items their depth. For each part the row of the part it is read with, -1 for none."""
    intros: list[int] = []
    stack: list[
        tuple[float, int]
    ] = []  # where the open lists' items begin, and the row of the last item of each
    before = -1  # the paragraph before a list
    for row, part in enumerate(parts):
        intro = -1
        if part.kind is BlockKind.ITEM:
            while stack and stack[-1][0] > part.first.left + _SHIFT:
                stack.pop()
            if stack and stack[-1][0] > part.first.left - _SHIFT:
                stack.pop()
            intro = stack[-1][1] if stack else before
            stack.append((part.first.left, row))
            part.level = len(stack)
        elif part.kind is BlockKind.CODE:
            intro = _announcing(parts, row, known)
        elif part.kind is BlockKind.ROW:
            stack, before = [], -1
        elif not (stack and _is_inside(part, stack[-1][0])):
            stack = []
            before = row if part.kind is BlockKind.PARAGRAPH else -1
        intros.append(intro)
    return intros


def _announcing(parts: Sequence[LayoutPart], row: int, known: Usual) -> int:
    """The row of the paragraph or item before code, passing over notes at the foot of a page; -1 without one."""
    above = row - 1
    while above >= 0 and parts[above].last.page < parts[row].first.page and is_note(parts[above], known):
        above -= 1
    return above if above >= 0 and parts[above].kind in {BlockKind.PARAGRAPH, BlockKind.ITEM} else -1


def _is_inside(part: LayoutPart, left: float) -> bool:
    """True for a further paragraph of an item that begins at `left`."""
    return part.kind is BlockKind.PARAGRAPH and part.first.left > left + _ALIGNED * part.first.size
