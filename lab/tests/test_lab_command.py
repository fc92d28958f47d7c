"""`equipoise lab`: benchmarks of a checkout by name."""

import sys

import pytest
from typer.testing import CliRunner

from equipoise.core.errors import InputError
from equipoise_lab.commands.lab import app

SCRIPT = """import sys
if __name__ == "__main__":
    print("measured", sys.argv[1:])
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for place in ("tides/run.py", "tides/moon.py"):
        (tmp_path / "benchmarks" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "benchmarks" / place).write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["equipoise"])
    monkeypatch.setattr("sys.path", [*sys.path])


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["run", "tides", "--data", "there"], "measured ['--data', 'there']"),
        (["run", "tides/moon"], "measured []"),
        (["run", "tides", "--", "--help"], "measured ['--help']"),
        (["table", "tides"], "measured ['--table']"),
    ],
)
def test_a_script_is_run_by_name(checkout, typed, said):
    assert CliRunner().invoke(app, typed).output.strip() == said


def test_an_unknown_name_is_one_clear_error(checkout, monkeypatch, tmp_path):
    found = CliRunner().invoke(app, ["run", "stars"])
    assert isinstance(found.exception, InputError)
    assert str(found.exception) == "there is no benchmark 'stars': choose among tides"
    monkeypatch.chdir(tmp_path / "benchmarks")
    assert "in a checkout" in str(CliRunner().invoke(app, ["table", "tides"]).exception)
