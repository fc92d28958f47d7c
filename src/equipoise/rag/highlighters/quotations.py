"""What the highlighters that quote share: documents for a prompt, and quotations placed in passages."""

import re
from collections.abc import Iterable, Sequence

from equipoise.core.types import Dropped, Passage, Span
from equipoise.text.align import align_any
from equipoise.text.outline import path_line
from equipoise.text.spans import DropReason
from equipoise.text.tokens import has_words

_NONE = re.compile(r"\W*NONE\b(?!\s+\w)")


def documents_text(passages: Sequence[Passage]) -> str:
    """The passages as one text for a prompt, each under its number, title and headings."""
    return "\n\n".join(
        f"[{number}] {path_line(passage.title, passage.headings)}\n{passage.text}".strip()
        for number, passage in enumerate(passages, 1)
    )


def declines(answer: str) -> bool:
    """Whether an answer says NONE, as the prompts ask where nothing answers, or says nothing."""
    return not has_words(answer) or _NONE.match(answer) is not None


def declined(quotations: Iterable[str]) -> tuple[Dropped, ...]:
    """Drops the quotations of a model that says that nothing answers."""
    return tuple(Dropped(DropReason.DECLINED, quotation=quotation) for quotation in quotations)


def place(
    quotations: Iterable[str], passages: Sequence[Passage], *, threshold: float = 95.0
) -> tuple[tuple[Span, ...], tuple[Dropped, ...]]:
    """Each quotation as a span of the passage that holds it best, or dropped with a reason."""
    texts = [passage.text for passage in passages]
    spans: list[Span] = []
    dropped: list[Dropped] = []
    for quotation in quotations:
        match = align_any(quotation, texts, threshold=threshold)
        if match is None:
            dropped.append(Dropped(DropReason.NOT_FOUND, quotation=quotation))
        else:
            passage, alignment = passages[match[0]], match[1]
            offset = passage.start
            spans.append(Span(passage.doc_id, offset + alignment.start, offset + alignment.end))
    return tuple(spans), tuple(dropped)
