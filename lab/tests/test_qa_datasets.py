"""Data sets by name: small folders of each schema, and the real ones where they are beside the checkout."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from equipoise.core.errors import InputError, MissingExtra
from equipoise_lab.bench.qa import datasets, items, published
from equipoise_lab.text.repliqa import NOT_FOUND
from repliqa_rows import OPENING, published_row

ROOT = Path(__file__).resolve().parents[2]


def write(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def gold_of(item):
    texts = {document.doc_id: document.text for document in item.documents}
    return [texts[span.doc_id][span.start : span.end] for span in item.gold]


def test_squad2(tmp_path):
    write(
        tmp_path / "squad2/documents.jsonl",
        {"doc_id": "sq-Oak", "title": "Oak", "paragraphs": ["Oaks are trees.", "They are tall."]},
    )
    answer = {"text": "tall", "start": 9}
    question = {"question_id": "1", "doc_id": "sq-Oak", "paragraph": 1, "question": "How?"}
    write(
        tmp_path / "squad2/questions.jsonl",
        question | {"answerable": True, "answers": [answer]},
        question | {"question_id": "2", "paragraph": 0, "answerable": False, "answers": []},
    )
    first, second = datasets.load("squad2", tmp_path)
    assert first.documents == (items.Text("sq-Oak#1", "Oak", "They are tall."),)
    assert (first.references, gold_of(first), first.answerable) == (("tall",), ["tall"], True)
    assert (second.documents[0].text, second.gold, second.answerable) == ("Oaks are trees.", (), False)
    assert items.without([first, second], ["sq-Oak"]) == []


def test_covid_qa(tmp_path):
    write(
        tmp_path / "covid_qa/documents.jsonl.gz",
        {"doc_id": "c", "title": "T", "license": "cc-by", "text": "It is a protein ."},
    )
    write(
        tmp_path / "covid_qa/questions.jsonl",
        {
            "question_id": "1",
            "doc_id": "c",
            "question": "What?",
            "answers": [{"text": "protein ", "start": 8}],
        },
    )
    (item,) = datasets.load("covid_qa", tmp_path)
    assert (item.references, gold_of(item), item.answerable) == (("protein",), ["protein "], True)


def bioasq_row(number, *, kind="factoid", exact=None, size=300, snippets=3):
    texts = [f"Snippet {number}.{n} " + "word " * (size // 5) for n in range(snippets)]
    return {
        "question_id": f"b{number}",
        "question": f"What is {number}?",
        "type": kind,
        "ideal_answer": [f"It is {number}."],
        "exact_answer": exact,
        "snippets": [{"text": text, "pmid": "1", "section": "abstract", "start": 0} for text in texts],
        "batch": 1,
    }


def test_bioasq_joins_the_snippets_and_adds_others(tmp_path):
    rows = [bioasq_row(1), bioasq_row(2, kind="yesno", exact="no"), bioasq_row(3, size=900, snippets=20)]
    write(tmp_path / "bioasq12b/questions.jsonl", *rows)
    questions = datasets.load("bioasq12b", tmp_path)
    assert datasets.load("bioasq12b", tmp_path) == questions
    assert [item.decision for item in questions] == [None, "no", None]
    for item, row in zip(questions, rows, strict=True):
        outcomes = [snippet["text"] for snippet in row["snippets"]]
        gold = gold_of(item)
        assert gold == outcomes[: len(gold)]
        (document,) = {span.doc_id for span in item.gold}
        others = [text.text for text in item.documents if text.doc_id != document]
        assert others
        assert not set(others) & set(outcomes)
        assert sum(len(document.text) for document in item.documents) <= 6000
    assert len(questions[2].gold) == 4


def test_a_first_snippet_that_is_too_long_is_cut():
    assert datasets.snippets_within(["abcdef", "g"], 4) == ["abcd"]
    assert datasets.snippets_within(["ab", "cd", "e"], 5) == ["ab", "cd"]


def test_pubmedqa(tmp_path):
    row = {"question_id": "p", "pmid": "7", "question": "Does it?", "context": ["One.", "Two."]}
    write(tmp_path / "pubmedqa/questions.jsonl", row | {"long_answer": "It may.", "decision": "maybe"})
    (item,) = datasets.load("pubmedqa", tmp_path)
    assert item.documents == (items.Text("pubmed-7", "", "One.\n\nTwo."),)
    assert (item.references, item.decision, item.answerable) == (("It may.",), "maybe", None)


def test_repliqa_mini(tmp_path):
    write(tmp_path / "repliqa_mini/documents.jsonl", {"doc_id": "r", "text": "Ann won in May."})
    row = {"question_id": "1", "doc_id": "r", "question": "Who?", "annotated_answer": "Ann"}
    write(
        tmp_path / "repliqa_mini/questions.jsonl",
        row | {"answerable": True, "passage": "Ann won", "start": 0},
        row
        | {"question_id": "2", "annotated_answer": None, "answerable": None, "passage": None, "start": None},
    )
    first, second = datasets.load("repliqa_mini", tmp_path)
    assert (first.references, gold_of(first), first.answerable) == (("Ann",), ["Ann won"], True)
    assert (second.references, second.gold, second.answerable) == ((), (), None)


def test_hotpotqa_has_the_supporting_sentences_as_gold(tmp_path):
    row = {
        "question_id": "h",
        "question": "Were both clerks?",
        "answer": "yes",
        "paragraphs": [
            {"title": "Ann", "sentences": ["Ann is old.", " She was a clerk."]},
            {"title": "Bob", "sentences": ["Bob was a clerk."]},
            {"title": "Cid", "sentences": ["Cid slept."]},
        ],
        "supporting": [["Ann", 1], ["Bob", 0]],
    }
    write(tmp_path / "hotpotqa_distractor/questions.jsonl", row)
    (item,) = datasets.load("hotpotqa_distractor", tmp_path)
    assert [document.title for document in item.documents] == ["Ann", "Bob", "Cid"]
    assert gold_of(item) == [" She was a clerk.", "Bob was a clerk."]
    assert (item.references, item.decision) == (("yes",), "yes")


def test_bipia_takes_unknown_for_not_answerable(tmp_path):
    write(
        tmp_path / "bipia_email_qa/questions.jsonl",
        {"id": "e1", "question": "How much?", "document": "No. 1$45.001, paid: $45.00", "answer": "$45.00"},
        {"id": "e2", "question": "Who?", "document": "Paid: $45.00", "answer": "unknown"},
    )
    first, second = datasets.load("bipia_email_qa", tmp_path)
    assert (gold_of(first), first.answerable) == (["$45.00"], True)
    assert first.gold[0].start == 20
    assert (second.references, second.gold, second.answerable) == ((), (), False)


def test_a_missing_field_is_named_with_file_and_line(tmp_path):
    write(tmp_path / "pubmedqa/questions.jsonl", {"question_id": "p", "pmid": "7", "question": "Why?"})
    with pytest.raises(InputError, match=r"questions\.jsonl:1: 'context' is missing"):
        datasets.load("pubmedqa", tmp_path)


def test_another_schema_and_missing_folders_are_one_sentence(tmp_path):
    with pytest.raises(InputError, match="name the folder that holds squad2 with --data"):
        datasets.load("squad2", tmp_path)
    write(tmp_path / "squad2/documents.jsonl", {"doc_id": "a", "title": "A", "paragraphs": ["x"]})
    row = {
        "question_id": "1",
        "doc_id": "b",
        "paragraph": 0,
        "question": "?",
        "answerable": True,
        "answers": [],
    }
    write(tmp_path / "squad2/questions.jsonl", row)
    with pytest.raises(InputError, match="another schema"):
        datasets.load("squad2", tmp_path)
    write(tmp_path / "squad2/questions.jsonl", row | {"doc_id": "a", "answers": [{"text": "yy", "start": 0}]})
    with pytest.raises(InputError, match="1: 'gold' has 0 to 2"):
        datasets.load("squad2", tmp_path)


def test_a_file_of_ones_own_and_an_unknown_name(tmp_path):
    path = tmp_path / "mine.v2.jsonl"
    write(path, {"item_id": "q", "question": "Why?", "documents": [{"doc_id": "d", "text": "Because."}]})
    assert [item.item_id for item in datasets.load(str(path))] == ["q"]
    assert (datasets.title(str(path)), datasets.title("squad2")) == ("mine", "squad2")
    with pytest.raises(InputError, match="no data set or file 'imagenet': choose one of squad2"):
        datasets.load("imagenet")
    with pytest.raises(InputError, match="has no split 'train'"):
        datasets.load("squad2", tmp_path, split="train")


@pytest.mark.parametrize(
    ("answer", "long_answer", "references", "gold", "answerable"),
    [
        ("4 May 2024", OPENING, ("4 May 2024",), [OPENING], True),
        ("Ann Okoro", "NA", ("Ann Okoro",), [], True),  # "NA" stands in NASA: that is no gold passage
        (NOT_FOUND, "NA", (), [], False),
        (NOT_FOUND, None, (), [], False),
        (NOT_FOUND, OPENING, (), [OPENING], None),
        (None, OPENING, (), [OPENING], True),
    ],
)
def test_repliqa_rows_as_published(answer, long_answer, references, gold, answerable):
    item = published.repliqa_item(published_row(answer, long_answer))
    assert (item.references, gold_of(item), item.answerable) == (references, gold, answerable)


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"equipoise-lab\[datasets\]"):
        datasets.load("repliqa")


@pytest.mark.parametrize("name", datasets.READERS)
def test_whole_data_sets_are_read(sample_data, name):
    questions = datasets.load(name, sample_data)
    rows = list(datasets.rows(sample_data / name / "questions.jsonl"))
    assert len({item.item_id for item in questions}) == len(questions) == len(rows)
    spans = [span for item in questions for span in item.gold]
    assert bool(spans) == (name != "pubmedqa")
    if name == "bioasq12b":
        assert max(sum(len(document.text) for document in item.documents) for item in questions) <= 6000
