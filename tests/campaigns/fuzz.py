"""Hostile inputs, made at random and run in children with limits of processor time and memory.

    python tests/campaigns/fuzz.py --seconds 600 --seed 1       all targets in turn
    python tests/campaigns/fuzz.py --cases 20 --target settings
    python tests/campaigns/fuzz.py --replay build/fuzz/settings-1-17.bin

A case is a function of target, seed and number. A finding (an undeclared exception, a broken invariant, a limit
exceeded) is kept as a file beside a note of what happened and how to run it again. Exit code 1 with findings.
"""

import argparse
import logging
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: idle threads spend processor time too
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "src")]

import targets as fuzzed  # noqa: E402  the folders above must be on the path first

SECONDS = 8
"""Processor time of a case: an input has at most 300,000 characters, for which linear code takes two."""

MEMORY = 2_000_000_000
"""Bytes of address space that a case may take beyond what the child had before."""

PATIENCE = 30 * SECONDS  # seconds of any kind after which a child that sleeps is ended
CHILDREN = 2

Case = tuple[str, int]


@dataclass(slots=True)
class Child:
    """A process that runs one case after the other."""

    process: BaseProcess
    pipe: Connection
    case: Case | None = None
    since: float = 0.0


@dataclass(slots=True)
class Report:
    """How many cases of each target ran, and the first finding of each kind."""

    ran: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)


def made(target: str, seed: int, number: int) -> bytes:
    """The input of a case."""
    return fuzzed.target_of(target).make(Random(f"{target} {seed} {number}"))


@dataclass(frozen=True, slots=True)
class Plan:
    """Which targets, how many cases of each (None: any number) until which time (monotonic), and the limits."""

    names: Sequence[str]
    seed: int
    cases: int | None = None
    deadline: float = float("inf")
    seconds: int = SECONDS
    children: int = CHILDREN


def campaign(plan: Plan) -> Report:
    """Run the cases of `plan`, its targets in turn."""
    # a child that is killed leaves its files behind
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"TMPDIR": folder}):
        return _campaign(plan)


def _campaign(plan: Plan) -> Report:
    report = Report()
    todo: Iterator[Case] = ((name, number) for number in islice(count(), plan.cases) for name in plan.names)
    pool = [_started(plan) for _ in range(plan.children)]
    try:
        while True:
            for child in pool:
                if child.case is None and time.monotonic() < plan.deadline and (case := next(todo, None)):
                    child.case, child.since = case, time.monotonic()
                    child.pipe.send(case)
            busy = [child for child in pool if child.case]
            if not busy:
                return report
            ready = wait([child.pipe for child in busy], timeout=1.0)
            for child in busy:
                if child.pipe in ready or time.monotonic() - child.since > PATIENCE:
                    pool[pool.index(child)] = _collected(child, plan, report)
    finally:
        for child in pool:
            child.process.kill()


def _collected(child: Child, plan: Plan, report: Report) -> Child:
    """Note how the case of `child` ended; the child for the next one, a new one where this one is lost."""
    assert child.case is not None
    target, number = child.case
    report.ran[target] += 1
    lost = False
    try:
        outcome = child.pipe.recv() if child.pipe.poll() else ("hangs", f"no result after {PATIENCE} s")
        lost = outcome is not None and outcome[0] == "hangs"
    except (EOFError, ConnectionResetError):
        child.process.join()
        outcome, lost = _death(child.process.exitcode, plan), True
    if outcome is not None:
        kind = target, outcome[0]
        report.kinds[kind] += 1
        report.first.setdefault(kind, (number, outcome[1]))
    child.case = None
    if not lost:
        return child
    child.process.kill()
    return _started(plan)


def _death(code: int | None, plan: Plan) -> tuple[str, str]:
    if code == -signal.SIGXCPU:
        return "too slow", f"more than {plan.seconds} s of processor time"
    return f"died with {code}", f"the process ended with code {code}"


def _started(plan: Plan) -> Child:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, plan.seed, plan.seconds), daemon=True)
    process.start()
    there.close()
    return Child(process, here)


def _serve(pipe: Connection, seed: int, seconds: int) -> None:
    """A child: runs cases until it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    while True:
        target, number = pipe.recv()
        data = made(target, seed, number)
        _limit(seconds)
        pipe.send(fuzzed.failure(target, data))


def _limit(seconds: int) -> None:
    used = time.process_time()
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + seconds, hard))
    pages = Path("/proc/self/statm")
    if pages.exists():
        now = int(pages.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def keep(report: Report, seed: int, folder: Path) -> None:
    """Write the first finding of each kind into `folder`, and say so."""
    for (target, kind), (number, detail) in report.first.items():
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{target}-{seed}-{number}.bin"
        path.write_bytes(made(target, seed, number))
        command = f"python tests/campaigns/fuzz.py --replay {path}"
        note = f"{kind}\n{detail}\nseen {report.kinds[target, kind]} times\n{command}\n"
        path.with_suffix(".txt").write_text(note, "utf-8", "backslashreplace")
        print(f"{target}: {kind} ({report.kinds[target, kind]} times)\n    {command}")


def replay(path: Path) -> int:
    """Run one kept input in this process, with the limits; its error is shown in full."""
    target = next(name for name in [*fuzzed.TARGETS, *fuzzed.TRAPS] if path.name.startswith(f"{name}-"))
    _limit(SECONDS)
    fuzzed.target_of(target).check(path.read_bytes())
    print("nothing found")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many seconds")
    parser.add_argument("--cases", type=int, help="stop after so many cases of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--target", action="append", choices=[*fuzzed.TARGETS], help="only this one; repeatable"
    )
    parser.add_argument("--children", type=int, default=CHILDREN)
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="folder for what is found")
    parser.add_argument("--replay", type=Path, help="run one kept input again")
    chosen = parser.parse_args(arguments)
    if chosen.replay:
        return replay(chosen.replay)
    names = chosen.target or [*fuzzed.TARGETS]
    deadline = time.monotonic() + (60.0 if chosen.cases is None and chosen.seconds > 1e9 else chosen.seconds)
    report = campaign(
        Plan(names, chosen.seed, cases=chosen.cases, deadline=deadline, children=chosen.children)
    )
    keep(report, chosen.seed, chosen.findings)
    for name in names:
        total = sum(times for (target, _), times in report.kinds.items() if target == name)
        print(f"{name:12} {report.ran[name]:7,} cases {total:6,} findings")
    return 1 if report.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
