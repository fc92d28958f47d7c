"""Pipelines on the same items: which differences are more than chance.

McNemar's exact test where every value is 0 or 1, a permutation test of the mean otherwise, both on the items that
both pipelines of a pair have a value for; p-values corrected for all pairs together (Holm 1979).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from equipoise.maths.checks import Floats
from equipoise.maths.rates import Interval
from equipoise_lab.maths.statistics import (
    bootstrap_interval,
    holm,
    mcnemar_exact,
    paired_permutation,
)

Scores = Mapping[str, Mapping[str, float | None]]
"""pipeline -> item id -> value; None, or no such item: not scored."""


@dataclass(frozen=True, slots=True)
class PairedRow:
    """`first` against `second`: the mean of first minus second over `n` items with its interval, and p-values.

    `left_out` items lack a value of one of the two. Without any item all but the counts are None.
    """

    first: str
    second: str
    n: int
    left_out: int
    difference: float | None
    interval: Interval | None
    p: float | None
    p_holm: float | None
    test: str


def compare_all(scores: Scores, *, seed: int, level: float = 0.95, resamples: int = 9999) -> list[PairedRow]:
    """Every pair of pipelines, names sorted; the same rows for the same values in any order."""
    values = {v for items in scores.values() for v in items.values() if v is not None}
    binary = values <= {0.0, 1.0}
    rows = [
        _row(left, right, scores, binary=binary, seed=seed, level=level, resamples=resamples)
        for left, right in combinations(sorted(scores), 2)
    ]
    tested = [row.p for row in rows if row.p is not None]
    corrected = iter(holm(tested))
    return [row if row.p is None else replace(row, p_holm=float(next(corrected))) for row in rows]


@dataclass(frozen=True, slots=True)
class Tested:
    """A system less a baseline on one measure, on the items that both have a value for.

    `p_holm` is corrected for all tests of a comparison together.
    """

    JSON: ClassVar = {"measure": "measure", "system": "contender", "base": "base", "test": "test"} | {
        name: name for name in ("difference", "p", "p_holm")
    }

    measure: str
    system: str
    base: str
    test: str
    difference: Interval | None
    p: float
    p_holm: float = 1.0


def against(
    measures: Mapping[str, Scores],
    baseline: Callable[[Sequence[str]], str],
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = 9999,
) -> list[Tested]:
    """Every system against the baseline of each measure, with Holm's correction over all of it.

    `baseline` chooses among the systems that have a value of the measure. p-values have 6 decimal places.
    """
    tests = []
    for measure, scores in sorted(measures.items()):
        base = baseline(sorted(scores))
        for name in sorted(scores.keys() - {base}):
            two = {"first": scores[name], "second": scores[base]}
            (row,) = compare_all(two, seed=seed, level=level, resamples=resamples)
            if row.p is not None:
                tests.append(Tested(measure, name, base, row.test, row.interval, round(row.p, 6)))
    adjusted = holm([test.p for test in tests]).tolist()
    return [replace(test, p_holm=round(p, 6)) for test, p in zip(tests, adjusted, strict=True)]


def times_highest(scores: Scores) -> dict[str, int]:
    """How often each pipeline has the highest value of an item, ties included (H&S, Figure 3).

    Only items count that all pipelines have a value for. Worked value: a (1, 0), b (1, 1) give a 1 and b 2.
    """
    names = sorted(scores)
    common = set.intersection(*(_scored(scores[name]) for name in names)) if names else set()
    best = {item: max(scores[name][item] or 0.0 for name in names) for item in common}
    return {name: sum(scores[name][item] == best[item] for item in common) for name in names}


def _row(
    left: str, right: str, scores: Scores, *, binary: bool, seed: int, level: float, resamples: int
) -> PairedRow:
    first, second = _common(scores[left], scores[right])
    left_out = len(scores[left].keys() | scores[right].keys()) - len(first)
    test = "McNemar" if binary else "permutation"
    if not len(first):
        return PairedRow(left, right, 0, left_out, None, None, None, None, test)
    interval = bootstrap_interval(
        first - second, seed=seed, level=level, method="percentile", resamples=resamples
    )
    p = (
        mcnemar_exact(int((first > second).sum()), int((second > first).sum()))
        if binary
        else paired_permutation(first, second, seed=seed, resamples=resamples)
    )
    return PairedRow(
        left, right, len(first), left_out, float(np.mean(first - second)), interval, p, None, test
    )


def _common(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> tuple[Floats, Floats]:
    """The values (n,) of both on the items that both have one for, in the order of the item ids."""
    pairs = [(first[item], second[item]) for item in sorted(_scored(first) & _scored(second))]
    left, right = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return left, right


def _scored(items: Mapping[str, float | None]) -> set[str]:
    return {item for item, value in items.items() if value is not None}
