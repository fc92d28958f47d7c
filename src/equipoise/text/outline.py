"""Under which headings, and in which entry of a list, a place of a document stands."""

import re
from collections.abc import Iterable, Iterator, Sequence

from equipoise.core.types import Block, BlockKind, Document
from equipoise.text.visible import MAX_TITLE, title

_LOOK = 2_000  # characters of a heading that are looked at
_DEEP = 9  # longest chain of blocks that introduce each other
_LISTING = 600  # characters from which on code is no command or example, but something to look through
_RULES = frozenset("=-~*_^\"'#+`:.")
_NAME = re.compile(r"(?:[-*+\u2022] |\d{1,3}[.)] )?(?=[^\n:]*[^\W\d_])([^\n]{1,80}?)(?=:[*_`]*\s)")
"""What an entry of a list is about: "--delete" of "- --delete: Removes files"."""


def outlined(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks with `under` filled in, from the levels of headings; code right below a heading, which no sentence
    introduces, is read with the heading, unless it is longer than _LISTING."""
    outline: list[Block] = []
    open_: list[int] = []  # headings that enclose what comes, highest first
    bare = False  # nothing but code stands below the last heading so far
    for row, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING:
            while open_ and outline[open_[-1]].level >= block.level:
                open_.pop()
        under = open_[-1] if open_ else -1
        below = block.kind is BlockKind.CODE and bare and block.end - block.start <= _LISTING
        intro = under if below and block.intro < 0 else block.intro
        outline.append(block._replace(intro=intro, under=under))
        if block.kind is BlockKind.HEADING:
            open_.append(row)
        bare = block.kind is BlockKind.HEADING or (bare and block.kind in (BlockKind.CODE, BlockKind.ASIDE))
    return tuple(outline)


def headings_at(document: Document, offset: int) -> tuple[str, ...]:
    """The headings that `offset` stands under, highest first, each one clean line, without the document's title; last
    the name of the list entry whose text goes on at `offset`, if any.

    At most MAX_TITLE characters together; the headings nearest to the place are kept.
    """
    path: list[str] = []
    left = MAX_TITLE
    for line in _above(document, document.block_row(offset)):
        if left <= 1:
            break
        path.append(title(line, left))
        left -= len(path[-1])
    return tuple(line for line in reversed(path) if line)


def _above(document: Document, row: int) -> Iterator[str]:
    """The name of the list entry that a block continues, then the headings above it, nearest first."""
    entry = _entry(document, row)
    if entry >= 0:
        yield _name(document, document.blocks[entry])
    at = row if row >= 0 and document.blocks[row].kind is BlockKind.HEADING else _under(document, row)
    while at >= 0:
        block = document.blocks[at]
        if (line := _words_of(document, block)) != document.title:
            yield line
        at = block.under


def paragraph_at(document: Document, offset: int) -> int | None:
    """The number, from 1, of the block at `offset` below its heading or list entry; None for a heading itself."""
    row = document.block_row(offset)
    if row < 0 or document.blocks[row].kind is BlockKind.HEADING:
        return None
    entry = _entry(document, row)
    return row - (entry if entry >= 0 else document.blocks[row].under)


def sections_within(document: Document, start: int, end: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """(offset in the document, path of `headings_at`) of each heading that begins in text[start + 1:end], and of each
    place where an entry's text begins or ends, in order."""
    first, last = document.block_row(start), document.block_row(end - 1)
    entries = {row: _entry(document, row) for row in range(first, last + 1)}
    inner = [
        document.blocks[row]
        for row in range(first + 1, last + 1)
        if entries[row] != entries[row - 1]
        or (document.blocks[row].kind is BlockKind.HEADING and _words_of(document, document.blocks[row]))
    ]
    return tuple((block.start, headings_at(document, block.start)) for block in inner)


def _entry(document: Document, row: int) -> int:
    """The row of the nearest named list item that the block of `row` continues, -1 for none."""
    at = document.blocks[row].intro if row >= 0 else -1
    for _ in range(_DEEP):
        if at < 0 or (document.blocks[at].kind is BlockKind.ITEM and _name(document, document.blocks[at])):
            return at
        at = document.blocks[at].intro
    return -1


def _name(document: Document, item: Block) -> str:
    found = _NAME.match(document.text, item.start, min(item.end, item.start + _LOOK))
    return title(found[1]).strip("*_` ") if found else ""


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
