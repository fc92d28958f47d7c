"""The boundary: spans in, the documents' own text out. Nothing a highlighter's model wrote passes here.

`read_highlights` is a function of (spans, shown passages, their documents, policy), `within_one_policy` of the
highlights that it made, and `with_context` of (highlights, shown passages, their documents); the question is not
among their arguments, and this module does not import its type.

Spans are counted; what is shown around them (`text.quotes`) follows from them and their document, so it adds no choice.

What an attacker controls who picks spans at will is the choice of a canonical set within the policy, and with it
which documents are named. Each of those brings one title: one line of at most 200 characters, which whoever wrote the
document chose. A title is never chosen apart from a quote, so it adds no input to the countable ones, but its text
counts like that of a quote: in a corpus that anybody may write to, it is the attacker's.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby

from equipoise.core.documents import Corrected
from equipoise.core.metadata import DATE, READ, day
from equipoise.core.types import Document, Dropped, Highlight, Highlights, Passage, Span, Tag
from equipoise.corpus import chunks
from equipoise.text.corrections import correction_words_at
from equipoise.text.outline import headings_at, paragraph_at, path_line
from equipoise.text.polar import supported
from equipoise.text.quotes import GAP, Offsets, quotes_for_spans
from equipoise.text.spans import DropReason, SpanPolicy, canonicalize
from equipoise.text.visible import title

MAX_CONTEXT = 1_500
"""Characters of context for a highlight that is shorter: a passage of the embedded chunker has at most 1,200."""


def read_highlights(
    spans: Iterable[Span],
    passages: Sequence[Passage],
    documents: Mapping[str, Document],
    policy: SpanPolicy,
) -> tuple[Highlights, tuple[Dropped, ...]]:
    """Canonical highlights with their text read from `documents`, and what was dropped with its reason.

    Every canonical sentence stands in `passages`, also where a span that grew to whole sentences reached further. What
    a quote shows around it is the document's, unless `policy` keeps it within the passages.
    """
    shown: list[Span] = []
    hidden: list[Dropped] = []
    for span in spans:
        if not _is_placed(span) or _shown(span, passages):
            shown.append(span)  # what is no span at all gets its reason below
        else:
            hidden.append(Dropped(DropReason.NOT_SHOWN, span))
    canonical, dropped = canonicalize(shown, documents, policy)
    sentences = [sentence for span in canonical for sentence in _sentences(span, documents)]
    inside = [span for span in sentences if _covered(span, passages)]
    if len(inside) < len(sentences):
        hidden += [Dropped(DropReason.NOT_SHOWN, span) for span in sentences if span not in inside]
        canonical, more = canonicalize(inside, documents, policy)
        dropped = (*dropped, *more)
    return _quotes(canonical, documents, policy), (*hidden, *dropped)


def within_one_policy(
    sets: Sequence[Highlights], documents: Mapping[str, Document], policy: SpanPolicy
) -> list[tuple[Highlights, tuple[Dropped, ...]]]:
    """Each of `sets`, of one message, with what is left of it where `policy` holds for all of them together.

    The sentences of all sets are put into one canonical set, and what its limits leave out is dropped from each
    set that has it; a sentence that only repeats the text of a kept one stays. A function of each set and of the
    set of all: not of their order, and not of how often one occurs.
    """
    if len(sets) < 2:
        return [(highlights, ()) for highlights in sets]
    together = all_of(sets, documents, policy)
    kept = {_folded(s, documents) for span in spans_of(together) for s in _sentences(span, documents)}
    return [_left_of(highlights, kept, documents, policy) for highlights in sets]


def crossing_tags(tags: Set[Tag], highlights: Highlights) -> tuple[frozenset[Tag], tuple[Dropped, ...]]:
    """The tags that cross with `highlights`, and the others with their reason: see `text.polar.supported`."""
    crossing = supported(tags, [text for item in highlights.items for text in item.marked])
    reason = DropReason.TWO_VERDICTS if len(tags) > 1 else DropReason.UNSUPPORTED
    return crossing, tuple(Dropped(reason, quotation=tag.value) for tag in sorted(tags - crossing))


def all_of(sets: Iterable[Highlights], documents: Mapping[str, Document], policy: SpanPolicy) -> Highlights:
    """The canonical highlights of all `sets` together, without contexts."""
    return _canonical((span for highlights in sets for span in spans_of(highlights)), documents, policy)[0]


def spans_of(highlights: Highlights) -> tuple[Span, ...]:
    """The canonical spans that the quotes show, in order."""
    return tuple(span for item in highlights.items for span in item.chosen)


def read_quotes(
    spans: Iterable[Span], document: Document, passages: Sequence[Offsets] = ()
) -> list[Highlight]:
    """The quotes of `document` that show canonical `spans` of it, in order; within the one of `passages` that each
    stands in, where these are given."""
    offsets = ((span.start, span.end) for span in spans)
    return [
        _read(stretches, chosen, document)
        for stretches, chosen in quotes_for_spans(document, offsets, passages)
    ]


def _read(stretches: Sequence[Offsets], chosen: Sequence[Offsets], document: Document) -> Highlight:
    """The text that `document` holds under the stretches of one quote, and where a reader finds it."""
    marks: list[Offsets] = []
    at = 0
    for start, end in stretches:
        marks += [(at + low - start, at + high - start) for low, high in chosen if start <= low < end]
        at += end - start + len(GAP)
    first = chosen[0][0]
    text = GAP.join(document.text[start:end] for start, end in stretches)
    return Highlight(
        document.doc_id,
        stretches[0][0],
        stretches[-1][1],
        text,
        document.source,
        title(document.title),
        document.page_at(first),
        document.line_at(first),
        heading=path_line("", headings_at(document, first)),
        paragraph=paragraph_at(document, first),
        trust=document.trust,
        spans=tuple(chosen),
        marks=tuple(marks),
        date=day(document.metadata, DATE),
        read=day(document.metadata, READ),
        newer=document.newer,
        corrected=next((mark.source for mark in corrections_of(document, text)), ""),
        correction=bool(correction_words_at(document, first)),
    )


def corrections_of(document: Document, text: str) -> list[Corrected]:
    """The corrections of what a quote of a document, of which this is the text, shows without them."""

    def is_shown(start: int, end: int) -> bool:
        return document.text[start:end] in text

    return [
        mark
        for mark in document.corrected
        if is_shown(mark.start, mark.end)
        and not (mark.doc_id == document.doc_id and is_shown(mark.low, mark.high))
    ]


def with_context(
    highlights: Highlights, documents: Mapping[str, Document], passages: Sequence[Passage]
) -> Highlights:
    """The same highlights, each with the text of the shown `passages` that it lies in.

    So what a filter took out cannot come back. A highlight that runs over from one shown passage into the next has
    both as its context. Where every sentence stands in one passage, as the embedded chunker cuts, those passages
    follow from the spans; where passages overlap, the context also depends on which of them were shown. At most
    MAX_CONTEXT characters, in whole sentences around the highlight; empty where there is nothing around it.
    """
    items = [
        replace(item, context=_surrounding(item, documents[item.doc_id], passages))
        for item in highlights.items
    ]
    return Highlights(tuple(items))


def _canonical(
    spans: Iterable[Span], documents: Mapping[str, Document], policy: SpanPolicy
) -> tuple[Highlights, tuple[Dropped, ...]]:
    canonical, dropped = canonicalize(spans, documents, policy)
    return _quotes(canonical, documents, policy), dropped


def _quotes(canonical: Sequence[Span], documents: Mapping[str, Document], policy: SpanPolicy) -> Highlights:
    items: list[Highlight] = []
    for doc_id, spans in groupby(canonical, key=lambda span: span.doc_id):
        borders = chunks.passages(documents[doc_id]) if policy.within_passages else ()
        items += read_quotes(spans, documents[doc_id], borders)
    return Highlights(tuple(items))


def _left_of(
    highlights: Highlights, kept: set[str], documents: Mapping[str, Document], policy: SpanPolicy
) -> tuple[Highlights, tuple[Dropped, ...]]:
    sentences = [sentence for span in spans_of(highlights) for sentence in _sentences(span, documents)]
    stays = [_folded(span, documents) in kept for span in sentences]
    if all(stays):
        return highlights, ()
    over = [
        Dropped(DropReason.OVER_THE_MESSAGE, s) for s, stay in zip(sentences, stays, strict=True) if not stay
    ]
    inside = [span for span, stay in zip(sentences, stays, strict=True) if stay]
    left, dropped = _canonical(inside, documents, policy)
    return left, (*over, *dropped)


def _sentences(span: Span, documents: Mapping[str, Document]) -> list[Span]:
    """The sentences of a canonical span."""
    sentences = documents[span.doc_id].sentences
    first, stop = (bisect_left(sentences, (offset, 0)) for offset in (span.start, span.end))
    return [Span(span.doc_id, start, end) for start, end in sentences[first:stop]]


def _folded(span: Span, documents: Mapping[str, Document]) -> str:
    return " ".join(documents[span.doc_id].text[span.start : span.end].split())


def _is_placed(span: object) -> bool:
    return isinstance(span, Span) and isinstance(span.start, int) and isinstance(span.end, int)


def _shown(span: Span, passages: Sequence[Passage]) -> bool:
    return any(p.doc_id == span.doc_id and p.start <= span.start and span.end <= p.end for p in passages)


def _covered(span: Span, passages: Sequence[Passage]) -> bool:
    """Whether every character of `span` stands in one of `passages`."""
    at = span.start
    for start, end in sorted((p.start, p.end) for p in passages if p.doc_id == span.doc_id):
        if start <= at:
            at = max(at, end)
    return at >= span.end


def _surrounding(item: Highlight, document: Document, passages: Sequence[Passage]) -> str:
    span = Span(item.doc_id, item.chosen[0].start, item.chosen[-1].end)
    around = [p for p in passages if p.doc_id == span.doc_id and p.start < span.end and span.start < p.end]
    reach = max(0, MAX_CONTEXT - (span.end - span.start)) // 2
    first = max(span.start - reach, min((p.start for p in around), default=span.start))
    last = min(span.end + reach, max((p.end for p in around), default=span.end))
    whole = [(start, end) for start, end in document.sentences if first <= start and end <= last]
    start, end = min([span.start, *(s for s, _ in whole[:1])]), max([span.end, *(e for _, e in whole[-1:])])
    return document.text[start:end] if (start, end) != (span.start, span.end) else ""
