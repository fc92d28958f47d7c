"""The scripts of benchmarks/bias from end to end, on a tiny corpus with a scripted model: what they put beside them."""

import json
import sys
from pathlib import Path
from random import Random

import pytest

import bias_corpus
from bias_corpus import unrendered  # noqa: F401
from checkout import program
from equipoise.models.scripted import ScriptedChat
from test_bias_stances import reader

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
CONFIG = """
corpus = "corpus"
attacks = "attacks/passages.jsonl"
filters = ["none", "biasdef"]
injections = [0, 2]
rotations = 2
k = 3
candidates = 8

[own]
questions = 2
synthetic = 3
adversarial = 2
batch = 1
words = 30
attempts = 2
filters = ["none", "biasdef"]
injections = [0, 1, 2]

[answers]
llm = "none"
slots = 1
filters = ["none", "biasdef"]
injections = [0, 2]
rotations = 1
"""

SAID = """
bells ferry night fares sleep noise hours queues diesel islands tides lamps yes no good bad right wrong"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Runs a script of benchmarks/bias as if it stood in a folder of its own, with `chat` as its language model."""
    data, here = tmp_path / "data", tmp_path / "here" / "bias"
    bias_corpus.write(data)
    here.mkdir(parents=True)
    (here / "config.toml").write_text(CONFIG)

    def run(name, chat, *arguments):
        module = program(f"benchmarks/bias/{name}.py")
        monkeypatch.setattr(module, "HERE", here)
        monkeypatch.setattr("equipoise.rag.build.chat_model", lambda _: chat)
        shown = ["--data", str(data), *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *shown])
        module.main()
        return here

    return run


def test_points_and_answers_are_added_run_by_run(script, tmp_path):
    out = ("--out", tmp_path / "out")
    here = script("run", None, *out)
    assert not (here / "answers.jsonl").exists()
    script("run", reader(name="one"), *out, "--answers", "--likert", 2)
    script("run", reader(name="two"), *out, "--answers")
    page = (here / "table.md").read_text()
    for label in ("one, corpus", "two, corpus", "all, one"):
        assert f"| {label} |" in page
    assert page.count("Figure 4 in numbers") == 2
    for name in ("answers", "likert", "results", "passages"):
        assert '"text"' not in (here / f"{name}.jsonl").read_text()
    drawn = {path.stem for path in (here / "figures").glob("*.svg")}
    assert {"answers", "likert-one", "share-cdf", "ps-histogram"} <= drawn
    assert all(f"(figures/{name}.svg)" in page for name in drawn)
    before = {path: path.read_bytes() for path in sorted(here.rglob("*")) if path.is_file()}
    script("run", None, *out, "--table")
    assert {path: path.read_bytes() for path in sorted(here.rglob("*")) if path.is_file()} == before


def test_answers_from_elsewhere_are_rows_beside_ours(script, tmp_path):
    out = ("--out", tmp_path / "out")
    here = script("run", reader(name="one"), *out, "--answers")
    rows = [json.loads(line) for line in (here / "answers.jsonl").read_text().splitlines()]
    other = tmp_path / "other.jsonl"
    other.write_text(
        "".join(json.dumps(row | {"model": "far", "text": "never copied"}) + "\n" for row in rows)
    )
    script("run", None, *out, "--table", "--records", other)
    assert "| far, corpus |" in (here / "table.md").read_text()
    assert "never copied" not in (here / "answers.jsonl").read_text()


def author():
    """Writes synthetic and adversarial passages, and answers."""
    count = iter(range(10_000))

    def said(messages):
        text = next(message.content for message in messages if message.role == "user")
        number = next(count)
        body = " ".join(Random(number).choices(SAID.split(), k=30))
        if "Contextual Passages:" in text:
            return body
        if "Example Passage" not in text:
            article = {"viewpoint": f"view {number}", "stance": number % 5 - 2, "text": body}
            return json.dumps({"articles": [article]})
        return json.dumps({"text": body})

    return ScriptedChat(said, name="author")


def test_the_attack_by_the_papers_steps_on_another_corpus(script, tmp_path):
    corpus = tmp_path / "data" / "corpus"
    other = corpus.rename(tmp_path / "other-questions")
    chat = author()
    here = script("own", chat, "--corpus", other, "--llm", "none", "--out", tmp_path / "out", "--answers")
    published = here / "own-other-questions"
    page = (published / "table.md").read_text()
    assert "2 questions of other-questions, all passages by author" in page
    assert "| author, other-questions |" in page
    assert "ready-made" not in page
    assert '"text"' not in (published / "answers.jsonl").read_text()
    asked = len(chat.requests)
    script("own", chat, "--corpus", other, "--llm", "none", "--out", tmp_path / "out", "--answers")
    assert len(chat.requests) == asked
