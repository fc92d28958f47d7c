"""The passages of the training questions are found again in documents, however they are cut."""

import json

import pytest

from checkout import program

COSTS = "A copy costs 4 euros."
HANDBOOK = (
    f"Copies\n\nCopies are made at the desk. {COSTS} Bring a card.\n\nLending\n\nBooks are lent for a month."
)


@pytest.fixture(scope="module")
def script():
    return program("benchmarks/reading/passages.py")


@pytest.fixture
def made(script, tmp_path):
    (tmp_path / "handbook.txt").write_text(HANDBOOK)

    def made(**question):
        row = {"id": 1, "set": "library", "kind": "plain", "question": "What does a copy cost?"} | question
        return script._made("library", tmp_path, [row])

    return made


def test_a_question_gets_the_passage_and_the_numbers_of_its_units(script, made):
    found = made(gold=[script.digest("A copy  costs\n4 euros")], at=[])
    (question,), (passage,) = found["questions"], found["passages"]
    (number,) = question["gold"]
    start, end, *_ = passage["units"][number]
    assert question["passage"] == passage["passage"] == "library:0"
    assert passage["text"][start:end] == COSTS
    assert question["near"] == []


def test_a_near_miss_has_its_passage_and_no_unit(script, made):
    (question,) = made(kind="near_miss", gold=[], at=[script.digest("Books are lent for a month.")])[
        "questions"
    ]
    assert (question["passage"], question["gold"]) == ("library:0", [])


def test_what_is_not_read_any_more_is_left_out(script, made):
    known = script.digest(COSTS)
    assert made(gold=[known, script.digest("Copies are free.")], at=[known])["questions"] == []


def test_the_questions_of_the_repository_have_their_sources(script):
    sources = {line.split("\t")[0] for line in (script.HERE / "sources.tsv").read_text("utf-8").splitlines()}
    rows = [json.loads(text) for text, _ in script.lines(script.HERE / script.QUESTIONS)]
    assert {row["set"] for row in rows} == sources
    assert all(row["gold"] or row["kind"] == "near_miss" for row in rows)
