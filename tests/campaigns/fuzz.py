"""Fuzzing: everything that reads bytes from outside, with inputs that are mutated by a seed.

    python tests/campaigns/fuzz.py --seconds 600 --seed 1
    python tests/campaigns/fuzz.py --replay html:1:57          (target:seed:case, as a finding names it)

A finding is an exception that the target does not declare, a broken invariant, or a case over its limit of processor
time or memory. Each target runs in a process of its own, in turn with the others; one that dies is started again
behind the case it died of. Prints counts; exits with 1 where there is a finding. Linux and macOS.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from threading import Timer

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from targets import TARGETS  # noqa: E402

CASE_SECONDS = 10.0
"""Processor time of one case. The largest input takes a tenth of it where time is linear."""
MEMORY = 3_000_000_000
SLICE_SECONDS = 5.0
"""Wall-clock time of a target until it is the next one's turn."""
SLEEP = 600.0
"""Wall-clock time after which a process that waits for something is killed."""


def child(target: str, seed: int, first: int, most: int, seconds: float) -> None:
    """Run the cases from `first` on, at most so many and for so long, each announced by a line."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # its default ends the process, also inside C code
    run, until = TARGETS[target](), time.monotonic() + seconds
    for case in range(first, first + most):
        if case > first and time.monotonic() > until:
            return
        print(f"case {case}", flush=True)
        signal.setitimer(signal.ITIMER_PROF, CASE_SECONDS)
        try:
            run(Random(f"{target}:{seed}:{case}"))
        except Exception as error:  # noqa: BLE001  what a target does not declare is a finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error}"[:200].encode("ascii", "backslashreplace").decode()
            print(f"finding {said!r} in {Path(place.filename).name}:{place.lineno}", flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0)


class Campaign:
    """Counts and findings of a run."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.cases: Counter[str] = Counter()
        self.findings: list[str] = []

    def run(self, target: str, most: int, seconds: float) -> None:
        """Let a target go on where it was, for so many cases and so long."""
        case = first = self.cases[target]
        command = [sys.executable, str(HERE), "--child", target, self.seed, first, most, seconds]
        process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        alarm = Timer(SLEEP, process.kill)
        alarm.start()
        for line in process.stdout:
            kind, _, rest = line.strip().partition(" ")
            if kind == "case":
                case = int(rest)
            else:
                self._found(target, case, rest)
        alarm.cancel()
        self.cases[target] = case + 1
        code = process.wait()
        if code == -signal.SIGPROF:
            self._found(target, case, f"took more than {CASE_SECONDS:g} seconds of processor time")
        elif code:
            self._found(target, case, f"ended its process with code {code}")

    def _found(self, target: str, case: int, what: str) -> None:
        self.findings.append(f"{target}:{self.seed}:{case}  {what}")
        print(f"FINDING  {self.findings[-1]}", flush=True)


def main() -> int:
    """Parse the command line and run; the exit code."""
    parser = argparse.ArgumentParser(description="Fuzz everything that reads bytes from outside.")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--cases", type=int, help="So many cases of each target, instead of seconds.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--replay", help="target:seed:case")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        target, seed, first, most, seconds = given.child
        child(target, int(seed), int(first), int(most), float(seconds))
        return 0
    if given.replay:
        target, seed, case = given.replay.split(":")
        TARGETS[target]()(Random(f"{target}:{seed}:{case}"))
        print("nothing found")
        return 0
    campaign, names, began = Campaign(given.seed), given.targets.split(","), time.monotonic()
    while not any(campaign.cases.values()) or (
        given.cases is None and time.monotonic() - began < given.seconds
    ):
        for name in names:
            campaign.run(name, given.cases or sys.maxsize, SLEEP if given.cases else SLICE_SECONDS)
    for name in names:
        print(f"{name:12} {campaign.cases[name]:8,} cases")
    print(f"{sum(campaign.cases.values()):,} cases, {len(campaign.findings)} findings, seed {given.seed}")
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
