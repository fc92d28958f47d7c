"""Intervals and tests for benchmark numbers. scipy does the work.

Every function that draws random numbers takes a seed and gives the same result for the same seed. A number
that rests on nothing (no units, no trials) is None.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.maths.checks import Floats, finite_vector, positive_count, same_length
from equipoise_lab.maths.rates import Estimate, check_level, scipy_stats

Counts = NDArray[np.int64]


def bootstrap_interval(
    values: ArrayLike,
    *,
    seed: int,
    units: Sequence[Hashable] | None = None,
    statistic: Callable[..., Any] = np.mean,
    level: float = 0.95,
    resamples: int = 9999,
) -> Estimate | None:
    """A percentile bootstrap interval of `statistic` (mean by default) over independent units (scipy.stats.bootstrap).

    `values` (n,) are one per unit, or with `units` (n,) several per unit (the runs of one question): these
    are first averaged within their unit, so that repeating a question does not narrow the interval.
    `statistic` must accept an `axis` argument. One unit, or units that are all equal, give an interval of width 0; no
    values give None.

    Worked value: (1, 1, 1) gives 1, 1, 1.
    """
    sample = _unit_means(finite_vector(values, "values"), units)
    check_level(level)
    if not len(sample):
        return None
    estimate = float(statistic(sample, axis=0))
    if len(sample) == 1 or np.ptp(sample) == 0.0:
        return Estimate.of(estimate, estimate, estimate, len(sample))
    result = scipy_stats().bootstrap(
        (sample,),
        statistic,
        confidence_level=level,
        n_resamples=resamples,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    low, high = result.confidence_interval
    return Estimate.of(estimate, low, high, len(sample))


def ratio_interval(
    numerators: ArrayLike, denominators: ArrayLike, *, seed: int, level: float = 0.95, resamples: int = 9999
) -> Estimate | None:
    """A percentile bootstrap interval of sum(numerators) / sum(denominators), both (n,), one pair per unit.

    Pairs are drawn together. Draws whose denominators sum to 0 are left out. None for no pairs, or where all
    denominators sum to 0. Worked value: (1, 1) over (2, 2) gives 0.5, 0.5, 0.5.
    """
    tops, bottoms = finite_vector(numerators, "numerators"), finite_vector(denominators, "denominators")
    same_length(tops, bottoms, "numerators and denominators")
    check_level(level)
    if not len(tops) or bottoms.sum() == 0.0:
        return None
    draws = np.random.default_rng(seed).integers(
        0, len(tops), (positive_count(resamples, "resamples"), len(tops))
    )
    totals = bottoms[draws].sum(axis=1)
    ratios = tops[draws].sum(axis=1)[totals != 0.0] / totals[totals != 0.0]
    low, high = np.quantile(ratios, [(1.0 - level) / 2, (1.0 + level) / 2])
    return Estimate.of(tops.sum() / bottoms.sum(), low, high, len(tops))


def drawn_counts(units: int, *, seed: int, resamples: int = 1000) -> Counts:
    """How often each of `units` is in each of `resamples` bootstrap draws: (resamples, units), rows sum to
    `units`. Worked value: one unit is in every draw once."""
    rng = np.random.default_rng(seed)
    even = np.full(positive_count(units, "units"), 1.0 / units)
    return rng.multinomial(units, even, size=positive_count(resamples, "resamples"))


def percentile_intervals(
    estimates: ArrayLike, draws: ArrayLike, *, n: int, level: float = 0.95
) -> list[Estimate | None]:
    """The percentile bootstrap intervals of p `estimates` (p,) from their values in b `draws` (b, p).

    NaN is "does not exist": such draws are left out, and an estimate that is NaN has no interval (None).
    An interval is widened to hold its estimate. Worked value: 1 with draws 0, 1, 2 at level 0.5: 0.5 to 1.5.
    """
    check_level(level)
    tails = [(1.0 - level) / 2, (1.0 + level) / 2]
    intervals: list[Estimate | None] = []
    for estimate, column in zip(np.asarray(estimates, float), np.asarray(draws, float).T, strict=True):
        usable = column[~np.isnan(column)]
        if np.isnan(estimate):
            intervals.append(None)
            continue
        low, high = np.quantile(usable, tails) if len(usable) else (estimate, estimate)
        intervals.append(Estimate.of(estimate, min(low, estimate), max(high, estimate), n))
    return intervals


def logistic(x: Any, y: Floats, *, weight: ArrayLike, ridge: float) -> Floats:  # noqa: ANN401
    """(1 + d,): bias and weights of a logistic regression of labels `y` (n,), 0 or 1, on `x` (n, d), dense or sparse:
    the least of sum(weight * log loss) + ridge * |weights|^2.

    Worked value: x all 0 and three of four labels 1: a bias of log 3, weights 0.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]  # noqa: PLC0415

    each = np.broadcast_to(np.asarray(weight, dtype=np.float64), y.shape)

    def loss(theta: Floats) -> tuple[float, Floats]:
        z = x @ theta[1:] + theta[0]
        error = each * (1 / (1 + np.exp(-z)) - y)
        value = float(each @ (np.logaddexp(0, z) - y * z) + ridge * theta[1:] @ theta[1:])
        return value, np.concatenate([[error.sum()], x.T @ error + 2 * ridge * theta[1:]])

    found: Floats = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return found


def _unit_means(values: Floats, units: Sequence[Hashable] | None) -> Floats:
    if units is None:
        return values
    if len(units) != len(values):
        raise ValueError(f"units and values must have the same length, not {len(units)} and {len(values)}")
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    which = np.array([numbers[unit] for unit in units], dtype=np.intp)
    return np.asarray(np.bincount(which, values) / np.bincount(which)) if len(values) else values
