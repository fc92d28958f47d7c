"""The small corpus, indexed for real: what retrievers to pipelines are tested on."""

import pytest

from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.testing.corpus import ANSWER, DOCUMENTS, QUESTION
from tiny_qa import save_qa_model


@pytest.fixture(scope="session")
def encoder():
    """The real one: it loads once."""
    return EmbeddedEncoder()


@pytest.fixture(scope="session")
def embedded(tmp_path_factory, encoder):
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
def store(embedded):
    """The whole corpus."""
    return embedded(*DOCUMENTS)


@pytest.fixture(scope="session")
def qa_folder(store, tmp_path_factory):
    """A tiny extractive question answering model that has learned QUESTION, and that nothing else is answered."""
    folder = tmp_path_factory.mktemp("qa")
    texts = [passage.text for doc_id in store.doc_ids() for passage in store.passages_of(doc_id)]
    others = ["Which moons does Neptune have?", "Who built it?", "What is it?"]

    def draw(rng):
        question, text = rng.choice([QUESTION, rng.choice(others)]), rng.choice(texts)
        answered = question == QUESTION and ANSWER in text
        return question, text, "212 metres" if answered else ""

    assert save_qa_model(folder, draw, [*texts, QUESTION, *others], positions=128, steps=120, batch=12) < 0.1
    return str(folder)
