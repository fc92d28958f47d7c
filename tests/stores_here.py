"""A new store of each kind, and small things to put into it, for tests that hold for all of them."""

from itertools import count

import pytest

from equipoise.core.addresses import StoreUrl
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.record_types import FileRecord, IndexEntry
from hashed_words import HashedWords

KINDS = ["sqlite", "postgres"]
NUMBERS = count(1)


def document(doc_id, text, **more):
    return Document(doc_id, text, f"{doc_id}.txt", **more)


def entries(*documents):
    return prepare(documents, HashedWords())


def unembedded(*documents):
    return [IndexEntry(entry.document, entry.spans) for entry in entries(*documents)]


def record(path="a.txt", **more):
    return FileRecord(
        path, **{"sha256": "00", "size": 1, "mtime_ns": 1, "trust": Trust.TRUSTED, "root": "."} | more
    )


@pytest.fixture(scope="session")
def cluster():
    """A Postgres that runs for the session; skips where there is none."""
    from postgres_server import Cluster

    with Cluster() as running:
        yield running


@pytest.fixture
def new_place(request, tmp_path):
    """A function of a kind of store: where a new one may be."""

    def made(kind):
        if kind == "sqlite":
            return tmp_path / f"store{next(NUMBERS)}.db"
        return StoreUrl(request.getfixturevalue("cluster").primary.url(f"store{next(NUMBERS)}"))

    return made
