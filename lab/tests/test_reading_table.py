"""The cases that reading is measured on, and what the table says of systems that read them."""

import json

import pytest

from checkout import program

SENTENCES = ["Parcels are kept for seven days .", "The office has a garden .", "After that they go back ."]


@pytest.fixture(scope="module")
def run():
    return program("benchmarks/reading/run.py")


@pytest.fixture
def cases(run, tmp_path):
    row = {"id": "1", "question": "how long are parcels kept", "title": "Post", "sentences": SENTENCES}
    (tmp_path / "clapnq").mkdir()
    (tmp_path / "clapnq" / "answerable.jsonl").write_text(
        json.dumps(row | {"selected": [[0], [0, 2]]}) + "\n"
    )
    (tmp_path / "clapnq" / "unanswerable.jsonl").write_text(json.dumps(row | {"id": "2"}) + "\n")
    return list(run.FIELDS["clapnq"][1](tmp_path))


def test_a_case_has_the_places_of_what_each_annotator_selected(cases):
    answered, not_answered = cases
    assert [[answered.at(place) for place in part] for part in answered.gold] == [
        SENTENCES[:1],
        [SENTENCES[0], SENTENCES[2]],
    ]
    assert answered.read(1) == f"Post\n{SENTENCES[1]}"
    assert not not_answered.gold


def test_the_best_annotator_counts_and_bm25_finds_the_words(run, cases):
    row = run.scored(cases[0], run.bm25)
    assert row["right"] and row["f1"] == 1.0 and row["words"] == 6
    both = run.scored(cases[0], lambda case: ([case.units[0], case.units[2]], 1.0))
    assert both["f1"] == 1.0
    beside = run.scored(cases[0], lambda case: ([case.units[1]], 1.0))
    assert not beside["right"] and beside["f1"] < 0.5
    assert not run.scored(cases[1], run.bm25)["right"]


def test_what_is_refused_is_counted_by_the_scores_of_questions_without_an_answer(run):
    rows = [
        {"field": "clapnq", "system": run.OURS, "id": f"{n}", "answer": answer, "right": answer and n != 3,
         "f1": 0.5 * answer, "score": score, "words": 10,
         "places": [3 * answer, 10, 6 * answer], "seconds": 0.2}
        for n, (answer, score) in enumerate(
            [(False, 0.1), (True, 0.9), (True, 0.05), (True, 0.8), (False, 0.2), (True, 0.7)]
        )
    ]  # fmt: skip
    line = next(line for line in run.page(rows).splitlines() if line.startswith("| clapnq"))
    _, field, _, n, right, f1, auc, at_80, *_, ships, pooled, shown, seconds, _ = line.split(" | ".strip())
    assert (field.strip(), n.strip()) == ("clapnq", "4 + 2")
    assert right.strip().startswith("0.75 [") and f1.strip().startswith("0.50 [")
    assert auc.strip().startswith("0.75 [") and at_80.strip().startswith("0.50 [")
    assert (ships.strip(), pooled.strip()) == ("2 of 4, 2 of 2", "0.33, 0.33")
    assert (shown.strip(), seconds.strip()) == ("10", "0.20")


def test_a_field_whose_files_are_not_there_is_left_out_with_one_sentence(run, tmp_path, capsys):
    assert list(run._cases(tmp_path, ["law"])) == []
    assert "law" in capsys.readouterr().err


def test_who_shows_the_same_words_of_another_text_is_right(run):
    units = [(0, 0, 32), (1, 0, 32), (1, 33, 58)]
    texts = [SENTENCES[0], " ".join(SENTENCES[:2])]
    case = run.Case("1", "How long?", ["", ""], texts, units, [""] * 3, [[units[0]]])
    assert run.scored(case, lambda _: ([units[1]], 1.0))["right"]
    assert not run.scored(case, lambda _: ([units[2]], 1.0))["right"]
