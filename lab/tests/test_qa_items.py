"""Items of people's own: what is read, and what is refused with file and line."""

import gzip
import json
import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import InputError
from equipoise.core.types import Span
from equipoise_lab.bench.qa import items
from equipoise_lab.bench.qa.items import QaItem, Text

ROW = {
    "item_id": "q1",
    "question": "Who may approve a refund?",
    "documents": [{"doc_id": "d", "title": "Handbook", "text": "A refund is approved by Ann."}],
    "references": ["Ann"],
    "gold": [["d", 24, 27]],
    "answerable": True,
    "decision": None,
}
TEXT = Text("d", "Handbook", "A refund is approved by Ann.")
ITEM = QaItem("q1", "Who may approve a refund?", (TEXT,), ("Ann",), (Span("d", 24, 27),), True)


def file(folder, *rows):
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_an_item_is_read_and_written(tmp_path):
    assert items.read(file(tmp_path, ROW)) == [ITEM]
    assert items.read(file(tmp_path, items.as_row(ITEM))) == [ITEM]


def test_the_example_of_the_page_can_be_used():
    page = (Path(__file__).resolve().parents[2] / "docs" / "datasets.md").read_text("utf-8")
    item = items.from_line(re.search(r"(?s)```json\n(.*?)```", page)[1], "docs/datasets.md")
    (text,), (gold,) = [document.text for document in item.documents], item.gold
    assert text[gold.start : gold.end] == item.references[0] == "the head of sales"
    assert items.gold_text(item) == "A refund is approved by the head of sales."


@pytest.mark.parametrize(("suffix", "packed"), [("gz", gzip.compress), ("xz", lzma.compress)])
def test_most_fields_may_be_missing_and_the_file_may_be_packed(tmp_path, suffix, packed):
    short = {"item_id": "q", "question": "Why?", "documents": [{"doc_id": "d", "text": "Because."}]}
    path = tmp_path / f"mine.jsonl.{suffix}"
    path.write_bytes(packed(json.dumps(short).encode()))
    assert items.read(path) == [QaItem("q", "Why?", (Text("d", "", "Because."),))]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"item_id": ""}, "'item_id': String should match"),
        ({"question": None}, "'question': Input should be a valid string"),
        ({"documents": []}, "'documents': List should have at least 1 item"),
        ({"documents": "text"}, "'documents': Input should be a valid array"),
        ({"documents": ["text"]}, "'documents.0': Input should be an object"),
        ({"documents": [{"doc_id": "d", "text": " "}]}, "'documents.0.text': String should match"),
        (
            {"documents": [{"doc_id": "d", "text": "x", "name": "y"}]},
            "'documents.0.name': Extra inputs are not permitted",
        ),
        ({"documents": ROW["documents"] * 2}, "two documents have the same doc_id"),
        ({"references": "Ann"}, "'references': Input should be a valid array"),
        ({"references": [3]}, "'references.0': Input should be a valid string"),
        ({"gold": [["d", 24]]}, "'gold.0.2': Field required"),
        ({"gold": [["d", "24", 27]]}, "'gold.0.1': Input should be a valid integer"),
        ({"gold": [["d", True, 27]]}, "'gold.0.1': Input should be a valid integer"),
        ({"gold": [["e", 24, 27]]}, "names the document 'e'"),
        ({"gold": [["d", 24, 29]]}, "'gold' has 24 to 29 in 'd', which has 28 characters"),
        ({"gold": [["d", 5, 5]]}, "'gold' has 5 to 5"),
        ({"answerable": "yes"}, "'answerable': Input should be a valid boolean"),
        ({"answerable": 1}, "'answerable': Input should be a valid boolean"),
        ({"decision": "perhaps"}, "'decision': Input should be 'yes', 'no' or 'maybe'"),
        ({"answer": "Ann"}, "'answer': Extra inputs are not permitted"),
        ({"item_id": "q0"}, "'q0' stands here for the second time"),
    ],
)
def test_an_item_that_cannot_be_used_is_refused_with_file_and_line(tmp_path, change, why):
    path = file(tmp_path, ROW | {"item_id": "q0"}, ROW | change)
    with pytest.raises(InputError) as caught:
        items.read(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.jsonl", b"", "is empty"),
        ("a.jsonl", b"{", ":1: Invalid JSON"),
        ("a.jsonl.gz", b"no", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, name, content, why):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=why) as caught:
        items.read(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(InputError, match="nowhere"):
        items.read(tmp_path / "nowhere.jsonl")


def some(answerable):
    return [QaItem(f"q{n}", "Why?", (TEXT,), answerable=value) for n, value in enumerate(answerable)]


LABELS = st.lists(st.sampled_from([True, False, None]), max_size=30)


@given(LABELS, st.integers(1, 35), st.integers(1, 35))
def test_a_larger_sample_holds_the_smaller_one(labels, one, other):
    small, large = (items.sample(some(labels), limit) for limit in sorted((one, other)))
    assert large[: len(small)] == small
    assert len(set(large)) == len(large) <= max(one, other)


@given(LABELS, st.integers(1, 35))
def test_a_sample_is_balanced_where_it_can_be(labels, limit):
    drawn = [item.answerable for item in items.sample(some(labels), limit)]
    if True in labels and False in labels:
        assert None not in drawn
        rarer = min(labels.count(True), labels.count(False))
        assert min(drawn.count(True), drawn.count(False)) == min(limit // 2, rarer)
    else:
        assert len(drawn) == min(limit, len(labels))


def test_no_limit_is_everything_and_another_seed_another_sample():
    every = some([True] * 50)
    assert items.sample(every, None) == every
    assert items.sample(every, 10) != items.sample(every, 10, seed=1)


def test_documents_are_left_out_by_name_or_by_the_name_of_their_whole():
    three = [QaItem(n, "Why?", (Text(n, "", "x"),)) for n in ("a#1", "a#2", "b#1")]
    assert [item.item_id for item in items.without(three, ["a"])] == ["b#1"]
    assert [item.item_id for item in items.without(three, ["a#2"])] == ["a#1", "b#1"]
    assert items.without(three, []) == three


def test_a_gold_span_that_is_an_answer_stands_for_its_sentence():
    text = "Ann built it. Bob, her son, burnt it in May. It was in May 1650. Why?"
    may, son = text.index("May"), text.index("her son")
    gold = (Span("d", may, may + 3), Span("d", son, son + 7))
    item = QaItem("q", "When?", (Text("d", "", text),), ("May", "May 1650"), gold)
    assert items.gold_text(item) == "Bob, her son, burnt it in May."
    passage = QaItem("q", "Who?", (Text("d", "", text),), ("Bob",), gold[1:])
    assert items.gold_text(passage) == "her son"


def test_gold_that_overlaps_is_read_once():
    gold = (Span("d", 5, 9), Span("d", 0, 6), Span("d", 12, 14), Span("e", 0, 3), Span("d", 9, 10))
    texts = (Text("d", "", "0123456789abcdefg"), Text("e", "", "xyz."))
    item = QaItem("q", "Why?", texts, gold=gold)
    assert items.merged(gold) == (Span("d", 0, 10), Span("d", 12, 14), Span("e", 0, 3))
    assert items.gold_text(item) == "0123456789\ncd\nxyz"
