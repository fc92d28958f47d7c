"""What is known of documents beside their texts: from where, who wins, and what changes without embedding anew."""

import json
from datetime import date

import pytest

from equipoise.core.errors import CorpusError, InputError
from equipoise.core.metadata import cleaned
from equipoise.core.types import Document, Trust
from equipoise.core.where import as_where
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from verified import verified

HARBOUR = "The ferry leaves the harbour at nine in the morning, and dogs travel free on it."
FRONT = f"""---
title: "The ferry"
Team: ops
Last-Reviewed: 2024-05-01
year: 2024
share: 0.5
draft: false
tags: [a, b]
collection: acme
nested:
  inner: 1
---

{HARBOUR}
"""


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "index.db", create=True) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    (docs / "hr" / "leave").mkdir(parents=True)
    (docs / "hr" / "leave" / "ferry.md").write_text(FRONT)
    return docs


def known(store):
    return {listed.source.rsplit("/", 1)[-1]: listed.metadata for listed in store.listing()}


def test_front_matter_and_the_path_say_what_a_document_is(store, folder):
    index(folder, store, HashedWords())
    assert known(store) == {
        "ferry.md": {
            "team": "ops",
            "last_reviewed": date(2024, 5, 1),
            "year": 2024,
            "share": 0.5,
            "draft": False,
            "folder": "hr/leave",
            "type": "md",
        }
    }
    (document,) = store.documents(store.doc_ids()).values()
    assert document.title == "The ferry"


def test_rows_of_json_lines_have_their_fields(store, tmp_path):
    rows = [
        {
            "_id": "a",
            "title": "A",
            "text": HARBOUR,
            "Year": 2020,
            "open": True,
            "more": {"x": 1},
            "none": None,
        },
        {
            "_id": "b",
            "text": HARBOUR,
            "collection": "acme",
            "folder": "hr",
            "trust": "held",
            "day": "2024-02-30",
        },
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    index(tmp_path / "rows.jsonl", store, HashedWords())
    said = {name.rsplit("#", 1)[-1]: metadata for name, metadata in known(store).items()}
    assert said == {
        "a": {"year": 2020, "open": True, "type": "jsonl"},
        "b": {"day": "2024-02-30", "type": "jsonl"},
    }


def test_a_file_beside_it_wins_and_the_operator_before_all(store, folder):
    beside = folder / "hr" / "leave" / "ferry.md.meta.json"
    beside.write_text('{"team": "sea", "year": 2025, "day": "2024-06-01"}')
    report = index(folder, store, HashedWords(), metadata={"year": 1999, "collection": "globex"})
    assert report.documents == 1  # what stands beside is no document
    said = known(store)["ferry.md"]
    assert (said["team"], said["year"], said["day"], said["collection"]) == (
        "sea", 1999, date(2024, 6, 1), "globex",
    )  # fmt: skip
    encoder = HashedWords()
    assert index(folder, store, encoder).unchanged == 1  # who says nothing leaves it as it was said
    assert known(store)["ferry.md"] == said
    beside.write_text('{"team": "land"}')
    report = index(folder, store, encoder)
    assert (report.relabelled, report.changed) == (1, 0)
    assert (known(store)["ferry.md"]["team"], known(store)["ferry.md"]["year"]) == ("land", 1999)
    beside.unlink()
    assert index(folder, store, encoder, metadata={}).relabelled == 1
    assert known(store)["ferry.md"]["team"] == "ops" and "collection" not in known(store)["ferry.md"]
    assert encoder.encoded == 0  # nothing is embedded for what is said beside the text
    (folder / "hr" / "new.txt").write_text(HARBOUR)
    index(folder, store, encoder, metadata={"collection": "acme"})
    (folder / "hr" / "newer.txt").write_text(HARBOUR)
    index(folder, store, encoder)
    assert {one["collection"] for one in known(store).values()} == {"acme"}
    verified(store)


def test_what_is_said_of_one_file_stays_when_its_folder_is_indexed_again(store, folder):
    (folder / "b.txt").write_text(HARBOUR)
    index(folder, store, HashedWords(), metadata={"team": "all"})
    index(folder / "b.txt", store, HashedWords(), metadata={"team": "one"})
    index(folder, store, HashedWords())
    assert {name: one["team"] for name, one in known(store).items()} == {"ferry.md": "all", "b.txt": "one"}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{", "not valid JSON"),
        ("[1]", "a mapping"),
        ('{"Team": "a"}', "lower case"),
        ('{"team": ["a"]}', "no value"),
        ('{"collection": "acme"}', "index --collection"),
        ("9" * 100_001, "larger than"),
    ],
)
def test_metadata_written_badly_is_named_with_what_to_do(store, folder, written, said):
    beside = folder / "hr" / "leave" / "ferry.md.meta.json"
    beside.write_text(written)
    with pytest.raises(CorpusError, match=said):
        index(folder, store, HashedWords())
    assert not store.doc_ids()
    beside.unlink()
    index(folder, store, HashedWords())
    before = known(store)
    beside.write_text(written)
    for _ in range(2):
        report = index(folder, store, HashedWords())
        assert (report.unchanged, report.removed, known(store)) == (1, 0, before)
        [failed] = report.failed
        assert said in str(failed) and "stays as it was" in str(failed)


def test_untrusted_front_matter_puts_nothing_into_a_collection(store, folder):
    index(folder, store, HashedWords(), trust=Trust.UNTRUSTED)
    assert store.partition(Trust.UNTRUSTED, as_where("collection = acme")).counts().documents == 0
    assert store.partition(Trust.UNTRUSTED, as_where("team = ops")).counts().documents == 1


def test_names_and_values_of_strangers_are_made_fit_or_left_out():
    given = {
        " Größe (cm) ": 3,
        "": 1,
        "2nd": 1,
        "x": "a\n b",
        "long": "y" * 501,
        "bad": float("nan"),
        "big": 2**60,
    }
    assert cleaned(given) == {"größe_cm_": 3, "x": "a b"}
    assert len(cleaned({f"n{n}": n for n in range(100)})) == 64


@pytest.mark.parametrize(
    "metadata", [{"A": 1}, {"a": [1]}, {"a": 2**53}, {"a": "\0"}, {"a": "\ud800"}, {"1": 1}]
)
def test_what_no_store_can_keep_is_refused(store, metadata):
    from stores_here import entries

    store.bind_encoder(HashedWords())
    with pytest.raises(CorpusError, match="metadata"):
        store.add_documents(entries(Document("a", HARBOUR, "a.txt", metadata=metadata)))


NO_FILTERS = [
    "", "team", "team =", "= hr", "team = hr or", "(team = hr", "team in ()", "team >= true", 'team = "hr', "a b",
    "not", "team = hr)", "x" * 20_001, "(" * 40 + "a = b" + ")" * 40, "1a = b", " or ".join(["a = b"] * 101),
]  # fmt: skip


@pytest.mark.parametrize("text", NO_FILTERS)
def test_a_filter_that_is_none_is_refused_in_one_sentence(text):
    with pytest.raises(InputError) as raised:
        as_where(text)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 250


def test_a_document_with_as_many_names_as_there_may_be_can_be_read_again(tmp_path):
    names = "\n".join(f"n{number:02}: x" for number in range(64))
    folder = tmp_path / "files" / "below"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(f"---\n{names}\n---\nTea.")
    with Store.open(tmp_path / "index.db", create=True) as store:
        index(folder.parent, store, HashedWords())
        (one,) = store.listing()
    assert len(one.metadata) == 64 and one.metadata["folder"] == "below" and "n63" not in one.metadata
