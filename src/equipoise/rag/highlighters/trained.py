"""Trained highlighter: no language model. A small encoder reads question and passage together.

How it was trained, on what, and how its thresholds were chosen: `benchmarks/training`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.core.types import Passage, Proposal, Query
from equipoise.models.reader import SentenceReader
from equipoise.rag.highlighters.clues import is_fragment
from equipoise.rag.highlighters.sentences import Sentence, sentences_of
from equipoise.rag.parts import Parts

THRESHOLD, KEEP, MOST = 0.40, 0.2, 3
"""Chosen on the documents that training held out (benchmarks/training/README.md): the best sentence must reach
the probability THRESHOLD; up to MOST sentences are highlighted whose odds are at least KEEP of the best one's."""


@dataclass(frozen=True, slots=True)
class TrainedHighlighter:
    """Declines where no sentence reaches `threshold`."""

    reader: SentenceReader
    threshold: float = THRESHOLD

    @classmethod
    def from_parts(cls, parts: Parts) -> "TrainedHighlighter":
        """Built from the settings."""
        wanted = parts.settings.highlight.threshold
        return cls(SentenceReader(), THRESHOLD if wanted is None else wanted)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The likeliest sentences, none where the best one is below the threshold."""
        return await asyncio.to_thread(self._highlight, query.text, passages)

    def _highlight(self, question: str, passages: Sequence[Passage]) -> Proposal:
        sentences: list[Sentence] = []
        margins: list[float] = []
        for passage in passages:
            found = sentences_of([passage])
            sentences += found
            margins += self.reader.margins(question, passage.text, [(s.start, s.end) for s in found]).tolist()
        readable = [row for row, sentence in enumerate(sentences) if not is_fragment(sentence.text)]
        if not readable:
            return Proposal(())
        scores = np.array([margins[row] for row in readable])
        spans = tuple(sentences[readable[row]].span for row in choose(scores, self.threshold))
        best = 1.0 / (1.0 + np.exp(-scores.max()))
        return Proposal(spans, probability=float(best), wanted=self.threshold)


def choose(margins: NDArray[np.float64], threshold: float, keep: float = KEEP) -> list[int]:
    """Rows to highlight, best first; none where the best one's probability is below `threshold`.

    The probability of a margin m is 1 / (1 + exp(-m)): 0.4 is a margin of -0.405.
    """
    order = np.argsort(-margins, kind="stable")[:MOST]
    if not len(order) or 1.0 / (1.0 + np.exp(-margins[order[0]])) < threshold:
        return []
    return [int(row) for row in order if margins[row] >= margins[order[0]] + np.log(keep)]
