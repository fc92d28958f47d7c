"""The reranker's weights are loaded beside the search; where that fails, it fails where they are used."""

from dataclasses import replace

import numpy as np
import pytest

from blocks_of import passage_of
from equipoise.core import sync
from equipoise.core.errors import WeightsError
from equipoise.core.settings import Settings
from equipoise.core.types import Candidates, Query
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag import build
from equipoise.rag.journal import Journal
from equipoise.rag.search import NAMING, RERANKED, passage_scores, reranked
from equipoise.testing.corpus import DOCUMENTS, QUESTION
from hashed_words import HashedWords


@pytest.fixture
def searching(tmp_path):
    """A function: the search that has this reranker."""
    encoder = HashedWords()
    with Store.open(tmp_path / "index.db", create=True) as store:
        store.bind_encoder(encoder)
        store.add_documents(prepare(DOCUMENTS, encoder))

        def made(reranker):
            return build.search(
                build.components(Settings(), store, encoder=encoder, reranker=reranker, chat=None)
            )

        yield made


def test_weights_are_there_when_the_search_ends(searching):
    reranker = CrossEncoder()
    sync.run(searching(reranker).retrieve_all([(Query(QUESTION), Journal())]))
    assert reranker._loaded is not None


def test_missing_weights_do_not_fail_the_search(searching, tmp_path):
    search = searching(CrossEncoder(folder=tmp_path))
    (candidates,) = sync.run(search.retrieve_all([(Query(QUESTION), Journal())]))
    assert len(candidates) > 1
    with pytest.raises(WeightsError):
        sync.run(search.sift(Query(QUESTION), candidates, Journal()))


class Shorter:
    """A reranker that likes short texts."""

    name = "shorter"

    def scores(self, question, texts):
        return np.array([-float(len(text)) for text in texts])


TERMS = "late\n    After nine.\n\nearly\n    Before six, when nobody is at the gates yet."


def test_an_entry_that_the_question_names_is_read_by_itself():
    passage = passage_of(TERMS)
    whole, named = (
        passage_scores(Shorter(), Query(question), [passage])[0] for question in ("When?", "What is late?")
    )
    assert whole.tolist() == [-float(len(f"Gates\n{TERMS}"))]
    assert named.tolist() == [-float(len("Gates\nlate\nAfter nine."))]


def test_candidates_behind_the_first_are_reranked_if_they_have_an_entry_that_the_question_names():
    plain = [replace(passage_of(f"It is number {n}."), passage_id=n) for n in range(RERANKED + 1)]
    terms = [replace(passage_of(TERMS), passage_id=100 + n) for n in range(NAMING + 1)]
    every = (*plain, *terms)
    found = Candidates(every, np.zeros(len(every)), np.zeros((len(every), 1)), np.zeros(1))
    order = [one.passage_id for one in reranked(Shorter(), Query("What is late?"), found)[0].passages]
    assert sorted(order[: RERANKED + NAMING]) == [*range(RERANKED), *range(100, 100 + NAMING)]
    assert order[RERANKED + NAMING :] == [RERANKED, 100 + NAMING]
    assert [one.passage_id for one in reranked(Shorter(), Query("When?"), found)[0].passages][RERANKED:] == [
        RERANKED,
        *range(100, 100 + NAMING + 1),
    ]
