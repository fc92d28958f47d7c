"""The how-to pages of the integrations: their code runs, and their commands name what is there."""

import re
import runpy
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run_blocks(page):
    """Run the Python of a page from top to bottom; its names."""
    names = {}
    text = (ROOT / "docs" / page).read_text("utf-8")
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", text):
        exec(compile(block, page, "exec"), names)
    return names


def run_example(monkeypatch, name, *words):
    """Run a program of examples/ with these words."""
    monkeypatch.setattr(sys, "argv", [name, *words])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")


def check_commands(page, extra):
    """The page installs `extra`, which there is, and runs examples that there are."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert re.findall(r"pip install 'equipoise\[(\w+)\]'", text) == [extra]
    assert extra in extras
    paths = re.findall(r"python (examples/\w+\.py)", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).is_file()] == []
