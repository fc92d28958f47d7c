"""Documents to passages: pieces on the borders of blocks and sentences, short enough for one vector."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from itertools import groupby

from equipoise.core.types import Block, BlockKind, Document
from equipoise.text.blocks import blocks
from equipoise.text.sentences import pieces, units

Offsets = tuple[int, int]

TARGET = 900  # characters, about 200 tokens: the embedded encoder reads 256
MOST = 1200
_LEAST = 200  # a shorter piece joins a neighbour where the two fit into MOST

Part = tuple[Block, list[Offsets]]
"""A block and its pieces, none of which is ever cut."""


def passages(document: Document) -> list[Offsets]:
    """(start, end) of every passage: in order, not overlapping, every sentence and every block in one of them.

    A passage is about TARGET and at most MOST characters long (provided no sentence is longer than MOST), begins
    and ends with a sentence or a heading, and does not end with a heading that belongs to the text after it. A list
    and code begin together with what they are read with, where that fits; an entry of a list that has text of its own,
    as an option in a manual, begins as a heading does. A table of contents or the like has passages of its own: search
    finds it, and it dilutes no other. Uses `document.sentences` and `document.blocks`, else finds them.
    """
    structure = document.blocks or blocks(document.text)
    sentences = document.sentences or units(document.text, structure)
    entries = _entries(structure)
    spans: list[Offsets] = []
    before = None
    for group in _groups(list(_parts(document.text, structure, sentences)), entries):
        aside, opens = _is_contents(group), group[0][0].start in entries or _opens_section(group)
        for number, piece in enumerate(_cut(list(_uncut(group)))):
            joins = spans and aside is before
            if joins and _belong_together(spans[-1], piece, opens=opens and number == 0):
                spans[-1] = (spans[-1][0], piece[1])
            else:
                spans.append(piece)
            before = aside
    return spans


def _parts(text: str, structure: Sequence[Block], sentences: Sequence[Offsets]) -> Iterator[Part]:
    """Every block with its sentences, or with its own pieces where it has none to quote.

    A sentence that runs over the end of its block, as one made by hand may, takes the blocks it touches with it.
    """
    taken = 0
    for block in structure:
        if block.end <= taken:
            continue
        first = bisect_left(sentences, (max(block.start, taken), 0))
        stop = bisect_left(sentences, (block.end, 0))
        own = list(sentences[first:stop]) or [piece for piece in pieces(text, block) if piece[0] >= taken]
        if own:
            taken = own[-1][1]
            yield block, own


def _entries(structure: Sequence[Block]) -> frozenset[int]:
    """The start offsets of items that introduce a block other than an item. That an item is long is not enough: the
    item above it may be its title, as in a Word file all of whose paragraphs are items."""
    leads = {block.intro for block in structure if block.kind is not BlockKind.ITEM}
    return frozenset(
        one.start for n, one in enumerate(structure) if n in leads and one.kind is BlockKind.ITEM
    )


def _groups(parts: Sequence[Part], entries: Set[int]) -> Iterator[list[Part]]:
    """Parts that make one passage where they fit: headings with what is below them, leads with what they lead in,
    the short beginning of a section with what comes next in it, entries, runs of asides by themselves. A short aside,
    such as an anchor, goes with what comes after it."""
    group: list[Part] = []
    for is_aside, run in groupby(parts, key=lambda part: part[0].kind is BlockKind.ASIDE):
        some = list(run)
        if is_aside and _is_contents(some):
            yield from (group, some) if group else (some,)
            group = []
            continue
        for part in some:
            if group and not (_goes_on(group[-1][0], part[0], entries) or _has_just_begun(group, part[0])):
                yield group
                group = []
            group.append(part)
    if group:
        yield group


def _is_contents(parts: Sequence[Part]) -> bool:
    """True for a run of asides that is long enough for a passage of its own."""
    asides = all(block.kind is BlockKind.ASIDE for block, _ in parts)
    return asides and parts[-1][0].end - parts[0][0].start >= _LEAST


def _opens_section(parts: Sequence[Part]) -> bool:
    kinds = (block.kind for block, _ in parts)
    return next((kind for kind in kinds if kind is not BlockKind.ASIDE), None) is BlockKind.HEADING


def _goes_on(last: Block, block: Block, entries: Set[int]) -> bool:
    below = last.kind in (BlockKind.HEADING, BlockKind.ASIDE)
    return below or (block.intro >= 0 and block.start not in entries)


def _has_just_begun(group: Sequence[Part], block: Block) -> bool:
    """True where `block` is of the section that the group opens, and what stands there so far is short: a default or a
    type below the name of a setting is read with the text about it."""
    short = group[-1][0].end - group[0][0].start < _LEAST
    return short and block.kind is not BlockKind.HEADING and _opens_section(group)


def _uncut(group: Sequence[Part]) -> Iterator[Offsets]:
    """The sentences of a group; an aside, such as a term, is one with the beginning of what comes after it."""
    start = -1
    for block, each in group:
        if block.kind is BlockKind.ASIDE and block is not group[-1][0]:
            start = each[0][0] if start < 0 else start
            continue
        yield (each[0][0] if start < 0 else start), each[0][1]
        yield from each[1:]
        start = -1


def _cut(group: list[Offsets]) -> Iterator[Offsets]:
    """The group whole where it fits into MOST, else cut between its pieces into passages of like length."""
    length = group[-1][1] - group[0][0]
    share = length / -(-length // TARGET) if length > MOST else MOST
    start, end = group[0]
    for after_start, after_end in group[1:]:
        longer = after_end - start
        if longer > MOST or (end - start > _LEAST and (longer + end - start) / 2 > share):
            yield start, end
            start = after_start
        end = after_end
    yield start, end


def _belong_together(before: Offsets, piece: Offsets, *, opens: bool) -> bool:
    """True where two neighbours make one passage; a new heading begins a new one unless both are short."""
    together = piece[1] - before[0]
    length, added = before[1] - before[0], piece[1] - piece[0]
    if min(length, added) < _LEAST:
        return together <= MOST
    return together <= TARGET and not (opens and length > TARGET // 2)
