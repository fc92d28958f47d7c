"""A small library of our own writing, indexed for real."""

import pytest

from equipoise.core.types import Trust
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from library_texts import TEXTS


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """(store, encoder) over three documents."""
    folder = tmp_path_factory.mktemp("library")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, "utf-8")
    encoder = EmbeddedEncoder()
    with Store.open(folder / "index.db", create=True) as store:
        index([folder], store, encoder, trust=Trust.TRUSTED)
        yield store, encoder
