"""How processor time grows when a text grows twofold."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from timing import seconds

LEAST = 0.02
"""Seconds a work must take before its growth says something."""


@dataclass(frozen=True, slots=True)
class Growth:
    """`seconds` for an input of `size` characters, `doubled` for one of twice the size."""

    size: int
    seconds: float
    doubled: float

    @property
    def ratio(self) -> float:
        """2 for linear time, 4 for quadratic, 8 for cubic; less for what is too short to say."""
        return self.doubled / max(self.seconds, LEAST)


def growth(
    work: Callable[[str], object],
    make: Callable[[int], str],
    *,
    least: int = 16_000,
    most: int = 512_000,
    bound: float = 3.0,
    rounds: int = 5,
    again: bool = True,
) -> Growth:
    """The growth of work(make(n)) from the first n of `least`, twice `least`, ... that takes LEAST seconds.

    Work that is faster up to `most` characters is measured there. Best of up to `rounds`, which stop at the first
    below `bound`: another process can only make a measurement worse. With `again`, a growth above it is measured once
    more from twice the size: the step at which memory is got in another way stands at one size only.
    """
    size = least
    while size < most and seconds(partial(work, make(size)), runs=1) < LEAST:
        size *= 2
    found = _measured(work, make, size, bound, rounds)
    return found if found.ratio < bound or not again else _measured(work, make, 2 * size, bound, rounds)


def _measured(
    work: Callable[[str], object], make: Callable[[int], str], size: int, bound: float, rounds: int
) -> Growth:
    once, twice = partial(work, make(size)), partial(work, make(2 * size))
    found = Growth(size, float("inf"), float("inf"))
    for _ in range(rounds):
        single, double = seconds(once, runs=2), seconds(twice, runs=1)
        found = Growth(size, min(found.seconds, single), min(found.doubled, double))
        if found.ratio < bound:
            break
    return found
