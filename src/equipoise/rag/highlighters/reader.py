"""Reader highlighter: no language model. A small cross-encoder ranks passages, a larger one reads sentences with their
neighbours, and a third decides whether the best of them answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from equipoise.core.protocols import Reranker
from equipoise.core.types import Passage, Proposal, Query
from equipoise.models.adapted import DECISION, RANKING
from equipoise.models.crossencoder import READER
from equipoise.rag.components import Components
from equipoise.rag.highlighters.by_words import by_words
from equipoise.rag.highlighters.deciding import decision_logit
from equipoise.rag.highlighters.erasure import MOST_GAIN, shift
from equipoise.rag.highlighters.evidence import Calibration, calibration, features
from equipoise.rag.highlighters.lists import asked_list_items
from equipoise.rag.highlighters.naming import (
    equally_matching_rows,
    is_ambiguous,
    off_topic_passages,
    on_topic_windows,
    rows_that_say_yes,
    rows_to_compare,
    span_to_quote,
)
from equipoise.rag.highlighters.reading import Reading, Window, read
from equipoise.rag.unheard import unheard
from equipoise.text.tokens import script_of

DOUBT = 4.0
"""What is taken from the log-odds if the best row may be the wrong one (`naming.is_ambiguous`)."""


@dataclass(frozen=True, slots=True)
class Picked:
    """`windows` that answer, none below the threshold; `probability` that the best ones do, and the `threshold`, both
    0 to 1; None where nothing was read."""

    windows: tuple[Window, ...] = ()
    probability: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class ReaderHighlighter:
    """Declines where the probability that the best windows answer is below the threshold (`threshold` overrides
    the fitted one). Passages are ranked by the `reranker`, sentences read by the `reader`."""

    fitted: Calibration = field(default_factory=calibration)
    threshold: float | None = None
    reranker: Reranker = RANKING
    reader: Reranker = READER
    decision: Reranker = DECISION

    @classmethod
    def from_components(cls, components: Components) -> "ReaderHighlighter":
        """Built from the settings."""
        threshold, reranker = components.settings.highlight.threshold, components.reranker or RANKING
        return cls(calibration(), threshold, reranker, components.reader)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The best windows of sentences, none where they hardly answer. Raises ModelError."""
        return await asyncio.to_thread(self._highlight, query, passages)

    def _highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        if script_of(query.text):
            return by_words(query.text, passages)
        reading = self.read(query, passages)
        picked = self.pick(query, reading)
        spans = tuple(span_to_quote(window, reading.windows) for window in picked.windows)
        return Proposal(spans, probability=picked.probability, threshold=picked.threshold, ranked=True)

    def read(self, query: Query, passages: Sequence[Passage]) -> Reading:
        """The passages read, without the windows about something else than what the question names. Raises
        ModelError."""
        asked = query.newest
        reading = read(query, passages, self.reranker, self.reader, off_topic_passages(asked, passages))
        return replace(reading, windows=tuple(on_topic_windows(asked, reading.windows)))

    def pick(self, query: Query, reading: Reading) -> Picked:
        """The windows that answer, best first, and how probable that is. Raises ModelError."""
        if not reading.windows:
            return Picked()
        threshold = self.fitted.threshold if self.threshold is None else self.threshold
        values = features(query, reading, decision_logit(query, reading.windows, self.decision))
        moved = 0.0
        if not query.last and self.fitted.probability(values, MOST_GAIN) >= threshold:
            is_in_doubt = is_ambiguous(query.text, reading.windows) and unheard(query, reading.passages)
            moved = -DOUBT if is_in_doubt else shift(query.text, reading.windows[0], self.reader)
        probability = self.fitted.probability(values, moved)
        chosen = self.fitted.choose(reading.windows) if probability >= threshold else []
        if chosen:
            asked = query.text, chosen[0], reading.windows
            others = asked_list_items(query.text, chosen) or equally_matching_rows(*asked)
            chosen = rows_that_say_yes(*asked) or rows_to_compare(*asked) or [*chosen, *others]
        return Picked(tuple(chosen), probability, threshold)
