"""Filters between retrieval and highlighting: what is kept, what is taken out, and why.

A passage among the first k that a filter does not keep carries a flag, whatever the filter; BiasDef also
flags passages further down. SS, or relevance, is the cosine of a passage's embedding to the question's.

Each class works on the candidates it is given and on nothing else, and gives the same result every time.

A detector can be evaded; a quota cannot. It looks at where a passage comes from and at nothing else, so the share that
planted passages can take has a bound that is known before any attack (`bound`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equipoise.core.errors import CorpusError, ModelError
from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Flag, Query, Trust
from equipoise.maths import biasdef
from equipoise.maths.biasdef import BiasDefResult, BiasDefSettings, FlagReason
from equipoise.maths.checks import Floats
from equipoise.rag.components import Components

BIASDEF = ("bins", "max_flagged_share", "distance", "rule", "epsilon", "delta")
"""BiasDef's parameters that are settings, too."""


@dataclass(frozen=True, slots=True)
class NoFilter:
    """Keeps the first k candidates."""

    @classmethod
    def from_components(cls, components: Components) -> "NoFilter":
        """Needs nothing."""
        return cls()

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k candidates; nothing is flagged."""
        return Filtered(candidates.take(list(range(min(k, len(candidates))))))


@dataclass(frozen=True, slots=True)
class BiasDefFilter:
    """BiasDef: takes out a cluster that is nearest to the question and leans to one side."""

    parameters: BiasDefSettings = biasdef.DEFAULTS

    @classmethod
    def from_components(cls, components: Components) -> "BiasDefFilter":
        """Built from the settings; those that are None are `maths.biasdef.DEFAULTS`."""
        wanted = components.settings.filter
        given = {name: getattr(wanted, name) for name in BIASDEF}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return cls(replace(biasdef.DEFAULTS, **changes))

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k passages that are not flagged; a flag's score is the passage's PS.

        Raises CorpusError or ModelError for vectors that cannot be used.
        """
        check_vectors(candidates)
        result = biasdef.bias_def(candidates.query_embedding, candidates.embeddings, self.parameters)
        flags = [
            flagged(candidates, row, _biasdef_reason(result, row, why), result.scores[row])
            for row, why in zip(result.flagged, result.reasons, strict=True)
        ]
        return filtered(candidates, result.kept[:k], flags)


def check_vectors(candidates: Candidates) -> None:
    """Raises CorpusError naming the passage, or ModelError, for a vector that is zero or not finite."""
    question, matrix = candidates.query_embedding, candidates.embeddings
    if question.ndim != 1 or not np.isfinite(question).all() or not question.any():
        raise ModelError("the question has no usable vector (zero or not finite): check the encoder")
    if len(candidates) and matrix.shape != (len(candidates), len(question)):
        raise CorpusError(
            f"the passages' vectors are of shape {matrix.shape} where {(len(candidates), len(question))} "
            "is wanted: index the documents again with the encoder that reads the question"
        )
    for passage, row in zip(candidates.passages, matrix, strict=True):
        if not np.isfinite(row).all() or not row.any():
            raise CorpusError(
                f"passage {passage.passage_id} of {passage.doc_id} has a vector that is zero or not finite: "
                "index its document again"
            )


def cosines(candidates: Candidates) -> tuple[Floats, Floats]:
    """Relevance (n,) and similarity (n, n), checked."""
    check_vectors(candidates)
    if not len(candidates):
        return np.empty(0), np.empty((0, 0))
    matrix = candidates.embeddings.astype(np.float64)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    question = candidates.query_embedding.astype(np.float64)
    return unit @ (question / np.linalg.norm(question)), unit @ unit.T


def _biasdef_reason(result: BiasDefResult, row: int, why: FlagReason) -> str:
    side = f"PS {result.scores[row]:.2f}"
    if result.kept:
        side += f", kept passages {result.scores[list(result.kept)].mean():.2f} on average"
    if why is FlagReason.MAHALANOBIS:
        distance, limit = result.distances[row], result.settings.distance
        return f"{why}: in a one-sided cluster by its distance {distance:.2f}, limit {limit:.2f} ({side})"
    nearness = f"{result.similarities[row]:.2f} like the question, above the boundary {result.boundary:.2f}"
    return f"{why}: {nearness}, and one-sided ({side})"


def flagged(candidates: Candidates, row: int, reason: str, score: float) -> Flag:
    """The candidate of that row, taken out for a reason."""
    return Flag(candidates.passages[row], reason, float(score))


def filtered(candidates: Candidates, kept: Sequence[int], flags: Sequence[Flag]) -> Filtered:
    """The candidates of the rows `kept`, and the flags."""
    return Filtered(candidates.take(list(kept)), tuple(flags))


NOT_READ = "quota: at most {most} of {k} passages may come from {what}"


def bound(k: int, untrusted: int, *, applies: bool = True) -> int:
    """How many of the k passages that are read can come from untrusted documents at most.

    Worked value: k = 5 and a limit of 2 give 2; where no limit applies, 5.
    """
    return min(k, untrusted) if applies else k


@dataclass(frozen=True, slots=True)
class QuotaFilter:
    """What `inner` keeps, but at most `untrusted` passages from untrusted documents, and `per_document` from each one
    of these. A passage whose document is not among the candidates' counts as untrusted.

    `applies` says whether seats can be kept for trusted documents at all: where a store holds none, a limit for all
    together would only leave seats empty. The limit for each document holds all the same.
    """

    inner: PassageFilter
    untrusted: int = 2
    per_document: int = 100
    applies: Callable[[], bool] = lambda: True

    @classmethod
    def from_components(cls, components: Components) -> "QuotaFilter":
        """Quotas alone, built from the settings."""
        return cls.around(NoFilter(), components)

    @classmethod
    def around(cls, inner: PassageFilter, components: Components) -> "QuotaFilter":
        """Built from the settings."""
        wanted = components.settings.filter
        trusted = components.store.partition(Trust.TRUSTED)
        return cls(inner, wanted.untrusted, wanted.per_document, lambda: trusted.counts().documents > 0)

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """At most k passages within the quotas, in the order they came: those that `inner` keeps, but for any that a
        quota takes out (with a flag) the next ones without a flag. Raises what `inner` raises."""
        inner = await self.inner.filter(query, candidates, k=k)
        most = bound(k, self.untrusted, applies=self.applies())
        chosen = {passage.passage_id for passage in inner.kept.passages}
        out = {flag.passage.passage_id for flag in inner.flagged}
        ids = [passage.passage_id for passage in candidates.passages]
        first = [row for row, number in enumerate(ids) if number in chosen]
        rest = [row for row, number in enumerate(ids) if number not in chosen | out]
        kept: list[int] = []
        flags = list(inner.flagged)
        taken: Counter[str] = Counter()
        for row in (*first, *rest):
            passage = candidates.passages[row]
            if len(kept) == k:
                break
            if self._is_untrusted(candidates, passage.doc_id):
                if over := self._over(taken, passage.doc_id, most, k):
                    flags += [Flag(passage, over, float(candidates.scores[row]))] if row in first else []
                    continue
                taken[passage.doc_id] += 1
            kept.append(row)
        return Filtered(candidates.take(sorted(kept)), tuple(flags), inner.usage)

    def _is_untrusted(self, candidates: Candidates, doc_id: str) -> bool:
        document = candidates.documents.get(doc_id)
        return document is None or document.trust is not Trust.TRUSTED

    def _over(self, taken: "Counter[str]", doc_id: str, most: int, k: int) -> str:
        """Why no further passage of this document may be read; empty where one may."""
        if taken[doc_id] >= self.per_document:
            return NOT_READ.format(most=self.per_document, k=k, what="one untrusted document")
        if taken.total() >= most:
            return NOT_READ.format(most=most, k=k, what="untrusted documents")
        return ""
