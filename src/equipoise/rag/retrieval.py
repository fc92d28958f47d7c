"""Retrieval: dense (cosine), BM25, and their reciprocal rank fusion.

A retriever of your own ranks as it likes, inside `store.snapshot()`, and returns
`candidates(store, ranking, vector, encoder)`.

While the vectors of an index are still being made, passages without one are found by their words. A candidate never
lacks its vector: it is made on the spot, the same as the store will hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from equipoise.core.errors import CorpusError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Candidates, Passage, Query
from equipoise.corpus.embedding import embedded
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.corpus.schema import damaged
from equipoise.corpus.store import Store
from equipoise.models.abilities import encode_questions
from equipoise.rag.components import Components

RRF_CONSTANT = 5
"""Cormack, Clarke and Buettcher (SIGIR 2009) have 60, for whole runs: there a passage that both rankings have in the
thirties comes before one that is first in one of them. With 5 the ten that are reranked hold the answer more often
(benchmarks/LOG.md, "Fusion")."""

DEPTH = 50
"""How many hits of each ranking go into the fusion, at least."""

Ranking = Sequence[tuple[int, float]]
"""(passage_id, score), best first."""


@dataclass(frozen=True, slots=True)
class DenseRetriever:
    """Cosine between question and passage embeddings; over more than 20,000 passages approximate unless `exact`."""

    store: Store
    encoder: Encoder
    exact: bool = False

    @classmethod
    def from_components(cls, components: Components) -> "DenseRetriever":
        """Built from the settings."""
        return cls(components.store, components.encoder, components.settings.retrieval.exact)

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The k nearest passages, those without a vector yet out of the k that words find; scores are cosines."""
        vector = encode_questions(self.encoder, [query.text])[0]
        with self.store.snapshot():
            near, late = dense(self.store, vector, k, exact=self.exact), worded(self.store, query.text, k)
            nearest = candidates(self.store, [*near, *late], vector, self.encoder)
        if not late:
            return nearest
        nearest = replace(nearest, scores=nearest.embeddings @ vector)
        return nearest.take(sorted(range(len(nearest)), key=lambda row: -nearest.scores[row])[:k])


@dataclass(frozen=True, slots=True)
class Bm25Retriever:
    """Words shared with the question, weighed by BM25."""

    store: Store
    encoder: Encoder

    @classmethod
    def from_components(cls, components: Components) -> "Bm25Retriever":
        """Built from the settings."""
        return cls(components.store, components.encoder)

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The k passages with the highest BM25; none where no word is shared."""
        vector = encode_questions(self.encoder, [query.text])[0]
        with self.store.snapshot():
            return candidates(self.store, self.store.bm25(query.text, k), vector, self.encoder)


@dataclass(frozen=True, slots=True)
class HybridRetriever:
    """Reciprocal rank fusion of dense and BM25: robust where either is blind."""

    store: Store
    encoder: Encoder
    exact: bool = False

    @classmethod
    def from_components(cls, components: Components) -> "HybridRetriever":
        """Built from the settings."""
        return cls(components.store, components.encoder, components.settings.retrieval.exact)

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The k passages with the highest fused score."""
        vector = encode_questions(self.encoder, [query.text])[0]
        depth = max(k, DEPTH)
        with self.store.snapshot():
            rankings = (
                dense(self.store, vector, depth, exact=self.exact),
                self.store.bm25(query.text, depth),
            )
            return candidates(self.store, fused(rankings)[:k], vector, self.encoder)


def dense(store: Store, vector: Array, k: int, *, exact: bool = False) -> Ranking:
    """The k nearest passages of the store to a unit vector (d,), of those that have vectors; see `Store.nearest`."""
    return store.nearest(vector, k, exact=exact)


def worded(store: Store, query: str, k: int) -> Ranking:
    """Those of the k passages with the highest BM25 that have no vectors yet."""
    if not store.counts().pending:
        return []
    hits = store.bm25(query, k)
    known, _ = store.vectors([passage_id for passage_id, _ in hits])
    return [hit for hit, has_vector in zip(hits, known, strict=True) if not has_vector]


def fused(rankings: Sequence[Ranking], *, constant: int = RRF_CONSTANT) -> Ranking:
    """Reciprocal rank fusion: score(p) = sum over rankings of 1 / (constant + rank), rank from 1.

    Worked value: first in one ranking and second in the other gives 1/6 + 1/7 = 0.30952. Ties by id.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, (passage_id, _) in enumerate(ranking, 1):
            scores[passage_id] = scores.get(passage_id, 0.0) + 1.0 / (constant + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def candidates(store: Store, ranking: Ranking, vector: Array, encoder: Encoder | None = None) -> Candidates:
    """The ranked passages with their documents, scores and embeddings: call it inside `store.snapshot()`.

    Each document is read once, and its passages are cut out of it. `encoder` reads those that have no vectors yet.
    Raises CorpusError for an unknown passage, and where the encoder fails or is wanted and not given.
    """
    numbers = [passage_id for passage_id, _ in ranking]
    places = store.places(numbers)
    documents = store.documents(place.doc_id for place in places)
    if any(place.end > len(documents[place.doc_id].text) for place in places):
        raise damaged(store.path, "a passage lies outside its text")
    passages = tuple(
        passage_at(number, place.start, place.end, documents[place.doc_id])
        for number, place in zip(numbers, places, strict=True)
    )
    scores = np.array([score for _, score in ranking], dtype=np.float32)
    return Candidates(passages, scores, _embeddings(store, passages, encoder), vector, documents)


def _embeddings(store: Store, passages: Sequence[Passage], encoder: Encoder | None) -> Array:
    """(n, d): from the store or, where it has none yet, made now."""
    known, vectors = store.vectors([passage.passage_id for passage in passages])
    if known.all():
        return vectors
    late = [passage for passage, has_vector in zip(passages, known, strict=True) if not has_vector]
    if encoder is None:
        raise CorpusError(
            f"{len(late)} of the passages found in {store.path} have no vectors yet: index again until all have "
            "theirs, or give candidates() the encoder"
        )
    rows = np.empty((len(passages), vectors.shape[1]), np.float32)
    rows[known] = vectors
    rows[~known] = embedded([search_text(passage) for passage in late], encoder, lambda _done: None)
    return rows
