"""docs/results.md and the table of README.md are what benchmarks/results.py makes of the benchmarks' own files."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_are_made_from_the_benchmarks():
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "results.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
