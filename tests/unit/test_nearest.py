"""Vector search over sign bits: the same passages as the exact search, nearly always, and the same damage found."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from equipoise.core.errors import StoreError
from equipoise.core.types import Document, Trust
from equipoise.core.where import as_where
from equipoise.corpus import nearest
from equipoise.corpus.record_types import IndexEntry
from equipoise.corpus.store import Store
from verified import verified

DIMENSIONS = 384


class Wide:
    """Never asked: the vectors of these tests are drawn."""

    name, dimensions = "wide", DIMENSIONS


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def drawn(rng, rows):
    """Rows that differ in 30 directions, as far as embeddings of one corpus do, and a little in all of them."""
    directions = np.random.default_rng(4).standard_normal((30, DIMENSIONS))
    return unit(rng.standard_normal((rows, 30)) @ directions + 0.5 * rng.standard_normal((rows, DIMENSIONS)))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Documents with 1 to 900 passages, one without any."""
    rng = np.random.default_rng(5)
    place = tmp_path_factory.mktemp("nearest") / "index.db"
    with Store.open(place, create=True) as store:
        store.bind_encoder(Wide())
        for number, count in enumerate([1, 900, 3, 0, 250, 1, 1, 40, 600]):
            text = "word " * max(count, 1)
            spans = tuple((5 * n, 5 * n + 4) for n in range(count))
            document = Document(f"d{number}", text, f"d{number}")
            store.add_documents([IndexEntry(document, spans, drawn(rng, count))])
    return place


@pytest.fixture
def small(monkeypatch):
    """Every store is a large one, and so is every document of more than two passages."""
    monkeypatch.setattr(nearest, "EXACT_UP_TO", 0)
    monkeypatch.setattr(nearest, "IN_MEMORY", 0)
    monkeypatch.setattr(nearest, "_LARGE", 2 * DIMENSIONS * 4)


def questions():
    return drawn(np.random.default_rng(6), 60)


@pytest.mark.parametrize(("large", "in_memory"), [(0, 0), (1 << 16, 0), (0, 10_000)])
def test_the_nearest_are_those_of_the_exact_search(path, small, monkeypatch, large, in_memory):
    monkeypatch.setattr(nearest, "_LARGE", large)
    monkeypatch.setattr(nearest, "IN_MEMORY", in_memory)
    with Store.open(path, read_only=True) as store:
        shares = []
        for vector in questions():
            exact, hits = (
                dict(store.partition(Trust.TRUSTED).nearest(vector, 20, exact=True)),
                dict(store.partition(Trust.TRUSTED).nearest(vector, 20)),
            )
            both = exact.keys() & hits.keys()
            assert [hits[passage_id] for passage_id in both] == pytest.approx(
                [exact[passage_id] for passage_id in both], abs=1e-6
            )
            shares.append(len(both) / 20)
        assert np.mean(shares) > 0.99


def test_how_a_filter_is_searched_does_not_depend_on_what_is_outside(monkeypatch, tmp_path):
    monkeypatch.setattr(nearest, "EXACT_UP_TO", 0)
    monkeypatch.setattr(nearest, "IN_MEMORY", 700)
    monkeypatch.setattr(nearest, "products", lambda codes, vector: -np.arange(len(codes), dtype=float))
    found = []
    for teams in (["a"], ["a", "b"]):
        with Store.open(tmp_path / f"{len(teams)}.db", create=True) as store:
            store.bind_encoder(Wide())
            for seed, team in enumerate(teams):
                spans = tuple((5 * n, 5 * n + 4) for n in range(600))
                document = Document(team, "word " * 600, team, metadata={"team": team})
                vectors = drawn(np.random.default_rng(seed), 600)
                store.add_documents([IndexEntry(document, spans, vectors)])
            inside = store.partition(Trust.TRUSTED, as_where("team = a"))
            found.append([inside.nearest(vector, 20) for vector in questions()])
    assert found[0] == found[1]


def test_a_store_up_to_the_limit_is_searched_exactly(path):
    with Store.open(path, read_only=True) as store:
        for vector in questions()[:5]:
            assert store.partition(Trust.TRUSTED).nearest(vector, 30) == store.partition(
                Trust.TRUSTED
            ).nearest(vector, 30, exact=True)


def test_more_than_there_is_gives_everything_in_order(path, small):
    with Store.open(path, read_only=True) as store:
        vector = questions()[0]
        assert store.partition(Trust.TRUSTED).nearest(vector, 5_000) == store.partition(
            Trust.TRUSTED
        ).nearest(vector, 5_000, exact=True)


def test_vectors_come_in_the_order_asked_for(path, small):
    with Store.open(path, read_only=True) as store:
        asked = [1796, 3, 900, 3, 1, 905, 5_000]
        known, vectors = store.partition(Trust.TRUSTED).vectors(asked)
        ids, matrix = store.partition(Trust.TRUSTED).matrix()
        assert known.tolist() == [True] * 6 + [False]
        assert np.array_equal(vectors, matrix[np.searchsorted(ids, asked[:-1])])


def test_passages_without_vectors_are_not_searched(path, small, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(Path(path).read_bytes())
    with Store.open(copy) as store:
        spans = ((0, 4), (5, 9))
        store.add_documents([IndexEntry(Document("late", "late late", "late"), spans)])
        assert store.partition(Trust.TRUSTED).vectors([1, 1797, 1798])[0].tolist() == [True, False, False]
        assert 1797 not in dict(store.partition(Trust.TRUSTED).nearest(questions()[0], 2_000))


def test_a_change_by_another_process_is_seen(path, small, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(Path(path).read_bytes())
    vector = questions()[0]
    with Store.open(copy) as store, Store.open(copy) as other:
        assert len(store.partition(Trust.TRUSTED).nearest(vector, 5_000)) == 1796
        other.add_documents([IndexEntry(Document("new", "new", "new"), ((0, 3),), vector[None])])
        assert store.partition(Trust.TRUSTED).nearest(vector, 1)[0][0] == 1797


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vectors SET data = zeroblob(length(data)) WHERE document = 2",
        "UPDATE vectors SET data = substr(data, 1, length(data) - 4) WHERE document = 2",
        "UPDATE vectors SET first = 1 WHERE document = 3",
        "UPDATE vectors SET count = 'many' WHERE document = 2",
        "UPDATE vectors SET data = 'text' WHERE document = 1",
    ],
)
def test_damage_is_found_before_anything_is_searched(path, small, tmp_path, damage):
    copy = tmp_path / "copy.db"
    copy.write_bytes(Path(path).read_bytes())
    with sqlite3.connect(copy) as raw:
        raw.execute(damage)
    raw.close()
    with Store.open(copy) as store:
        for ask in (
            lambda: store.partition(Trust.TRUSTED).nearest(questions()[0], 3),
            lambda: store.partition(Trust.TRUSTED).vectors([1]),
            lambda: verified(store),
        ):
            with pytest.raises(StoreError, match="is damaged"):
                ask()
