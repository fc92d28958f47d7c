"""Reads from a replica that is behind, and a server on the store of a database."""

import pytest

from equipoise.core.addresses import StoreUrl
from equipoise.core.types import Document
from equipoise.corpus.indexing import index, prepare
from equipoise.corpus.store import open_store
from hashed_words import HashedWords
from served import opened, serve  # noqa: F401
from serving import CATS, WAL
from stores_here import cluster  # noqa: F401

PATIENT_S = 120


@pytest.fixture(scope="module")
def late():
    """A primary, and a replica that shows each change a second later."""
    from postgres_server import Cluster

    with Cluster() as running:
        with open_store(running.primary.url(), create=True) as store:
            store.bind_encoder(HashedWords())
        running.replica.settings = lambda text: type(running.replica).settings(
            running.replica, f"{text}\nrecovery_min_apply_delay = '1s'"
        )
        running.replicate(synchronous=False)
        yield running


def test_reads_are_from_the_replica_and_see_what_they_are_to(late):
    with (
        open_store(late.url()) as writer,
        open_store(late.url(), read_only=True, timeout=PATIENT_S) as reader,
    ):
        assert reader._rows("SELECT pg_is_in_recovery()") == [(True,)]
        assert writer._rows("SELECT pg_is_in_recovery()") == [(False,)]
        for n in range(3):
            writer.add_documents(prepare([Document(f"d{n}", "A note.", "d.txt")], HashedWords()))
            reader.read_after(writer.written())
            assert reader.doc_ids() == writer.doc_ids()


@pytest.fixture
def there(cluster, tmp_path):  # noqa: F811
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in {"wal": WAL, "cats": CATS}.items():
        (docs / f"{name}.txt").write_text(text)
    url = cluster.primary.url("served")
    with open_store(url, create=True) as store:
        index(docs, store, HashedWords())
    return StoreUrl(url)


def test_a_server_answers_from_it_and_takes_documents_out(serve, there, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    served = serve(path=there)
    assert "postgres" not in str(served.service.folder)
    body = served.client.post(
        "/v1/ask",
        json={"question": "Does write-ahead logging work over a network?"},
        headers=served.as_asker(),
    ).json()
    assert "network filesystem" in body["answer"]
    listed = served.client.get("/v1/documents", headers=served.as_admin()).json()["data"]
    assert len(listed) == 2
    path = f"/v1/documents/{listed[0]['doc_id']}"
    assert served.client.delete(path, headers=served.as_admin()).json() == {"documents": 1}
    assert len(served.client.get("/v1/documents", headers=served.as_admin()).json()["data"]) == 1
