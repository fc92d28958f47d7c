"""Intervals over questions, as JSON: estimate, low, high and n. None where there is nothing to rest on."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from equipoise.bench.results import as_json
from equipoise.maths.statistics import (
    bootstrap_interval,
    drawn_counts,
    percentile_intervals,
    ratio_interval,
    wilson,
)

LEVEL = 0.95
SEED = 20261121
RESAMPLES = 4_000
SLOW_RESAMPLES = 1_000
"""Of measures that are computed draw by draw."""

Estimate = dict[str, float | int] | None


def share(flags: Iterable[float | bool | None]) -> Estimate:
    """The share of true ones (Wilson); None among them is left out."""
    known = [bool(flag) for flag in flags if flag is not None]
    return as_json(wilson(sum(known), len(known), level=LEVEL))


def mean(values: Iterable[float | None], statistic: Callable[..., Any] = np.mean) -> Estimate:
    """The mean, or another statistic, of one value a question (percentile bootstrap); None is left out."""
    known = [float(value) for value in values if value is not None]
    found = bootstrap_interval(
        known, seed=SEED, statistic=statistic, method="percentile", level=LEVEL, resamples=RESAMPLES
    )
    return as_json(found)


def ratio(pairs: Iterable[tuple[float, float]]) -> Estimate:
    """sum / sum of one pair a question, drawn together."""
    tops, bottoms = [], []
    for top, bottom in pairs:
        tops.append(float(top))
        bottoms.append(float(bottom))
    return as_json(ratio_interval(tops, bottoms, seed=SEED, level=LEVEL, resamples=RESAMPLES))


def resampled(measure: Callable[[Any], float | None], rows: Any) -> Estimate:  # noqa: ANN401
    """A measure of an array whose rows (n, ...) are questions (percentile bootstrap).

    None where it is not defined; draws that leave it undefined are left out.
    """
    estimate = measure(rows)
    if estimate is None:
        return None
    places = np.arange(len(rows))
    counts = drawn_counts(len(rows), seed=SEED, resamples=SLOW_RESAMPLES)
    drawn = [measure(rows[np.repeat(places, each)]) for each in counts]
    draws = [[np.nan if value is None else value] for value in drawn]
    (found,) = percentile_intervals([estimate], draws, n=len(rows), level=LEVEL)
    return as_json(found)
