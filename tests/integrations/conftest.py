"""Indexes that several frameworks read, made once."""

import pytest

import planted_chunks
from equipoise import Library
from equipoise.testing import DOCUMENTS


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    """The place of an index over DOCUMENTS, by the models of the package."""
    folder = tmp_path_factory.mktemp("index")
    for document in DOCUMENTS:
        (folder / document.source).write_text(document.text, "utf-8")
    with Library.create(folder / "index.db", chat=None) as library:
        library.index([folder / document.source for document in DOCUMENTS])
    return str(folder / "index.db")


@pytest.fixture(scope="session")
def trusted_index(tmp_path_factory):
    """The place of an index over trusted documents, beside which others are planted."""
    return planted_chunks.indexed(tmp_path_factory.mktemp("planted") / "index.db")
