"""docs/papers.md: what its rows name exists, and each equation, algorithm, table, figure and section has its row."""

import re
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "papers.md"
PAPERS = {
    part.partition("\n")[0]: [
        line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")
    ][1:]
    for part in re.split(r"(?m)^## ", PAGE.read_text("utf-8"))[1:]
}
HS, EBI = PAPERS
ROWS = [row for rows in PAPERS.values() for row in rows]
NAMES = sorted(
    {name for row in ROWS for cell in row for name in re.findall(r"`((?:[a-z_]+\d?\.)+\w+)`", cell)}
)
NUMBERED = {
    HS: {"Table": range(1, 10), "Figure": range(1, 10), "": range(1, 11)},
    EBI: {
        "Table": range(1, 10),
        "Figure": range(1, 10),
        "Eq.": range(1, 13),
        "Algorithm": [1],
        "": range(1, 10),
    },
}
"""What each paper has of a kind; without one: sections."""
RUN = re.compile(r"\]\(\.\./(benchmarks/[^)]+)\)|`((?:lab/)?tests/[^`]+)`")


def exists(name):
    module, _, attribute = name.rpartition(".")
    for package in ("equipoise", "equipoise_lab"):
        with suppress(ModuleNotFoundError):
            if hasattr(import_module(f"{package}.{module}"), attribute):
                return True
    return False


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith((".questions", ".guesses"))])
def test_it_exists(name):
    assert exists(name) or name.startswith(("summarize.", "monitor.", "own."))


def test_a_name_that_is_not_there_is_noticed():
    assert not exists("maths.biasdef.no_such_function")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}"[:60])
def test_every_row_names_a_function_and_a_run_that_is_there_or_how_to_run_it(row):
    place, what, code, run, deviation, status = row
    assert what
    assert deviation
    assert any(exists(name) for name in re.findall(r"`((?:[a-z_]+\d?\.)+\w+)`", code)), code
    files = [ROOT / (result or test) for result, test in RUN.findall(run)]
    assert [path for path in files if not path.is_file()] == []
    if not files:
        assert status == "nothing to run" or re.search(r"needs an endpoint.*`(equipoise|python) ", status), (
            status
        )
    assert re.match(r"(measured|tests|needs an endpoint|nothing to run)", status), status
    if status.startswith("measured"):
        assert any("benchmarks" in path.parts for path in files), place


@pytest.mark.parametrize("paper", PAPERS)
def test_everything_that_has_a_number_has_a_row(paper):
    places = [row[0] for row in PAPERS[paper]]
    for kind, wanted in NUMBERED[paper].items():
        found = set()
        for place in places:
            if kind:
                said = re.findall(rf"{re.escape(kind)} ([\d ,to]+)", place)
            else:
                said = re.findall(r"\d+", re.split(r"[A-Z]", place)[0])
            for part in [part for one in said for part in one.split(",")]:
                first, _, last = part.partition(" to ")
                if first.strip():
                    found |= set(range(int(first), int(last or first) + 1))
        assert set(wanted) - found == set(), kind


def test_the_open_questions_of_both_papers_have_rows():
    """Five of section 9 and more context of H&S; people's judgement, axes and a general defence of EBI."""
    asked = {paper: [row[1] for row in rows if "open" in row[0]] for paper, rows in PAPERS.items()}
    assert len(asked[HS]) == 7
    assert len(asked[EBI]) == 3
