"""The lines of a PDF as the parts a reader sees: headings, paragraphs, list items, code, table rows.

A line belongs to the paragraph above it unless something says that it does not: room between them, another size or
indent, or a line above that ends although the next word would have fitted on it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.lines import PageLine

ITEM = re.compile(r"(?:[-*•▪◦●–‣∙·∗⁃○■□]|\(?+\d{1,3}+[.)]|\(?+[a-zA-Z]\))\s")
_BULLETS = frozenset("*•▪◦●‣∙○■□")
_CLOSING = '"”’)]¹²³⁴⁵⁶⁷⁸⁹⁰'
_WINDOW = 8  # lines before and after, among which the edge of a column is looked for
_WIDER = 1.25  # times the usual step between lines: room between paragraphs
_INDENT = 0.7  # times the size of letters
_SAME_SIZE = 1.08
_SHORT = 0.5  # of the column
_USUAL_STEP = 1.2  # times the size of letters, where no lines say so
_PLAIN_STEPS = (0.8, 2.5)
_COMMON = (
    0.25  # of the letters that the commonest step has: the step of text, not the room between paragraphs
)
_CODE_STEP = 2.6
_MOST_NOTES = 12
_LONGEST_TERM = 60
_NO_STEP = 0.5


@dataclass(slots=True)
class LayoutPart:
    """Lines that a reader sees as one thing; `kind` is PARAGRAPH, ITEM or CODE until more is known."""

    lines: list[PageLine]
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    said: str = ""  # of a row of a table: its cells with the names of their columns

    @property
    def first(self) -> PageLine:
        """Its first line."""
        return self.lines[0]

    @property
    def last(self) -> PageLine:
        """Its last line."""
        return self.lines[-1]


class Usual(NamedTuple):
    """What is usual in a document: the font size in points, and the step from line to line in font sizes."""

    size: float
    step: float


def usual(lines: Sequence[PageLine]) -> Usual:
    """The size that most letters of a document have, and the least step between lines that is common."""
    sizes: Counter[float] = Counter()
    steps: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    for before, line in pairwise(lines):
        step = (before.base - line.base) / max(line.size, 1.0)
        if before.page == line.page and before.size == line.size and _PLAIN_STEPS[0] < step < _PLAIN_STEPS[1]:
            steps[round(step, 1)] += len(line.text)
    size = max(sizes, key=lambda size: (sizes[size], size), default=1.0)
    many = _COMMON * max(steps.values(), default=0)
    return Usual(size, min((step for step in steps if steps[step] >= many), default=_USUAL_STEP))


def parted(lines: Sequence[PageLine], known: Usual) -> list[LayoutPart]:
    """Paragraphs, items and code, in order, each over as many pages as it takes."""
    edges = _edges(lines)
    parts: list[LayoutPart] = []
    for row, line in enumerate(lines):
        goes_on = row > 0 and _goes_on(parts[-1], line, edges[row - 1], known)
        new_page = row > 0 and lines[row - 1].page != line.page
        if goes_on or (new_page and _goes_on_behind_notes(parts, line, known)):
            parts[-1].lines.append(line)
        else:
            kind = BlockKind.CODE if line.mono else BlockKind.PARAGRAPH
            parts.append(LayoutPart([line], BlockKind.ITEM if ITEM.match(line.text) else kind))
    return parts


def _goes_on_behind_notes(parts: list[LayoutPart], line: PageLine, known: Usual) -> bool:
    """True where a page ends with notes in small letters and `line` goes on with what stands above them.

    That part is then moved behind the notes, so that it is the last one.
    """
    page, above = parts[-1].last.page, len(parts) - 1
    while above >= 0 and len(parts) - above <= _MOST_NOTES and is_note(parts[above], known):
        above -= 1
    notes = parts[above + 1 :]
    if above < 0 or not notes or parts[above].last.page != page or not _goes_over(parts[above], line):
        return False
    parts[above:] = [*notes, parts[above]]
    return True


def is_note(part: LayoutPart, known: Usual) -> bool:
    """True for what stands in smaller letters than the text, such as a footnote."""
    return part.first.size * _SAME_SIZE < known.size


def _edges(lines: Sequence[PageLine]) -> list[float]:
    """How far to the right each line could have gone: as far as its neighbours above and below it do."""
    edges = []
    for row, line in enumerate(lines):
        near = lines[max(row - _WINDOW, 0) : row + _WINDOW + 1]
        edges.append(
            max(
                neighbour.right
                for neighbour in near
                if neighbour.page == line.page
                and _alike(neighbour.size, line.size)
                and neighbour.left < line.right
                and neighbour.right >= line.left
            )
            if line.left < line.right
            else line.right
        )
    return edges


def _goes_on(part: LayoutPart, line: PageLine, edge: float, known: Usual) -> bool:
    """True where `line` belongs to the part before it, whose last line could have gone on to `edge`."""
    before = part.last
    step = before.base - line.base
    if before.page != line.page or step < -line.size / 2:
        return _goes_over(part, line)
    if kind := _led(part, line, step, known):
        part.kind = kind
        return True
    code = part.kind is BlockKind.CODE
    if code or not _alike(before.size, line.size):
        return code and line.mono and step < _CODE_STEP * known.step * line.size
    if step > _WIDER * known.step * max(line.size, before.size):
        return False
    ended = _is_forced(before, line, edge) and not (_is_cut(before.text) and line.text[0].islower())
    if ended and (line.mono or before.bold != line.bold or not _runs_on(before, line, edge)):
        return False
    return not _is_item(part, line, ended=ended) and _is_level(part, line, ended=ended)


def _is_cut(text: str) -> bool:
    """True where a word is cut at the end of `text`."""
    return text[-1:] in set("-\u00ad\u2010") and text[-2:-1].isalpha()


def _led(part: LayoutPart, line: PageLine, step: float, known: Usual) -> BlockKind | None:
    """The kind of a part that a line belongs to in any case, else None: it describes the term above it, or follows a
    list mark that stands alone, since all beside it is struck out."""
    mark = part.last
    if ITEM.fullmatch(f"{mark.text.strip()} ") and line.left > mark.left + _INDENT * line.size:
        return BlockKind.ITEM
    return BlockKind.PARAGRAPH if _describes(part, line, step, known) else None


def _describes(part: LayoutPart, line: PageLine, step: float, known: Usual) -> bool:
    """True where a line is the description, set in, of the term that stands alone above it."""
    term = part.last
    alone = len(part.lines) == 1 and part.kind is not BlockKind.ITEM and not has_ended(term.text)
    if not alone or line.mono or len(term.text) > _LONGEST_TERM or not _alike(term.size, line.size):
        return False
    near = _NO_STEP * line.size < step <= _WIDER * known.step * line.size
    return near and not ITEM.match(line.text) and line.left > term.left + _INDENT * line.size


def _goes_over(part: LayoutPart, line: PageLine) -> bool:
    """True where a part goes on in the next column or on the next page."""
    before, near = part.last, part.lines[-_WINDOW:]
    edge = max(neighbour.right for neighbour in near)
    if not _alike(before.size, line.size) or before.bold != line.bold or before.mono != line.mono:
        return False
    if before.mono:
        return part.kind is BlockKind.CODE
    if has_ended(before.text) or ITEM.match(line.text):
        return False
    return line.text[0].islower() or (before.right > edge - (edge - before.left) / 10 and len(near) > 1)


def _is_level(part: LayoutPart, line: PageLine, *, ended: bool) -> bool:
    """True where a line begins where the lines of this part do."""
    before, room = part.last, _INDENT * line.size
    if line.left > before.left + room:
        hangs = part.kind is BlockKind.ITEM or not (ended or has_ended(before.text))
        return len(part.lines) == 1 and hangs and not line.mono
    if line.left < before.left - room:
        return len(part.lines) == 1 and part.kind is not BlockKind.ITEM and not ended
    return True


def _is_item(part: LayoutPart, line: PageLine, *, ended: bool) -> bool:
    """True where a line begins with the mark of an item, and not by chance."""
    meant = ended or part.kind is BlockKind.ITEM or line.text[0] in _BULLETS or has_ended(part.last.text)
    return meant and ITEM.match(line.text) is not None


def _is_forced(before: PageLine, line: PageLine, edge: float) -> bool:
    """True where the first word of `line` would have fitted behind `before`: then the line was ended on purpose."""
    word = line.text.partition(" ")[0]
    width = (line.right - line.left) / max(len(line.text), 1) * len(word)
    return edge - before.right > width + line.size


def _runs_on(before: PageLine, line: PageLine, edge: float) -> bool:
    """True where a sentence goes on after a line that is half full or more: the next one begins in lower case."""
    full = before.right - before.left > _SHORT * (edge - before.left)
    return full and line.text[:1].islower() and not has_ended(before.text)


def _alike(size: float, other: float) -> bool:
    return size == other or max(size, other) <= _SAME_SIZE * min(size, other)


def has_ended(text: str) -> bool:
    """True where a sentence ends at the end of `text`."""
    return text.rstrip(_CLOSING)[-1:] in tuple(".!?:;")
