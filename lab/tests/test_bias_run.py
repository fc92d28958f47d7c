"""The bias benchmark end to end on a tiny corpus: results, resuming after SIGKILL, tables and figures."""

import json
import re
import signal

import numpy as np
import pytest

import bias_corpus
from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.settings import Settings
from equipoise.corpus.store import Store
from equipoise.rag.components import Components
from equipoise_lab.bench.bias import bench, corpora, planting
from equipoise_lab.bench.bias.asked import Asking
from equipoise_lab.bench.bias.bench import BiasOptions
from equipoise_lab.bench.bias.planting import Workspace
from equipoise_lab.bench.bias.records import BiasPlan
from equipoise_lab.bench.layouts import as_json
from hashed_words import HashedWords
from processes import held_after, killed_after

FILTERS = ("none", "mmr", "brra", "biasdef")


def silent(done, total, what):
    pass


ASKED = ("answers", "likert", "facts")


def run(inputs, out, *, plan=None, chat=None, **options):
    asking = Asking(**{name: options.pop(name) for name in ASKED if name in options})
    plan = plan or BiasPlan(FILTERS, (0, 1, 3), k=3, candidates=8)
    out.mkdir(parents=True, exist_ok=True)
    with Store.open(out / "index.db", create=True) as store:
        components = Components(Settings(), store, HashedWords(256), chat)
        workspace = Workspace(components.encoder, out, silent)
        return as_json(
            sync.run(bench.bench(plan, BiasOptions(*inputs, asking, **options), components, workspace))
        )


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return bias_corpus.write(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def done(inputs, tmp_path_factory):
    out = tmp_path_factory.mktemp("done")
    return out, run(inputs, out)


def rows_of(out, name="results.jsonl"):
    return [json.loads(line) for line in (out / name).read_text().splitlines()]


def test_there_is_one_row_for_each_question_filter_and_condition(done):
    rows = rows_of(done[0])
    assert len(rows) == 2 * len(FILTERS) * (1 + 2 * 2)
    keys = [(row["query_id"], row["filter"], row["sign"], row["injections"]) for row in rows]
    assert keys == sorted(set(keys))


def test_rows_hold_ids_and_numbers_that_fit_together(done):
    for row in rows_of(done[0]):
        assert row["injected"] == [
            f"{row['query_id']}-{row['sign']}-{n}" for n in range(1, row["injections"] + 1)
        ]
        assert len(row["candidates"]) == len(row["ss"]) == len(row["ps"]) == 8
        assert row["ss"] == sorted(row["ss"], reverse=True)
        assert set(row["kept"]) <= set(row["candidates"])
        assert len(row["kept"]) <= 3
        assert not {flag["id"] for flag in row["flagged"]} & set(row["kept"])


def test_no_defence_keeps_the_nearest_and_they_are_the_planted_ones(done):
    rows = [row for row in rows_of(done[0]) if row["filter"] == "none"]
    for row in rows:
        assert row["kept"] == row["candidates"][:3]
    attacked = [row for row in rows if row["injections"] == 3]
    assert all(set(row["kept"]) == set(row["injected"]) for row in attacked)
    cell = next(
        c for c in done[1]["cells"] if (c["filter"], c["sign"], c["injections"]) == ("none", "adv_pos", 3)
    )
    assert cell["adversarial_share"] == {"estimate": 1.0, "low": 1.0, "high": 1.0, "n": 2}
    assert cell["relevant_share"]["estimate"] == 0.0


def test_the_same_run_gives_the_same_bytes(inputs, done, tmp_path):
    again = run(inputs, tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()
    assert (tmp_path / "passages.jsonl").read_bytes() == (done[0] / "passages.jsonl").read_bytes()
    assert {**again, "milliseconds": 0} == {**done[1], "milliseconds": 0}


def test_a_second_run_measures_nothing_again(inputs, done):
    before = (done[0] / "timings.jsonl").read_bytes()
    run(inputs, done[0])
    assert (done[0] / "timings.jsonl").read_bytes() == before


def test_more_questions_and_filters_can_be_added_later(inputs, done, tmp_path):
    run(inputs, tmp_path, plan=BiasPlan(("none", "mmr"), (0, 3), k=3, candidates=8), limit=1)
    assert {row["query_id"] for row in rows_of(tmp_path)} == {"bells"}
    run(inputs, tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()


def test_another_configuration_is_refused(inputs, tmp_path):
    run(inputs, tmp_path, plan=BiasPlan(("none",), (0, 1), k=3, candidates=8), limit=1)
    with pytest.raises(InputError, match="another configuration"):
        run(inputs, tmp_path, plan=BiasPlan(("none",), (0, 1), k=2, candidates=8), limit=1)


CHILD = """
import test_bias_run
test_bias_run.run((Path(sys.argv[1]), Path(sys.argv[2])), Path(sys.argv[3]))
"""


@pytest.mark.parametrize("lines", [1, 24, 61])
def test_a_killed_run_ends_with_the_same_bytes(inputs, done, tmp_path, lines):
    killed_after(lines, CHILD, *inputs, tmp_path)
    left = (tmp_path / "results.jsonl").read_bytes()
    assert left.count(b"\n") < len(rows_of(done[0]))
    with (tmp_path / "results.jsonl").open("ab") as file:
        file.write(b'{"query_id":"bells","fil')  # what a kill in the middle of a line leaves
    run(inputs, tmp_path)
    assert (tmp_path / "results.jsonl").read_bytes() == (done[0] / "results.jsonl").read_bytes()
    assert rows_of(tmp_path, "timings.jsonl")


def test_ctrl_c_ends_quietly_and_keeps_what_was_done(inputs, tmp_path):
    with held_after(20, CHILD, *inputs, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        process.communicate("go on\n")
    assert process.returncode not in (0, None)
    assert 10 <= len(rows_of(tmp_path)) < 20


def test_vectors_are_computed_once(inputs, tmp_path):
    corpus = corpora.read(inputs[0])
    first, second = HashedWords(), HashedWords()
    computed = planting.embedded(corpus, Workspace(first, tmp_path, silent))
    loaded = planting.embedded(corpus, Workspace(second, tmp_path, silent))
    assert (first.encoded, second.encoded) == (24, 0)
    np.testing.assert_array_equal(computed.vectors, loaded.vectors)
    other = HashedWords(name="another-space")
    planting.embedded(corpus, Workspace(other, tmp_path, silent))
    assert other.encoded == 24


def test_every_table_and_figure_is_there(done):
    text = (done[0] / "tables.md").read_text()
    for number in range(1, 9):
        assert f"### Table {number}. " in text
    assert text.count("Not computed: no language model answered") >= 3
    assert "Not computed: no fact checker" in text
    assert not re.search(r"\bnan\b", text.lower())
    assert {path.stem for path in (done[0] / "figures").glob("*.svg")} == {
        "ps-by-stance", "share-cdf", "shares-negative", "shares-positive", "ps-histogram", "ps-ss",
    }  # fmt: skip


def test_the_printed_numbers_stand_under_ours(done):
    table = (done[0] / "tables.md").read_text()
    assert "| *BRRA, paper* | *0.00* | *0.04* | *–* | *0.04* | *–* |" in table  # it ran 1, 5 and 10, not 3
    lines = table.splitlines()
    ours = next(number for number, line in enumerate(lines) if line.startswith("| BRRA |"))
    assert lines[ours + 1].startswith("| *BRRA, paper* |")


def test_a_model_that_is_missing_and_an_unknown_filter_are_said_at_once(inputs, tmp_path):
    with pytest.raises(InputError, match="there is no filter 'nil'"):
        run(inputs, tmp_path, plan=BiasPlan(("nil",), (0, 1), k=3, candidates=8))
    with pytest.raises(ModelUnavailable, match="measuring answers"):
        run(inputs, tmp_path, plan=BiasPlan(("none",), (0, 1), k=3, candidates=8), answers=True)
