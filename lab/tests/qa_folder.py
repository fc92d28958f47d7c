"""A small folder of a question answering run, written by hand; tests know its numbers."""

import json

HOSTILE = "<script>alert('x')</script> | pipe & \n line"
SCORES = (
    "answer_recall",
    "answer_hit",
    "answer_k_precision",
    "evidence_hit",
    "highlight_k_precision",
    "highlight_recall",
    "guess_k_precision",
    "guess_recall",
    "guess_first_k_precision",
    "guess_first_recall",
    "decision_correct",
)


def result(item, pipeline, outcome="answered", **given):
    """One row as the runner writes it; `given` are fields, and scores by their names."""
    scores = {name: given.pop(name, None) for name in SCORES}
    row = {
        "dataset": "toy",
        "item_id": item,
        "pipeline": pipeline,
        "model": "m1",
        "question": f"What is {item}?",
        "answerable": True,
        "decision": None,
        "outcome": outcome,
        "reason": None,
        "answer": "an answer" if outcome == "answered" else "",
        "references": ["a reference"],
        "grounded": True if outcome == "answered" else None,
        "tags": [],
        "highlights": [],
        "highlighted": "",
        "dropped": 0,
        "gold": [["d", 0, 10]],
        "gold_text": "the old barn",
        "guesses": [],
        "usage": {"calls": 1, "prompt_tokens": 100, "completion_tokens": 10},
        "scores": scores,
    }
    return row | given


def quoted(text, **given):
    """What a highlighter's row says: its text, guess and scores."""
    highlights = [["d", 0, len(text)]] if text else []
    return {"highlights": highlights, "highlighted": text, "guesses": ["What is it?", "Which barn?"], **given}


def results():
    """Vanilla and structured on four questions, q4 without an answer."""
    return [
        result("q1", "vanilla", answer_recall=1.0, answer_hit=1.0),
        result("q2", "vanilla", answer_recall=0.5, answer_hit=0.0),
        result("q3", "vanilla", "failed", reason="model failed: the server said: secret text"),
        result("q4", "vanilla", answerable=False, gold=[], gold_text=""),
        result("q1", "structured", answer_recall=0.5, answer_hit=1.0, guess_k_precision=0.0, guess_recall=0.0)
        | {"probability": 0.9}
        | quoted("the old barn", question=HOSTILE)
        | {"usage": {"calls": 2, "prompt_tokens": 300, "completion_tokens": 20}},
        result(
            "q2", "structured", answer_recall=1.0, answer_hit=1.0, guess_k_precision=0.5, guess_recall=0.25
        )
        | {"probability": 0.8}
        | quoted("see The Old  Barn there")
        | {"usage": {"calls": 2, "prompt_tokens": 300, "completion_tokens": 20}},
        result(
            "q3", "structured", "declined", answer_recall=0.0, answer_hit=0.0, reason="nothing highlighted"
        )
        | {"probability": 0.4}
        | quoted("", guesses=[]),
        result(
            "q4", "structured", "declined", answerable=False, gold=[], gold_text="", reason="model declined"
        )
        | {"probability": 0.2}
        | quoted("", guesses=[]),
    ]


def timings():
    rows = [
        ("q1", "vanilla", 1.0),
        ("q2", "vanilla", 3.0),
        ("q1", "structured", 4.0),
        ("q2", "structured", 8.0),
    ]
    return [
        {"dataset": "toy", "item_id": item, "pipeline": name, "model": "m1", "seconds": seconds, "stages": {}}
        for item, name, seconds in rows
    ]


def judgement(item, pipeline, value, *, judge="correctness", model="m1"):
    return {
        "dataset": "toy",
        "item_id": item,
        "pipeline": pipeline,
        "model": "m1",
        "judge": judge,
        "judge_model": model,
        "value": value,
        "explanation": HOSTILE,
    }


def judgements():
    """By the answering model: q1 both right, q2 structured alone, q3 could not be scored for vanilla."""
    return [
        judgement("q1", "vanilla", 1.0),
        judgement("q2", "vanilla", 0.0),
        judgement("q3", "vanilla", None),
        judgement("q1", "structured", 1.0),
        judgement("q2", "structured", 1.0),
        judgement("q3", "structured", 0.0),
    ]


def comparison(item, first, second, verdict, order="as-is"):
    return {
        "dataset": "toy",
        "item_id": item,
        "first": first,
        "second": second,
        "order": order,
        "judge_model": "m2",
        "prompt": "judge-comparison-v2",
        "verdict": verdict,
        "explanation": HOSTILE,
    }


def comparisons():
    """Structured wins q1 in both orders, q2 is undecided between the orders, q3 has no verdict."""
    return [
        comparison("q1", "structured", "vanilla", "first"),
        comparison("q1", "structured", "vanilla", "first", "swapped"),
        comparison("q2", "structured", "vanilla", "first"),
        comparison("q2", "structured", "vanilla", "second", "swapped"),
        comparison("q3", "vanilla", "structured", None),
        comparison("q4", "vanilla", "structured", "second"),
        comparison("q1", "structured", "structured (highlights)", "first"),
        comparison("q2", "structured (highlights)", "structured", "first"),
        comparison("q3", "structured (highlights)", "structured", "neither"),
    ]


FILES = {
    "results": results,
    "timings": timings,
    "judgements": judgements,
    "comparisons": comparisons,
}


def write(folder, *names, change=lambda row: row):
    """The files `names` (all without any) of the run, each row through `change`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or FILES:
        rows = [json.dumps(change(row)) + "\n" for row in FILES[name]()]
        (folder / f"{name}.jsonl").write_text("".join(rows))
    (folder / "meta.json").write_text(json.dumps({"model": "m1", "note": HOSTILE}))
    return folder
