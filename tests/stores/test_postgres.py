"""What only a store in a database can do: hosts that die, replicas that lag, indexers that share the work."""

import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import InputError, StoreError
from equipoise.core.types import Document
from equipoise.corpus import copying, nearest
from equipoise.corpus.indexing import index, prepare
from equipoise.corpus.postgres import migrations, schema, searching
from equipoise.corpus.postgres.connections import parsed
from equipoise.corpus.store import open_store
from hashed_words import HashedWords
from processes import ENVIRONMENT
from stores_here import cluster, new_place  # noqa: F401

FILES = 40
HERE = Path(__file__).parent


def documents(*numbers):
    texts = [Document(f"d{n}", f"Number {n} sleeps by day{n % 7}.", f"d{n}.txt") for n in numbers]
    return prepare(texts, HashedWords())


@pytest.fixture
def place(new_place):  # noqa: F811
    return new_place("postgres")


@pytest.fixture
def store(place):
    with open_store(place, create=True) as opened:
        opened.bind_encoder(HashedWords())
        yield opened


def indexer(place, folder):
    command = [sys.executable, str(HERE / "indexer.py"), place.address, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "files"
    made.mkdir()
    for n in range(FILES):
        (made / f"{n:03}.txt").write_text(
            f"# Part {n}\n\n" + f"Room {n} holds lamp{n} and chair{n * 7}. " * (n % 9 + 1)
        )
    return made


def test_several_indexers_share_the_work(place, folder, new_place):  # noqa: F811
    running = [indexer(place, folder) for _ in range(3)]
    said = [process.communicate(timeout=300)[0].split() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    encoded, added, _ = (sum(int(words[n]) for words in said) for n in range(3))
    with open_store(place) as store, open_store(new_place("sqlite"), create=True) as alone:
        index([folder], alone, HashedWords())
        counts = store.counts()
        assert (added, encoded) == (FILES, counts.passages)
        assert counts == alone.counts()
        assert {document.source for document in store.listing()} == {
            document.source for document in alone.listing()
        }
        store.verify()


def test_what_a_killed_indexer_had_is_done_by_another(place, folder):
    with open_store(place, create=True) as dead:
        dead.bind_encoder(HashedWords())
        assert dead.claim("file " + str(folder / "000.txt").lstrip("/"))
        living = indexer(place, folder)
        while living.poll() is None and dead.counts().files < FILES - 1:
            pass
        assert dead.counts().files == FILES - 1
    assert living.communicate(timeout=300)[0].split()[1] == str(FILES)
    with open_store(place) as store:
        assert (store.counts().files, store.counts().pending) == (FILES, 0)


def test_many_vectors_are_searched_through_a_graph(store, monkeypatch):
    monkeypatch.setattr(migrations, "EXACT_UP_TO", 100)
    monkeypatch.setattr(searching, "EXACT_UP_TO", 100)
    store.add_documents(documents(*range(120)))
    store.index_vectors()
    store.index_vectors()
    vector = HashedWords().encode(["Number 5 sleeps by day3"])[0]
    with store.snapshot():
        plan = store._rows("EXPLAIN SELECT passage_id FROM vectors ORDER BY vector <#> %s LIMIT 5", vector)
    exact, near = store.nearest(vector, 5, exact=True), store.nearest(vector, 5)
    assert near[0] == exact[0]
    assert plan
    assert nearest.EXACT_UP_TO == 20_000


def test_an_older_store_is_brought_up_to_date_and_a_newer_one_left_alone(place, store, monkeypatch):
    store.add_documents(documents(1))
    more = (*schema.MIGRATIONS, ("ALTER TABLE files ADD COLUMN note text",))
    monkeypatch.setattr(migrations, "MIGRATIONS", more)
    monkeypatch.setattr(migrations, "VERSION", len(more))
    with pytest.raises(StoreError, match=r"has version 1, older than 2: run  equipoise index"):
        open_store(place, read_only=True)
    with open_store(place) as newer:
        assert newer.doc_ids() == ("d1",)
    monkeypatch.undo()
    with pytest.raises(StoreError, match="has version 2, this equipoise reads 1: update equipoise"):
        open_store(place)


@pytest.mark.parametrize(
    "address",
    ["postgres://u:se%cret@h/d", "postgres://u:secret@h/d?nosuch=1", "postgres://u:secret@[h/d", "postgres://u:secret@h/d?store=a;b"],
)  # fmt: skip
def test_an_address_that_cannot_be_read_is_not_quoted(address):
    with pytest.raises(InputError) as caught:
        parsed(StoreUrl(address))
    assert "secret" not in str(caught.value)
    assert "cret" not in repr(caught.value.__cause__)
    assert "secret" not in f"{StoreUrl(address)} {StoreUrl(address)!r}"


def test_no_host_is_one_sentence_without_the_password():
    with pytest.raises(StoreError) as caught:
        open_store("postgres://u:secret@127.0.0.1:1/d", create=True)
    assert "cannot be reached" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_copying_is_between_machines_too(store, new_place):  # noqa: F811
    store.add_documents(documents(1, 2))
    with open_store(new_place("postgres"), create=True) as other:
        assert copying.copy(store, other) == copying.digest(store)
        assert other.digest() == store.digest()


def test_a_claim_outlives_the_connection_that_had_others(place, store):
    assert store.claim("one")
    with open_store(place) as other:
        assert not other.claim("one")
        held = "SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE locktype = 'advisory'"
        assert other._rows(held) == [(True,)]
        assert store.claim("two")
        store.release("one")
        assert other.claim("one")
        assert not other.claim("two")
