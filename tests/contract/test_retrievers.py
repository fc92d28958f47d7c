"""What every Retriever promises, over every retriever there is, with the real encoder and a real store."""

import numpy as np
import pytest

from equipoise.core.protocols import Retriever
from equipoise.core.settings import Settings
from equipoise.core.types import Document, Query, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.pieces import search_text
from equipoise.corpus.store import Store
from equipoise.rag.build import RETRIEVERS, retriever_in
from equipoise.rag.components import Components
from equipoise.testing.corpus import QUESTION

ODD = {
    "emoji": "🐝🔥 🧊 ?",
    "4,000 characters": ("bridge bees " * 400)[:4_000],
    "one word of 4,000 characters": "a" * 4_000,
    "only stop words": "what is it that they were",
    "quotes and operators": '"bridge" \'bees\' "" NEAR(a b) AND OR NOT * ^ : ( -',
    "control characters": "bridge\x00\x1f\u202e",
    "half a surrogate pair": "bridge \ud83d",
    "another script": "橋の長さは",
    "nothing": "",
}


@pytest.fixture(params=RETRIEVERS)
def retriever_for(request, encoder):
    """A function: the retriever of this row over a store."""
    return lambda store: retriever_in(request.param, Components(Settings(), store, encoder), Trust.TRUSTED)


def ids(candidates):
    return [passage.passage_id for passage in candidates.passages]


def assert_lawful(candidates, store, k):
    assert len(candidates) <= k
    assert len(set(ids(candidates))) == len(candidates)
    assert candidates.scores.shape == (len(candidates),)
    assert np.isfinite(candidates.scores).all()
    assert (np.diff(candidates.scores) <= 0).all(), "not best first"
    assert candidates.embeddings.shape == (len(candidates), len(candidates.query_embedding))
    for passage in candidates.passages:
        document = store.document(passage.doc_id)
        assert document.text[passage.start : passage.end] == passage.text
        assert passage.title == document.title


class TestEveryRetriever:
    def test_is_a_retriever(self, retriever_for, store):
        assert isinstance(retriever_for(store), Retriever)

    @pytest.mark.parametrize("k", [1, 2, 4, 50])
    def test_at_most_k_best_first(self, retriever_for, store, k):
        candidates = retriever_for(store).retrieve(Query(QUESTION), k=k)
        assert_lawful(candidates, store, k)
        assert candidates.passages[0].doc_id == "bridge"

    def test_fewer_wanted_are_the_first_of_more(self, retriever_for, store):
        retriever = retriever_for(store)
        query = Query("A bridge for bees, with a library of eight books")
        most = ids(retriever.retrieve(query, k=6))
        assert len(most) == 3
        assert all(ids(retriever.retrieve(query, k=k)) == most[:k] for k in (1, 2, 3))

    def test_embeddings_are_unit_and_belong_to_their_passages(self, retriever_for, store, encoder):
        candidates = retriever_for(store).retrieve(Query(QUESTION), k=6)
        own = encoder.encode([search_text(p) for p in candidates.passages])
        assert np.allclose(np.linalg.norm(candidates.embeddings, axis=1), 1, atol=1e-5)
        assert np.allclose(candidates.embeddings, own, atol=1e-5)
        assert np.array_equal(candidates.query_embedding, encoder.encode([QUESTION])[0])

    def test_the_same_every_time_and_in_another_process_s_eyes(self, retriever_for, store):
        with Store.open(store.path, read_only=True) as second:
            first, again = (retriever_for(s).retrieve(Query(QUESTION), k=5) for s in (store, second))
        assert first.passages == again.passages
        assert np.array_equal(first.scores, again.scores)
        assert np.array_equal(first.embeddings, again.embeddings)

    def test_an_empty_store(self, retriever_for, embedded):
        empty = embedded()
        candidates = retriever_for(empty).retrieve(Query(QUESTION), k=5)
        assert_lawful(candidates, empty, 5)
        assert candidates.passages == ()

    def test_a_store_of_one_passage(self, retriever_for, embedded):
        single = embedded(Document("one", "The bridge is long.", "one.txt"))
        candidates = retriever_for(single).retrieve(Query(QUESTION), k=5)
        assert_lawful(candidates, single, 5)
        assert [p.doc_id for p in candidates.passages] == ["one"]

    @pytest.mark.parametrize("question", ODD.values(), ids=ODD)
    def test_odd_questions(self, retriever_for, store, question):
        assert_lawful(retriever_for(store).retrieve(Query(question), k=3), store, 3)

    def test_what_was_added_is_found_and_what_was_removed_is_not(self, retriever_for, embedded, encoder):
        changing = embedded(Document("one", "The bridge is long.", "one.txt"))
        retriever = retriever_for(changing)
        retriever.retrieve(Query("zeppelin mooring mast"), k=5)
        mast = Document("mast", "The zeppelin mooring mast is on the hill.", "mast.txt")
        changing.add_documents(prepare([mast], encoder))
        assert retriever.retrieve(Query("zeppelin mooring mast"), k=5).passages[0].doc_id == "mast"
        changing.remove_documents(["mast"])
        left = retriever.retrieve(Query("zeppelin mooring mast"), k=5)
        assert {p.doc_id for p in left.passages} <= {"one"}
