"""The example runs offline, as it is written."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mcp_tools.py"


def test_the_example_answers_and_refuses(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "SQLite is threadsafe" in done.stdout
    assert "refused: The documents do not seem to answer this question." in done.stdout
