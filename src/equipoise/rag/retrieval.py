"""Retrieval in one partition of a store: dense (cosine), BM25, and their reciprocal rank fusion.

A retriever of your own ranks as it likes, inside `partition.snapshot()`, and returns
`candidates(partition, ranking, vector, encoder)`.

While the vectors of an index are still being made, passages without one are found by their words. A candidate never
lacks its vector: it is made on the spot, the same as the store will hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Self

import numpy as np

from equipoise.core.errors import CorpusError
from equipoise.core.protocols import Encoder, Retriever
from equipoise.core.types import Array, Candidates, Document, Passage, Query, Span, Trust
from equipoise.core.where import Where
from equipoise.corpus.embedding import embedded
from equipoise.corpus.partition import Partition
from equipoise.corpus.pieces import passage_at, search_text
from equipoise.corpus.schema import damaged
from equipoise.corpus.scope import DocumentScope
from equipoise.models.encoder import encode_questions
from equipoise.rag.components import Components
from equipoise.rag.corrections import folder
from equipoise.text.corrections import amounts_in

RRF_CONSTANT = 5
"""Cormack, Clarke and Buettcher (SIGIR 2009) have 60, for whole runs: there a passage that both rankings have in the
thirties comes before one that is first in one of them. With 5 the ten that are reranked hold the answer more often
(benchmarks/LOG.md, "Fusion")."""

DEPTH = 50
"""How many hits of each ranking go into the fusion, at least."""

CORRECTING = 4
"""Passages of corrections that stand beside what is found, in place of as many of the last candidates."""

Ranking = Sequence[tuple[int, float]]
"""(passage_id, score), best first."""


@dataclass(frozen=True, slots=True)
class _InPartition:
    """Searches one partition; vectors of more than 20,000 passages are approximate unless `exact`."""

    partition: Partition
    encoder: Encoder
    exact: bool = False

    @classmethod
    def from_components(cls, components: Components, partition: Partition) -> Self:
        """Built from the settings."""
        return cls(partition, components.encoder, components.settings.retrieval.exact)


class DenseRetriever(_InPartition):
    """Cosine between question and passage embeddings."""

    __slots__ = ()

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The k nearest passages; those without a vector yet only if BM25 has them in its first k. Scores: cosines."""
        vector = encode_questions(self.encoder, [query.text])[0]
        with self.partition.snapshot():
            near, late = (
                dense(self.partition, vector, k, exact=self.exact),
                worded(self.partition, query.text, k),
            )
            nearest = candidates(self.partition, [*near, *late], vector, self.encoder)
        if not late:
            return nearest
        nearest = replace(nearest, scores=nearest.embeddings @ vector)
        return nearest.take(sorted(range(len(nearest)), key=lambda row: -nearest.scores[row])[:k])


class Bm25Retriever(_InPartition):
    """Words shared with the question, weighed by BM25."""

    __slots__ = ()

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The k passages with the highest BM25; none where no word is shared."""
        vector = encode_questions(self.encoder, [query.text])[0]
        with self.partition.snapshot():
            return candidates(self.partition, self.partition.bm25(query.text, k), vector, self.encoder)


class HybridRetriever(_InPartition):
    """Reciprocal rank fusion of dense and BM25: robust where either is blind."""

    __slots__ = ()

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The k passages with the highest fused score."""
        vector = encode_questions(self.encoder, [query.text])[0]
        depth = max(k, DEPTH)
        with self.partition.snapshot():
            rankings = (
                dense(self.partition, vector, depth, exact=self.exact),
                self.partition.bm25(query.text, depth),
            )
            return candidates(self.partition, fused(rankings)[:k], vector, self.encoder)


@dataclass(frozen=True, slots=True)
class Interleaved:
    """What `retrievers` of several partitions find, by their scores: without any wall between trusted and untrusted
    documents (`trust.mode = "equal"`)."""

    retrievers: tuple[Retriever, ...]

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The k with the highest score, ties in the order of the retrievers."""
        together = joined([retriever.retrieve(query, k=k) for retriever in self.retrievers])
        return together.take(np.argsort(-together.scores, kind="stable")[:k].tolist())


@dataclass(frozen=True, slots=True)
class Among:
    """What a retriever that is not ours finds among the documents of `trusts` that `where` means. Its ranking is its
    own: where that depends on other documents, so does what is found."""

    retriever: Retriever
    trusts: tuple[Trust, ...]
    where: Where | None = None

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """Those of its first k that stand in such documents."""
        found, scopes = (
            self.retriever.retrieve(query, k=k),
            [DocumentScope(trust, self.where) for trust in self.trusts],
        )
        others = {
            name for name, one in found.documents.items() if not any(scope.has(one) for scope in scopes)
        }
        rows = [row for row, passage in enumerate(found.passages) if passage.doc_id not in others]
        documents = {name: document for name, document in found.documents.items() if name not in others}
        return replace(found.take(rows), documents=documents)


def joined(found: Sequence[Candidates]) -> Candidates:
    """The candidates of several searches (at least one) for one question, one after the other."""
    return replace(
        found[0],
        passages=tuple(passage for each in found for passage in each.passages),
        scores=np.concatenate([each.scores for each in found]),
        embeddings=np.concatenate([each.embeddings for each in found]),
        documents={name: document for each in found for name, document in each.documents.items()},
    )


def dense(partition: Partition, vector: Array, k: int, *, exact: bool = False) -> Ranking:
    """The k nearest passages to a unit vector (d,), of those that have vectors; see `Partition.nearest`."""
    return partition.nearest(vector, k, exact=exact)


def worded(partition: Partition, query: str, k: int) -> Ranking:
    """Those of the k passages with the highest BM25 that have no vectors yet."""
    if not partition.counts().pending:
        return []
    hits = partition.bm25(query, k)
    known, _ = partition.vectors([passage_id for passage_id, _ in hits])
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


def candidates(
    partition: Partition, ranking: Ranking, vector: Array, encoder: Encoder | None = None
) -> Candidates:
    """The ranked passages with their documents, scores and embeddings: call it inside `partition.snapshot()`.

    Each document is read once, and its passages are cut out of it. Corrections that lie beside them stand in place of
    the last ones: "In section 2 read 80 for 60" is not like the question. `encoder` embeds those that have no vectors
    yet. Raises CorpusError for an unknown passage, and where the encoder fails or is wanted and not given.
    """
    places = partition.places([passage_id for passage_id, _ in ranking])
    documents = partition.documents(place.doc_id for place in places)
    if more := _correcting(partition, places, documents):
        kept = max(1, len(ranking) - len(more))
        corrections = partition.places(more)
        places = (*places[:kept], *corrections)
        read = documents | partition.documents(place.doc_id for place in corrections)
        documents = {place.doc_id: read[place.doc_id] for place in places}
        ranking = [*ranking[:kept], *((number, ranking[-1][1]) for number in more)]
    numbers = [passage_id for passage_id, _ in ranking]
    if any(place.end > len(documents[place.doc_id].text) for place in places):
        raise damaged(partition.path, "a passage lies outside its text")
    passages = tuple(
        passage_at(number, place.start, place.end, documents[place.doc_id])
        for number, place in zip(numbers, places, strict=True)
    )
    scores = np.array([score for _, score in ranking], dtype=np.float32)
    return Candidates(passages, scores, _embeddings(partition, passages, encoder), vector, documents)


def _correcting(partition: Partition, places: Sequence[Span], documents: Mapping[str, Document]) -> list[int]:
    """The first CORRECTING passages of trusted corrections that lie beside these documents and are not among them, and
    of notices that say an amount of theirs to be wrong."""
    if partition.trust is not Trust.TRUSTED or not (known := partition.correcting()):
        return []
    folders = dict.fromkeys(folder(documents[place.doc_id]) for place in places)
    notices = [pair for one in folders for pair in partition.notices(one)]
    found = amounts_in(
        "\n".join(documents[one.doc_id].text[one.start : one.end] for one in places if notices)
    )
    named = (key for one in folders if one in known for key in known[one].corrections)
    others = (
        key for key in (*named, *(key for key, wrong in notices if wrong & found)) if key not in documents
    )
    passages = chain.from_iterable(map(partition.passages_of, islice(others, CORRECTING)))
    return [passage.passage_id for passage in islice(passages, CORRECTING)]


def _embeddings(partition: Partition, passages: Sequence[Passage], encoder: Encoder | None) -> Array:
    """(n, d): from the store or, where it has none yet, made now."""
    known, vectors = partition.vectors([passage.passage_id for passage in passages])
    if known.all():
        return vectors
    late = [passage for passage, has_vector in zip(passages, known, strict=True) if not has_vector]
    if encoder is None:
        raise CorpusError(
            f"{len(late)} of the passages found in {partition.path} have no vectors yet: index again until all have "
            "theirs, or give candidates() the encoder"
        )
    rows = np.empty((len(passages), vectors.shape[1]), np.float32)
    rows[known] = vectors
    rows[~known] = embedded([search_text(passage) for passage in late], encoder, lambda _done: None)
    return rows
