"""Every published number comes out of the published rows again: same bytes, summaries and tables alike."""

import json
import shutil
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from checkout import program
from equipoise.core.errors import InputError
from equipoise_lab.bench.bias.records import AnswerRecord, BiasRecord, LikertRecord, PassageRecord
from equipoise_lab.bench.hijack.records import HijackRecord
from equipoise_lab.bench.qa.records import RECORDS as QA_RECORDS
from equipoise_lab.evaluation.records import content, read_records

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def script(name, file="run"):
    """The module benchmarks/NAME/FILE.py."""
    return program(f"benchmarks/{name}/{file}.py")


def same(folder, out, *names):
    for name in names:
        assert (out / name).read_bytes() == (folder / name).read_bytes(), name


QA = sorted(path.parent.name for path in (BENCHMARKS / "qa").glob("*/results.jsonl"))


@pytest.mark.parametrize("name", QA)
def test_the_question_answering_benchmark(tmp_path, name):
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
    "bias/answered/results.jsonl": BiasRecord,
    "bias/answered/passages.jsonl": PassageRecord,
    "bias/answers.jsonl": AnswerRecord,
    "bias/likert.jsonl": LikertRecord,
    "bias/defended/answers.jsonl": AnswerRecord,
    "bias/own/results.jsonl": BiasRecord,
    "bias/own/passages.jsonl": PassageRecord,
    **{f"qa/{name}/{file}.jsonl": kind for name in QA for file, kind in QA_RECORDS.items()},
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


def rows_of(name):
    return [json.loads(line) for line in (BENCHMARKS / name).read_text("utf-8").splitlines()]


def test_the_pages_of_real_documentation():
    corpus = script("security", "corpus")
    for end, llm in (("", "none"), ("-model", "local/qwen2.5-coder-1.5b")):
        page = (BENCHMARKS / f"security/corpus{end}.md").read_text("utf-8")
        assert corpus.page(rows_of(f"security/corpus{end}.jsonl"), llm) == page


def test_the_speed_of_search(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", sys.modules.get("faiss") or ModuleType("faiss"))
    results = json.loads((BENCHMARKS / "speed" / "results.json").read_text("utf-8"))
    assert script("speed").table(results) == (BENCHMARKS / "speed" / "table.md").read_text("utf-8")


def test_the_table_of_reading():
    run = script("reading")
    assert run.page(rows_of("reading/results.jsonl")) == (BENCHMARKS / "reading" / "table.md").read_text(
        "utf-8"
    )


def test_the_page_of_known_answer_detection():
    page = (BENCHMARKS / "bias" / "known_answer.md").read_text("utf-8")
    assert script("bias", "known_answer").page(rows_of("bias/known_answer.jsonl")) == page


def test_the_page_of_step_3():
    rows = json.loads((BENCHMARKS / "bias" / "own" / "step3.json").read_text("utf-8"))
    assert script("bias", "step3").page(rows) == (BENCHMARKS / "bias" / "own" / "step3.md").read_text("utf-8")


def drawn(folder):
    figures = sorted(path.relative_to(folder) for path in folder.glob("figures/*.svg"))
    assert len(figures) >= 7
    return figures


def test_every_figure_is_one_that_is_drawn_and_shown(tmp_path):
    """What is no longer drawn goes: nothing would say that it is out of date."""
    folder = BENCHMARKS / "bias"
    script("bias").publish(folder, tmp_path)
    assert {*drawn(folder)} - {Path("figures/worlds.svg")} == {*drawn(tmp_path)}
    shown = (folder / "table.md").read_text("utf-8") + (folder / "README.md").read_text("utf-8")
    assert [path for path in drawn(folder) if f"({path})" not in shown] == []


@pytest.fixture
def two_models(tmp_path):
    """The published records, with a second model that answered every context of three questions."""
    folder = tmp_path / "bias"
    folder.mkdir()
    for path in (BENCHMARKS / "bias").glob("*.json*"):
        shutil.copy(path, folder)
    shutil.copytree(BENCHMARKS / "bias" / "answered", folder / "answered")
    rows = read_records(folder / "answers.jsonl", AnswerRecord)
    first = sorted({record.query_id for record in rows})[:3]
    other = [
        record.model_copy(update={"model": "openai/other", "ps": None if record.ps is None else -record.ps})
        for record in rows
        if record.query_id in first
    ]
    (tmp_path / "other.jsonl").write_bytes(content(other))
    return folder, tmp_path / "other.jsonl"


def test_the_answers_of_a_second_model_are_rows_of_the_same_tables(two_models, tmp_path):
    folder, file = two_models
    run = script("bias")
    run.add(folder, file)
    run.publish(folder, folder)
    page = (folder / "table.md").read_text("utf-8")
    for number in (6, 8):
        table = page.rpartition(f"### Table {number}.")[2].partition("### ")[0]
        assert "| local/qwen2.5-coder-1.5b, debate_passages |" in table
        assert "| openai/other, debate_passages, 3 questions |" in table
    five = page.rpartition("### Table 5.")[2].partition("### ")[0]
    assert [line.split(" | ")[0] for line in five.splitlines() if line.startswith("| ")][1:4] == [
        "| No Def., local/qwen2.5-coder-1.5b",
        "| No Def., openai/other",
        "| *No Def., paper*",
    ]
    published = (BENCHMARKS / "bias" / "table.md").read_text("utf-8").rpartition("### Table 6.")[2]
    old, new = (
        next(line for line in text.splitlines() if line.startswith("| local/qwen2.5-coder-1.5b, debate"))
        for text in (published, page.rpartition("### Table 6.")[2])
    )
    assert new == old
    assert "openai/other" in (folder / "figures" / "answers.svg").read_text("utf-8")


def test_answers_to_other_contexts_are_refused(two_models, tmp_path):
    folder, file = two_models
    (strange,) = read_records(file, AnswerRecord)[:1]
    file.write_bytes(content([strange.model_copy(update={"query_id": "zz999"})]))
    with pytest.raises(InputError, match="zz999"):
        script("bias").add(folder, file)
