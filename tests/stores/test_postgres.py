"""What only a store in a database can do: hosts that die, replicas that lag, indexers that share the work."""

import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import CorpusError, InputError, StoreError
from equipoise.core.types import Document, Trust
from equipoise.core.where import as_where
from equipoise.corpus import copying, nearest
from equipoise.corpus.indexing import index, prepare
from equipoise.corpus.postgres import rows, searching, tables
from equipoise.corpus.postgres.connections import parsed
from equipoise.corpus.record_types import IndexEntry
from equipoise.corpus.store import open_store
from hashed_words import HashedWords
from processes import ENVIRONMENT
from stores_here import cluster, new_place  # noqa: F401
from verified import verified

FILES = 40
HERE = Path(__file__).parent


def documents(*numbers, **more):
    texts = [Document(f"d{n}", f"Number {n} sleeps by day{n % 7}.", f"d{n}.txt", **more) for n in numbers]
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
        verified(store)


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
    for module in (tables, searching):
        monkeypatch.setattr(module, "EXACT_UP_TO", 100)
    store.add_documents(documents(*range(120)))
    store.add_documents(documents(*range(200, 300), trust=Trust.UNTRUSTED))
    store.index_vectors()
    store.index_vectors()
    ours, theirs = store.partition(Trust.TRUSTED), store.partition(Trust.UNTRUSTED)
    vector = HashedWords().encode(["Number 5 sleeps by day3"])[0]
    assert ours.nearest(vector, 5)[0] == ours.nearest(vector, 5, exact=True)[0]
    assert searched(store, ours, vector) == [True, None, None]
    assert searched(store, theirs, vector) == [False, None, None]
    store.add_documents(documents(300, trust=Trust.UNTRUSTED))
    store.index_vectors()
    assert searched(store, theirs, vector) == [False, True, None]
    assert searched(store, ours, vector) == [True, False, None]
    store.remove_documents(["d300"])
    assert searched(store, theirs, vector) == [False, False, None]
    assert nearest.EXACT_UP_TO == 20_000


@pytest.mark.parametrize(
    ("k", "passages", "candidates"),
    [(1, 20_001, 40), (50, 20_001, 200), (50, 200_000, 400), (50, 1_000_000, 1000), (500, 30_000, 1000)],
)
def test_a_large_graph_is_searched_more_widely(k, passages, candidates):
    assert searching.breadth(k, passages) == candidates


def searched(store, part, vector):
    """Whether a search looks into the graph of each partition; None where there is none."""
    with store.snapshot():
        before = scans(store)
        part.nearest(vector, 5)
        assert store._rows("SHOW enable_sort") == [("on",)]
        return [None if n is None else now > n for n, now in zip(before, scans(store), strict=True)]


def scans(store):
    """How often this connection has looked into each graph."""
    ask = "SELECT pg_stat_get_xact_numscans(to_regclass(%s))"
    return [store._rows(ask, searching.index_of(trust))[0][0] for trust in Trust]


@pytest.mark.parametrize(("more", "advice"), [(1, "update equipoise"), (-1, "into a new store")])
def test_a_store_of_another_version_is_left_alone(place, store, more, advice):
    store._write(lambda: store._change("UPDATE migrations SET version = version + ?", more))
    said = rf"has version {tables.VERSION + more}, this equipoise reads {tables.VERSION}: .*{advice}"
    for how in ({}, {"read_only": True}, {"create": True}):
        with pytest.raises(StoreError, match=said):
            open_store(place, **how)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE documents SET trust = 'trusted' WHERE doc_id = 'd2'",
        "UPDATE partitions SET passages = passages + 1 WHERE trust = 'trusted'",
        "UPDATE partitions SET tokens = 0 WHERE trust = 'untrusted'",
        "DELETE FROM partitions WHERE trust = 'untrusted'",
        "UPDATE terms SET trust = 'trusted' WHERE trust = 'untrusted' AND term = '2'",
        "INSERT INTO postings VALUES ('gold', 1, '{0}')",
    ],
)
def test_what_is_in_the_wrong_partition_is_found_out(store, change):
    store.add_documents([*documents(1), *documents(2, trust=Trust.UNTRUSTED)])
    verified(store)
    with store._session.bare() as link:
        link.execute(change)
    with pytest.raises(StoreError, match="is damaged"):
        verified(store)


def test_the_planner_knows_of_a_store_that_has_grown(store):
    grown = [IndexEntry(Document(f"d{n}", "Ferries leave.", "a.txt"), ((0, 14),)) for n in range(500)]
    store.add_documents(grown[:1])
    store.optimize()
    store.add_documents(grown[1:])
    with store._session.bare() as link:
        known = rows.scalar(link, "SELECT reltuples FROM pg_class WHERE oid = 'passages'::regclass")
    assert known > 200


def test_no_plan_is_made_for_any_values(store):
    """It takes each range for one row, and goes through all documents for each pair of rows."""
    store.add_documents(documents(*range(240), metadata={"team": "hr"}))
    vector = HashedWords().encode(["day3"])[0]
    with store._session.bare() as link:
        link.execute("ANALYZE")
    for _ in range(20):
        store.partition(Trust.TRUSTED, as_where("team = hr")).nearest(vector, 20)
    with store._session.reading() as link:
        ask = "SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements"
        generic, custom = link.execute(f"{ask} WHERE cardinality(parameter_types) > 0").fetchone()
    assert generic == 0 < custom


def test_a_name_that_cannot_be_kept_is_refused(store):
    store.add_documents(documents(1))
    for new_id, source in (("a\0", "a.txt"), ("a", "\ud800")):
        with pytest.raises(CorpusError, match="clean its text"):
            store.rename("d1", new_id, source)
    assert store.doc_ids() == ("d1",)


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
