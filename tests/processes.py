"""What runs in a process of its own, with the modules of the tests, and stands still at a chosen point.

A kill or a Ctrl-C that races a program depends on how fast the machine is. Here the program says that it has come to
the point, and waits for a line on its standard input: whatever happens to it then, happens there.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(
        map(str, (ROOT / "src", ROOT / "lab" / "src", TESTS, TESTS / "unit", ROOT / "lab" / "tests"))
    )
}

HOLD = """
import signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
def hold():
    print("held", flush=True)
    sys.stdin.readline()
"""
"""What a program begins with: `hold()` says that it stands still, and does until it is told to go on."""

AFTER_ROWS = """
from equipoise_lab.evaluation import results
append, left = results.Lines.append, int(sys.argv.pop(1))
def counted(self, row):
    global left
    append(self, row)
    left -= 1
    if not left:
        hold()
results.Lines.append = counted
"""


@contextmanager
def held(program: str, *arguments: object) -> Iterator[subprocess.Popen]:
    """A process that stands still where `program` calls `hold()`; it is killed at the end if it is still there."""
    command = [sys.executable, "-c", HOLD + program, *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT, text=True
    ) as process:
        try:
            if not any(line == "held\n" for line in process.stdout):
                pytest.fail(f"the program ended before it was held: {process.communicate()[1]}")
            yield process
        finally:
            process.kill()


def held_after(rows: int, body: str, *arguments: object):
    """A benchmark that stands still after so many rows: `body` is its program, `arguments` its sys.argv[1:]."""
    return held(AFTER_ROWS + body, rows, *arguments)


def killed_after(rows: int, body: str, *arguments: object) -> None:
    """Run such a benchmark, and kill it when it has kept so many rows and begun nothing more."""
    with held_after(rows, body, *arguments) as process:
        process.send_signal(signal.SIGKILL)
