"""Numbers with what they rest on: a value, its interval, how many were measured and how many could not be."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from equipoise_lab.maths.rates import Interval, clopper_pearson
from equipoise_lab.maths.statistics import bootstrap_interval, ratio_interval, wilson

DIGITS = 6
"""Decimal places of a number that is kept."""

Json = dict[str, float | int]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured number: `value` between `low` and `high`, over `n` units; `unscored` ones had no value. `hits` is the
    count behind a rate, None for all else."""

    value: float
    low: float
    high: float
    n: int
    unscored: int = 0
    hits: int | None = None

    @classmethod
    def of(cls, interval: Interval | None, *, unscored: int = 0, hits: int | None = None) -> Self | None:
        """The interval rounded to DIGITS; None for None: there was nothing to measure."""
        if interval is None:
            return None
        value, low, high = (
            round(number, DIGITS) + 0.0 for number in (interval.estimate, interval.low, interval.high)
        )
        return cls(value, low, high, interval.n, unscored, hits)

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """The estimate of what `as_json` gave."""
        return cls(row["estimate"], row["low"], row["high"], row["n"], hits=row.get("k"))

    def as_json(self) -> Json:
        """{"k" (of a rate), "estimate", "low", "high", "n"}: the form of every summary.json."""
        hits = {} if self.hits is None else {"k": self.hits}
        return {**hits, "estimate": self.value, "low": self.low, "high": self.high, "n": self.n}


@dataclass(frozen=True, slots=True)
class Estimator:
    """How a benchmark estimates: confidence `level`, `seed` and number of bootstrap draws.

    Values of None are left out and counted as unscored; each method gives None where no value is left.
    """

    level: float
    seed: int
    resamples: int

    def share(self, flags: Iterable[float | bool | None]) -> Estimate | None:
        """The share of true ones (Wilson 1927)."""
        known, unscored = _known(flags)
        return Estimate.of(wilson(sum(map(bool, known)), len(known), level=self.level), unscored=unscored)

    def rate(self, flags: Iterable[float | bool | None]) -> Estimate | None:
        """The share of true ones with the exact interval (Clopper and Pearson 1934), and how many they are."""
        known, unscored = _known(flags)
        hits = sum(map(bool, known))
        interval = clopper_pearson(hits, len(known), level=self.level)
        return Estimate.of(interval, unscored=unscored, hits=hits)

    def mean(
        self, values: Iterable[float | None], statistic: Callable[..., Any] = np.mean
    ) -> Estimate | None:
        """The mean, or another statistic, of one value a unit (percentile bootstrap)."""
        known, unscored = _known(values)
        return Estimate.of(self._bootstrapped(known, None, statistic), unscored=unscored)

    def mean_by_unit(self, pairs: Iterable[tuple[Hashable, float | None]]) -> Estimate | None:
        """The mean over units of (unit, value) pairs, several a unit averaged first (percentile bootstrap)."""
        every = list(pairs)
        known = [(unit, float(value)) for unit, value in every if value is not None]
        values, units = [value for _, value in known], [unit for unit, _ in known]
        interval = self._bootstrapped(values, units, np.mean)
        return Estimate.of(interval, unscored=len(every) - len(known))

    def ratio(self, pairs: Iterable[tuple[float, float]]) -> Estimate | None:
        """sum / sum of one pair a unit, drawn together (percentile bootstrap)."""
        tops, bottoms = np.array(list(pairs), dtype=np.float64).reshape(-1, 2).T
        interval = ratio_interval(tops, bottoms, seed=self.seed, level=self.level, resamples=self.resamples)
        return Estimate.of(interval)

    def _bootstrapped(
        self, values: list[float], units: Sequence[Hashable] | None, statistic: Callable[..., Any]
    ) -> Interval | None:
        return bootstrap_interval(
            values,
            units=units,
            seed=self.seed,
            statistic=statistic,
            level=self.level,
            resamples=self.resamples,
        )


def _known(values: Iterable[float | bool | None]) -> tuple[list[float], int]:
    """The values that are there, and how many are not."""
    every = list(values)
    known = [float(value) for value in every if value is not None]
    return known, len(every) - len(known)
