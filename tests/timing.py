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


def loops(number: int = 100_000) -> float:
    """The processor time of a plain loop: what "fast" means on this machine, now. About 2 ms in 2025."""

    def work() -> int:
        total = 0
        for value in range(number):
            total += value & 7
        return total

    return seconds(work)
