"""What is shown for a sentence that was chosen: the whole that a reader needs, as stretches of its document.

A lead-in comes with its list, steps, code or table, these come with their lead-in, a row with its header, a definition
with its term, a sentence with its paragraph where that is short, and with what "It" stands for. All of it is a
function of the document and the sentences chosen.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile

from equipoise.core.types import BlockKind, Document
from equipoise.text.block_text import fits, next_row, pieces_of, text_of, units_in, without_marker, words_in
from equipoise.text.cases import denies, goes_with, sentences_referred_to
from equipoise.text.labels import AMOUNT, ENDED, FEW_WORDS, is_fragment, is_label, is_lead_in
from equipoise.text.leads import (
    LONGEST_TERM,
    POINTS,
    RECORD,
    STEP,
    continuation,
    introduced,
    intros,
    lead_ins,
    list_items,
    names_list,
    term_above,
    term_sentence,
)
from equipoise.text.lines import is_closed

Offsets = tuple[int, int]

MAX_QUOTE_WORDS = 120
"""Most words of a quote; if it has more, it shows only the chosen sentences, what these are read with, and the first
piece of what they lead to."""
MAX_LIST_WORDS = 3 * MAX_QUOTE_WORDS
"""Words of a list that is shown with one of its items."""
MAX_PARAGRAPH_WORDS = 60
"""Words of a paragraph that is shown around a sentence of it."""
GAP = "\n\n…\n\n"
"""What stands in a quote for text that was left out of its middle."""

_LONG = 15  # words of an item, in the mean
_TITLES = 3  # lead-ins and titles that follow each other
_TITLED = re.compile(r"\S+\s+(?:\w+\s+){0,3}\w+\.\s+\w")
_WORD = re.compile(r"[^\W\d_]{2,}+")
_ELSEWHERE = re.compile(
    r"(?:see|see also|siehe(?: auch)?|voir(?: aussi)?|further reading)\b|\.\.\s|_\w", re.IGNORECASE
)
_SIGNS = re.compile(
    r"\W*+(?:(?:prev(?:ious)?+|next|home|up|top|contents|index|note|warning|caution|important|tip|zurück|weiter"
    r"|hinweis|achtung|retour|remarque)\b\W*+)++",
    re.IGNORECASE,
)
"""Words that lead through pages, or call for attention, and say nothing by themselves."""


def quotes_for_spans(
    document: Document, spans: Iterable[Offsets], within: Sequence[Offsets] = ()
) -> list[tuple[list[Offsets], list[Offsets]]]:
    """The quotes that show `spans` of whole sentences, in order: for each its stretches and the spans in it. A span
    over several sections is cut into one for each.

    What two spans show becomes one quote where it overlaps, or where they are neighbours in a list. Stretches are in
    order, and the text between two of them is left out; an empty one at the end says that text behind it is left out,
    too. Where `within` has stretches of the document, nothing is shown outside those that a span reaches into.
    """
    quotes: list[_Quote] = []
    for span in (part for whole in spans for part in _by_section(document, whole)):
        quote = _quote(document, span, within)
        while quotes and _is_one(document, quotes[-1], quote):
            quote = _completed(document, quotes.pop().joined(quote), within)
        quotes.append(quote)
    return [(_stretches(document, quote.shown(document)), quote.chosen) for quote in quotes]


@dataclass(frozen=True, slots=True)
class _Quote:
    """The spans `chosen`, in order, the pieces `needed` with them, and the groups of pieces `wanted` where they fit;
    `end` is where the list ends that several of the spans stand in."""

    chosen: list[Offsets]
    needed: frozenset[Offsets]
    wanted: list[list[Offsets]]
    end: int = 0

    def joined(self, other: "_Quote") -> "_Quote":
        """One quote of two."""
        needed = self.needed | other.needed
        left = ([piece for piece in group if piece not in needed] for group in (*self.wanted, *other.wanted))
        groups = sorted({group[0]: group for group in left if group}.values())
        return _Quote([*self.chosen, *other.chosen], needed, groups)

    def shown(self, document: Document) -> list[Offsets]:
        """What is shown, in order, with an empty piece at the end where more would follow."""
        left = MAX_QUOTE_WORDS - words_in(document, self.needed)
        shown = sorted(self.needed | {*_fitting(document, self.wanted, left)})
        start, end = shown[-1]
        if start >= self.chosen[-1][1] and is_lead_in(document.text[start:end]):
            shown.pop()
        ends = shown[-1][1]
        goes_on = ends < self.end or (bool(self.wanted) and self.wanted[-1][-1][0] >= ends)
        return [*shown, (ends, ends)] if goes_on else shown


def _is_one(document: Document, before: _Quote, after: _Quote) -> bool:
    """Whether two quotes overlap, or go on from one item of a list to the next."""
    if before.shown(document)[-1][1] > after.shown(document)[0][0]:
        return True
    end, start = before.chosen[-1][1], after.chosen[0][0]
    rows = range(document.block_row(end - 1), document.block_row(start) + 1)
    blocks = document.blocks[rows.start : rows.stop] if rows.start >= 0 else ()
    listed = bool(blocks) and all(block.kind in (BlockKind.ITEM, BlockKind.ASIDE) for block in blocks)
    return listed and not units_in(document, end, start)


def _completed(document: Document, quote: _Quote, within: Sequence[Offsets]) -> _Quote:
    """The quote with all of a list most of whose items are chosen, if it has at most MAX_LIST_WORDS words; items that
    stand for themselves only if their lead-in is chosen, too. Marked as going on if several are chosen and the list has
    further ones."""
    units = [unit for span in quote.chosen for unit in units_in(document, *span)]
    rows = sorted({document.block_row(start) for start, _ in units})
    items = list_items(document, rows[-1])
    own = _inside((piece for row in items for piece in pieces_of(document, row)), quote.chosen[-1], within)
    chosen = [row for row in rows if row in items]
    alone = any(RECORD.match(without_marker(text_of(document, document.blocks[row]))) for row in items)
    if len(chosen) < 2:
        return quote
    whole = not alone or not set(lead_ins(document, rows[-1])).isdisjoint(units)
    if whole and 2 * len(chosen) > len(items) and fits(document, own, MAX_LIST_WORDS):
        return replace(quote, needed=quote.needed.union(own))
    return replace(quote, end=own[-1][1])


def stretches_to_read(document: Document, unit: Offsets) -> list[Offsets]:
    """The stretches to read for a sentence to make sense: what leads to it and itself; for a fragment or a lead-in all
    that is shown with it; for a label the list below it; none where even that says nothing."""
    text = document.text[slice(*unit)]
    row = document.block_row(unit[0])
    names = is_label(text) if not STEP.match(text) else names_list(document, row)
    if names and (own := [piece for at in introduced(document, row) for piece in pieces_of(document, at)]):
        listed = own if fits(document, own, MAX_QUOTE_WORDS) else own[:1]
        return _stretches(document, {unit, *lead_ins(document, row), *listed})
    if not is_lead_in(text) and not is_fragment(text) and _states(document, unit, row):
        return _stretches(document, {unit, *lead_ins(document, row)})
    shown = _quote(document, unit).shown(document)
    says = any(_states(document, piece, document.block_row(piece[0])) for piece in shown)
    return _stretches(document, shown) if says else []


def _states(document: Document, unit: Offsets, row: int) -> bool:
    """Whether `unit`, in the block `row`, states something, rather than only naming or leading to something."""
    text = document.text[slice(*unit)]
    block = document.blocks[row] if row >= 0 else None
    if block and block.kind is BlockKind.CODE:
        return True
    if (
        is_lead_in(text)
        or _SIGNS.fullmatch(text)
        or (_ELSEWHERE.match(text) and len(text.split()) < FEW_WORDS)
    ):
        return False
    bare = without_marker(text)
    words = sum(1 for _ in _WORD.finditer(bare[:LONGEST_TERM]))
    led = block is not None and block.kind is BlockKind.ITEM and next(intros(document, row), -1) >= 0
    return words > 1 or (
        words == 1 and (led or ENDED.search(bare) is not None or AMOUNT.search(bare) is not None)
    )


def _quote(document: Document, span: Offsets, within: Sequence[Offsets] = ()) -> _Quote:
    """The quote of one span: its sentences with what they must be read with, and what else belongs to them."""
    needed: set[Offsets] = set()
    around: set[int] = set()
    for unit in units_in(document, *span):
        row = document.block_row(unit[0])
        needed |= {unit, *_negating_heading(document, row), *lead_ins(document, row)}
        around |= set(_related_blocks(document, row, unit, alone=_goes_on(document, row, span)))
        if fits(document, own := pieces_of(document, row), MAX_PARAGRAPH_WORDS):
            needed |= {*own, *sentences_referred_to(document, own[:1])}
        elif row >= 0:
            needed |= {*term_sentence(document, row), *_cases(document, own, unit)}
            needed |= {*_reply_to_heading(document, row), *sentences_referred_to(document, [unit])}
    wanted = list(_groups(document, sorted(around), needed))
    if needed and is_lead_in(document.text[slice(*max(needed))]):
        needed |= set(next((group[:1] for group in wanted if group[0] > max(needed)), ()))
    groups = (_inside(group, span, within) for group in wanted)
    return _Quote(
        [span], frozenset(_inside(needed or {span}, span, within)), [group for group in groups if group]
    )


def _by_section(document: Document, span: Offsets) -> list[Offsets]:
    """The span, cut where a heading stands between its sentences."""
    parts: list[Offsets] = []
    for unit in units_in(document, *span):
        before = document.block_row(parts[-1][1] - 1) if parts else -1
        between = document.blocks[before + 1 : document.block_row(unit[0])]
        if parts and not any(block.kind is BlockKind.HEADING for block in between):
            parts[-1] = (parts[-1][0], unit[1])
        else:
            parts.append(unit)
    return parts or [span]


def _inside(pieces: Iterable[Offsets], span: Offsets, within: Sequence[Offsets]) -> list[Offsets]:
    """The pieces in the span or in a stretch of `within` that it reaches into; all if `within` is empty."""
    if not within:
        return [*pieces]
    own = [span, *((low, high) for low, high in within if low < span[1] and span[0] < high)]
    return [piece for piece in pieces if any(low <= piece[0] and piece[1] <= high for low, high in own)]


def _cases(document: Document, own: Sequence[Offsets], unit: Offsets) -> Iterator[Offsets]:
    """The sentences of a block next to one of them that belong with it: a rule and its exception (`text.cases`)."""

    def holds(n: int) -> bool:
        return goes_with(*(document.text[slice(*one)] for one in own[n : n + 2]))

    at = bisect_left(own, unit)
    below = takewhile(lambda n: holds(n - 1), range(at + 1, len(own)))
    above = takewhile(holds, range(at - 1, -1, -1))
    return (own[n] for n in chain(below, above))


def _reply_to_heading(document: Document, row: int) -> Sequence[Offsets]:
    """The first sentence right below a heading that asks something, with the next where it has FEW_WORDS ("Yes.")."""
    under, own = document.blocks[row].under, pieces_of(document, row)
    if under < 0 or next_row(document, row, -1) != under:
        return ()
    asks = text_of(document, document.blocks[under]).endswith(("?", "？"))
    return own[: 2 if fits(document, own[:1], FEW_WORDS) else 1] if asks else ()


def _negating_heading(document: Document, row: int) -> Iterator[Offsets]:
    """The heading that a block stands under, if it negates what stands below it ("Not covered")."""
    under = document.blocks[row].under if row >= 0 else -1
    if under >= 0 and denies(text_of(document, heading := document.blocks[under])):
        yield heading.start, heading.end


def _related_blocks(document: Document, row: int, unit: Offsets, *, alone: bool) -> Iterator[int]:
    """The blocks that belong with the sentence `unit` of block `row`; if `alone`, without the other items of its
    list."""
    own = pieces_of(document, row)
    if not own:
        return
    if document.blocks[row].kind is BlockKind.CODE:
        yield row
    last = document.text[slice(*own[-1])]
    short = fits(document, own, MAX_PARAGRAPH_WORDS)
    points = any(POINTS.search(document.text[slice(*one)]) for one in (own if short else (unit,)))
    code = points and any(
        document.blocks[at].kind is BlockKind.CODE for at in islice(introduced(document, row), 1)
    )
    if unit == own[-1] or code or (short and is_lead_in(last)):
        yield from list(introduced(document, row)) or _blocks_below_title(document, row, last)
    yield from _related_paragraphs(document, row)
    leads = (row, *intros(document, row))
    item = next((at for at in leads if document.blocks[at].kind is BlockKind.ITEM), -1)
    if item >= 0 and not alone:
        yield from _siblings(document, item)


def _related_paragraphs(document: Document, row: int) -> Iterator[int]:
    """The paragraphs next to one that belong with it (`text.cases`)."""
    for other in (next_row(document, row, -1), next_row(document, row, 1)):
        pair = [document.blocks[at] for at in sorted((row, other)) if at >= 0]
        plain = len(pair) > 1 and all(block.kind is BlockKind.PARAGRAPH for block in pair)
        if plain and goes_with(*(text_of(document, block) for block in pair)):
            yield other


def _blocks_below_title(document: Document, row: int, text: str) -> Iterator[int]:
    """What a lead-in or title that introduces no block (`introduced`) leads to: a list, code, table or paragraph."""
    for _ in range(_TITLES):
        title = document.blocks[row].kind is BlockKind.PARAGRAPH and is_fragment(text)
        below = next_row(document, row, 1)
        if below < 0 or document.blocks[below].kind is BlockKind.HEADING or not (is_lead_in(text) or title):
            return
        yield below
        if document.blocks[below].kind is not BlockKind.PARAGRAPH:
            yield from continuation(document, below, 1)
            return
        yield from introduced(document, below)
        row, text = below, text_of(document, document.blocks[below])


def _siblings(document: Document, row: int) -> Iterator[int]:
    """The other items of a list with what is read with them, if the list is one whole: steps, or what a lead-in or
    heading names. None for an item that stands for itself: a term with its definition, a record ("Zone 2: 4.50"), a
    sentence of a list without a lead-in, a long one of a list too long to show whole, and the items of a list of over
    MAX_LIST_WORDS words, or of long titled items ("2. Water. The pump broke ..."), which is running text."""
    text = text_of(document, document.blocks[row])
    bare = without_marker(text)
    intro = next(intros(document, row), -1)
    term = is_fragment(bare) and any(
        document.blocks[at].kind is BlockKind.PARAGRAPH for at in introduced(document, row)
    )
    if not STEP.match(text) and (term or RECORD.match(bare) or (intro < 0 and is_closed(bare))):
        return
    others = (
        [*introduced(document, intro)]
        if intro >= 0
        else [*continuation(document, row, -1), *continuation(document, row, 1)]
    )
    items = [document.blocks[at] for at in (row, *others) if document.blocks[at].kind is BlockKind.ITEM]
    long = not fits(document, ((item.start, item.end) for item in items), _LONG * len(items))
    titled = sum(_TITLED.match(text_of(document, item)) is not None for item in items)
    if intro < 0 and long and 2 * titled > len(items):
        return
    most = MAX_QUOTE_WORDS if long and is_closed(bare) else MAX_LIST_WORDS
    if fits(document, (piece for at in others for piece in pieces_of(document, at)), most):
        yield from others


def _goes_on(document: Document, row: int, span: Offsets) -> bool:
    """Whether the span goes on from a label into the list that it names."""
    led = document.blocks[next(introduced(document, row), row)] if row >= 0 else None
    return led is not None and document.blocks[row].end <= led.start < span[1] and names_list(document, row)


def _groups(document: Document, rows: Iterable[int], shown: Set[Offsets]) -> Iterator[list[Offsets]]:
    """The pieces of the blocks that are not shown yet, in groups: of code each by itself, of other blocks all."""
    for row in rows:
        left = [piece for piece in pieces_of(document, row) if piece not in shown]
        left = [*term_above(document, row), *left] if left else left
        by_piece = document.blocks[row].kind is BlockKind.CODE
        yield from ([piece] for piece in left) if by_piece else [left] * bool(left)


def _fitting(document: Document, groups: Sequence[list[Offsets]], left: int) -> Iterator[Offsets]:
    """The pieces of the groups of which there is room for `left` words: the first, the last, the second, the last but
    one, so that what is left out is the middle."""
    rest, ends = deque(groups), deque((0, -1))
    while rest and ends:
        words = words_in(document, rest[ends[0]])
        if words > left:
            ends.popleft()
            continue
        left -= words
        yield from rest[ends[0]]
        del rest[ends[0]]
        ends.rotate()


def _stretches(document: Document, pieces: Iterable[Offsets]) -> list[Offsets]:
    """The pieces in order, joined where nothing quotable stands between. An empty one is kept only as the last."""
    joined: list[Offsets] = []
    ordered = sorted(pieces)
    for start, end in ordered:
        if start == end and (start, end) != ordered[-1]:
            continue
        if joined and start < end and not units_in(document, joined[-1][1], start):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
