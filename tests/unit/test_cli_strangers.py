"""Every command with input that a stranger might give: one clear line, exit code 2 or 3, no traceback."""

import pytest

QUESTION = "When does the office open?"
DEEP = "[" * 100_000
ITEM = '{"item_id": "1", "question": "When?", "documents": [%s], "references": ["eight"]}'


@pytest.fixture
def folder(run, tmp_path, monkeypatch):
    """An index, and files that are none of what is asked for."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("The office opens at half past eight in the morning.")
    (tmp_path / "deep.jsonl").write_text(DEEP)
    (tmp_path / "junk.jsonl").write_text("junk\n")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\n")
    (tmp_path / "item.jsonl").write_text(ITEM % DEEP)
    (tmp_path / "loop").symlink_to("loop")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv", "stance.tsv"):
        (corpus / name).write_text(DEEP)
    run("index", "docs")
    monkeypatch.setenv("EQUIPOISE_MODEL_RETRIES", "0")
    return tmp_path


COMMANDS = [
    ["index"],
    ["index", ""],
    ["index", "loop"],
    ["index", "x" * 5000],
    ["index", "docs", "--store", "docs"],
    ["index", "docs", "--store", ""],
    ["index", "docs", "--trust", "magic"],
    ["ask", ""],
    ["ask", QUESTION, "--docs", ""],
    ["ask", QUESTION, "--docs", "loop"],
    ["ask", QUESTION, "--docs", "x" * 5000],
    ["ask", QUESTION, "--store", "x" * 5000],
    ["ask", QUESTION, "--store", "docs/a.md/x"],
    ["ask", QUESTION, "-k", "9" * 5000],
    ["ask", QUESTION, "-k", "nan"],
    ["ask", QUESTION, "--llm", "local/../../etc/passwd"],
    ["ask", QUESTION, "--llm", "azure/x"],
    ["chat", "--store", "nowhere.db"],
    ["models", "pull", ""],
    ["models"],
    ["config", "trust", "loop"],
    ["config", "trust", "x" * 5000],
    ["ebi", "plant", "deep.jsonl", "--kind", "adv_pos"],
    ["ebi", "plant", "docs", "--kind", "adv_pos"],
    ["ebi", "uproot", "--store", "docs/a.md"],
    ["ebi", "craft", "--question", ""],
    ["ebi", "craft", "--question", "Is it?", "--llm", "openai/m", "--synthetic", "1000000000"],
    ["ebi", "craft", "--question", "Is it?", "--llm", "openai/m", "--adversarial", "1000000000"],
    ["bench", "bias", "--corpus", "corpus", "--attacks", "deep.jsonl"],
    ["bench", "bias", "--corpus", "corpus", "--attacks", "junk.jsonl", "--candidates", "1000000000"],
    ["bench", "stance", "--corpus", "corpus"],
    ["bench", "stance", "--corpus", "corpus", "--out", "docs/a.md"],
    ["bench", "hijack", "--data", "docs", "--llm", "none", "--emails", "1000000000"],
    ["bench", "hijack", "--data", "docs", "--llm", "none", "--concurrency", "1000000000"],
    *(["bench", "qa", "--dataset", f"{name}.jsonl", "--llm", "none", "--pipelines", "sentence"]
      for name in ("deep", "junk", "bytes", "item", "nowhere")),
    ["bench", "qa", "--dataset", "squad2", "--llm", "none", "--pipelines", "sentence", "--data", ""],
    ["bench", "fetch", "nothing", "there"],
    ["bench", "fetch-llmail", "there", "--scenario", "magic"],
    ["train", "highlighter", "--data", "", "--base", "x"],
    ["train", "highlighter", "--data", "deep.jsonl", "--base", "x", "--learning-rate", "nan"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda command: " ".join(command)[:60])
def test_bad_input_is_one_clear_line(run, folder, arguments):
    code, out, err = run(*arguments)
    assert code in (2, 3)
    assert out == ""
    assert "should not happen" not in err
    assert "Traceback" not in err
    if len(arguments) > 1 or arguments == ["index"]:
        assert err.startswith("equipoise: ")
        assert err.count("\n") == 1
        assert len(err) < 6000
    else:
        assert err.startswith("Usage: equipoise")  # a group by itself shows its help


def test_a_chat_goes_on_after_an_error(run, folder, monkeypatch):
    lines = iter(["x" * 2_000_000, "\ud800", "\0", QUESTION, ""])
    monkeypatch.setattr("rich.console.Console.input", lambda *_: next(lines))
    code, out, _ = run("chat", "--llm", "none")
    assert code == 0
    assert "half past eight" in out
