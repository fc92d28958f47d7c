"""Passages in the order of a cross-encoder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise.core.protocols import Reranker
from equipoise.core.types import Candidates, Passage, Query
from equipoise.corpus.pieces import search_text
from equipoise.text.scripts import script_of

RERANKED = 10
"""Candidates that a reranker reads: with 20, no more answers came first on the fitting sets of benchmarks/field."""


def passage_scores(
    reranker: Reranker, query: Query, passages: Sequence[Passage]
) -> tuple[NDArray[np.float64], Query]:
    """(n,) of the passages, each read under its title and headings as it is searched for, and the query with them.

    What has a score in the query is not read again. Raises ModelError.
    """
    keys = [(reranker.name, search_text(passage)) for passage in passages]
    if new := [key for key in dict.fromkeys(keys) if key not in query.read]:
        made = reader_of(reranker, query).scores(query.text, [text for _, text in new])
        query = replace(query, read={**query.read, **dict(zip(new, made.tolist(), strict=True))})
    return np.array([query.read[key] for key in keys], np.float64), query


def reranked(reranker: Reranker, query: Query, candidates: Candidates) -> tuple[Candidates, Query]:
    """The candidates with the first `RERANKED` of them in the order of the reranker's scores, ties as they came, and
    the query that knows these scores.

    `scores` stay those of retrieval; so does the order for a question in a script that rerankers do not read. Raises
    ModelError.
    """
    if script_of(query.text):
        return candidates, query
    first = candidates.passages[:RERANKED]
    scores, query = passage_scores(reranker, query, first)
    order = np.argsort(-scores, kind="stable").tolist()
    return candidates.take([*order, *range(len(first), len(candidates))]), query


@dataclass(frozen=True, slots=True)
class BothWays:
    """A reranker for a follow-up: the mean of its scores with the earlier question before it, and of the `last` one's.

    With both questions in one text, passages about the earlier one win; by itself, it often does not say what it is
    about.
    """

    reranker: Reranker
    last: str

    @property
    def name(self) -> str:
        """That of the reranker."""
        return self.reranker.name

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n,) as the reranker's. Raises ModelError."""
        return (self.reranker.scores(question, texts) + self.reranker.scores(self.last, texts)) / 2


def reader_of(reranker: Reranker, query: Query) -> Reranker:
    """The reranker as it reads this query."""
    return BothWays(reranker, query.last) if query.last else reranker
