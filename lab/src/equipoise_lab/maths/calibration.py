"""How good probabilities are, and what declining by them costs and saves. None means "cannot be measured".

`labels` are 1 (true) for what the probability is of, such as "answerable", and 0 for the rest; `errors` are 1
where an answer was wrong. Equal scores are never told apart by their place in the array.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, Mask, finite_vector, positive_count

Measure = Callable[[Mask, Mask], float | None]
"""(declined, should be declined), both (n,) -> higher is better; None where it is not defined."""


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a reliability diagram: `n` predictions in [low, high), mean probability, share that was true."""

    low: float
    high: float
    n: int
    confidence: float
    frequency: float


@dataclass(frozen=True, slots=True)
class Threshold:
    """Decline what lies below `value`; `score` is the measure it reaches on the data it was chosen on."""

    value: float
    score: float


def auc(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """The area under the ROC curve (0 to 1): how often a true one scores above a false one, ties half.

    `scores` (n,) may be any numbers. None unless both labels occur (Mann-Whitney U over the number of pairs).
    Worked value: scores (1, 2, 2, 3) with labels (0, 0, 1, 1): 3.5 of 4 pairs, 0.875.
    """
    values, truth = finite_vector(scores, "scores"), _truth(scores, labels)
    positives, negatives = values[truth], values[~truth]
    if not len(positives) or not len(negatives):
        return None
    ordered = np.sort(negatives)
    below = np.searchsorted(ordered, positives, side="left")
    not_above = np.searchsorted(ordered, positives, side="right")
    return float((below + not_above).sum() / (2 * len(positives) * len(negatives)))


def brier(probabilities: ArrayLike, labels: ArrayLike) -> float | None:
    """Brier's (1950) score, the mean squared error of probabilities (n,): 0 best, 1 worst; None for none.

    Worked value: (0.8, 0.4) with labels (1, 0): (0.04 + 0.16) / 2 = 0.1.
    """
    values, truth = _probabilities(probabilities), _truth(probabilities, labels)
    return float(np.mean((values - truth) ** 2)) if len(values) else None


def reliability(probabilities: ArrayLike, labels: ArrayLike, bins: int = 10) -> tuple[Bin, ...]:
    """The bins of equal width that hold a prediction, ascending; a probability of 1 is in the last one.

    Worked value: (0.2, 0.4, 0.9) with labels (0, 1, 1) in 2 bins: 2 predictions of mean 0.3, half of them
    true, and 1 of 0.9, true.
    """
    values, truth = _probabilities(probabilities), _truth(probabilities, labels)
    edges = np.arange(positive_count(bins, "bins") + 1) / bins
    places = np.searchsorted(edges[1:-1], values, side="right")
    counts = np.bincount(places, minlength=bins)
    sums, hits = (np.bincount(places, weights, minlength=bins) for weights in (values, truth))
    return tuple(
        Bin(
            float(edges[bin_]),
            float(edges[bin_ + 1]),
            int(counts[bin_]),
            float(sums[bin_] / counts[bin_]),
            float(hits[bin_] / counts[bin_]),
        )
        for bin_ in np.flatnonzero(counts)
    )


def expected_calibration_error(probabilities: ArrayLike, labels: ArrayLike, bins: int = 10) -> float | None:
    """The mean gap of probability and frequency over `reliability`'s bins, weighted by their counts (0 to 1).

    Naeini et al. 2015, Guo et al. 2017 (Eq. 3). Depends on the number of bins and is biased upwards for few
    predictions. None for no predictions. Worked value: as in `reliability`: (2 * 0.2 + 1 * 0.1) / 3 = 1/6.
    """
    table = reliability(probabilities, labels, bins)
    total = sum(each.n for each in table)
    return sum(each.n * abs(each.confidence - each.frequency) for each in table) / total if total else None


def risk_coverage(confidences: ArrayLike, errors: ArrayLike) -> tuple[Floats, Floats]:
    """(coverages, risks), each (n,): the share of wrong answers among the k most confident, for k = 1 to n.

    El-Yaniv and Wiener 2010. Among equal confidences the expectation over their orders is taken.
    Worked value: confidences (0.9, 0.8, 0.1) with errors (0, 1, 0): risks 0, 1/2, 1/3 at 1/3, 2/3 and 1.
    """
    values, wrong = finite_vector(confidences, "confidences"), _truth(confidences, errors, "errors")
    _, group, sizes = np.unique(-values, return_inverse=True, return_counts=True)
    shares = np.bincount(group, wrong, minlength=len(sizes)) / np.maximum(sizes, 1)
    ranks = np.arange(1, len(values) + 1)
    return ranks / max(len(values), 1), np.cumsum(np.repeat(shares, sizes)) / ranks


def aurc(confidences: ArrayLike, errors: ArrayLike) -> float | None:
    """The area under the risk-coverage curve, the mean of its n risks (0 best to 1); None for no answers.

    Geifman, Uziel and El-Yaniv 2019. Worked value: as in `risk_coverage`: (0 + 1/2 + 1/3) / 3 = 5/18.
    """
    _, risks = risk_coverage(confidences, errors)
    return float(risks.mean()) if len(risks) else None


def f1(predicted: ArrayLike, actual: ArrayLike) -> float | None:
    """F1 (0 to 1) of predicted flags (n,) against actual ones: 2 TP / (2 TP + FP + FN).

    None where nothing is there to be found. Worked value: (1, 1, 0) against (1, 0, 1): 0.5.
    """
    said, truth = _truth(actual, predicted, "predicted"), _truth(predicted, actual, "actual")
    return 2.0 * int((said & truth).sum()) / int(said.sum() + truth.sum()) if truth.any() else None


def best_threshold(probabilities: ArrayLike, labels: ArrayLike, measure: Measure = f1) -> Threshold | None:
    """The threshold below which declining is best by `measure` (F1 of declining by default).

    `probabilities` (n,) are of label 1, "answerable"; what should be declined is label 0. Tried are declining
    nothing (threshold 0), the middle between each two neighbouring probabilities, and declining everything
    (just above 1); of equally good ones the lowest, which declines least. None where the measure is defined
    for none of them. Worked value: (0.1, 0.4, 0.8) with labels (0, 1, 1): 0.25, with F1 1.
    """
    values, truth = _probabilities(probabilities), _truth(probabilities, labels)
    steps = np.unique(values)
    tried = [0.0, *((steps[:-1] + steps[1:]) / 2).tolist(), float(np.nextafter(1.0, 2.0))]
    scored = [(measure(values < value, ~truth), value) for value in tried]
    thresholds = [Threshold(value, score) for score, value in scored if score is not None]
    return max(thresholds, key=lambda each: each.score, default=None)


def _probabilities(values: ArrayLike) -> Floats:
    probabilities = finite_vector(values, "probabilities")
    if len(probabilities) and (probabilities.min() < 0.0 or probabilities.max() > 1.0):
        raise ValueError("probabilities must lie between 0 and 1")
    return probabilities


def _truth(beside: ArrayLike, flags: ArrayLike, name: str = "labels") -> Mask:
    """`flags` as a mask as long as `beside`."""
    labels, other = finite_vector(flags, name), np.asarray(beside)
    if len(labels) != len(other):
        raise ValueError(f"{name} must have as many rows as what they label, {len(other)}, not {len(labels)}")
    if not np.isin(labels, (0.0, 1.0)).all():
        raise ValueError(f"{name} must hold only true and false, or 1 and 0")
    return labels.astype(np.bool_)
