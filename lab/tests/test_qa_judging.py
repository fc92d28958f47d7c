"""Answers judged one by one and in pairs: what is asked, what a rule decides, what is asked again."""

import json

import pytest

from equipoise.core.errors import ModelUnavailable
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench.qa import judging
from equipoise_lab.bench.qa.judging import Pair
from equipoise_lab.bench.qa.records import QaRecord
from equipoise_lab.evaluation.budget import RunBudget
from processes import killed_after
from qa_town import Counting, questions, rows_of, run

PIPELINES = ("vanilla", "indexed", "sentence+extractive")
RATINGS = {"correct": True, "relevance": 3, "rating": 7}


def verdict(messages, better="1"):
    """A judge that gives everyone the same marks and prefers what it is shown first."""
    system = messages[0].content
    if '"better"' in system:
        return json.dumps({"explanation": "It came first.", "better": better})
    (field,) = [name for name in RATINGS if f'"{name}"' in system]
    return json.dumps({"explanation": "Fine.", field: RATINGS[field]})


def judge_of(name="judge-1", script=verdict):
    return ScriptedChat(script, name=name)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return questions(tmp_path_factory.mktemp("town"))


@pytest.fixture(scope="module")
def judged(file, tmp_path_factory):
    out, judges = tmp_path_factory.mktemp("judged"), (judge_of(), judge_of("judge-2"))
    return out, run(file, out, pipelines=PIPELINES, judges=judges), judges


def test_every_answer_is_rated_by_every_judge_and_model(judged):
    rows = rows_of(judged[0], "judgements.jsonl")
    assert len(rows) == 4 * 3 * 3 * 2
    assert {tuple(row) for row in rows} == {
        ("dataset", "item_id", "pipeline", "model", "judge", "judge_model", "value", "explanation")
    }
    assert {row["judge"] for row in rows} == {"correctness", "relevance", "quality"}
    values = {
        (r["item_id"], r["pipeline"], r["judge"]): r["value"] for r in rows if r["judge_model"] == "judge-1"
    }
    assert values["b1", "indexed", "correctness"] == 1.0
    assert values["b1", "indexed", "relevance"] == 3.0
    assert values["b1", "indexed", "quality"] == 7.0
    assert values["b2", "indexed", "correctness"] == 1.0  # declined what cannot be answered: by rule
    assert values["f2", "indexed", "correctness"] == 1.0
    assert judged[1].unjudged == 0


def test_what_a_rule_decides_is_not_asked(judged):
    asked = [request.messages[-1].content for request in judged[2][1].requests]
    assert asked
    assert not [text for text in asked if "Who sold the bells?" in text]


def test_only_the_first_judge_compares_and_every_pair_once(judged):
    rows = rows_of(judged[0], "comparisons.jsonl")
    assert {tuple(row) for row in rows} == {
        ("dataset", "item_id", "first", "second", "order", "judge_model", "prompt", "verdict", "explanation")
    }
    assert {row["judge_model"] for row in rows} == {"judge-1"}
    pairs = [(row["item_id"], row["first"], row["second"]) for row in rows]
    assert len(set(pairs)) == len(pairs) == 4 * 3 + 3
    assert all(first < second for _, first, second in pairs)
    alone = {(row["item_id"], row["first"]) for row in rows if row["second"] == "indexed (highlights)"}
    assert alone == {("b1", "indexed"), ("f1", "indexed"), ("f2", "indexed")}
    for row in rows:
        won = "first" if row["order"] == "as-is" else "second"
        assert row["verdict"] in (won, "tie", "neither")
        assert row["verdict"] == won or "decided without a model" in row["explanation"]


def test_both_orders_are_two_rows_and_a_rule_needs_one(file, tmp_path):
    run(file, tmp_path, pipelines=PIPELINES, judges=(judge_of(),), both_orders=True)
    rows = rows_of(tmp_path, "comparisons.jsonl")
    by_rule = [row for row in rows if "decided without a model" in row["explanation"]]
    assert by_rule
    assert {row["order"] for row in by_rule} == {"as-is"}
    asked = [row for row in rows if row not in by_rule]
    assert len(asked) == 2 * (15 - len(by_rule))
    assert {(row["order"], row["verdict"]) for row in asked} == {("as-is", "first"), ("swapped", "second")}


def test_no_comparing_and_no_judging(file, tmp_path):
    run(file, tmp_path, pipelines=PIPELINES, judges=(judge_of(),), compare=False)
    assert not (tmp_path / "comparisons.jsonl").exists()
    run(file, tmp_path / "bare", pipelines=PIPELINES)
    assert not (tmp_path / "bare" / "judgements.jsonl").exists()


def test_what_was_not_scored_is_asked_again_and_nothing_else(judged, file, tmp_path):
    away = ScriptedChat([ModelUnavailable("no line")] * 500, name="judge-1")
    run(file, tmp_path, pipelines=PIPELINES, judges=(away, judge_of("judge-2")))
    rows = rows_of(tmp_path, "judgements.jsonl")
    unscored = [row for row in rows if row["value"] is None]
    assert {row["judge_model"] for row in unscored} == {"judge-1"}
    assert {row["explanation"] for row in unscored} == {"not scored: no line"}
    first, second = judge_of(), judge_of("judge-2")
    run(file, tmp_path, pipelines=PIPELINES, judges=(first, second))
    for name in ("judgements.jsonl", "comparisons.jsonl"):
        assert (tmp_path / name).read_bytes() == (judged[0] / name).read_bytes()
    assert first.requests
    assert not second.requests


CHILD = """
import test_qa_judging
test_qa_judging.whole(Path(sys.argv[1]), Path(sys.argv[2]))
"""


def whole(file, out):
    """A run whose judge keeps its replies too, and a list of what it was asked."""
    out.mkdir(parents=True, exist_ok=True)
    judge = Counting(out / "judged.jsonl", judge_of())
    kept = Replayed(judge, ReplayCache(out / "replies.db"))
    return run(file, out, pipelines=PIPELINES, judges=(kept,))


@pytest.mark.parametrize("lines", [22, 40, 62])
def test_judging_that_was_killed_goes_on_with_the_same_bytes(file, tmp_path, lines):
    whole(file, tmp_path / "done")
    killed_after(lines, CHILD, file, tmp_path / "killed")
    whole(file, tmp_path / "killed")
    for name in ("results.jsonl", "judgements.jsonl", "comparisons.jsonl", "meta.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "done" / name).read_bytes()
    for name in ("asked.jsonl", "judged.jsonl"):
        asked = (tmp_path / "killed" / name).read_text().splitlines()
        assert len(asked) - len(set(asked)) <= 1


def test_a_judge_that_talks_nonsense_scores_nothing(file, tmp_path):
    run(file, tmp_path, pipelines=("vanilla", "indexed"), judges=(judge_of(script=lambda _: "Hm."),))
    rows = rows_of(tmp_path, "judgements.jsonl")
    asked = [row for row in rows if "decided without" not in row["explanation"]]
    assert asked
    assert {row["value"] for row in asked} == {None}


def test_a_budget_leaves_judging_for_the_next_run(judged, file, tmp_path):
    budget = RunBudget(clock=iter(range(10**6)).__next__, max_minutes=10**9)
    run(file, tmp_path, pipelines=PIPELINES, budget=budget)
    spent = budget.usage.prompt_tokens + budget.usage.completion_tokens
    assert spent > 0

    class Stopped(RunBudget):
        def stop(self):
            return "enough"

    summary = run(file, tmp_path, pipelines=PIPELINES, judges=(judge_of(),), budget=Stopped())
    assert (summary.missing, summary.unjudged, summary.stopped) == (0, 4 * 3 * 3 + 15, "enough")


def row(**change):
    made = {
        "dataset": "town", "item_id": "b1", "pipeline": "vanilla", "model": "m", "question": "Why?",
        "answerable": True, "decision": None, "outcome": "answered", "answer": "Because.", "references": ["So."],
        "highlighted": "",
    }  # fmt: skip
    return QaRecord.model_validate(made | change)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "So."),
        ({"answerable": False}, None),
        ({"references": []}, ""),
        ({"decision": "no"}, "No. So."),
        ({"decision": "yes", "references": ["yes"]}, "yes"),
        ({"decision": "maybe", "references": []}, "Maybe."),
        ({"references": ["First.", "Second."]}, "First."),
    ],
)
def test_what_judges_are_told_is_right(change, expected):
    assert judging.reference(row(**change)) == expected


def test_failed_answers_are_in_no_pair_and_declined_ones_have_no_text():
    rows = [
        row(pipeline="vanilla"),
        row(pipeline="indexed", outcome="declined", answer=""),
        row(pipeline="baseline", outcome="failed", answer=""),
    ]
    assert judging.pairs(rows) == [
        Pair("town", "b1", "Why?", "So.", "indexed", "vanilla", (None, "Because."))
    ]
