"""Paired tests: each contender against one of them, on the questions that both have a value for."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.bench.qa.intervals import RESAMPLES, SEED, Estimate, mean
from equipoise.bench.qa.measures import value
from equipoise.bench.results import Row, grouped
from equipoise.maths.statistics import holm, mcnemar_exact, paired_permutation

SCORES = ("answer_recall", "answer_hit", "evidence_hit", "decision_correct")
BASE = "vanilla"

Values = Mapping[str, float]


def paired_tests(results: Sequence[Row], judgements: Sequence[Row]) -> list[dict[str, Any]]:
    """Differences to the base, their intervals and p-values, Holm-corrected over all tests of a data set.

    The base is vanilla RAG, without it the first contender by name. Measures that are 0 or 1 throughout are
    tested by McNemar's exact test, the others by swapping pairs.
    """
    contenders = sorted({row["contender"] for row in results})
    if len(contenders) < 2:
        return []
    base = next((name for name in contenders if name.split(" [")[0] == BASE), contenders[0])
    found = []
    for measure, by in _measured(results, judgements).items():
        for name in contenders:
            if name != base and (shared := sorted(by.get(name, {}).keys() & by.get(base, {}).keys())):
                pairs = [(by[name][item], by[base][item]) for item in shared]
                found.append({"measure": measure, "contender": name, "base": base, **_tested(pairs)})
    for row, adjusted in zip(found, holm([row["p"] for row in found]).tolist(), strict=True):
        row["p_holm"] = round(adjusted, 6)
    return found


def _measured(results: Sequence[Row], judgements: Sequence[Row]) -> dict[str, dict[str, Values]]:
    """Values by measure, contender and question."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in results:
        known = {name: value(row, name) for name in SCORES}
        if row["answerable"] is not None and row["outcome"] != "failed":
            known["right to answer or decline"] = float((row["outcome"] == "answered") == row["answerable"])
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


def _tested(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    mine, base = [a for a, _ in pairs], [b for _, b in pairs]
    difference: Estimate = mean(a - b for a, b in pairs)
    if {*mine, *base} <= {0.0, 1.0}:
        test = "McNemar"
        p = mcnemar_exact(sum(a > b for a, b in pairs), sum(a < b for a, b in pairs))
    else:
        test = "permutation"
        p = paired_permutation(mine, base, seed=SEED, resamples=RESAMPLES) or 0.0
    return {"test": test, "difference": difference, "p": round(p, 6)}
