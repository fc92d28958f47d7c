"""What the index holds: `documents`, `status`, `cache`, and the same in Python."""

import json
from pathlib import Path

import pytest

from equipoise.apps.documents import tree
from equipoise.core.errors import InputError
from equipoise.core.types import Document, Trust
from equipoise.corpus.catalogue import named
from equipoise.corpus.loaders import load
from equipoise.corpus.record_types import ListedDocument


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "a/ferry.txt": "The ferry leaves at nine.",
        "b/ferry.txt": "The ferry is late.",
        "b/rows.jsonl": '{"id": "1", "text": "One is red."}\n{"id": "2", "text": "Two is blue."}\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def indexed(corpus, run):
    assert run("index", "a", "b", "--store", "i.db")[0] == 0
    return corpus


def listed(run):
    code, out, _ = run("documents", "list", "--store", "i.db", "--json")
    assert code == 0
    return json.loads(out)["documents"]


def test_every_document_is_listed(indexed, run):
    documents = listed(run)
    assert len(documents) == 4
    assert {document["trust"] for document in documents} == {"trusted"}
    assert all(document["passages"] == 1 for document in documents)
    code, out, _ = run("documents", "list", "--store", "i.db")
    assert (code, "ferry.txt" in out) == (0, True)


def test_a_document_is_shown_as_the_tree_that_was_read():
    text = "# Fares\n\nTickets:\n\n- Zone A\n  - day: 3\n\n| What | Cost |\n|---|---|\n| Dog | 2 |\n"
    (loaded,) = load(Path("a.md"), text.encode())
    shown = list(tree(Document("d", loaded.text, "a.md", blocks=loaded.blocks)))
    assert shown == [
        "# # Fares", "  Tickets:", "    - Zone A", "      - day: 3", "  (never quoted) What | Cost",
        "  | What: Dog; Cost: 2",
    ]  # fmt: skip


def test_a_document_is_shown_by_the_end_of_its_path(indexed, run):
    assert "The ferry is late." in run("documents", "show", "b/ferry.txt", "--store", "i.db")[1]
    code, _, err = run("documents", "show", "ferry.txt", "--store", "i.db")
    assert (code, "means 2 documents: write more of the path" in err) == (2, True)
    code, _, err = run("documents", "show", "boat.txt", "--store", "i.db")
    assert (code, "no document is called 'boat.txt'" in err) == (2, True)


def test_what_is_removed_is_not_found_and_comes_back_with_its_file(indexed, run):
    assert "1 document removed" in run("documents", "remove", "a/ferry.txt", "--store", "i.db")[1]
    assert len(listed(run)) == 3
    assert "nine" not in run("search", "ferry", "--store", "i.db")[1]
    assert run("index", "a", "b", "--store", "i.db")[0] == 0
    assert len(listed(run)) == 4


def test_all_documents_of_a_file_go_and_are_trusted_together(indexed, run):
    document = next(d for d in listed(run) if "rows" in d["source"])
    assert (
        "2 documents marked untrusted"
        in run("documents", "trust", "untrusted", document["doc_id"], "--store", "i.db")[1]
    )
    assert sorted(d["trust"] for d in listed(run)) == ["trusted", "trusted", "untrusted", "untrusted"]
    assert "2 documents removed" in run("documents", "remove", document["doc_id"], "--store", "i.db")[1]


def test_nothing_happens_where_one_of_several_names_is_wrong(indexed, run):
    assert run("documents", "remove", "a/ferry.txt", "boat", "--store", "i.db")[0] == 2
    assert len(listed(run)) == 4


def test_what_is_gone_from_a_folder_stops_answering(indexed, run):
    (indexed / "b" / "ferry.txt").unlink()
    assert run("index", "b", "--keep", "--store", "i.db")[0] == 0
    assert "late" in run("search", "ferry", "--store", "i.db")[1]
    assert "1 removed" in run("index", "b", "--store", "i.db")[1]
    assert "late" not in run("search", "ferry", "--store", "i.db")[1]
    (indexed / "a" / "ferry.txt").unlink()
    code, _, err = run("index", "a", "--store", "i.db")
    assert (code, "its 1 indexed files stay until it is indexed with --prune" in err) == (3, True)
    assert "1 removed" in run("index", "a", "--prune", "--store", "i.db")[1]
    code, _, err = run("index", "a", "--prune", "--keep", "--store", "i.db")
    assert (code, "contradict each other" in err) == (2, True)


def test_status_says_what_would_answer(indexed, run):
    code, out, _ = run("status", "--store", "i.db", "--json")
    status = json.loads(out)
    assert code == 0
    assert (status["files"], status["documents"], status["passages"]) == (3, 4, 4)
    assert status["language_model"] == "none"
    assert status["highlighter"] == "reader"
    assert "i.db" in run("status", "--store", "i.db")[1]
    assert run("status", "--store", "none.db")[0] == 3


def test_docs_and_store_together_are_refused(indexed, run):
    code, _, err = run("ask", "When does the ferry leave?", "--docs", "a", "--store", "i.db")
    assert (code, "give --docs or --store, not both" in err) == (2, True)


def test_the_indexes_of_docs_are_listed_and_cleared(corpus, run, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(corpus / "cache"))
    assert "There are none." in run("cache", "list")[1]
    assert run("search", "ferry", "--docs", "a")[0] == 0
    code, out, _ = run("cache", "list")
    assert (code, str(corpus / "a") in out) == (0, True)
    assert "0 indexes deleted" in run("cache", "clear", "--older-than", "1")[1]
    assert "1 indexes deleted" in run("cache", "clear")[1]
    assert "There are none." in run("cache", "list")[1]
    assert not list((corpus / "cache").rglob("*.db*"))


@pytest.mark.parametrize(
    ("name", "number"), [("x1", 1), ("/d/one.txt", 1), ("one.txt", 1), ("d/rows.csv", 2)]
)
def test_names(name, number):
    rows = [
        ListedDocument("x1", "/d/one.txt", "", Trust.TRUSTED, 1, "d/one.txt"),
        ListedDocument("x2", "/d/rows.csv", "", Trust.TRUSTED, 1, "d/rows.csv"),
        ListedDocument("x3", "/d/rows.csv", "", Trust.TRUSTED, 1, "d/rows.csv"),
    ]
    assert len(named(name, rows)) == number


def test_an_empty_name_means_nothing():
    with pytest.raises(InputError):
        named("", [ListedDocument("x", "/a/b.txt", "", Trust.TRUSTED, 1, "b.txt")])


@pytest.mark.parametrize(
    "command", [["index", "mixed", "--store", "i.db"], ["ask", "When?", "--docs", "mixed"]]
)
def test_files_that_are_not_read_are_named_in_one_line(command, corpus, run):
    kinds = [
        "7z",
        "bak",
        "dwg",
        "exe",
        "heic",
        "mkv",
        "mp3",
        "pages",
        "png",
        "zip",
    ]
    (corpus / "mixed").mkdir()
    (corpus / "mixed" / "ok.txt").write_text("The ferry leaves at nine.", "utf-8")
    for kind in kinds:
        (corpus / "mixed" / f"file.{kind}").write_text("x", "utf-8")
    for number in range(30):
        (corpus / "mixed" / f"z{number:02}.png").write_text("x", "utf-8")
    (line,) = [line for line in run(*command)[2].splitlines() if line.startswith("skipped:")]
    assert line.startswith("skipped: 40 of a type that is not read: mixed/file.7z, ")
    assert line.endswith(", and 20 more (20 .png)")
    assert all(f"file.{kind}" in line for kind in kinds)
