"""How long something takes, for tests that must pass on a noisy machine and still see a real slowdown."""

import time
from collections.abc import Callable

TOLD_APART = 1e-4
"""Seconds below which a clock's steps would be taken for a difference."""


def seconds(work: Callable[[], object], *, runs: int = 5) -> float:
    """The processor time of this process for `work`, best of `runs`: other processes count for nothing.

    Includes all threads of the process, so keep others idle; sleeping counts for nothing either.
    """
    best = float("inf")
    for _ in range(runs):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return max(best, TOLD_APART)


def growth(work: Callable[[int], Callable[[], object]], size: int, *, runs: int = 5) -> float:
    """How many times longer `work(4 * size)` takes than `work(size)`: about 4 where time is linear, 16 where it is
    quadratic, 64 where it is cubic.

    Processor time of both, best of `runs` taken in turns, so that a busy stretch of the machine hits both.
    """
    small, large = work(size), work(4 * size)
    best = [float("inf")] * 2
    for _ in range(runs):
        for place, one in enumerate((small, large)):
            best[place] = min(best[place], seconds(one, runs=1))
    return best[1] / best[0]


LINEAR = 9.0
"""The most `growth` may be: above it lies what is quadratic, below it what is linear, and noise about both."""


def loops(number: int = 100_000) -> float:
    """The processor time of a plain loop: what "fast" means on this machine, now. About 2 ms in 2025."""

    def work() -> int:
        total = 0
        for value in range(number):
            total += value & 7
        return total

    return seconds(work)
