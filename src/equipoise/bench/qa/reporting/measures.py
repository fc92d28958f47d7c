"""Measures of the answers of each system: counts, means and shares, declining, yes and no, guesses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.bench.qa import metrics
from equipoise.bench.qa.reporting.intervals import LEVEL, SEED, Estimate, mean, ratio, share
from equipoise.bench.qa.reporting.recorded import decided, passage_relation
from equipoise.bench.qa.rows import ANSWERED, DECLINED, FAILED
from equipoise.bench.results import Row, as_json, grouped

SHARES = ("evidence_hit", "answer_hit", "decision_correct")
MEANS = (
    "answer_recall",
    "answer_k_precision",
    "answer_k_precision_documents",
    "highlight_recall",
    "highlight_k_precision",
    "guess_recall",
    "guess_k_precision",
    "guess_first_recall",
    "guess_first_k_precision",
)
RELATIONS = ("both", "superstring", "substring", "neither", "nothing")
"""Of the highlights to the gold passage; "nothing" was highlighted."""

WORST = 3
"""Guesses shown of each system (Table 7)."""

Rows = Sequence[Row]
Systems = Mapping[str, Rows]


def by_system(rows: Rows) -> dict[str, list[Row]]:
    """The rows of each system, sorted by name."""
    found = grouped(rows, lambda row: str(row["contender"]))
    return {name: found[name] for name in sorted(found)}


def counts(rows: Rows) -> dict[str, Any]:
    """Rows, outcomes, reasons of what was declined or failed, and rows without a value by measure."""
    outcomes = Counter(row["outcome"] for row in rows)
    return {
        "rows": len(rows),
        **{name: outcomes[name] for name in (ANSWERED, DECLINED, FAILED)},
        "reasons": dict(sorted(Counter(_reason(row) for row in rows if row.get("reason")).items())),
        "dropped": sum(row.get("dropped") or 0 for row in rows),
        "unscored": {name: sum(value(row, name) is None for row in rows) for name in (*SHARES, *MEANS)},
        "models": sorted({str(row["model"]) for row in rows}),
    }


def value(row: Row, name: str) -> float | None:
    """A score of a row; None where it was not measured."""
    found = row["scores"].get(name)
    return None if found is None else float(found)


def measures(rows: Rows) -> dict[str, Estimate]:
    """Every score's mean or share, the share of answers that were grounded, and of answers at all."""
    return {
        "answered": share(row["outcome"] == ANSWERED for row in rows if row["outcome"] != FAILED),
        "grounded": share(row.get("grounded") for row in rows if row["outcome"] == ANSWERED),
        **{name: share(value(row, name) for row in rows) for name in SHARES},
        **{name: mean(value(row, name) for row in rows) for name in MEANS},
    }


def declining(rows: Rows) -> dict[str, Estimate] | None:
    """Precision, recall and F1 of declining (Table 3); None without questions that cannot be answered.

    Failed rows said neither and are left out.
    """
    known = [row for row in rows if row["answerable"] is not None and row["outcome"] != FAILED]
    pairs = [(row["outcome"] == DECLINED, not row["answerable"]) for row in known]
    if not any(unanswerable for _, unanswerable in pairs):
        return None
    found = metrics.declining(pairs, seed=SEED, level=LEVEL)
    return {name: as_json(getattr(found, name)) for name in ("precision", "recall", "f1")}


def decisions(rows: Rows) -> dict[str, Any] | None:
    """Accuracy and macro-F1 of yes and no, and what became of maybe; None without such questions.

    A declined question counts as neither yes nor no; failed rows are left out.
    """
    asked = [row for row in rows if row.get("decision") is not None and row["outcome"] != FAILED]
    if not asked:
        return None
    found = metrics.decisions([(row["decision"], decided(row)) for row in asked], seed=SEED, level=LEVEL)
    return {
        "accuracy": as_json(found.accuracy),
        "macro_f1": as_json(found.macro_f1),
        "maybe": found.maybe,
        "maybe_open": found.maybe_open,
    }


def relations(rows: Rows) -> dict[str, Any] | None:
    """How many highlights contain the gold passage or lie in it (Figure 6).

    None without gold passages, or for a system that never highlights.
    """
    if not any(row["highlights"] for row in rows):
        return None
    found = Counter(kind for row in rows if (kind := passage_relation(row)) is not None)
    total = sum(found.values())
    if not total:
        return None
    contained = sum(found[name] for name in RELATIONS[:3])
    return {
        "n": total,
        **{name: found[name] for name in RELATIONS},
        "either": share([True] * contained + [False] * (total - contained)),
    }


def worst_guesses(rows: Rows) -> list[dict[str, Any]]:
    """Ids and scores of the worst guesses (Table 7), worst first: by K-precision, then recall, then id."""
    scored = [row for row in rows if value(row, "guess_k_precision") is not None]
    scored.sort(
        key=lambda row: (
            value(row, "guess_k_precision"),
            value(row, "guess_recall") or 0.0,
            str(row["item_id"]),
        )
    )
    names = ("guess_k_precision", "guess_recall")
    return [
        {"item_id": row["item_id"], **{name: value(row, name) for name in names}} for row in scored[:WORST]
    ]


def cost(rows: Rows, timings: Rows, base: tuple[Rows, Rows] | None) -> dict[str, dict[str, Estimate]]:
    """Seconds, tokens and calls of a question: mean, median, and ratio of sums to `base` (Table 4).

    Seconds are of fresh calls alone. `base` are rows and timings of the system compared with; a ratio
    rests on the questions that both have. Failed rows are left out: they ended early.
    """
    mine, compared = _used(rows, timings), _used(*base) if base else None
    return {name: _spent(values, compared[name] if compared else None) for name, values in mine.items()}


def _reason(row: Row) -> str:
    """The reason without the detail behind its colon."""
    return str(row["reason"]).partition(":")[0]


def _spent(mine: Mapping[str, float], base: Mapping[str, float] | None) -> dict[str, Estimate]:
    shared = sorted(mine.keys() & base.keys()) if base else []
    return {
        "mean": mean(mine.values()),
        "median": mean(mine.values(), np.median),
        "ratio": ratio((mine[item], base[item]) for item in shared) if base else None,
    }


def _used(rows: Rows, timings: Rows) -> dict[str, dict[str, float]]:
    """Seconds, tokens and calls by question, without failed ones."""
    done = [row for row in rows if row["outcome"] != FAILED]
    items = {row["item_id"] for row in done}
    found = {"seconds": {row["item_id"]: float(row["seconds"]) for row in timings if row["item_id"] in items}}
    for name in ("prompt_tokens", "completion_tokens", "calls"):
        found[name] = {row["item_id"]: float(row["usage"][name]) for row in done if row.get("usage")}
    return found
