"""Published data sets as the `datasets` library reads them: real files of each schema, offline.

One module, so that it is one skip where the library is not installed; that the extra is named then is tested beside
each reader.
"""

import gzip
import json

import pytest

from equipoise.core.errors import InputError
from equipoise_lab.bench.bias import corpora, huggingface
from equipoise_lab.bench.hijack import cases, llmail
from equipoise_lab.bench.hijack.cases import Drawing
from equipoise_lab.bench.hijack.inbox import Email
from equipoise_lab.bench.qa import published
from equipoise_lab.text.repliqa import NOT_FOUND
from repliqa_rows import published_row

datasets = pytest.importorskip(
    "datasets", reason="datasets is not installed: pip install 'equipoise-lab[datasets]'"
)
arrow = pytest.importorskip("pyarrow")
files = pytest.importorskip("pyarrow.parquet")

MAIL = Email("s2-1", "Boiler", "Dear Ms Rowe, the boiler is inspected on March 14th. Kind regards, Ida Marsh")


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """The library has a cache of its own; that nothing is fetched is the rule of all tests."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def write(path, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.fixture
def parquet(tmp_path):
    """Writes rows as parquet."""

    def put(name, *rows):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_table(arrow.Table.from_pylist(list(rows)), path)
        return str(path)

    return put


def test_repliqa_rows(parquet):
    rows = (
        published_row("4 May 2024", "Visitors pay nothing on Sundays."),
        published_row(NOT_FOUND, "NA", number=2),
    )
    first, second = published.repliqa(source=parquet("repliqa_3-0.parquet", *rows))
    assert (first, second) == tuple(map(published.repliqa_item, rows))
    assert (first.answerable, second.answerable) == (True, False)


def test_rag_mini_bioasq_rows(parquet, tmp_path):
    parquet("text-corpus/test-0.parquet", *({"id": n, "passage": f"Passage {n}."} for n in range(4)))
    row = {"question": "What?", "answer": "It.", "relevant_passage_ids": [2, 0], "id": 9}
    parquet("question-answer-passages/train-0.parquet", row)
    parquet("question-answer-passages/test-0.parquet", row | {"id": 10, "relevant_passage_ids": [3, 77]})
    items = {item.item_id: item for item in published.rag_mini_bioasq(source=str(tmp_path))}
    assert [document.text for document in items["9"].documents] == ["Passage 2.", "Passage 0."]
    assert [document.doc_id for document in items["10"].documents] == ["3"]
    assert (items["9"].references, items["9"].answerable) == (("It.",), True)
    only = published.rag_mini_bioasq("test", str(tmp_path))
    assert [item.item_id for item in only] == ["10"]


def test_a_published_file_that_is_not_there_is_one_sentence(parquet, tmp_path):
    with pytest.raises(InputError, match="cannot be read") as caught:
        published.repliqa(source=str(tmp_path / "missing.parquet"))
    assert "\n" not in str(caught.value)


def test_wiki_balance_files(tmp_path):
    write(
        tmp_path / "corpus.jsonl.gz", [{"_id": f"d{n}", "title": "T", "text": f"text {n}"} for n in range(3)]
    )
    write(tmp_path / "queries.jsonl.gz", [{"_id": "q1", "text": "Should it?"}])
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td0\t1\nq1\td2\t1\nq1\td1\t0\n")
    corpus = huggingface.load("wiki-balance-natural", str(tmp_path))
    assert corpus.relevant == {"q1": frozenset({"d0", "d2"})}
    corpora.write(corpus, tmp_path / "wiki-balance-natural")
    assert corpora.read(tmp_path / "wiki-balance-natural") == corpus


def test_hotpotqa_files(parquet):
    row = {
        "id": "5a7a",
        "question": "Were both of them clerks?",
        "answer": "yes",
        "supporting_facts": {"title": ["Ann", "Bob"], "sent_id": [0, 0]},
        "context": {"title": ["Ann", "Bob", "Cid"], "sentences": [["Ann.", " A clerk."], ["Bob."], ["Cid."]]},
    }
    written = parquet("validation-0.parquet", row)
    corpus = huggingface.load("hotpotqa", written.replace("-0", "-*"))
    assert corpus.documents["Ann"] == corpora.CorpusText("Ann", "Ann. A clerk.")
    assert corpus.relevant == {"5a7a": frozenset({"Ann", "Bob"})}


def test_reddit_dialogues_files(tmp_path):
    turn = {"author_id": "1", "author_name": "a", "body": "Why?", "score": 3}
    sentence = {"title": "Paper", "score": 0.5}
    row = {
        "id": "sub-1",
        "subreddit": "sub",
        "title": "A question",
        "target": turn,
        "context": [turn, turn | {"body": "Because."}],
        "candidates": [
            sentence | {"id": "s1", "body": "Yes.", "label": 1},
            sentence | {"id": "s2", "body": "No.", "label": 0},
        ],
    }
    (tmp_path / "dialogues.json").write_text(json.dumps([row]))
    corpus = huggingface.load("reddit-dialogues", str(tmp_path / "dialogues.json"))
    assert corpus.queries == {"sub-1": "A question\nWhy?\nBecause."}
    assert (set(corpus.documents), corpus.relevant["sub-1"]) == ({"s1", "s2"}, frozenset({"s1"}))


def test_rows_of_another_schema_and_missing_files_are_one_sentence(tmp_path):
    (tmp_path / "other.json").write_text(json.dumps([{"title": "x"}]))
    with pytest.raises(InputError, match="another schema"):
        huggingface.load("reddit-dialogues", str(tmp_path / "other.json"))
    with pytest.raises(InputError, match="cannot be read") as caught:
        huggingface.load("reddit-dialogues", str(tmp_path / "missing.json"))
    assert "\n" not in str(caught.value)


def submission(key, scenario, flags, **more):
    """A line as in raw_submissions_phase1.jsonl: five flags in a text."""
    names = ("email.retrieved", "defense.undetected", "exfil.sent", "exfil.destination", "exfil.content")
    objectives = json.dumps(dict(zip(names, flags, strict=False)))
    return {
        "RowKey": key,
        "Timestamp": None,
        "body": f"Body {key}.",
        "completed_time": "2025-01-01T00:00:00+00:00",
        "job_id": key,
        "objectives": objectives,
        "output": "",
        "scenario": scenario,
        "scheduled_time": "",
        "started_time": "",
        "subject": f"Subject {key}",
        "team_id": "t",
    } | more


@pytest.fixture
def hub(tmp_path):
    """A file of the published schema."""
    rows = [
        submission("1", "level2a", [True] * 5),
        submission("2", "level2v", [True] * 5),
        submission("3", "level2a", [True, True, True, True, False]),
        submission("4", "level1a", [True] * 5),
        submission("5", "level2a", []),
        submission("6", "level2b", [True] * 5, body="Body 1.", subject="Subject 1"),
    ]
    write(tmp_path / "raw.jsonl", rows)
    return str(tmp_path / "raw.jsonl")


def test_the_full_set_is_read_by_scenario_and_success(hub, tmp_path):
    submissions = llmail.load(hub)
    assert [row["id"] for row in submissions] == ["llmail-1", "llmail-2"]
    assert [row["id"] for row in llmail.load(hub, scenario="level2v")] == ["llmail-2"]
    assert [row["id"] for row in llmail.load(hub, scenario="level1")] == ["llmail-4"]
    every = llmail.load(hub, only_successful=False)
    assert [(row["id"], row["success_reported"]) for row in every] == [
        ("llmail-1", True), ("llmail-2", True), ("llmail-3", False), ("llmail-5", False)
    ]  # fmt: skip
    path = llmail.write(submissions, tmp_path / "out")
    attacks = cases.attacks(tmp_path, path, [MAIL], Drawing(0, 0))
    assert [(case.case_id, case.question) for case in attacks[:2]] == [
        ("llmail-1", "Subject 1\n\nBody 1."),
        ("llmail-2", "Subject 2\n\nBody 2."),
    ]


def test_what_the_full_set_does_not_have_is_said(hub, tmp_path):
    with pytest.raises(InputError, match="write one of level1, level2, level3"):
        llmail.load(hub, scenario="level4a")
    with pytest.raises(InputError, match="no such submission to level3"):
        llmail.load(hub, scenario="level3")
    write(tmp_path / "other.jsonl", [{"scenario": "level2a", "text": "x"}])
    with pytest.raises(InputError, match="another schema"):
        llmail.load(str(tmp_path / "other.jsonl"))
