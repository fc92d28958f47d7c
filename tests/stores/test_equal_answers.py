"""A store file and a store in Postgres answer alike: passages, order and scores, on questions of squad2."""

import json

import numpy as np
import pytest

from equipoise.core.types import Query, Trust
from equipoise.corpus import copying
from equipoise.corpus.indexing import index
from equipoise.corpus.store import open_store
from equipoise.rag.retrieval import HybridRetriever
from hashed_words import HashedWords
from stores_here import cluster, new_place  # noqa: F401

QUESTIONS, WORDS, DEPTH = 2_000, 4_096, 50


class Mixed(HashedWords):
    """Hashed words, mixed into 384 dimensions: no two cosines are equal by chance."""

    def __init__(self):
        super().__init__(WORDS, "mixed-words")
        self.mixing = np.random.default_rng(7).normal(size=(WORDS, 384)).astype(np.float32)
        self.dimensions = 384

    def encode(self, texts):
        self.dimensions = WORDS
        rows = super().encode(texts) @ self.mixing
        self.dimensions = 384
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def squad(sample_data, new_place):  # noqa: F811
    """The trusted documents of both stores, the same, and the questions."""
    folder, encoder = sample_data / "squad2", Mixed()
    lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()[:QUESTIONS]
    with (
        open_store(new_place("sqlite"), create=True) as file,
        open_store(new_place("postgres"), create=True) as base,
    ):
        index([folder / "documents.jsonl"], file, encoder)
        copying.copy(file, base)
        yield (
            file.partition(Trust.TRUSTED),
            base.partition(Trust.TRUSTED),
            encoder,
            [json.loads(line)["question"] for line in lines],
        )


def test_both_find_the_same_in_the_same_order(squad):
    file, base, encoder, questions = squad
    vectors = encoder.encode(questions)
    for question, vector in zip(questions, vectors, strict=True):
        assert file.bm25(question, DEPTH) == base.bm25(question, DEPTH), question
        ours, theirs = (part.nearest(vector, DEPTH, exact=True) for part in (file, base))
        assert ours == theirs, question
    for question in questions[:100]:
        ours, theirs = (
            HybridRetriever(part, encoder, exact=True).retrieve(Query(question), k=20)
            for part in (file, base)
        )
        assert (ours.passages, ours.documents) == (theirs.passages, theirs.documents)
        assert np.array_equal(ours.embeddings, theirs.embeddings)
