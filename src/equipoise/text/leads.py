"""Which blocks of a document lead to which: a lead-in to its list, a term to what it means, a header to its rows."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile

from equipoise.core.types import Block, BlockKind, Document
from equipoise.text.block_text import next_row, pieces_of, text_of, without_marker
from equipoise.text.labels import are_of_one_kind, is_lead_in

Offsets = tuple[int, int]

_DEEP = 9  # lists within each other
_FAR, _NEAR = 200, 40  # blocks that are looked at on either side, for what belongs to it and for its like
LONGEST_TERM = 200
STEP = re.compile(r"\(?+(?:\d{1,3}+|[a-z]|#)[.)]\s", re.IGNORECASE)
RECORD = re.compile(r"[^.:–—]{1,60}(?:: | [–—] )\S|\S{1,30}(?: \S{1,30}){0,2} - \S")
_STOPPED = re.compile(r"[.!?。！？][\"'”’)\]*_]*\Z")
POINTS = re.compile(
    r"\b(?:following|follows?|below|these|those|folgende\w{0,2}|unten|suivant\w{0,2})\b", re.IGNORECASE
)
_LISTED = frozenset({BlockKind.ITEM, BlockKind.ASIDE})


def _last_sentence(document: Document, row: int) -> Sequence[Offsets]:
    """The last sentence of a block that introduces others; the whole block where it has none, being a term or column
    names, which are not quoted by themselves."""
    if found := pieces_of(document, row):
        return found[-1:]
    block = document.blocks[row]
    return [(block.start, block.end)] if block.end - block.start <= LONGEST_TERM else ()


def term_sentence(document: Document, row: int) -> Sequence[Offsets]:
    """The first sentence of an item that begins with its term ("-delete: Delete files."), which names what all its text
    is about."""
    text = text_of(document, document.blocks[row])
    named = document.blocks[row].kind is BlockKind.ITEM and RECORD.match(without_marker(text))
    return pieces_of(document, row)[:1] if named else ()


def _lead_in_sentence(document: Document, row: int) -> Sequence[Offsets]:
    """The sentence of a block that others are read with: the last if it leads on, else that with its term, if any."""
    last = _last_sentence(document, row)
    return (
        last if last and is_lead_in(document.text[slice(*last[0])]) else term_sentence(document, row) or last
    )


def lead_ins(document: Document, row: int) -> Iterator[Offsets]:
    """The sentences that lead to a block and are shown with it."""
    return (piece for intro in intros(document, row) for piece in _lead_in_sentence(document, intro))


def intros(document: Document, row: int) -> Iterator[int]:
    """The blocks that a block is read with, nearest first; a heading with a colon leads what stands right below it."""
    for _ in range(_DEEP):
        if row < 0:
            return
        block, intro = document.blocks[row], document.blocks[row].intro
        if intro < 0 and block.kind in (BlockKind.ITEM, BlockKind.CODE, BlockKind.ROW):
            above = next_row(document, row, -1)
            label = above >= 0 and document.blocks[above].kind is BlockKind.HEADING
            named = text_of(document, document.blocks[above]) if label else ""
            intro = above if is_lead_in(named) and not named.endswith(("?", "？")) else -1
        if intro < 0 or (block.kind in _LISTED and not _introduces(document, intro)):
            return
        yield intro
        row = intro


def _introduces(document: Document, row: int) -> bool:
    """Whether a block leads to the list below it: a paragraph that ends in a full stop only stands above it, unless it
    points there."""
    last = next(iter(_last_sentence(document, row)), (0, 0))
    text = document.text[slice(*last)]
    paragraph = document.blocks[row].kind is BlockKind.PARAGRAPH
    return not paragraph or not _STOPPED.search(text) or POINTS.search(text) is not None


def introduced(document: Document, row: int) -> Iterator[int]:
    """The blocks below that this one introduces, directly or through others."""
    for below in range(row + 1, min(row + _FAR, len(document.blocks))):
        if row in intros(document, below):
            yield below
        elif document.blocks[below].kind is not BlockKind.ASIDE:
            return


def term_above(document: Document, row: int) -> Sequence[Offsets]:
    """The term that an item explains, if it stands in a block of its own."""
    at = document.blocks[row].intro if document.blocks[row].kind is BlockKind.ITEM else -1
    is_term = at >= 0 and document.blocks[at].kind is BlockKind.ASIDE
    return _last_sentence(document, at) if is_term else ()


def list_items(document: Document, row: int) -> list[int]:
    """The items of the list that the item `row` stands in, and itself; none if it is no item."""
    if row < 0 or document.blocks[row].kind is not BlockKind.ITEM:
        return []
    lead = next((at for at in intros(document, row) if document.blocks[at].kind is not BlockKind.ASIDE), -1)
    both = (continuation(document, row, -1), continuation(document, row, 1))
    others = introduced(document, lead) if lead >= 0 else chain.from_iterable(both)
    level = document.blocks[row].level
    like = (at for at in others if document.blocks[at].kind is BlockKind.ITEM)
    return sorted({row, *(at for at in like if document.blocks[at].level == level)})


def names_list(document: Document, row: int) -> bool:
    """Whether a block is one of several labels of one kind nearby, each with a list of its own."""
    if not STEP.match(text_of(document, document.blocks[row])):
        return False
    texts = {at: text_of(document, document.blocks[at]) for at in _items_near(document, row)}
    steps = {at: text for at, text in texts.items() if STEP.match(text)}
    lead = "".join(text_of(document, document.blocks[at]) for at in islice(intros(document, row), 1))
    names = [without_marker(text) for text in steps.values()]
    return are_of_one_kind(lead, names) and all(any(introduced(document, at)) for at in steps)


def _items_near(document: Document, row: int) -> Iterator[int]:
    """The items around one, and itself, that are of its level."""
    blocks = document.blocks
    for side in (range(row, max(-1, row - _NEAR), -1), range(row + 1, min(row + _NEAR, len(blocks)))):
        items = takewhile(lambda at: blocks[at].kind in (BlockKind.ITEM, BlockKind.ASIDE), side)
        yield from (at for at in items if blocks[at].level == blocks[row].level)


def continuation(document: Document, row: int, step: int) -> Iterator[int]:
    """The blocks on one side of a block that go on with its list, code or table."""
    kind = document.blocks[row].kind
    own = _outermost(document, row).kind is kind
    for at in range(row + step, row + step * _FAR, step):
        if not 0 <= at < len(document.blocks):
            return
        belongs = any(document.blocks[place].kind is kind for place in (at, *intros(document, at)))
        if belongs and not (own and _outermost(document, at).kind is not kind):
            yield at
        elif document.blocks[at].kind is not BlockKind.ASIDE:
            return


def _outermost(document: Document, row: int) -> Block:
    """The last of the blocks that a block is read with, or itself."""
    *_, last = (row, *intros(document, row))
    return document.blocks[last]
