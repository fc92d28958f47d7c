"""Numbers with what they rest on: a value, its interval, how many were measured."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from equipoise.maths.rates import Interval, clopper_pearson
from equipoise_lab.maths.statistics import bootstrap_interval, ratio_interval, wilson

DIGITS = 6
"""Decimal places of a number that is kept."""

Json = dict[str, float | int]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured number: `value` between `low` and `high`, over `n` units. `hits` is the count behind a rate, None for
    all else."""

    value: float
    low: float
    high: float
    n: int
    hits: int | None = None

    @classmethod
    def of(cls, interval: Interval | None, *, hits: int | None = None) -> Self | None:
        """The interval rounded to DIGITS; None for None: there was nothing to measure."""
        if interval is None:
            return None
        value, low, high = (round(x, DIGITS) + 0.0 for x in (interval.estimate, interval.low, interval.high))
        return cls(value, low, high, interval.n, hits)

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """The estimate of what `as_json` gave."""
        return cls(row["estimate"], row["low"], row["high"], row["n"], row.get("k"))

    def as_json(self) -> Json:
        """{"k" (of a rate), "estimate", "low", "high", "n"}: the form of every summary.json."""
        hits = {} if self.hits is None else {"k": self.hits}
        return {**hits, "estimate": self.value, "low": self.low, "high": self.high, "n": self.n}


@dataclass(frozen=True, slots=True)
class Estimator:
    """How a benchmark estimates: confidence `level`, `seed` and number of bootstrap draws.

    Values of None are left out; each method gives None where no value is left.
    """

    level: float
    seed: int
    resamples: int

    def share(self, flags: Iterable[float | bool | None]) -> Estimate | None:
        """The share of true ones (Wilson 1927)."""
        known = [bool(flag) for flag in flags if flag is not None]
        return Estimate.of(wilson(sum(known), len(known), level=self.level))

    def rate(self, flags: Iterable[float | bool | None]) -> Estimate | None:
        """The share of true ones with the exact interval (Clopper and Pearson 1934), and how many they are."""
        known = [bool(flag) for flag in flags if flag is not None]
        return Estimate.of(clopper_pearson(sum(known), len(known), level=self.level), hits=sum(known))

    def mean(
        self, values: Iterable[float | None], statistic: Callable[..., Any] = np.mean
    ) -> Estimate | None:
        """The mean, or another statistic, of one value a unit (percentile bootstrap)."""
        return self._bootstrapped([float(value) for value in values if value is not None], None, statistic)

    def mean_by_unit(self, pairs: Iterable[tuple[Hashable, float | None]]) -> Estimate | None:
        """The mean over units of (unit, value) pairs, several a unit averaged first (percentile bootstrap)."""
        known = [(unit, float(value)) for unit, value in pairs if value is not None]
        return self._bootstrapped([value for _, value in known], [unit for unit, _ in known], np.mean)

    def ratio(self, pairs: Iterable[tuple[float, float]]) -> Estimate | None:
        """sum / sum of one pair a unit, drawn together (percentile bootstrap)."""
        tops, bottoms = np.array(list(pairs), dtype=np.float64).reshape(-1, 2).T
        interval = ratio_interval(tops, bottoms, seed=self.seed, level=self.level, resamples=self.resamples)
        return Estimate.of(interval)

    def _bootstrapped(
        self, values: list[float], units: Sequence[Hashable] | None, statistic: Callable[..., Any]
    ) -> Estimate | None:
        interval = bootstrap_interval(
            values,
            units=units,
            seed=self.seed,
            statistic=statistic,
            level=self.level,
            resamples=self.resamples,
        )
        return Estimate.of(interval)
