"""Intervals of a rate, by scipy."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval: `low <= high`, confidence `level`, resting on `n` units."""

    estimate: float
    low: float
    high: float
    level: float
    n: int


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> Interval | None:
    """The exact (Clopper-Pearson 1934) interval of a rate: never too narrow. None for no trials.

    Worked value: 0 of 10 at 95%: low 0, high 1 - 0.025^(1/10) = 0.3085.
    """
    return proportion(successes, trials, level, "exact")


def proportion(
    successes: int, trials: int, level: float, method: Literal["exact", "wilson"]
) -> Interval | None:
    """The interval of a rate by scipy's method of that name. None for no trials.

    Raises ValueError for counts that are not possible.
    """
    check_level(level)
    if trials < 0 or not 0 <= successes <= max(trials, 0):
        raise ValueError(f"{successes} successes in {trials} trials is not possible")
    if trials == 0:
        return None
    low, high = _bounds(successes, trials, level, method)
    return Interval(successes / trials, low, high, level, trials)


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
