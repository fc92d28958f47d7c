"""Numbers with what they rest on: a value, its interval, how many were measured. Intervals of a rate are scipy's."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self

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
    hits: int | None = None
    unscored: int = 0

    @classmethod
    def of(cls, value: float, low: float, high: float, n: int, hits: int | None = None) -> Self:
        """The numbers rounded to DIGITS."""
        value, low, high = (round(float(number), DIGITS) + 0.0 for number in (value, low, high))
        return cls(value, low, high, n, hits)

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """The estimate of what `as_json` gave."""
        return cls(row["estimate"], row["low"], row["high"], row["n"], row.get("k"))

    def as_json(self) -> Json:
        """{"k" (of a rate), "estimate", "low", "high", "n"}: the form of every summary.json."""
        hits = {} if self.hits is None else {"k": self.hits}
        return {**hits, "estimate": self.value, "low": self.low, "high": self.high, "n": self.n}


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> Estimate | None:
    """A rate with its count and the exact (Clopper-Pearson 1934) interval: never too narrow. None for no trials.

    Worked value: 0 of 10 at 95%: low 0, high 1 - 0.025^(1/10) = 0.3085.
    """
    return _proportion(successes, trials, level, "exact", successes)


def wilson(successes: int, trials: int, *, level: float = 0.95) -> Estimate | None:
    """A rate with the Wilson (1927) score interval: right on average, without correction. None for no trials.

    Worked value: 5 of 10 at 95%: 0.2366 to 0.7634.
    """
    return _proportion(successes, trials, level, "wilson")


def _proportion(
    successes: int,
    trials: int,
    level: float,
    method: Literal["exact", "wilson"],
    hits: int | None = None,
) -> Estimate | None:
    """By scipy's method of that name. Raises ValueError for counts that are not possible."""
    check_level(level)
    if trials < 0 or not 0 <= successes <= max(trials, 0):
        raise ValueError(f"{successes} successes in {trials} trials is not possible")
    if trials == 0:
        return None
    return Estimate.of(successes / trials, *_bounds(successes, trials, level, method), trials, hits)


@lru_cache(maxsize=4096)
def _bounds(
    successes: int, trials: int, level: float, method: Literal["exact", "wilson"]
) -> tuple[float, float]:
    # binomtest works out a p-value first, in milliseconds; a table has the same counts in many cells.
    bounds = scipy_stats().binomtest(successes, trials).proportion_ci(level, method)
    return float(bounds.low), float(bounds.high)


def check_level(level: float) -> None:
    """Raises ValueError for a confidence level outside (0, 1)."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, for example 0.95, not {level}")


def scipy_stats() -> Any:  # noqa: ANN401
    """`scipy.stats`, imported when it is first needed: that takes most of a second."""
    from scipy import stats  # type: ignore[import-untyped]  # noqa: PLC0415

    return stats
