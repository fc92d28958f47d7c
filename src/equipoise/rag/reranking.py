"""Passages in the order of a cross-encoder."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.core.protocols import Reranker
from equipoise.core.types import Candidates, Passage
from equipoise.corpus.pieces import search_text

RERANKED = 10
"""Candidates that a reranker reads: with 20, no more answers came first on the fitting sets of benchmarks/field."""


def passage_scores(question: str, passages: Sequence[Passage], reranker: Reranker) -> NDArray[np.float64]:
    """(n,) of the passages, each read under its title and headings as it is searched for. Raises ModelError."""
    return reranker.scores(question, [search_text(passage) for passage in passages])


def reranked(reranker: Reranker, question: str, found: Candidates) -> Candidates:
    """The candidates with the first `RERANKED` of them in the order of the reranker's scores, ties as they came.

    `scores` stay those of retrieval. Raises ModelError.
    """
    first = found.passages[:RERANKED]
    order = np.argsort(-passage_scores(question, first, reranker), kind="stable").tolist()
    return found.take([*order, *range(len(first), len(found))])
