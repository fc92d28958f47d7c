"""How far a judge agrees with another judge, or with labels, on the same items."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from equipoise.maths.checks import Floats
from equipoise.maths.rates import Interval
from equipoise_lab.maths.agreement import Level, Weights, cohen_kappa, krippendorff_alpha
from equipoise_lab.maths.statistics import drawn_counts, percentile_intervals

WEIGHTS: Mapping[Level, Weights] = {"nominal": "equal", "ordinal": "linear", "interval": "quadratic"}
"""Of Cohen's kappa, for what Krippendorff's alpha calls the level of the ratings."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over `n` items that both scored; `left_out` were scored by one of them, or by neither.

    `same` is the share of equal values; intervals are percentile bootstraps over items. Kappa and alpha are
    None where all values are equal, so that nothing could differ.
    """

    n: int
    left_out: int
    same: Interval | None
    kappa: Interval | None
    alpha: Interval | None


def agreement(
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    *,
    kind: Level,
    seed: int,
    level: float = 0.95,
    resamples: int = 1000,
) -> Agreement:
    """Agreement on the items of both, by item id; a value of None is "not scored".

    `kind`: "nominal" for verdicts (correctness), "ordinal" or "interval" for grades (relevance, quality).
    """
    every = first.keys() | second.keys()
    scored = sorted(i for i in every if first.get(i) is not None and second.get(i) is not None)
    if not scored:
        return Agreement(0, len(every), None, None, None)
    pairs = np.array([(first[item], second[item]) for item in scored], dtype=np.float64)
    rows = np.arange(len(pairs))
    draws = [
        _measured(pairs[np.repeat(rows, counts)], kind)
        for counts in drawn_counts(len(pairs), seed=seed, resamples=resamples)
    ]
    same, kappa, alpha = percentile_intervals(_measured(pairs, kind), draws, n=len(pairs), level=level)
    return Agreement(len(pairs), len(every) - len(pairs), same, kappa, alpha)


def _measured(pairs: Floats, kind: Level) -> list[float]:
    """Share of equal values, kappa and alpha of pairs (n, 2); NaN where one does not exist."""
    measures = (
        float((pairs[:, 0] == pairs[:, 1]).mean()),
        cohen_kappa(pairs[:, 0], pairs[:, 1], weights=WEIGHTS[kind]),
        krippendorff_alpha(pairs.T, level=kind),
    )
    return [np.nan if value is None else value for value in measures]
