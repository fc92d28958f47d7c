"""`equipoise bench qa` as people type it."""

import json

import pytest

from qa_town import questions, rows_of

ENDPOINT = "openai/tiny-1"


@pytest.fixture
def file(tmp_path):
    return questions(tmp_path)


@pytest.fixture
def endpoint(server, monkeypatch, run):
    """A loopback endpoint that replies with examples of whatever schema it is given."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return server


def test_without_a_model(run, file, tmp_path):
    code, out, err = run("bench", "qa", "--dataset", file, "--pipelines", "sentence", "--llm", "none")
    assert (code, err.strip()) == (0, "")
    assert out.splitlines() == [
        "town: 4 answers in qa-bench: tables.md, summary.json, results.jsonl",
    ]
    assert len(rows_of(tmp_path / "qa-bench")) == 4


def test_with_a_model_and_a_judge(run, endpoint, file, tmp_path):
    arguments = ["--pipelines", "vanilla,indexed", "--llm", ENDPOINT, "--judge", ENDPOINT, "--out", "out"]
    code, out, _ = run("bench", "qa", "--dataset", file, *arguments)
    assert code == 0
    said = out.splitlines()
    assert said[-2].startswith("town: 8 answers in out: tables.md")
    assert said[-1].startswith("asked for: ")
    assert f"asked for: {len(endpoint.received)} calls" in said[-1]
    meta = json.loads((tmp_path / "out" / "meta.json").read_text())
    assert (meta["judges"], meta["n"], meta["pipelines"]) == (["tiny-1"], 4, ["vanilla", "indexed"])
    assert "sk-test" not in (tmp_path / "out" / "meta.json").read_text()
    assert (tmp_path / "out" / "replies.db").exists()
    assert len(rows_of(tmp_path / "out", "judgements.jsonl")) == 8 * 3
    asked = len(endpoint.received)
    assert asked
    assert run("bench", "qa", "--dataset", file, *arguments)[0] == 0
    assert len(endpoint.received) == asked
    assert "Table 3" in (tmp_path / "out" / "tables.md").read_text()


def test_a_budget_stops_with_exit_code_0_and_says_what_is_left(run, endpoint, file):
    code, out, err = run("bench", "qa", "--dataset", file, "--llm", ENDPOINT, "--max-tokens", "1")
    assert (code, err.strip()) == (0, "")
    said = out.splitlines()[-1]
    assert "answers are left (" in said
    assert said.endswith("--max-tokens is 1): run the same command again to go on")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--dataset", "imagenet"], "there is no data set or file 'imagenet'"),
        (["--dataset", "squad2", "--data", "nowhere"], "name the folder that holds squad2 with --data"),
        (["--dataset", "squad2", "--split", "train"], "squad2 has no split 'train'"),
        (["--pipelines", "oracle"], "there is no pipeline 'oracle'"),
        (["--pipelines", ","], "no pipeline was named"),
        (["--pipelines", "vanilla"], "'vanilla' needs a language model"),
        (["--judge", "auto"], "--judge auto would hide who judges"),
        (["--judge", "parrot"], "there is no language model 'parrot'"),
        (["--without", "bells,ferry"], "no question of"),
    ],
)
def test_an_error_is_one_line(run, file, arguments, why):
    given = ["--dataset", file, "--pipelines", "sentence", "--llm", "none", *arguments]
    code, out, err = run("bench", "qa", *given)
    assert code in (2, 3)
    assert err.startswith("equipoise: ")
    assert why in err
    assert err.count("\n") == 1
    assert "answers in" not in out
