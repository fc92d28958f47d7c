"""The retrieval benchmark's own arithmetic, and what it calls a right passage."""

import importlib.util
import sys
from pathlib import Path

import pytest

from equipoise.core.types import Passage

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "retrieval"


@pytest.fixture
def bench(monkeypatch):
    """The script as a module, with the modules beside it forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("questions", "sets", "splits"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    spec = importlib.util.spec_from_file_location("retrieval_benchmark", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    yield module
    for name in ("questions", "sets", "splits"):
        sys.modules.pop(name, None)


def test_ndcg_by_hand(bench):
    ranks = {"one": [1, 3], "two": [2], "late": [6], "none": []}
    assert bench.ndcg(ranks, "one") == pytest.approx((1 + 1 / 2) / (1 + 0.63093), abs=1e-5)
    assert bench.ndcg(ranks, "two") == pytest.approx(0.63093 / (1 + 0.63093), abs=1e-5)
    assert [bench.ndcg(ranks, name) for name in ("late", "none")] == [0.0, 0.0]
    assert bench.ndcg({"one": []}, "one") == 0.0


def test_the_table_counts_first_ranks(bench):
    ranks = [{key: [rank] for key in bench.RANKINGS} for rank in (1, 3, 7, 11)]
    rows = [
        {"corpus": "town", "id": str(n), "passages": 9, "ranks": ranking} for n, ranking in enumerate(ranks)
    ]
    line = next(line for line in bench.table(rows, ["town"]).splitlines() if "| hybrid |" in line)
    assert [cell.split(" [")[0].strip() for cell in line.split("|")[1:-2]] == [
        "town", "9", "4", "hybrid", "0.25", "0.50", "0.50", "0.75",
    ]  # fmt: skip


def test_what_is_right_by_place_and_by_text(bench, sample_data):
    def passage(text, doc_id, start):
        return Passage(1, doc_id, start, start + len(text), text)

    article = bench.datasets.load("covid_qa", sample_data)[0]
    gold = article.gold[0]
    is_right = bench._overlapping("covid_qa", article)
    assert is_right(passage("x" * 10, gold.doc_id, gold.start))
    assert not is_right(passage("x" * 10, gold.doc_id, gold.end))
    assert not is_right(passage("x" * 10, "another", gold.start))
    snippets = bench.datasets.load("bioasq12b", sample_data)[0]
    text = next(
        document.text for document in snippets.documents if document.doc_id == snippets.gold[0].doc_id
    )
    is_right = bench._overlapping("bioasq12b", snippets)
    assert is_right(passage(text.split("\n")[0], "snippet-7", 0))
    assert not is_right(passage("Bread is baked of flour.", "snippet-8", 0))
