"""`equipoise attack` in one process, over real files and a loopback endpoint."""

import json
from pathlib import Path

import pytest

from chat_server import ChatServer, Say, completion
from equipoise.corpus.store import Store
from equipoise_lab.attacks.passages import Kind, read_passages

QUESTION = "Should tea be served in offices?"
SIDES = (
    "Tea helps people focus on their work",
    "Tea stains cups and wastes time",
    "Coffee is what most people want",
)


class Writer(ChatServer):
    """An endpoint that writes articles: three views, and then one new text for each request."""

    def answer(self, body):
        if self.says:
            return self.says.popleft()
        if "diverse" not in body["messages"][-1]["content"]:
            words = " ".join(f"word{len(self.received)}x{n}" for n in range(25))
            return Say(body=completion(json.dumps({"text": f"Tea in offices: {words}."})))
        views = [
            {"viewpoint": side[:9], "stance": stance, "text": f"{side}, {' '.join([side.lower()] * 4)}."}
            for side, stance in zip(SIDES, (2, -2, 0), strict=True)
        ]
        return Say(body=completion(json.dumps({"articles": views})))


@pytest.fixture
def writer(monkeypatch):
    with Writer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        yield server


@pytest.fixture
def store(run, tmp_path):
    (tmp_path / "office.md").write_text("# Office\n\nThe office opens at half past eight in the morning.\n")
    (tmp_path / "kitchen.md").write_text(
        "# Kitchen\n\nTea and coffee are served in the kitchen of the office.\n"
    )
    assert run("index", "office.md", "kitchen.md")[0] == 0
    return tmp_path / ".equipoise" / "index.db"


COMMAND = (
    "ebi",
    "craft",
    "--question",
    QUESTION,
    "--llm",
    "openai/tiny",
    "--synthetic",
    "3",
    "--adversarial",
    "2",
)


def test_an_attack_is_written_and_shown_beside_the_store(run, writer, store, tmp_path):
    before = store.read_bytes()
    code, out, err = run(*COMMAND, "--out", "a.jsonl", "--store", store)
    assert (code, err) == (0, "")
    passages = read_passages(tmp_path / "a.jsonl")
    assert [p.kind for p in passages].count(Kind.ADV_POS) == 2
    assert len(passages) == 7
    assert all(p.measures.property_1 is not None for p in passages)
    assert "property 1" in out
    assert "positive: both properties" in out
    assert "7 passages in a.jsonl" in out
    assert store.read_bytes() == before
    ranked = next(line for line in out.splitlines() if "-pos01" in line).split("│")
    measures = next(p.measures for p in passages if p.passage_id.endswith("pos01"))
    assert ranked[4].strip() == f"{measures.ss:.3f}"
    assert (ranked[6].strip() == "1") == measures.property_1


def test_a_second_run_asks_nothing(run, writer, tmp_path):
    assert run(*COMMAND)[0] == 0
    asked = len(writer.received)
    assert run(*COMMAND)[0] == 0
    assert len(writer.received) == asked == 5
    assert len(read_passages(tmp_path / "ebi-passages.jsonl")) == 7


def test_what_is_missing_is_said_on_stderr_with_exit_code_3(run, writer):
    writer.says += [Writer.answer(writer, {"messages": [{"content": "diverse"}]})]
    writer.says += [Say(body=completion(json.dumps({"text": "No."}))) for _ in range(4)]
    code, out, err = run(*COMMAND[:-1], "1", "--sign", "negative")
    assert code == 3
    assert err.strip() == "missing: adv_neg 1: it has 1 words, 20 are the least (4 tries)"
    assert "3 passages in" in out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--question", " "), 2, "the question is empty"),
        (("--question", "Q?", "--adversarial", "0"), 2, "adversarial is 0: give at least 1"),
        (("--question", "Q?", "--llm", "none"), 3, "needs a language model"),
        (("--question", "Q?", "--llm", "openai/x", "--store", "no.db"), 3, "there is no store at no.db"),
        (
            ("--question", "Q?", "--llm", "openai/x", "--out", "bad.jsonl"),
            2,
            "bad.jsonl:1: not a row of results",
        ),
    ],
)
def test_a_fault_is_one_clear_line(run, writer, arguments, code, said):
    Path("bad.jsonl").write_text("{\n{}\n")
    exit_code, _, err = run("ebi", "craft", *arguments)
    assert exit_code == code
    assert err.startswith("equipoise: ")
    assert said in err
    assert err.count("\n") == 1
    assert writer.received == []


def test_planting_and_uprooting_by_command(run, writer, store):
    assert run(*COMMAND)[0] == 0
    with Store.open(store, read_only=True) as opened:
        before = opened.digest()
    assert run("ebi", "plant", "ebi-passages.jsonl", "--kind", "adv_neg", "--count", 1)[:2] == (
        0, "1 document planted in .equipoise/index.db\n",
    )  # fmt: skip
    with Store.open(store, read_only=True) as opened:
        assert opened.digest() != before
    assert run("ebi", "uproot")[1] == "1 document taken out of .equipoise/index.db\n"
    assert run("ebi", "uproot")[1] == "0 documents taken out of .equipoise/index.db\n"
    with Store.open(store, read_only=True) as opened:
        assert opened.digest() == before


def test_planting_nothing_is_a_fault(run, writer, store):
    assert run(*COMMAND, "--sign", "positive")[0] == 0
    code, _, err = run("ebi", "plant", "ebi-passages.jsonl", "--kind", "adv_neg")
    assert code == 2
    assert "holds no passages of the kind adv_neg" in err
