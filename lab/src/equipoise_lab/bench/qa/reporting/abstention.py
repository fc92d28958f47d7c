"""How good the probabilities are by which a pipeline declines: calibration, and what declining saves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.qa.records import QaRecord
from equipoise_lab.bench.qa.reporting.measures import ESTIMATOR
from equipoise_lab.bench.tables import MISSING
from equipoise_lab.maths import calibration

BINS = 10

Pairs = list[tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class Abstention:
    """AUC, Brier score, calibration error and bins of P(answerable), and risk against coverage.

    Over `n` questions with a probability; those without a label are left out of what needs it, and counted.
    """

    n: int
    without_label: int
    without_answer: int
    auc: Estimate | None
    brier: Estimate | None
    ece: Estimate | None
    bins: Sequence[calibration.Bin]
    best_threshold: calibration.Threshold | None
    aurc: Estimate | None
    risk_coverage: list[list[float]]

    @property
    def threshold(self) -> str:
        """The best threshold, and its F1."""
        best = self.best_threshold
        return MISSING if best is None else f"{best.value:.3f} ({best.score:.2f})"


def abstention(by: Mapping[str, Sequence[QaRecord]]) -> dict[str, Abstention]:
    """By system, of those that estimate a probability."""
    estimated = {
        name: [(record.probability, record) for record in records if record.probability is not None]
        for name, records in by.items()
    }
    return {name: _measured(pairs) for name, pairs in estimated.items() if pairs}


def right(record: QaRecord) -> bool | None:
    """Whether answering was right: the evidence, the reference or the decision was met. Always False where the
    documents hold no answer, None where there was one and the pipeline declined or failed: nobody knows."""
    if record.answerable is False:
        return False
    if not record.answered:
        return None
    known = (record.score(name) for name in ("evidence_hit", "answer_hit", "decision_correct"))
    return next((bool(value) for value in known if value is not None), None)


def _measured(estimated: Sequence[tuple[float, QaRecord]]) -> Abstention:
    labelled = [(chance, record.answerable) for chance, record in estimated if record.answerable is not None]
    answered = [(chance, not good) for chance, record in estimated if (good := right(record)) is not None]
    chances, truths = _columns(labelled)
    coverages, risks = calibration.risk_coverage(*_columns(answered))
    return Abstention(
        len(estimated),
        len(estimated) - len(labelled),
        len(estimated) - len(answered),
        _estimate(calibration.auc, labelled),
        _estimate(calibration.brier, labelled),
        _estimate(_ece, labelled),
        calibration.reliability(chances, truths, BINS),
        calibration.best_threshold(chances, truths),
        _estimate(calibration.aurc, answered),
        [[round(float(c), 6), round(float(r), 6)] for c, r in zip(coverages, risks, strict=True)],
    )


def _ece(probabilities: Any, labels: Any) -> float | None:  # noqa: ANN401
    return calibration.expected_calibration_error(probabilities, labels, BINS)


def _columns(pairs: Pairs) -> tuple[Any, Any]:
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _estimate(measure: Callable[[Any, Any], float | None], pairs: Pairs) -> Estimate | None:
    """The measure of both columns over questions."""
    rows = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return ESTIMATOR.resampled(lambda drawn: measure(drawn[:, 0], drawn[:, 1]), rows)
