"""Every input that one question can force on the summarizer, one after the other: for deployments that are small.

Candidates are drawn from the sentences of a store within the limits, and each goes through the real boundary with its
passages shown: those that come out as they went in are the canonical ones. `rag.budget` counts the same set.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from equipoise.core.errors import InputError
from equipoise.core.types import Document, Highlights, Passage, Span, Tag
from equipoise.maths.marks import Unit
from equipoise.maths.steps import SetLimits
from equipoise.rag.boundary import crossing_tags, read_highlights, spans_of, with_context
from equipoise.rag.budget import Deployment
from equipoise.rag.quotable import Quotable, joined_spans, joined_units


@dataclass(frozen=True, slots=True)
class Input:
    """What the summarizer gets: quotes and tags."""

    highlights: Highlights
    tags: frozenset[Tag]


def inputs(documents: Sequence[Quotable], deployment: Deployment) -> Iterator[Input]:
    """Each input once, in document order, without tags first.

    Raises InputError for a store in which sentences run over the end of their passage: an index of ours has none.
    """
    units, spans = joined_units(documents), joined_spans(documents)
    if any(unit.passage is None for unit in units):
        raise InputError(
            "sentences of this index run over the end of their passage: index the documents again"
        )
    texts = {whole.document.doc_id: whole.document for whole in documents}
    passages = [passage for whole in documents for passage in whole.passages]
    tag_sets = [frozenset[Tag](), *(frozenset({tag}) for tag in Tag if deployment.tags)]
    for rows in candidates(units, deployment.limits):
        numbers = dict.fromkeys(units[row].passage for row in rows)
        shown = [passages[number] for number in numbers if number is not None]
        highlights = _unchanged([spans[row] for row in rows], shown, texts, deployment)
        if highlights is not None:
            crossing = dict.fromkeys(crossing_tags(tags, highlights)[0] for tags in tag_sets)
            yield from (Input(highlights, tags) for tags in crossing)


def candidates(units: Sequence[Unit], limits: SetLimits) -> Iterator[tuple[int, ...]]:
    """Every set of rows within the limits of sentences, passages and spans, without repeated texts."""
    pending: list[tuple[int, ...]] = [()]
    while pending:
        rows = pending.pop()
        if rows:
            yield rows
        if len(rows) == limits.sentences:
            continue
        taken = {units[row].text for row in rows}
        longer = (
            (*rows, row)
            for row in range(rows[-1] + 1 if rows else 0, len(units))
            if units[row].text not in taken
        )
        pending += [more for more in longer if _fits(more, units, limits)][::-1]


def _fits(rows: Sequence[int], units: Sequence[Unit], limits: SetLimits) -> bool:
    spans = run = 0
    before = -2
    for row in rows:
        run = run % limits.longest + 1 if row == before + 1 and units[row].follows else 1
        spans += run == 1
        before = row
    return spans <= limits.spans and len({units[row].passage for row in rows}) <= limits.passages


def _unchanged(
    spans: list[Span], shown: Sequence[Passage], documents: Mapping[str, Document], deployment: Deployment
) -> Highlights | None:
    """The highlights of these sentences where they are canonical, None where others come out."""
    highlights, _ = read_highlights(spans, shown, documents, deployment.policy)
    if [sentence for span in spans_of(highlights) for sentence in _sentences(span, documents)] != spans:
        return None
    return with_context(highlights, documents, shown) if deployment.context else highlights


def _sentences(span: Span, documents: Mapping[str, Document]) -> list[Span]:
    """The sentences of a canonical span."""
    sentences = documents[span.doc_id].sentences
    return [
        Span(span.doc_id, *offsets)
        for offsets in sentences
        if span.start <= offsets[0] and offsets[1] <= span.end
    ]
