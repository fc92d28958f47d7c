"""Paired tests: each system against one of them, on the questions that both have a value for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from equipoise.bench.paired import compare_all
from equipoise.bench.qa.reporting.intervals import LEVEL, RESAMPLES, SEED
from equipoise.bench.qa.reporting.measures import value
from equipoise.bench.qa.rows import ANSWERED, FAILED
from equipoise.bench.results import Row, as_json, grouped
from equipoise.maths.statistics import holm

SCORES = ("answer_recall", "answer_hit", "evidence_hit", "decision_correct")
BASE = "vanilla"

Values = Mapping[str, float]


def paired_tests(results: Sequence[Row], judgements: Sequence[Row]) -> list[dict[str, Any]]:
    """Differences to the base, their intervals and p-values, Holm-corrected over all tests of a data set.

    The base of a measure is vanilla RAG; where that has no values of it, the first system that has, by name.
    """
    found = [
        {"measure": measure, "contender": name, "base": base, **tested}
        for measure, by in _measured(results, judgements).items()
        for base in [base_of(sorted(by)) or min(by)]
        for name in sorted(by)
        if name != base and (tested := _tested(by[name], by[base]))
    ]
    for row, adjusted in zip(found, holm([row["p"] for row in found]).tolist(), strict=True):
        row["p_holm"] = round(adjusted, 6)
    return found


def base_of(systems: Iterable[str]) -> str | None:
    """Vanilla RAG, the first of several models by name; None where it was not run."""
    return next((name for name in systems if name.split(" [")[0] == BASE), None)


def _measured(results: Sequence[Row], judgements: Sequence[Row]) -> dict[str, dict[str, Values]]:
    """Values by measure, system and question."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in results:
        known = {name: value(row, name) for name in SCORES}
        if row["answerable"] is not None and row["outcome"] != FAILED:
            known["right to answer or decline"] = float((row["outcome"] == ANSWERED) == row["answerable"])
        for name, score in known.items():
            if score is not None:
                found.setdefault(name, {}).setdefault(row["contender"], {})[row["item_id"]] = score
    said = grouped(judgements, lambda row: f"{row['judge']} by {row['judge_model']}")
    for name in sorted(said):
        for row in said[name]:
            if row["value"] is not None:
                by = found.setdefault(name, {}).setdefault(row["contender"], {})
                by[row["item_id"]] = float(row["value"])
    return {name: dict(by) for name, by in sorted(found.items())}


def _tested(mine: Values, base: Values) -> dict[str, Any] | None:
    """Mine less the base; None without a question that both have a value for."""
    scores = {"mine": mine, "the base": base}
    (row,) = compare_all(scores, seed=SEED, level=LEVEL, resamples=RESAMPLES)
    if row.p is None:
        return None
    return {"test": row.test, "difference": as_json(row.interval), "p": round(row.p, 6)}
