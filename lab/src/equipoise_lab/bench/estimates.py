"""How the numbers of a benchmark are estimated."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equipoise_lab.maths.rates import Estimate, clopper_pearson, wilson
from equipoise_lab.maths.statistics import bootstrap_interval, ratio_interval


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
        return self._counted(flags, wilson)

    def rate(self, flags: Iterable[float | bool | None]) -> Estimate | None:
        """The share of true ones with the exact interval (Clopper and Pearson 1934), and how many they are."""
        return self._counted(flags, clopper_pearson)

    def mean(
        self, values: Iterable[float | None], statistic: Callable[..., Any] = np.mean
    ) -> Estimate | None:
        """The mean, or another statistic, of one value a unit (percentile bootstrap)."""
        return self.mean_by_unit(enumerate(values), statistic)

    def mean_by_unit(
        self, pairs: Iterable[tuple[Hashable, float | None]], statistic: Callable[..., Any] = np.mean
    ) -> Estimate | None:
        """The mean, or another statistic, over units of (unit, value) pairs, several a unit averaged first (percentile
        bootstrap)."""
        every = list(pairs)
        known = [(unit, float(value)) for unit, value in every if value is not None]
        found = bootstrap_interval(
            [value for _, value in known], units=[unit for unit, _ in known], seed=self.seed,
            statistic=statistic, level=self.level, resamples=self.resamples,
        )  # fmt: skip
        return None if found is None else replace(found, unscored=len(every) - len(known))

    def ratio(self, pairs: Iterable[tuple[float, float]]) -> Estimate | None:
        """sum / sum of one pair a unit, drawn together (percentile bootstrap)."""
        tops, bottoms = np.array(list(pairs), dtype=np.float64).reshape(-1, 2).T
        return ratio_interval(tops, bottoms, seed=self.seed, level=self.level, resamples=self.resamples)

    def _counted(
        self, flags: Iterable[float | bool | None], method: Callable[..., Estimate | None]
    ) -> Estimate | None:
        every = list(flags)
        known = [bool(flag) for flag in every if flag is not None]
        found = method(sum(known), len(known), level=self.level)
        return None if found is None else replace(found, unscored=len(every) - len(known))
