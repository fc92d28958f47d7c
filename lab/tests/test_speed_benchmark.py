"""The pages that indexing is timed on, and what is counted: every passage in every way once."""

import importlib.util
import sys
from pathlib import Path

import pytest

from equipoise.corpus import loaders
from equipoise.corpus.store import Store
from hashed_words import HashedWords

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "speed" / "pages.py"


@pytest.fixture
def bench(monkeypatch):
    spec = importlib.util.spec_from_file_location("speed_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_page_has_the_docstrings_of_a_module_and_nothing_else(bench, tmp_path):
    module = tmp_path / "ferries.py"
    said = "A ferry <leaves> at nine.\n\n" + "It is late. " * 200
    module.write_text(f'"""Ferries."""\nSECRET = 1\nclass Boat:\n    """{said}"""\n')
    (page,) = loaders.load(Path("page.html"), bench.page_of(module).encode())
    assert page.title == "ferries"
    for words in ("Ferries.", "Boat", "A ferry <leaves> at nine."):
        assert words in page.text
    assert "SECRET" not in page.text
    module.write_text('"""Short."""')
    assert bench.page_of(module) == ""


def test_the_same_pages_are_drawn_every_time(bench, tmp_path):
    drawn = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        drawn.append([path.read_text("utf-8") for path in bench.made_pages(tmp_path / name, 5)])
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 5


def test_a_question_is_answered_before_the_first_vector(bench, tmp_path):
    encoder, path = HashedWords(), tmp_path / "a.db"
    page = tmp_path / "a.html"
    page.write_text("<h1>Ferries</h1><p>They return at nine.</p>")
    row, texts = bench.whole([page], encoder, path)
    assert (row["pages"], row["passages"], encoder.encoded) == (1, len(texts), len(texts))
    assert (
        0
        < row["until words find all, s"]
        < row["first answer of keyword search, s"]
        < row["whole indexing, s"]
    )
    with Store.open(path) as store:
        assert store.counts().pending == 0
