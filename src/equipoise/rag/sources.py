"""Searching untrusted documents author by author, each by themselves.

For every passage a number that depends on the question and that passage alone: its cosine with the question, and how
much of the question's words it has, rare words of English counting more. An author's number is that of their best
passage. So whoever adds documents under names of their own moves no number of anybody else: p further authors can take
the place of p others at most among those that are read (RobustRAG's isolation, arXiv 2405.15556).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.core.protocols import Encoder, Retriever
from equipoise.core.types import Array, Candidates, Query
from equipoise.corpus.keywords import MOST_TERMS, terms
from equipoise.corpus.nearest import IN_MEMORY
from equipoise.corpus.partition import Partition
from equipoise.models.encoder import encode_questions, english_words
from equipoise.rag.retrieval import candidates
from equipoise.rag.search import usable
from equipoise.text.tokens import content_words

WORDS = 0.5
"""What a passage with all words of the question gets in addition to its cosine."""
FEW, MANY = 3, 10
"""Passages of an author that are read: FEW of one with at most SMALL passages, else MANY."""
SMALL = 50
FOUND = 2_000
"""Passages that search finds, where there are too many to look at each (more than `nearest.IN_MEMORY`)."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Source:
    """An author with their best `passages`, best first, and the words of the question that nothing of theirs has."""

    author: str
    passages: Candidates
    out_of_corpus: tuple[str, ...] = ()


class Sources(Protocol):
    """Finds authors for a question."""

    def __call__(self, query: Query, *, most: int) -> list[Source]:
        """At most `most`, best first, each with at least one passage."""
        ...


def by_author(query: Query, *, partition: Partition, encoder: Encoder, most: int) -> list[Source]:
    """The `most` authors with the best passages; scores are those of this module.

    Raises ModelError where the encoder fails, and StoreError.
    """
    (vector,) = encode_questions(encoder, [query.text])
    with partition.snapshot():
        authors = partition.authors()
        words = list(dict.fromkeys(content_words(query.newest)))[:MOST_TERMS]
        ranked = terms(query.text)[:MOST_TERMS]
        rows = _rows_with({*words, *ranked}, partition, authors.ids)
        scores = _scores(query.text, partition, vector, authors.ids)
        for word, weight in zip(ranked, weights(ranked), strict=True):
            scores[rows[word]] += WORDS * weight
        heard = [set(authors.rows[rows[word]].tolist()) for word in words]
        best = np.full(len(authors.names), -np.inf)
        np.maximum.at(best, authors.rows, scores)
        order = sorted(range(len(best)), key=lambda row: (-best[row], authors.names[row]))
        made = []
        for row in order[:most]:
            own = np.flatnonzero(authors.rows == row)
            depth = FEW if len(own) <= SMALL else MANY
            own = own[np.argsort(-scores[own], kind="stable")][:depth]
            ranking = [(int(authors.ids[n]), float(scores[n])) for n in own if np.isfinite(scores[n])]
            found = usable(candidates(partition, ranking, vector, encoder), depth)
            if len(found):
                out_of_corpus = tuple(word for word, by in zip(words, heard, strict=True) if row not in by)
                made.append(Source(authors.names[row], found, out_of_corpus))
        return made


def authors_found(query: Query, *, retriever: Retriever, most: int) -> list[Source]:
    """As `by_author`, of what a retriever that is not ours finds; its ranking is its own, and may be moved."""
    return authors_of(query, found=usable(retriever.retrieve(query, k=FOUND), FOUND), most=most)


def authors_of(query: Query, *, found: Candidates, most: int) -> list[Source]:
    """As `by_author`, of these passages alone, in the order they came; nothing is searched for."""
    rows: dict[str, list[int]] = {}
    for row, passage in enumerate(found.passages):
        rows.setdefault(found.documents[passage.doc_id].written_by, []).append(row)
    return [Source(author, found.take(own[:MANY])) for author, own in list(rows.items())[:most]]


def weights(words: Sequence[str]) -> Floats:
    """The weights (n,) of n words, which add up to 1: each by the logarithm of its rank among the common words of
    English; a word that is none of them counts like the rarest."""
    ranks = english_words()
    rarity = np.log2([2.0 + ranks.get(word, len(ranks)) for word in words])
    return np.asarray(rarity / rarity.sum() if len(words) else rarity, np.float64)


def _rows_with(
    words: Collection[str], partition: Partition, ids: NDArray[np.int64]
) -> dict[str, NDArray[np.intp]]:
    """For each word, the rows in `ids` of the passages that have it in any form."""
    some = sorted(words)
    return {
        word: np.searchsorted(ids, held) for word, held in zip(some, partition.holding(some), strict=True)
    }


def _scores(question: str, partition: Partition, vector: Array, ids: NDArray[np.int64]) -> Floats:
    """(n,) cosines of all passages; among too many, minus infinity for what search has not found."""
    scores = np.zeros(len(ids))
    if len(ids) > IN_MEMORY:
        scores[:] = -np.inf
        near = partition.nearest(vector, FOUND)
        worded = [(number, 0.0) for number, _ in partition.bm25(question, FOUND)]
        for number, cosine in [*worded, *near]:
            scores[np.searchsorted(ids, number)] = cosine
    else:
        known, vectors = partition.matrix()
        scores[np.searchsorted(ids, known)] = _cosines(vectors, vector)
    return scores


def _cosines(vectors: Array, vector: Array) -> Floats:
    """The cosines (n,), each summed by itself, so that its rounding does not depend on how many rows there are."""
    return np.concatenate([np.empty(0), *_each(vectors, vector.astype(np.float64))])


def _each(vectors: Array, vector: Floats, rows: int = 1 << 14) -> Iterator[Floats]:
    for start in range(0, len(vectors), rows):
        yield np.einsum("ij,j->i", vectors[start : start + rows].astype(np.float64), vector)
