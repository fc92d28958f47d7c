"""`equipoise.highlight`: the spans of passages that somebody else retrieved which answer a question.

No store and no language model: the cross-encoder reads, as for `highlight.name = "reader"`. Threads may share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from equipoise.core.errors import InputError
from equipoise.core.types import Document, Query, Span, Trust
from equipoise.corpus.spelling import Correction, by_texts, corrected
from equipoise.integrations.chunks import ChunkDocuments, passages_in
from equipoise.models.encoder import english_words
from equipoise.rag.boundary import read_highlights
from equipoise.rag.gathering import checked
from equipoise.rag.given import all_texts
from equipoise.rag.highlighters.by_words import by_words
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.text.small_talk import asked
from equipoise.text.spans import SpanPolicy, overlap
from equipoise.text.tokens import script_of, words


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters `start` to before `end` of text number `row`: sentences that answer, with what is needed to understand
    them; `text` is what stands there. `chosen` are (start, end) of these sentences alone, in the text of that row.
    `probability` (0 to 1) is that of an answer if there were no other span, at most that of all; None where words alone
    decided."""

    row: int
    start: int
    end: int
    text: str
    chosen: tuple[tuple[int, int], ...]
    probability: float | None


@dataclass(frozen=True, slots=True)
class Highlighted:
    """`spans` in the order of the texts, none where these do not answer. `probability` (0 to 1) is that of an answer in
    any of them; None where words alone decided. `spelling` are the words of the question that were read otherwise than
    they were typed, each with the word that was read."""

    spans: tuple[TextSpan, ...]
    probability: float | None = None
    spelling: tuple[Correction, ...] = ()

    def pruned(self, texts: Sequence[str]) -> list[str]:
        """The texts with their spans alone, one a line; "" for one without."""
        return ["\n".join(span.text for span in self.spans if span.row == row) for row in range(len(texts))]


def highlight(
    question: str,
    texts: Sequence[str],
    *,
    titles: Sequence[str] | None = None,
    threshold: float | None = None,
) -> Highlighted:
    """What answers `question` in `texts`, each of which is read below its title. Where the probability is below
    `threshold` (0 to 1; default: the fitted one) nothing does; 0 gives the best spans in any case.

    Raises QuestionError for an empty or overlong question, InputError for other than a list of strings, and for a
    threshold that is not valid.
    """
    texts = all_texts(texts, "texts")
    named = [""] * len(texts) if titles is None else all_texts(titles, "titles")
    if len(named) != len(texts):
        raise InputError(f"{len(texts)} texts have {len(named)} titles: give each one, or no titles at all")
    if threshold is not None and not (isinstance(threshold, Real) and 0 <= threshold <= 1):
        raise InputError(f"a threshold is a number from 0 to 1, not {threshold!r}")
    documents = [
        Document(str(row), text, str(row), title, Trust.TRUSTED)
        for row, (text, title) in enumerate(zip(texts, named, strict=True))
    ]
    return highlight_documents(question, documents, threshold=threshold)


def highlight_documents(
    question: str, documents: Sequence[Document], *, threshold: float | None = None
) -> Highlighted:
    """The same of whole documents; the lists and tables that were found in their files stay."""
    query = Query(checked(question))
    given = passages_in(
        {
            row: replace(document, doc_id=str(row), trust=Trust.TRUSTED)
            for row, document in enumerate(documents)
            if any(map(str.isalnum, document.text))
        }
    )
    texts = [part for document in documents for part in (document.text, document.title)]
    known = {word for document in documents for word in words(document.text)}
    if not asked(query.text, lambda text: set(words(text)) - known):
        return Highlighted(())
    if script_of(query.text):
        return Highlighted(_quoted(dict.fromkeys(by_words(query.text, given.passages).spans), given))
    spelling = by_texts(query.text, texts, english_words())
    query = Query(corrected(query.text, spelling))
    highlighter = ReaderHighlighter(threshold=threshold)
    reading = highlighter.read(query, given.passages)
    picked = highlighter.pick(query, reading)
    alone = {
        window.span: highlighter.pick(
            query, replace(reading, scores=np.array([window.passage_score]), windows=(window,))
        ).probability
        for window in picked.windows
    }
    return Highlighted(_quoted(alone, given, picked.probability or 0.0), picked.probability, spelling)


def _quoted(
    picked: Mapping[Span, float | None], given: ChunkDocuments, most: float = 1.0
) -> tuple[TextSpan, ...]:
    """What is picked, with its probabilities, each `most` at most, as whole quotes in the order of the texts."""
    quotes, _ = read_highlights(picked, given.passages, given.documents, SpanPolicy())
    spans = []
    for quote in quotes.items:
        told = [
            min(probability, most)
            for span, probability in picked.items()
            if probability is not None and any(overlap(span, one) for one in quote.chosen)
        ]
        chosen = tuple((span.start, span.end) for span in quote.chosen)
        text = given.documents[quote.doc_id].text[quote.start : quote.end]
        spans.append(
            TextSpan(int(quote.doc_id), quote.start, quote.end, text, chosen, max(told, default=None))
        )
    return tuple(sorted(spans, key=lambda span: (span.row, span.start)))
