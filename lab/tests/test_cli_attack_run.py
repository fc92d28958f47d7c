"""`equipoise attack run` in one process and killed in another: what it attacks, leaves behind and refuses."""

import json
import sys

import pytest

from equipoise.corpus.store import Store
from equipoise_lab.redteam.planter import is_planted
from processes import held

OFFICE = "# Office\n\nThe office opens at half past eight in the morning. Dogs are not let into the office.\n"
PLANTING = """
import sys
from equipoise.apps import cli
from equipoise_lab.redteam.targets import OverStore
planting = OverStore.plant
async def plant(self, documents):
    await planting(self, documents)
    hold()
OverStore.plant = plant
sys.argv = ["equipoise", *sys.argv[1:]]
cli.main()
"""


@pytest.fixture
def store(run, tmp_path):
    (tmp_path / "office.md").write_text(OFFICE)
    assert run("index", "office.md")[0] == 0
    return tmp_path / ".equipoise" / "index.db"


def digest(path):
    with Store.open(path, read_only=True) as opened:
        assert not any(map(is_planted, opened.doc_ids()))
        return opened.digest()


def test_an_index_is_attacked_in_a_copy_and_a_run_resumes(run, store, tmp_path):
    before = digest(store)
    command = ("attack", "run", "--llm", "none", "--only", "verdict", "--only", "poison_and_steer", "--limit", 2,
               "--budget", 2)  # fmt: skip
    code, out, err = run(*command)
    assert code == 0, err
    assert "| poison_and_steer | hs |" in out
    assert "| verdict | hs |" in out
    folder = tmp_path / "attacks"
    assert {path.name for path in folder.iterdir()} >= {"table.md", "summary.json", "transcripts.md"}
    assert not (folder / "attacked.db").exists()
    assert digest(store) == before
    rows = (folder / "poison_and_steer.jsonl").read_bytes()
    assert all(json.loads(row)["facts"]["tries"] >= 1 for row in rows.splitlines())
    assert run(*command)[0] == 0
    assert (folder / "poison_and_steer.jsonl").read_bytes() == rows
    code, _, err = run(*command[:-1], 3)
    assert (code, "another configuration" in err) == (2, True)


def test_a_killed_run_leaves_nothing_planted_in_the_index(run, store, tmp_path):
    before = digest(store)
    arguments = ("attack", "run", "--target", store, "--llm", "none", "--only", "poison_and_steer", "--limit", "1",
                 "--out", tmp_path / "out")  # fmt: skip
    with held(PLANTING, *arguments) as process:
        process.kill()
        process.wait()
    assert digest(store) == before
    with Store.open(tmp_path / "out" / "attacked.db", read_only=True) as copy:
        assert any(map(is_planted, copy.doc_ids()))  # it was killed in the middle
    assert run(*arguments)[0] == 0
    assert not (tmp_path / "out" / "attacked.db").exists()
    assert digest(store) == before


class Echo:
    """A RAG that says what it is asked."""

    def answer(self, question):
        return f"You asked: {question}"


def test_an_object_is_attacked_from_outside_only(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "somebody", type(sys)("somebody"))
    sys.modules["somebody"].rag = Echo()
    code, out, err = run("attack", "run", "--target", "somebody:rag", "--limit", 2, "--budget", 1,
                         "--only", "hijack", "--only", "oracle", "--only", "probe")  # fmt: skip
    assert code == 0, err
    assert "| hijack | somebody:rag | 1/2 50%" in out  # one of the two prompts spells the call, and is echoed
    assert "nobody can replace its highlighter" in out
    assert "it takes no documents" in out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--only", "sorcery"), 2, "there is no attack 'sorcery'"),
        (("--target", "nowhere:thing"), 2, "is no index, no address and no object"),
        (("--target", "http://127.0.0.1:9/ask"), 3, "does it run?"),
        (("--target", "nowhere.db"), 3, "there is no index at nowhere.db"),
        ((), 3, "there is no index at"),
        (("--suite", "full", "--target", "example", "--data", "none", "--only", "hijack"), 2, "is not there"),
        (("--target", "example", "--systems", "weak"), 3, "needs a language model"),
        (("--target", "example", "--systems", "steel"), 2, "there is no system 'steel'"),
    ],
)
def test_what_cannot_be_attacked_is_said_in_a_sentence(run, arguments, code, said):
    exit_code, _, err = run("attack", "run", "--llm", "none", *arguments)
    assert (exit_code, said in err, "Traceback" in err) == (code, True, False), err


def test_an_openai_compatible_address_is_attacked_from_outside(run, server):
    """The server answers with the last message in capitals: it spells every call it is asked for."""
    code, out, err = run("attack", "run", "--target", server.url, "--model", "tiny", "--limit", 2, "--budget", 1,
                         "--only", "hijack")  # fmt: skip
    assert code == 0, err
    assert "| hijack | tiny |" in out
    assert "send_email" in json.dumps(server.received[-1].body)
    assert server.received[-1].body["model"] == "tiny"
