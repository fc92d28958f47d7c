"""What work takes and how that grows: for tests that pass on a noisy machine and still see a real slowdown."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import log2

Work = Callable[[], object]

TOLD_APART = 1e-4
"""Seconds below which a clock's steps would be taken for a difference."""
LEAST = 0.02
"""Seconds a work must take before its growth says something."""
LINEAR = 3.0
"""The least growth that is called too much: linear time grows twofold, quadratic fourfold."""


def seconds(work: Work, *, runs: int = 5) -> float:
    """The processor time of this process for `work`, best of `runs`: other processes count for nothing.

    Includes all threads of the process, so keep others idle; sleeping counts for nothing either.
    """
    best = float("inf")
    for _ in range(runs):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return max(best, TOLD_APART)


def stays_above(limit: float, work: Work, *, tries: int = 10) -> bool:
    """Whether `work` takes more than `limit` seconds each time of `tries`; the pauses between them, doubled from
    one millisecond, outlast a machine that stands still for a moment."""
    for attempt in range(tries):
        if seconds(work, runs=1) <= limit:
            return False
        time.sleep(0.001 * 2**attempt)
    return True


@dataclass(frozen=True, slots=True)
class Growth:
    """`seconds` for an input of `size`, `longer` for one `times` as large."""

    size: int
    seconds: float
    longer: float
    times: int = 2

    @property
    def ratio(self) -> float:
        """Each doubling of the size: 2 for linear time, 4 for quadratic, 8 for cubic; less for what is too short."""
        return (self.longer / max(self.seconds, LEAST)) ** (1 / log2(self.times))


def growth(
    work_of: Callable[[int], Work],
    *,
    least: int = 16_000,
    most: int = 512_000,
    bound: float = LINEAR,
    rounds: int = 10,
    again: bool = True,
) -> Growth:
    """The growth of work_of(n)() from the first n of `least`, twice `least`, ... that takes LEAST seconds.

    Work that is faster up to `most` is measured there. Best of up to `rounds`, which stop at the first below
    `bound`: another process can only make a measurement worse. It may also make a work look long enough that is not,
    so the next size is taken where the best time is below LEAST after all. With `again`, a growth above the bound is
    believed only when eight times the size shows it, too, or, where it is steep, the next doubling: a processor that
    changes its speed, or memory that is got in another way from one size on, looks like a step between two sizes, but
    not like one at each doubling.
    """
    size = least
    while size < most and seconds(work_of(size), runs=1) < LEAST:
        size *= 2
    measured = _measured(work_of, size, 2, bound, rounds)
    if measured.seconds < LEAST and size < most:
        return growth(work_of, least=2 * size, most=most, bound=bound, rounds=rounds, again=again)
    if measured.ratio < bound or measured.ratio > 4 * bound or not again:
        return measured
    beyond = (size, 8) if measured.ratio <= 2 * bound else (2 * size, 2)
    return _measured(work_of, *beyond, bound, rounds)


def _measured(work_of: Callable[[int], Work], size: int, times: int, bound: float, rounds: int) -> Growth:
    short, long = work_of(size), work_of(times * size)
    measured = Growth(size, float("inf"), float("inf"), times)
    for _ in range(rounds):
        single, longer = seconds(short, runs=2), seconds(long, runs=1)
        measured = Growth(size, min(measured.seconds, single), min(measured.longer, longer), times)
        if measured.ratio < bound:
            break
    return measured
