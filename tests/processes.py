"""What runs in a process of its own: with the modules of the tests, and slow enough to be stopped in the middle."""

import os
import signal
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(map(str, (TESTS.parent / "src", TESTS, TESTS / "unit")))
}

SLOW = """
import signal, sys, time
from pathlib import Path
from equipoise.bench import results
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
append = results.Lines.append
def slow(self, row):
    append(self, row)
    print(self.path.name, flush=True)
    time.sleep(0.02)
results.Lines.append = slow
"""


def started(body, *arguments, **pipes):
    """A benchmark that prints a line for each row it keeps: `body` is its program, `arguments` its sys.argv[1:]."""
    command = [sys.executable, "-c", SLOW + body, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True, **pipes)


def killed_after(lines, body, *arguments):
    """Kill such a benchmark once it has written so many lines; whether it was still alive."""
    with started(body, *arguments) as process:
        for number, _ in enumerate(process.stdout, 1):
            if number == lines:
                break
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    return process.returncode == -signal.SIGKILL
