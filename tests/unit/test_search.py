"""The reranker's weights are loaded beside the search; where that fails, it fails where they are used."""

import pytest

from equipoise.core import sync
from equipoise.core.errors import WeightsError
from equipoise.core.settings import Settings
from equipoise.core.types import Query
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag import build
from equipoise.rag.journal import Journal
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
