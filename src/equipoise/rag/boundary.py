"""The boundary: spans in, the store's own text out. Nothing a highlighter's model wrote passes here.

`read_highlights` is a function of (spans, shown passages, corpus, policy), and `with_context` of (canonical
spans, corpus); the question is not among their arguments, and this module does not import its type.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from equipoise.core.types import Document, Dropped, Highlight, Highlights, Passage, Span
from equipoise.text.spans import DropReason, SpanPolicy, canonicalize

MAX_CONTEXT = 1_500
"""Characters of context for a highlight that is shorter: a passage of the embedded chunker has at most 1,200."""


def read_highlights(
    spans: Iterable[Span],
    passages: Sequence[Passage],
    documents: Mapping[str, Document],
    policy: SpanPolicy,
) -> tuple[Highlights, tuple[Dropped, ...]]:
    """Canonical highlights with their text read from `documents`, and what was dropped with its reason."""
    shown: list[Span] = []
    hidden: list[Dropped] = []
    for span in spans:
        if _shown(span, passages):
            shown.append(span)
        else:
            hidden.append(Dropped(DropReason.NOT_SHOWN, span))
    canonical, dropped = canonicalize(shown, documents, policy)
    items = tuple(read_span(span, documents[span.doc_id]) for span in canonical)
    return Highlights(items), (*hidden, *dropped)


def _shown(span: Span, passages: Sequence[Passage]) -> bool:
    return any(p.doc_id == span.doc_id and p.start <= span.start and span.end <= p.end for p in passages)


def read_span(span: Span, document: Document) -> Highlight:
    """The text that `document` holds under `span`, and where a reader finds it."""
    return Highlight(
        span.doc_id,
        span.start,
        span.end,
        document.text[span.start : span.end],
        document.source,
        document.title,
        document.page_at(span.start),
        None if document.pages else document.line_at(span.start),
    )


def with_context(
    highlights: Highlights,
    documents: Mapping[str, Document],
    passages_of: Callable[[str], Sequence[Passage]],
) -> Highlights:
    """The same highlights, each with the text of the stored passages that it lies in.

    `passages_of` gives all passages of a document, by id. Every sentence stands in one passage, so these are
    passages that were shown: one that a filter took out does not come back. At most MAX_CONTEXT characters, in
    whole sentences around the highlight; empty where there is nothing around it.
    """
    stored = {doc_id: passages_of(doc_id) for doc_id in {item.doc_id for item in highlights.items}}
    items = [
        replace(item, context=_surrounding(item.span, documents[item.doc_id], stored[item.doc_id]))
        for item in highlights.items
    ]
    return Highlights(tuple(items))


def _surrounding(span: Span, document: Document, passages: Sequence[Passage]) -> str:
    around = [p for p in passages if p.start < span.end and span.start < p.end]
    reach = max(0, MAX_CONTEXT - (span.end - span.start)) // 2
    first = max(span.start - reach, min((p.start for p in around), default=span.start))
    last = min(span.end + reach, max((p.end for p in around), default=span.end))
    whole = [(start, end) for start, end in document.sentences if first <= start and end <= last]
    start, end = min([span.start, *(s for s, _ in whole[:1])]), max([span.end, *(e for _, e in whole[-1:])])
    return document.text[start:end] if (start, end) != (span.start, span.end) else ""
