"""Under which headings a place of a document stands."""

from collections.abc import Iterable, Sequence

from equipoise.core.types import Block, BlockKind, Document
from equipoise.text.visible import MAX_TITLE, title

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
        outline.append(block._replace(under=open_[-1] if open_ else -1))
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
