"""How good the probabilities are by which a pipeline declines: calibration, and what declining saves."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from equipoise.bench.qa.reporting.intervals import Estimate, resampled
from equipoise.bench.qa.rows import ANSWERED
from equipoise.bench.results import Row, grouped
from equipoise.maths import calibration

BINS = 10

Pairs = list[tuple[float, bool]]


def abstention(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """AUC, Brier score, calibration error and bins of P(answerable), and risk against coverage, by pipeline.

    Only rows with a probability count. Those without a label are left out of what needs it, and counted.
    """
    estimated = [row | {"right": right(row)} for row in rows if row.get("probability") is not None]
    found = grouped(estimated, lambda row: str(row["contender"]))
    return {name: _measured(found[name]) for name in sorted(found)}


def right(row: Row) -> bool | None:
    """Whether answering was right: the evidence, the reference or the decision was met. Always False where the
    documents hold no answer, None where there was one and the pipeline declined or failed: nobody knows."""
    if row["answerable"] is False:
        return False
    if row["outcome"] != ANSWERED:
        return None
    known = (row["scores"].get(name) for name in ("evidence_hit", "answer_hit", "decision_correct"))
    return next((bool(value) for value in known if value is not None), None)


def _measured(rows: Sequence[Row]) -> dict[str, Any]:
    labelled = _pairs(rows, "answerable")
    answered = [(confidence, not good) for confidence, good in _pairs(rows, "right")]
    chances, truths = _columns(labelled)
    coverages, risks = calibration.risk_coverage(*_columns(answered))
    best = calibration.best_threshold(chances, truths)
    return {
        "n": len(rows),
        "without_label": len(rows) - len(labelled),
        "without_answer": len(rows) - len(answered),
        "auc": _interval(calibration.auc, labelled),
        "brier": _interval(calibration.brier, labelled),
        "ece": _interval(_ece, labelled),
        "bins": [asdict(each) for each in calibration.reliability(chances, truths, BINS)],
        "best_threshold": asdict(best) if best else None,
        "aurc": _interval(calibration.aurc, answered),
        "risk_coverage": [
            [round(float(c), 6), round(float(r), 6)] for c, r in zip(coverages, risks, strict=True)
        ],
    }


def _ece(probabilities: Any, labels: Any) -> float | None:  # noqa: ANN401
    return calibration.expected_calibration_error(probabilities, labels, BINS)


def _pairs(rows: Sequence[Row], name: str) -> Pairs:
    return [(float(row["probability"]), bool(row[name])) for row in rows if row[name] is not None]


def _columns(pairs: Pairs) -> tuple[Any, Any]:
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _interval(measure: Any, pairs: Pairs) -> Estimate:  # noqa: ANN401
    """The measure of both columns over questions."""
    return resampled(lambda rows: measure(rows[:, 0], rows[:, 1]), np.array(pairs).reshape(-1, 2))
