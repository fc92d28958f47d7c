"""What training data may look like, and how it is split."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.errors import InputError
from equipoise_lab.text.repliqa import NOT_FOUND
from equipoise_lab.training.examples import Example, fingerprint, foreign, held_out, read_examples
from repliqa_rows import LEADER, OPENING, STORY, published_row

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
    first, second = read_examples(
        write({"question": "Who?", "text": TEXT}, {"question": "Why?", "text": TEXT})
    )
    assert not first.answerable
    assert first.targets("passage") == ()
    assert first.document == second.document


def test_given_passages_are_the_target_as_they_are(write):
    (example,) = read_examples(write({"question": "q", "text": TEXT, "passages": [[0, 44]]}))
    assert example.targets("passage") == example.targets("answer") == ((0, 44),)


@pytest.mark.parametrize(
    ("answer", "long_answer", "passage"),
    [
        ("4 May 2024", OPENING, OPENING),
        ("In spring.", OPENING, OPENING),
        (
            "In spring.",
            "the museum in Tulsa opens on  4 May\n2024",
            "The museum in Tulsa opens on 4 May 2024",
        ),
        ("Dr. Okoro", "Dr Ann Okoro, who knows no rival, leads it from May to Jun.", None),
        (NOT_FOUND, "NA", ""),
        (NOT_FOUND, "", ""),
        (NOT_FOUND, None, ""),
        (NOT_FOUND, "Zebras graze on the green hills of Kenya.", ""),
        ("The name of the architect is not mentioned in the document.", "NA", ""),
        ("The document does not say who paid, only that NASA opens it.", "NASA", ""),
    ],
)
def test_rows_of_repliqa_as_published(write, answer, long_answer, passage):
    """`passage` "" stands for a question that the document does not answer, None for a passage with a slip."""
    (example,) = read_examples(write(published_row(answer, long_answer)))
    assert (example.document, example.text) == ("kqwzpdtn", STORY)
    assert example.answerable is (passage != "")
    marked = [STORY[a:b] for a, b in example.passages]
    if passage is None:
        assert marked[0].startswith("Dr. Ann Okoro")
    else:
        assert marked == ([passage] if passage else [])


@pytest.mark.parametrize(
    ("answer", "long_answer", "why"),
    [
        (NOT_FOUND, OPENING, "contradict"),
        ("", "NA", "contradict"),
        ("Ann Okoro", "NA", "does not stand"),  # "NA" stands in NASA: that is no passage
        ("Ann Okoro", "Zebras graze on the green hills of Kenya.", "does not stand"),
        ("No", "no r", "does not stand"),
    ],
)
def test_rows_of_repliqa_that_teach_nothing_are_left_out_and_counted(write, caplog, answer, long_answer, why):
    good = published_row(NOT_FOUND, "NA", number=2)
    assert len(read_examples(write(good, published_row(answer, long_answer), good))) == 2
    warning, all_of_them = caplog.messages
    assert re.search(rf"data\.jsonl, line 2: left out: .*{why}", warning)
    assert re.search(rf"data\.jsonl: 1 of 3 rows are left out: 1 because .*{why}", all_of_them)


def test_a_short_answer_stands_in_its_passage_and_is_whole_words(write):
    """ "May" stands in the first sentence too, "no" in "knows"."""
    may, no, none = read_examples(
        write(*(published_row(answer, LEADER) for answer in ("May", "no", "Tulsa")))
    )
    at = STORY.index(LEADER)
    assert may.answers == ((at + LEADER.index("May"), at + LEADER.index("May") + 3),)
    assert no.answers == ((at + LEADER.index("no rival"), at + LEADER.index("no rival") + 2),)
    assert none.answers == ()


def test_the_annotated_stories_give_their_passages_and_refusals(write, sample_data):
    """The measuring data in the form of the published rows, each question asked of the next document too."""
    folder = sample_data / "repliqa_mini"
    documents, questions = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").split("\n") if line]
        for name in ("documents.jsonl", "questions.jsonl")
    )
    texts = {row["doc_id"]: row["text"] for row in documents}
    after = dict(zip(texts, [*list(texts)[1:], next(iter(texts))], strict=True))
    sure = [row for row in questions if row["answerable"]]
    rows = []
    for row in sure:
        given = {"question": row["question"], "question_id": row["question_id"]}
        own, other = (
            {"document_id": d, "document_extracted": texts[d]} for d in (row["doc_id"], after[row["doc_id"]])
        )
        rows.append(published_row(row["annotated_answer"], row["passage"], **given, **own))
        rows.append(published_row(NOT_FOUND, "NA", **given, **other))
    kept = read_examples(write(*rows))
    assert [e.answerable for e in kept] == [True, False] * len(sure)
    starts = [(row["start"], row["start"] + len(row["passage"])) for row in sure]
    assert [e.passages for e in kept[::2]] == [(place,) for place in starts]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("{", "line 2"),
        ('{"text": "x"}', "question"),
        ('{"question": "q", "text": "abc", "answers": [[1, 9]]}', r"\[1, 9\] is not inside"),
        ('{"question": "q", "text": "abc", "answers": [[2, 2]]}', r"\[2, 2\] is not inside"),
        ('{"question": "q", "text": "abc", "passages": [3]}', "TypeError"),
        ('{"question": "q", "text": "abc", "answer": [[0, 1]]}', "unknown field 'answer'"),
        ('{"question": "q", "text": "abc", "passages": null}', "TypeError"),
        ("[" * 100_000, "RecursionError"),
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
    """The part of `datasets` that is used: it hands out these rows."""

    def __init__(self, *rows):
        self.asked, self.rows = [], rows

    def load_dataset(self, name, *, split):
        self.asked.append((name, split))
        return list(self.rows)


def test_a_split_of_repliqa_is_fetched_and_what_cannot_be_placed_is_said(monkeypatch, caplog, tmp_path):
    nowhere = published_row("Kenya", "Zebras graze on green hills of Kenya.", number=2)
    hub = Published(published_row("4 May 2024", OPENING), nowhere, published_row(NOT_FOUND, "NA", number=3))
    monkeypatch.setattr("equipoise_lab.training.examples.library", lambda name, extra: hub)
    monkeypatch.chdir(tmp_path)
    first, third = read_examples([Path("repliqa_0")])
    assert hub.asked == [("ServiceNow/repliqa", "repliqa_0")]
    assert STORY[slice(*first.passages[0])] == OPENING
    assert not third.answerable
    assert "repliqa_0, question kqwzpdtn-q2: left out" in caplog.text
    assert "repliqa_0: 1 of 3 rows are left out" in caplog.text
    assert fingerprint(Path("repliqa_0")) == "repliqa_0"
    Path("repliqa_1").write_text("")
    assert read_examples([Path("repliqa_1")]) == []


def test_a_split_with_another_schema_is_one_sentence(monkeypatch, tmp_path):
    hub = Published({"question_id": "1", "context": "x"})
    monkeypatch.setattr("equipoise_lab.training.examples.library", lambda name, extra: hub)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match="the split repliqa_0 of ServiceNow/repliqa has another schema: 'document_"
    ):
        read_examples([Path("repliqa_0")])
