"""The small corpus, indexed for real: what retrievers to pipelines are tested on."""

import pytest

from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from small_corpus import DOCUMENTS


@pytest.fixture(scope="session")
def encoder():
    """The real one: it loads once."""
    return EmbeddedEncoder()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory, encoder):
    """A function: an open store that holds the documents it is given."""
    opened = []

    def open_store(*documents):
        store = Store.open(tmp_path_factory.mktemp("shelf") / "index.db", create=True)
        opened.append(store)
        store.bind_encoder(encoder)
        store.add_documents(prepare(documents, encoder))
        return store

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def store(shelf):
    """The whole corpus."""
    return shelf(*DOCUMENTS)
