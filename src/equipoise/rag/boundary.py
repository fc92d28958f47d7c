"""The boundary: spans in, the store's own text out. Nothing a highlighter's model wrote passes here.

`read_highlights` is a function of (spans, shown passages, corpus, policy); the question is not among
its arguments, and this module does not import its type.
"""

from collections.abc import Iterable, Mapping, Sequence

from equipoise.core.types import Document, Dropped, Highlight, Highlights, Passage, Span
from equipoise.text.spans import DropReason, SpanPolicy, canonicalize


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
