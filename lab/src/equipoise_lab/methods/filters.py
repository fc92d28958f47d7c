"""The filters that BiasDef and `coordinated` are compared with: MMR, SMART and BRRA; and several filters in turn.

As in `equipoise.rag.filters`: a passage among the first k that a filter does not keep carries a flag, each class works
on the candidates it is given and on nothing else, and gives the same result every time. Relevance is the cosine of a
passage's embedding to the question's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Flag, Query
from equipoise.maths.checks import Floats
from equipoise.rag.components import Components
from equipoise.rag.filters import check_vectors, cosines, filtered, flagged
from equipoise_lab.maths import diversity
from equipoise_lab.methods import nli
from equipoise_lab.methods.nli import NLI

CONFLICT = 0.5
"""From this probability on, SMART's reason names a contradiction instead of a likeness."""

DIGITS = 12
"""SMART's kernel is rounded to these decimals, so that of equal passages the first one is taken."""

SEED = 0
"""Of BRRA's noise: a constant, so that nothing in a question but its embedding moves the result."""


@dataclass(frozen=True, slots=True)
class MmrFilter:
    """Maximal marginal relevance; `trade_off` as in `maths.diversity.mmr`, 0.5 in the EBI paper."""

    trade_off: float = 0.5

    @classmethod
    def from_components(cls, components: Components) -> "MmrFilter":
        """Built from the settings."""
        return cls(components.settings.filter.trade_off)

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The k passages chosen; a flag's score is the similarity to the most similar kept passage.

        Raises CorpusError or ModelError for vectors that cannot be used.
        """
        relevance, alike = cosines(candidates)
        kept = _rows(diversity.mmr(relevance, alike, k=k, trade_off=self.trade_off))
        flags = []
        for row in _displaced(kept, candidates, k):
            near = _nearest(kept, alike[row])
            reason = f"mmr: {_repeats(candidates, near, alike[row, near], relevance[row])}"
            flags.append(flagged(candidates, row, reason, alike[row, near]))
        return filtered(candidates, kept, flags)


@dataclass(frozen=True, slots=True)
class SmartFilter:
    """SMART: a determinantal point process that avoids repetition and contradiction.

    `nli` says which passages contradict each other; None leaves conflicts out: a plain process over relevance
    and similarity, which is `sharpness` 0. It is asked about both
    directions of at most `pairs` pairs: those with the largest product of similarity and both relevances,
    whose kernel entries a conflict changes most. Other pairs count as free of conflict. So 20 candidates cost
    2 * min(pairs, 190) predictions a question: 100 with 50 pairs, 380 for all, as in the paper.
    """

    nli: NLI | None = None
    pairs: int = 50
    sharpness: float = 1.0

    @classmethod
    def from_components(cls, components: Components) -> "SmartFilter":
        """Built from the settings; raises MissingExtra, ModelUnavailable or InputError for `filter.nli`."""
        wanted = components.settings.filter
        return cls(nli.from_components(components), wanted.nli_pairs, wanted.sharpness)

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """At most k passages, fewer where the others would only repeat or are unlike the question.

        A flag's score is the conflict with, or else the similarity to, the kept passage it is nearest to.
        Raises CorpusError or ModelError for vectors that cannot be used, and what `nli` raises.
        """
        relevance, alike = cosines(candidates)
        weight = alike * np.outer(np.maximum(relevance, 0.0), np.maximum(relevance, 0.0))
        conflict = await nli.conflicts(self.nli, candidates.passages, weight, pairs=self.pairs)
        sharpness = self.sharpness if self.nli else 0.0
        kernel = diversity.smart_kernel(relevance, alike, conflict, sharpness=sharpness)
        kept = _rows(diversity.greedy_map(np.round(kernel, DIGITS), k=k))
        flags = []
        for row in _displaced(kept, candidates, k):
            why, score = _smart_reason(candidates, row, kept, (relevance, alike, conflict), sharpness)
            flags.append(flagged(candidates, row, f"smart: {why}", score))
        return filtered(candidates, kept, flags)


@dataclass(frozen=True, slots=True)
class BrraFilter:
    """BRRA: passages near to the question and to noisy copies of it, which search the whole corpus.

    So its candidates are the corpus (`whole_corpus`: a benchmark gives it all passages), of which each copy retrieves
    4 k; a pipeline, which has twenty candidates, cannot use it. Noise is as large as the question's embedding.
    """

    copies: int = 10
    noise: float = 1.0
    whole_corpus: bool = True

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The k passages ranked first; a flag's score is the passage's place in that ranking, from 1.

        Raises CorpusError or ModelError for vectors that cannot be used.
        """
        check_vectors(candidates)
        order = diversity.brra(
            candidates.query_embedding,
            candidates.embeddings,
            k=max(len(candidates), 1),
            rng=np.random.default_rng(SEED),
            copies=self.copies,
            noise=self.noise,
            depth=4 * k,
        ).tolist()
        kept = _rows(order[:k])
        flags = []
        for row in _displaced(kept, candidates, k):
            place = order.index(row) + 1 if row in order else len(order) + 1
            reason = f"brra: only number {place} over the question and {self.copies} noisy copies of it"
            flags.append(flagged(candidates, row, reason, place))
        return filtered(candidates, kept, flags)


@dataclass(frozen=True, slots=True)
class InTurn:
    """Filters one after the other, each on what the one before left: BiasDef twice, or along two components of PS
    (EBI, section 7)."""

    passes: tuple[PassageFilter, ...]

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k that none has flagged. Raises what they raise."""
        left, flags = candidates, list[Flag]()
        for one in self.passes:
            found = await one.filter(query, left, k=len(left))
            left, flags = found.kept, [*flags, *found.flagged]
        return Filtered(left.take(list(range(min(k, len(left))))), tuple(flags))


def _rows(chosen: Iterable[int]) -> list[int]:
    return sorted(int(row) for row in chosen)


def _displaced(kept: Sequence[int], candidates: Candidates, k: int) -> list[int]:
    """The rows that would be kept without a filter and are not."""
    return [row for row in range(min(k, len(candidates))) if row not in kept]


def _nearest(kept: Sequence[int], likeness: Floats) -> int:
    """The kept row with the largest entry of `likeness` (n,)."""
    return max(kept, key=lambda row: float(likeness[row]))


def _repeats(candidates: Candidates, near: int, likeness: float, relevance: float) -> str:
    other = candidates.passages[near].spot
    return f"{likeness:.2f} like passage {other}, which is kept, and {relevance:.2f} like the question"


def _smart_reason(
    candidates: Candidates,
    row: int,
    kept: Sequence[int],
    measured: tuple[Floats, Floats, Floats],
    sharpness: float,
) -> tuple[str, float]:
    relevance, alike, conflict = (values[row] for values in measured)
    if relevance <= 0.0 or not kept:
        return f"unlike the question (cosine {relevance:.2f})", float(relevance)
    near = _nearest(kept, alike * np.exp(sharpness * conflict))
    if conflict[near] < CONFLICT:
        return _repeats(candidates, near, alike[near], relevance), float(alike[near])
    other = candidates.passages[near].spot
    return f"contradicts passage {other}, which is kept ({conflict[near]:.2f})", float(conflict[near])
