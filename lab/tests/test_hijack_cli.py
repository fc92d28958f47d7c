"""`equipoise bench hijack` as people type it, against a chat server on the loopback."""

import json

import pytest

import hijack_data
from chat_server import Say, completion


@pytest.fixture
def ask(run, server, tmp_path, monkeypatch):
    """Run the benchmark on the small data with the server as its model."""
    data = hijack_data.write(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    few = ("--emails", "3", "--prompts", "2", "--look-alikes", "1", "--limit", "1")
    return lambda *options: run("bench", "hijack", "--data", data, "--llm", "openai/tiny", *few, *options)


def test_a_run_writes_everything_and_goes_on_without_asking(ask, server, tmp_path):
    server.says.append(Say(body=completion(hijack_data.CALL)))
    code, out, error = ask("--pipelines", "vanilla", "--out", "out")
    assert (code, error.strip()) == (0, "")  # a progress bar may have come and gone
    assert out == "6 cases in out: tables.md, summary.json, results.jsonl\n"
    asked = len(server.received)
    assert asked == 6
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["attacks"][0]["called"]["k"] == summary["attacks"][0]["valid"]["k"] == 1
    assert summary["config"]["llm"] == "tiny"
    assert "Table 8" in (tmp_path / "out" / "tables.md").read_text()
    results = (tmp_path / "out" / "results.jsonl").read_bytes()
    (tmp_path / "out" / "results.jsonl").unlink()
    assert ask("--pipelines", "vanilla", "--out", "out")[0] == 0
    assert len(server.received) == asked  # from replies.db
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == results


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--pipelines", "magic"], "there is no pipeline 'magic'"),
        (["--pipelines", ","], "no pipeline was named"),
        (["--emails", "7"], "3 e-mails, 7 are wanted"),
        (["--attacks", "nothing.jsonl"], "nothing.jsonl cannot be read"),
        (["--llm", "none"], "needs a language model"),
        (["--concurrency", "0"], "concurrency is 0"),
    ],
)
def test_an_error_is_one_line(ask, server, options, why):
    code, out, error = ask("--out", "out", *options)
    assert code in (2, 3)
    assert out == ""
    assert error.startswith("equipoise: ")
    assert why in error
    assert error.count("\n") == 1
    assert server.received == []


def test_the_full_set_is_fetched_by_scenario(run, tmp_path):
    code, _, error = run("bench", "fetch-llmail", tmp_path / "there", "--scenario", "level4a")
    assert code == 2
    assert "write one of level1, level2, level3" in error
