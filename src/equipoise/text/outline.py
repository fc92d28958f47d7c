"""Under which headings a place of a document stands, and what is shown with a quote."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from equipoise.core.types import Block, BlockKind, Document, Span
from equipoise.text.lines import is_closed
from equipoise.text.visible import MAX_TITLE, title

_LABEL_WORDS = 8
_BULLETS = ("- ", "* ", "• ")
_LOOK = 2_000  # characters of a heading that are looked at
_RULES = frozenset("=-~*_^\"'#+`:.")


def outlined(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks with `under` filled in, from the levels of headings."""
    outline: list[Block] = []
    open_: list[int] = []  # headings that enclose what comes, highest first
    for row, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING:
            while open_ and outline[open_[-1]].level >= block.level:
                open_.pop()
        outline.append(replace(block, under=open_[-1] if open_ else -1))
        if block.kind is BlockKind.HEADING:
            open_.append(row)
    return tuple(outline)


def headings_at(document: Document, offset: int) -> tuple[str, ...]:
    """The headings that `offset` stands under, highest first, each one clean line, without the document's title.

    At most MAX_TITLE characters together: those nearest to the place.
    """
    row = document.block_row(offset)
    at = row if row >= 0 and document.blocks[row].kind is BlockKind.HEADING else _under(document, row)
    path: list[str] = []
    left = MAX_TITLE
    while at >= 0 and left > 0:
        block = document.blocks[at]
        line = _words_of(document, block)
        if line and line != document.title:
            path.append(title(line, left) if left > 1 else "")
            left -= len(path[-1])
        at = block.under
    return tuple(line for line in reversed(path) if line)


def sections_within(document: Document, start: int, end: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """(offset in the document, path of `headings_at`) of each heading that begins in text[start + 1:end], in order."""
    rows = range(document.block_row(start) + 1, document.block_row(end - 1) + 1)
    inner = [block for block in map(document.blocks.__getitem__, rows) if block.kind is BlockKind.HEADING]
    return tuple(
        (block.start, headings_at(document, block.start)) for block in inner if _words_of(document, block)
    )


def _words_of(document: Document, block: Block) -> str:
    return heading_text(document.text[block.start : min(block.end, block.start + _LOOK)])


def _under(document: Document, row: int) -> int:
    return document.blocks[row].under if row >= 0 else -1


def heading_text(raw: str) -> str:
    """A heading's words as one clean line, without the marks that make it one."""
    lines = [line.strip() for line in raw.splitlines()]
    words = [line for line in lines if line and not (line[0] in _RULES and not line.strip(line[0]))]
    line = title(" ".join(words))
    if line.startswith("#"):
        line = line.lstrip("#").rstrip("#").strip()
    elif line.startswith("<h") and line.endswith(">"):
        line = title(" ".join(part.partition(">")[2] for part in line.split("<")))
    return line.strip("*_ ") or line


def path_line(name: str, headings: Sequence[str]) -> str:
    """A document's title and the headings of a place as one clean line of at most MAX_TITLE characters.

    >>> path_line("The manual", ["Limits", "Attached databases"])
    'The manual > Limits > Attached databases'
    """
    return title(" > ".join(part for part in (title(name), *headings) if part))


def is_label(text: str) -> bool:
    """True for a few words that only name what follows: they are shown with it, and never chosen themselves."""
    return text.endswith(":") and len(text) <= MAX_TITLE and len(text.split()) < _LABEL_WORDS


def with_leads(spans: Iterable[Span], documents: Mapping[str, Document]) -> tuple[Span, ...]:
    """`spans` (of whole units), and for each unit what it is read with: the last unit of its block's lead, and of
    that one's lead, as far as it goes. A function of the set of spans; what it adds twice adds nothing."""
    extended: dict[Span, None] = {}
    for span in spans:
        document = documents[span.doc_id]
        sentences = document.sentences
        first, stop = (bisect_left(sentences, (offset, 0)) for offset in (span.start, span.end))
        for start, end in sentences[first:stop]:
            extended.setdefault(Span(span.doc_id, start, end))
            for low, high in leads(document, start):
                extended.setdefault(Span(span.doc_id, low, high))
    return tuple(extended)


def leads(document: Document, offset: int) -> Iterable[tuple[int, int]]:
    """(start, end) of the sentences that the unit at `offset` is read with, the nearest first."""
    row = document.block_row(offset)
    while row >= 0 and (row := document.blocks[row].lead) >= 0:
        block = document.blocks[row]
        last = bisect_left(document.sentences, (block.end, 0)) - 1
        if last >= 0 and document.sentences[last][0] >= block.start and _reads(document, last, offset):
            yield document.sentences[last]


def _reads(document: Document, row: int, offset: int) -> bool:
    """Whether the sentence at `row` says something to the one at `offset`: the title of a list item, a few words that
    are no sentence, does so only right above it."""
    start, end = document.sentences[row]
    text = document.text[start:end]
    beside = row + 1 < len(document.sentences) and document.sentences[row + 1][0] == offset
    is_title = text.startswith(_BULLETS) and len(text.split()) < _LABEL_WORDS and not is_closed(text)
    return beside or not is_title
