"""The threat model names tests; each is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_each_test_that_the_threat_model_names_is_there():
    said = ROOT.joinpath("docs", "threat-model.md").read_text("utf-8")
    named = set(re.findall(r"`((?:tests/[\w/]*/)?test_\w+\.py)`", said))
    there = {str(path.relative_to(ROOT)) for path in ROOT.glob("tests/**/test_*.py")}
    by_name = {Path(path).name for path in there}
    assert len(named) > 25
    assert not [name for name in named if name not in there and name not in by_name]


def test_each_line_of_its_tables_names_what_holds_it():
    lines = ROOT.joinpath("docs", "threat-model.md").read_text("utf-8").splitlines()
    rows = [
        line
        for line, below in zip(lines, [*lines[1:], ""], strict=True)
        if line.startswith("|") and not line.startswith("|---") and not below.startswith("|---")
    ]
    assert len(rows) > 35
    assert not [
        row for row in rows if not re.search(r"test_\w+\.py`", row) and "| measured only |" not in row
    ]
