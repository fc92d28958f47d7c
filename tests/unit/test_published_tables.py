"""Every published number comes out of the published rows again: same bytes, summaries and tables alike."""

import importlib.util
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from equipoise.bench.bias.records import AnswerRecord, BiasRecord, PassageRecord
from equipoise.bench.bias.worlds.run import WorldRecord
from equipoise.bench.bias.worlds.sides import SideRecord
from equipoise.bench.hijack.records import HijackRecord
from equipoise.bench.qa.reporting import recorded
from equipoise.bench.records import content, read_records

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

pytest.importorskip("scipy")


def script(name, file="run"):
    """The module benchmarks/NAME/FILE.py."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location(
            f"published_{name}_{file}", BENCHMARKS / name / f"{file}.py"
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BENCHMARKS))


def same(folder, out, *names):
    for name in names:
        assert (out / name).read_bytes() == (folder / name).read_bytes(), name


QA = sorted(path.parent.name for path in (BENCHMARKS / "qa").glob("*/results.jsonl"))


@pytest.mark.parametrize("name", QA)
def test_the_question_answering_benchmark(tmp_path, name):
    for module in ("matplotlib", "evalica"):
        pytest.importorskip(module)
    folder = BENCHMARKS / "qa" / name
    for file in (*folder.glob("*.jsonl"), folder / "meta.json"):
        shutil.copy(file, tmp_path)
    script("qa").rewrite(tmp_path)
    same(folder, tmp_path, "summary.json", "tables.md")


def test_one_page_of_all_questions_and_answers():
    run = script("qa")
    config = tomllib.loads((BENCHMARKS / "qa" / "config.toml").read_text("utf-8"))
    assert run.page(run.runs(config)) == (BENCHMARKS / "qa" / "table.md").read_text("utf-8")


RECORDS = {
    "hijack/results.jsonl": HijackRecord,
    "bias/results.jsonl": BiasRecord,
    "bias/passages.jsonl": PassageRecord,
    "bias/answers.jsonl": AnswerRecord,
    "bias/worlds.jsonl": WorldRecord,
    "bias/sides.jsonl": SideRecord,
    **{f"qa/{name}/{file}.jsonl": kind for name in QA for file, kind in recorded.RECORDS.items()},
}


@pytest.mark.parametrize("name", [name for name in RECORDS if (BENCHMARKS / name).exists()])
def test_published_records_keep_their_bytes(name):
    path = BENCHMARKS / name
    lines = content(read_records(path, RECORDS[name])).splitlines()
    assert sorted(lines) == sorted(path.read_bytes().splitlines())


def test_the_tool_hijack_benchmark(tmp_path):
    folder, run = BENCHMARKS / "hijack", script("hijack")
    run.publish(run.kept(folder), tmp_path)
    same(folder, tmp_path, "summary.json", "table.md")


def test_the_bias_benchmark(tmp_path):
    folder, run = BENCHMARKS / "bias", script("bias")
    run.publish(folder, tmp_path)
    same(folder, tmp_path, "summary.json", "summary-reporting.json", "summary-answers.json", "table.md")


def test_the_worlds_of_the_bias_benchmark(tmp_path):
    folder = BENCHMARKS / "bias"
    script("bias", "worlds").publish(folder, tmp_path)
    same(folder, tmp_path, "worlds.json", "worlds.md")
