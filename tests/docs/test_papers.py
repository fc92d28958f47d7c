"""docs/papers.md: every function that it names exists, and every equation of both papers has its row."""

import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
ROWS = [line.strip("|").split("|") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
NAMES = sorted(
    {name for row in ROWS for cell in row for name in re.findall(r"`((?:[a-z_]+\d?\.)+\w+)`", cell)}
)
EQUATIONS = range(1, 13)
"""Of the EBI paper, without its appendices; the other paper has none."""


def exists(name):
    module, _, attribute = name.rpartition(".")
    for package in ("equipoise", "equipoise_lab"):
        with suppress(ModuleNotFoundError):
            if hasattr(import_module(f"{package}.{module}"), attribute):
                return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_it_exists(name):
    assert exists(name)


def test_a_name_that_is_not_there_is_noticed():
    assert not exists("maths.biasdef.no_such_function")


def test_every_row_names_what_it_is_done_by():
    rows = [row for row in ROWS if row[0].strip() != "paper"]
    assert len(rows) > 50
    assert [row for row in rows if len(row) != 4 or not re.search(r"`[\w.]+`", row[2])] == []


def test_every_equation_has_a_row():
    named = set()
    for row in ROWS:
        for said in re.findall(r"Eq\. ([\d ,to]+)", row[0]):
            for part in said.split(","):
                first, _, last = part.partition(" to ")
                if first.strip():
                    named |= set(range(int(first), int(last or first) + 1))
    assert named == set(EQUATIONS)
