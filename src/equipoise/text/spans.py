"""Canonical spans: whole sentences, document order, no repeats, a limited number.

Whatever a highlighter proposes, canned or hijacked, only a canonical set crosses the boundary. Its order,
its repetitions, its cuts inside sentences and its very short extracts carry nothing (H&S section 8.2).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import islice
from typing import TypeGuard

from equipoise.core.errors import InputError
from equipoise.core.types import Document, Dropped, Span
from equipoise.text.tokens import WORD


class DropReason(StrEnum):
    """Why a proposed span, or a part of one, is not among the canonical ones."""

    NOT_A_SPAN = "not a span"
    NOT_INTEGERS = "offsets are not integers"
    UNKNOWN_DOCUMENT = "unknown document"
    OUT_OF_RANGE = "outside the document"
    EMPTY = "empty or inverted"
    NO_SENTENCE = "touches no sentence"
    TOO_SHORT = "too few words"
    REPEATED = "repeats an earlier sentence"
    TOO_MANY_SENTENCES = "over the limit of sentences"
    TOO_MANY_SPANS = "over the limit of spans"
    TOO_MANY_PIECES = "over the limit of short pieces"
    NOT_FOUND = "quotation not found"
    END_NOT_FOUND = "its last words do not follow its first words"
    NOT_SHOWN = "outside the passages that were shown"
    NO_SUCH_NUMBER = "the model named a sentence that was not shown"
    OVER_THE_PICK = "over the limit of a pick"
    NO_VALID_REPLY = "the model sent no valid reply: the second opinion picks"
    DECLINED = "the model says that nothing answers"
    TWO_VERDICTS = "yes and no at once"
    UNSUPPORTED = "a yes or no that the quotes do not bear out"
    OVER_THE_MESSAGE = "over the limits of a whole message"


_LIMITS = frozenset({DropReason.TOO_MANY_SENTENCES, DropReason.TOO_MANY_SPANS, DropReason.TOO_MANY_PIECES})
_LETTER = re.compile(r"[^\W_]")
_LOOK = 2_000  # characters of a sentence or a span that are looked at
Run = tuple[str, range]
"""Neighbouring sentences of a document, by their indices."""
_LONG = 64  # bits; Python refuses to write very long numbers in digits


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class SpanPolicy:
    """The limits of a canonical set; each at least 1. Raises InputError for another value.

    `min_words`: whole words a proposed span must have unless it covers whole sentences.
    `max_spans`: spans in the set. `max_sentences_per_span`: a longer run of sentences is split.
    `max_sentences`: sentences in the whole set. `max_pieces`: spans in the set that have fewer than `min_words` words
    and do not go on from another one: each says little by itself, but many of them, picked here and there, say what no
    document does (H&S section 8.2). With two, 2 of 60 texts can be spelt instead of 19, and 7 of 889 benign sets lose
    one (benchmarks/security/pieces.md). `within_passages`: what is shown around a span stays within its passage, so
    that it cannot bring back passages that a filter took out.
    """

    min_words: int = 6
    max_spans: int = 8
    max_sentences_per_span: int = 5
    max_sentences: int = 20
    max_pieces: int = 2
    within_passages: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "within_passages" and (not _is_int(value) or value < 1):
                raise InputError(f"{field.name} is {value!r}: give a whole number of 1 or more")


def canonicalize(
    spans: Iterable[Span], documents: Mapping[str, Document], policy: SpanPolicy = SpanPolicy()
) -> tuple[tuple[Span, ...], tuple[Dropped, ...]]:
    """The canonical form of `spans`, and what did not become part of it with a `DropReason` each.

    A span is dropped where it is malformed, or where it has fewer than `min_words` whole words and does not
    cover whole sentences; the others grow outward to `document.sentences` (an edge sentence of which a span
    has no whole word is not touched by it). The sentences are ordered by document id and offset; a sentence
    with the text of an earlier one is left out; the first `max_sentences` stay. Each run of neighbours
    becomes one span, or several where it is longer than `max_sentences_per_span`; of the short ones the first
    `max_pieces` stay, and of all the first `max_spans`.

    Depends only on the set of spans, not on order or repetition; canonical spans come back unchanged. Never
    raises on malformed spans; of several malformed in the same way, one is reported. Time: bisections and at most
    some _LOOK characters a span, plus the length of the text under what is kept.
    """
    wanted: dict[str, list[range]] = {}
    dropped: list[Dropped] = []
    for span in spans:
        reason = _fault(span, documents)
        chosen = range(0) if reason else _touched(span, documents[span.doc_id])
        if not reason and not chosen:
            reason = DropReason.NO_SENTENCE
        elif chosen and not (
            chosen := _meant_sentences(span, documents[span.doc_id], chosen, policy.min_words)
        ):
            reason = DropReason.TOO_SHORT
        if reason:
            dropped.append(Dropped(reason, span if isinstance(span, Span) else None))
        else:
            wanted.setdefault(span.doc_id, []).append(chosen)
    kept, left_out = _limited(wanted, documents, policy)
    runs, over = _within(list(_runs(kept, policy.max_sentences_per_span)), documents, policy)
    spans_kept = tuple(_span(run, documents) for run in runs)
    return spans_kept, (*_in_order(dropped), *left_out, *over)


def best_within(
    spans: Iterable[Span], documents: Mapping[str, Document], policy: SpanPolicy
) -> tuple[tuple[Span, ...], tuple[Dropped, ...]]:
    """The `spans`, best first, that the limits of a canonical set leave room for, and the others with a `DropReason`.

    The first one always stays, even if it is over a limit by itself.
    """
    ranked = list(spans)
    if not _over(ranked, documents, policy):
        return tuple(ranked), ()
    kept, lost, dropped = ranked[:1], _over(ranked[:1], documents, policy), []
    for span in ranked[1:]:
        over = _over([*kept, span], documents, policy)
        if len(over) > len(lost):
            dropped.append(Dropped(over[0], span))
        else:
            kept, lost = [*kept, span], over
    return tuple(kept), tuple(dropped)


def _over(spans: Sequence[Span], documents: Mapping[str, Document], policy: SpanPolicy) -> list[str]:
    """The reasons of what the limits of a set leave out of these spans."""
    return [one.reason for one in canonicalize(spans, documents, policy)[1] if one.reason in _LIMITS]


def _in_order(dropped: Iterable[Dropped]) -> list[Dropped]:
    """Each once, in an order that does not depend on theirs."""
    unique = {_key(item): item for item in dropped}
    return [unique[key] for key in sorted(unique)]


def _key(item: Dropped) -> str:
    fields = (item.span.doc_id, item.span.start, item.span.end) if item.span else ()
    return f"{item.reason!r}, {', '.join(map(_written, fields))})"


def _written(value: object) -> str:
    """A text to tell values apart by. A span may hold any object, and its repr may be endless or raise."""
    if isinstance(value, int) and value.bit_length() > _LONG:
        return hex(value)
    return repr(value) if isinstance(value, str | int | float | None) else type(value).__name__


def overlap(a: Span, b: Span) -> int:
    """Number of characters `a` and `b` share; 0 for different documents."""
    return max(0, min(a.end, b.end) - max(a.start, b.start)) if a.doc_id == b.doc_id else 0


def _fault(span: object, documents: Mapping[str, Document]) -> DropReason | None:
    """What is wrong with a span by itself; takes anything, since models write spans."""
    if not isinstance(span, Span):
        return DropReason.NOT_A_SPAN
    if not _is_int(span.start) or not _is_int(span.end):
        return DropReason.NOT_INTEGERS
    if not isinstance(span.doc_id, str) or span.doc_id not in documents:
        return DropReason.UNKNOWN_DOCUMENT
    if span.start < 0 or span.end > len(documents[span.doc_id].text):
        return DropReason.OUT_OF_RANGE
    return DropReason.EMPTY if span.start >= span.end else None


def _touched(span: Span, document: Document) -> range:
    """Indices of the sentences that share a character with `span`."""
    first = bisect_right(document.sentences, span.start, key=_end)
    return range(first, max(first, bisect_left(document.sentences, span.end, key=_start)))


def _start(sentence: tuple[int, int]) -> int:
    return sentence[0]


def _end(sentence: tuple[int, int]) -> int:
    return sentence[1]


def _meant_sentences(span: Span, document: Document, touched: range, min_words: int) -> range:
    """The part of `touched` that `span` has words of; empty where it is too short to mean any."""
    first, last = touched[0], touched[-1]
    if first < last and not _claims(span, document, first):
        first += 1
    if first < last and not _claims(span, document, last):
        last -= 1
    if _covers(span, document, first) and _covers(span, document, last):
        return range(first, last + 1)
    complete = _whole_words(span, document, range(first, last + 1))
    return range(first, last + 1) if len(list(islice(complete, min_words))) == min_words else range(0)


def _claims(span: Span, document: Document, sentence: int) -> bool:
    """True where `span` has all or at least one whole word of `sentence`."""
    alone = range(sentence, sentence + 1)
    return _covers(span, document, sentence) or any(True for _ in _whole_words(span, document, alone))


def _covers(span: Span, document: Document, sentence: int) -> bool:
    """True where no letter or digit of `sentence` lies outside `span`, and no more than _LOOK characters at all."""
    start, end = document.sentences[sentence]
    before, after = max(start, span.start), min(end, span.end)
    if before - start > _LOOK or end - after > _LOOK:
        return False
    letters = (_LETTER.search(document.text, start, before), _LETTER.search(document.text, after, end))
    return letters == (None, None)


def _whole_words(span: Span, document: Document, sentences: range) -> Iterator[str]:
    """The words of `sentences` that lie wholly inside `span`, in its first _LOOK characters."""
    start, end = document.sentences[sentences[0]][0], document.sentences[sentences[-1]][1]
    start = max(start, span.start - _LOOK)
    before = (at for at in range(span.start, start, -1) if document.text[at - 1].isspace())
    start = next(before, start)  # no word has white space in it
    for match in WORD.finditer(document.text, start, min(end, start + _LOOK)):
        if match.start() >= span.end:
            return
        if span.start <= match.start() and match.end() <= span.end:
            yield match.group()


def _merged(ranges: Iterable[range]) -> Iterator[range]:
    """The same indices as ascending ranges that do not overlap."""
    at = 0
    for item in sorted(ranges, key=lambda r: (r.start, r.stop)):
        if item.stop > at:
            yield range(max(at, item.start), item.stop)
            at = item.stop


def _limited(
    wanted: Mapping[str, list[range]], documents: Mapping[str, Document], policy: SpanPolicy
) -> tuple[list[tuple[str, int]], list[Dropped]]:
    """The first `max_sentences` different sentences as (doc_id, index), in order, and what was left out."""
    kept: list[tuple[str, int]] = []
    dropped: list[Dropped] = []
    seen: set[str] = set()
    for doc_id in sorted(wanted):
        document = documents[doc_id]
        for indices in _merged(wanted[doc_id]):
            for index in indices:
                start, end = document.sentences[index]
                if len(kept) == policy.max_sentences:
                    rest = Span(doc_id, start, document.sentences[indices[-1]][1])
                    dropped.append(Dropped(DropReason.TOO_MANY_SENTENCES, rest))
                    break
                text = " ".join(document.text[start:end].split())
                if text in seen:
                    dropped.append(Dropped(DropReason.REPEATED, Span(doc_id, start, end)))
                    continue
                seen.add(text)
                kept.append((doc_id, index))
    return kept, dropped


def _runs(kept: list[tuple[str, int]], longest: int) -> Iterator[Run]:
    """The sentences in runs of neighbours, split after every `longest` of them."""
    at = 0
    while at < len(kept):
        doc_id, first = kept[at]
        size = 1
        while size < longest and at + size < len(kept) and kept[at + size] == (doc_id, first + size):
            size += 1
        yield doc_id, range(first, first + size)
        at += size


def _within(
    runs: list[Run], documents: Mapping[str, Document], policy: SpanPolicy
) -> tuple[list[Run], list[Dropped]]:
    """The runs that stay, and the others. Dropping a run can make the one after it a short piece: hence the loop."""
    dropped: list[Dropped] = []
    while True:
        reason, over = DropReason.TOO_MANY_PIECES, _pieces(runs, documents, policy)[policy.max_pieces :]
        if not over:
            reason, over = DropReason.TOO_MANY_SPANS, runs[policy.max_spans :]
        if not over:
            return runs, dropped
        dropped += [Dropped(reason, _span(run, documents)) for run in over]
        runs = [run for run in runs if run not in over]


def _pieces(runs: list[Run], documents: Mapping[str, Document], policy: SpanPolicy) -> list[Run]:
    """The runs of fewer than `min_words` words that do not go on from another one."""
    short = [run for run in runs if not _has_words(_span(run, documents), documents, policy.min_words)]
    if len(short) <= policy.max_pieces:
        return short
    ends = {(doc_id, indices.stop) for doc_id, indices in runs}
    return [(doc_id, indices) for doc_id, indices in short if (doc_id, indices.start) not in ends]


def _has_words(span: Span, documents: Mapping[str, Document], least: int) -> bool:
    matches = WORD.finditer(documents[span.doc_id].text, span.start, min(span.end, span.start + _LOOK))
    return len(list(islice(matches, least))) == least


def _span(run: Run, documents: Mapping[str, Document]) -> Span:
    doc_id, indices = run
    sentences = documents[doc_id].sentences
    return Span(doc_id, sentences[indices[0]][0], sentences[indices[-1]][1])
