"""A campaign for fact 1: random messages asked in two ways, whose requests to the summarizer must be equal.

    python tests/campaigns/noninterference.py --cases 100000 --seed 1

Case `n` of a seed is the same on every machine; `--only n` runs it again. Exits with 1 where a case leaks, or where
fewer than nine of ten reach the summarizer: a case that does not says nothing.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "security"))

import cases as made

LEAST = 0.9
"""Share of cases that reach the summarizer."""
BATCH = 500


def batch(seed: int, numbers: range) -> tuple[int, list[tuple[int, str]]]:
    """How many of these cases reach the summarizer, and (number, what) of those that leak."""
    reached, leaks = 0, []
    with TemporaryDirectory() as folder:
        library = made.Library.over(Path(folder) / "index.db")
        for number in numbers:
            case = made.case(Random(f"{seed}/{number}"), library)
            if leak := made.leak(library, case):
                leaks.append((number, leak))
            reached += made.reached(library, case)
        library.store.close()
    return reached, leaks


def batches(count: int) -> Iterator[range]:
    """The numbers of so many cases, BATCH at a time."""
    return (range(at, min(at + BATCH, count)) for at in range(0, count, BATCH))


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run one case again")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    chosen = parser.parse_args(arguments)
    if chosen.only is not None:
        print(batch(chosen.seed, range(chosen.only, chosen.only + 1)))
        return 0
    reached, kinds, first = 0, Counter[str](), {}
    with ProcessPoolExecutor(chosen.processes) as pool:
        for more, leaks in pool.map(partial(batch, chosen.seed), batches(chosen.cases)):
            reached += more
            for number, what in leaks:
                kinds[what] += 1
                first.setdefault(what, number)
    print(f"{chosen.cases:,} cases, {reached:,} of them reached the summarizer, {kinds.total():,} leak")
    for what, times in kinds.most_common():
        print(f"{what} ({times} times)\n    --seed {chosen.seed} --only {first[what]}")
    return 1 if kinds or reached < LEAST * chosen.cases else 0


if __name__ == "__main__":
    sys.exit(main())
