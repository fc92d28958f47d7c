"""What training data may look like, and how it is split."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import InputError
from equipoise.training.examples import Example, fingerprint, foreign, held_out, read_examples

TEXT = "Bees make honey. The mill was built in 1820. It is closed."


@pytest.fixture
def write(tmp_path):
    def written(*rows):
        path = tmp_path / "data.jsonl"
        path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
        return [path]

    return written


def test_a_row_with_answers(write):
    (example,) = read_examples(
        write({"question": "When?", "text": TEXT, "document": "a", "answers": [[39, 43]]})
    )
    assert example == Example("When?", TEXT, "a", (), ((39, 43),))
    assert example.answerable
    assert example.targets("answer") == ((39, 43),)
    assert [TEXT[a:b] for a, b in example.targets("passage")] == ["The mill was built in 1820."]


def test_a_row_without_gold_is_not_answerable_and_its_document_is_its_text(write):
    one, two = read_examples(write({"question": "Who?", "text": TEXT}, {"question": "Why?", "text": TEXT}))
    assert not one.answerable
    assert one.targets("passage") == ()
    assert one.document == two.document


def test_given_passages_are_the_target_as_they_are(write):
    (example,) = read_examples(write({"question": "q", "text": TEXT, "passages": [[0, 44]]}))
    assert example.targets("passage") == example.targets("answer") == ((0, 44),)


def test_rows_of_repliqa(write):
    row = {
        "document_id": "d1",
        "document_extracted": TEXT,
        "question": "When was it built?",
        "answer": "1820",
        "long_answer": "The mill was built in 1820.",
    }
    none = row | {"question": "Who built it?", "answer": "UNANSWERABLE", "long_answer": "NA"}
    found, nothing = read_examples(write(row, none))
    assert TEXT[slice(*found.passages[0])] == "The mill was built in 1820."
    assert TEXT[slice(*found.answers[0])] == "1820"
    assert (nothing.document, nothing.answerable) == ("d1", False)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("{", "line 2"),
        ('{"text": "x"}', "question"),
        ('{"question": "q", "text": "abc", "answers": [[1, 9]]}', r"\[1, 9\] is not inside"),
        ('{"question": "q", "text": "abc", "answers": [[2, 2]]}', r"\[2, 2\] is not inside"),
        ('{"question": "q", "text": "abc", "passages": [3]}', "TypeError"),
        ("[]", "line 2"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(write, row, what):
    with pytest.raises(InputError, match=r"data\.jsonl, line 2: ") as caught:
        read_examples(write({"question": "q", "text": "abc"}, row))
    assert re.search(what, str(caught.value))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read"):
        read_examples([tmp_path / "none.jsonl"])


def examples(count, documents):
    return [Example(f"q{n}", f"text {n % documents}.", f"d{n % documents}", ((0, 4),)) for n in range(count)]


@given(st.integers(2, 30), st.integers(2, 12), st.floats(0.01, 0.9), st.integers(0, 99))
def test_held_out_documents_are_in_one_part_only(count, documents, share, seed):
    made = examples(max(count, documents), documents)
    train, test = held_out(made, share, seed)
    assert train
    assert test
    assert len(train) + len(test) == len(made)
    assert not {e.document for e in train} & {e.document for e in test}
    assert held_out(made, share, seed) == (train, test)


def test_one_document_cannot_be_split():
    with pytest.raises(InputError, match="one document"):
        held_out(examples(5, 1), 0.1, 0)


def test_foreign_pairs_take_the_text_of_another_document():
    made = examples(20, 4)
    pairs = foreign(made, 0.5, 3)
    assert len(pairs) == 10
    for pair in pairs:
        (asked,) = [e for e in made if e.question == pair.question]
        assert pair.text != asked.text
        assert pair.document == asked.document
        assert not pair.answerable
    assert foreign(examples(3, 1), 1.0, 3) == []


class Published:
    """The part of `datasets` that is used, with two rows of one split."""

    def __init__(self):
        self.asked = []

    def load_dataset(self, name, *, split):
        self.asked.append((name, split))
        row = {"question_id": "1", "document_id": "d", "document_extracted": TEXT, "question": "When?"}
        yield row | {"answer": "1820", "long_answer": "The mill was built in 1820."}
        yield row | {
            "question_id": "2",
            "answer": "1820",
            "long_answer": "Zebras graze on green hills of Kenya.",
        }


def test_a_split_of_repliqa_is_fetched_and_what_cannot_be_placed_is_said(monkeypatch, caplog, tmp_path):
    published = Published()
    monkeypatch.setattr("equipoise.training.examples.library", lambda name, extra: published)
    monkeypatch.chdir(tmp_path)
    (example,) = read_examples([Path("repliqa_0")])
    assert list(published.asked) == [("ServiceNow/repliqa", "repliqa_0")]
    assert TEXT[slice(*example.passages[0])] == "The mill was built in 1820."
    assert "question 2: left out" in caplog.text
    assert fingerprint(Path("repliqa_0")) == "repliqa_0"
    Path("repliqa_1").write_text("")
    assert read_examples([Path("repliqa_1")]) == []
