"""What the highlighters that quote share: documents for a prompt, and quotations placed in passages."""

from collections.abc import Iterable, Sequence

from equipoise.core.types import Dropped, Passage, Span
from equipoise.text.align import align

NOT_FOUND = "the quotation is not in the passages"


def documents_text(passages: Sequence[Passage]) -> str:
    """The passages as one text for a prompt, each under its number and title."""
    return "\n\n".join(
        f"[{number}] {passage.title}\n{passage.text}".strip() for number, passage in enumerate(passages, 1)
    )


def place(
    quotations: Iterable[str], passages: Sequence[Passage], *, threshold: float = 95.0
) -> tuple[tuple[Span, ...], tuple[Dropped, ...]]:
    """Each quotation as a span of the first passage that holds it best, or dropped with a reason."""
    spans: list[Span] = []
    dropped: list[Dropped] = []
    for quotation in quotations:
        span = _place_one(quotation, passages, threshold)
        if span is None:
            dropped.append(Dropped(NOT_FOUND, quotation=quotation))
        else:
            spans.append(span)
    return tuple(spans), tuple(dropped)


def _place_one(quotation: str, passages: Sequence[Passage], threshold: float) -> Span | None:
    found = [(align(quotation, passage.text, threshold=threshold), passage) for passage in passages]
    placed = [(alignment, passage) for alignment, passage in found if alignment is not None]
    if not placed:
        return None
    best, passage = max(placed, key=lambda pair: pair[0].score)
    return Span(passage.doc_id, passage.start + best.start, passage.start + best.end)
