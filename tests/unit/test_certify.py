"""`equipoise certify` and `equipoise budget`, over real files and a loopback endpoint that is killed, odd or honest."""

import json
import os
import re
import signal
import subprocess

import pytest

from chat_server import ChatServer, Say, completion
from equipoise.audit import record
from equipoise.audit.certify import checked
from equipoise.core.errors import InputError
from processes_cli import COMMAND, environment

FAQ = """# Returns

A return is free within thirty days of delivery. Nothing is refunded after one hundred days. Gift cards are never taken
back by anybody. A refund goes to the card that was used. It takes five working days at most.
"""
SMALL = """[highlight]
name = "indexed"
max_spans = 1
max_sentences_per_span = 2
[summarize]
name = "llm"
when = "always"
"""
SETS = 5 + 4
INPUTS = 2 * 5 + 1 + 2 + 1 + 2
"""Every sentence bears out a yes or a no, and may go without; two that deny and do not deny bear out none."""


class Scribe(ChatServer):
    """An endpoint that answers with the quotes; `change` makes something else of them, `dies` ends `process` with that
    request."""

    change = staticmethod(lambda text: text)
    process = None
    dies = 0

    def answer(self, body):
        if self.dies and len(self.received) == self.dies:
            os.kill(self.process.pid, signal.SIGKILL)
        quotes = re.findall(r"(?m)^- (.*)$", body["messages"][-1]["content"])
        return Say(body=completion(json.dumps({"answer": self.change(" ".join(quotes))})))


@pytest.fixture
def scribe(monkeypatch):
    with Scribe() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        yield server


@pytest.fixture
def faq(run, tmp_path):
    """A folder with an index of five sentences, and settings that make it small."""
    (tmp_path / "faq.md").write_text(FAQ, "utf-8")
    (tmp_path / "equipoise.toml").write_text(SMALL, "utf-8")
    assert run("index", "faq.md")[0] == 0
    return tmp_path


def lines(path):
    return path.read_text("utf-8").splitlines(keepends=True)


def test_every_input_is_tried_and_the_record_says_so(run, faq, scribe):
    code, out, _ = run("certify", "--json")
    said = json.loads(out)
    assert code == 0
    assert said["inputs"] == said["read_by_the_model"] == INPUTS
    assert said["answers_that_break_a_rule"] == 0
    bodies = [request.body["messages"] for request in scribe.received]
    assert len(bodies) == INPUTS
    assert 1 < len({json.dumps(body) for body in bodies}) < INPUTS  # a short paragraph is shown whole
    assert run("certify", "--check", "certificate.jsonl", "--store", ".equipoise/index.db")[0] == 0
    code, out, _ = run("budget", "--json")
    counted = json.loads(out)
    assert counted["question_sets_of_quotes"] == str(SETS)
    assert counted["sets_are_exact"]
    assert int(counted["question_inputs"]) == 2 * SETS >= INPUTS


def test_an_answer_that_breaks_a_rule_is_named(run, faq, scribe):
    """Three marks add no word, so the support check has nothing against them; the rules do."""
    scribe.change = lambda text: f"```{text}```"
    code, out, err = run("certify")
    assert code == 3
    assert "has markup that no quote has" in out
    assert "input 0: has markup that no quote has: ```" in err
    assert run("certify", "--check", "certificate.jsonl", "--store", ".equipoise/index.db")[0] == 3


def test_an_invented_link_is_replaced_by_the_quotes_and_counted(run, faq, scribe):
    scribe.change = lambda text: f"See https://evil.example/refund: {text}"
    code, out, _ = run("certify", "--json")
    said = json.loads(out)
    assert code == 0
    assert said["replaced_by_the_quotes"] == INPUTS


def test_after_a_kill_it_goes_on_where_it_was(faq, scribe):
    env = environment(faq, OPENAI_BASE_URL=scribe.url, OPENAI_API_KEY="sk-none")
    scribe.dies = 6
    with subprocess.Popen([*COMMAND, "certify"], cwd=faq, env=env) as scribe.process:
        assert scribe.process.wait(550) == -signal.SIGKILL
    begun = lines(faq / "certificate.jsonl")
    assert len(begun) == 1 + 5
    with (faq / "certificate.jsonl").open("a") as file:
        file.write('{"half a li')
    scribe.dies = 0
    scribe.received.clear()
    done = subprocess.run(
        [*COMMAND, "certify"], cwd=faq, env=env, timeout=550, check=True, capture_output=True
    )
    assert b"5 of 16 inputs were tried before" in done.stderr
    assert len(scribe.received) == INPUTS - 5
    assert lines(faq / "certificate.jsonl")[:6] == begun
    assert len(checked(faq / "certificate.jsonl").rows) == INPUTS


def test_other_settings_do_not_go_on_with_a_record(run, faq, scribe):
    assert run("certify")[0] == 0
    path = faq / "certificate.jsonl"
    path.write_text("".join(lines(path)[:4]), "utf-8")
    (faq / "equipoise.toml").write_text(SMALL.replace("span = 2", "span = 1"), "utf-8")
    code, _, err = run("certify")
    assert code == 2
    assert "was begun with another deployment, settings, inputs, inputs_digest" in err


def test_a_deployment_that_is_too_large_is_refused_with_what_would_make_it_small(run, faq, scribe):
    code, _, err = run("certify", "--most", "10")
    assert code == 2
    assert "one question can choose among 18 inputs here, and at most 10 are certified" in err
    assert "highlight.max_spans = 1 and highlight.max_sentences_per_span = 1 there would be 10" in err
    assert not scribe.received


def test_what_takes_long_wants_a_yes(run, faq, scribe, monkeypatch):
    from equipoise.apps import certify

    monkeypatch.setattr(certify, "UNASKED_S", 0.0)
    code, _, err = run("certify")
    assert code == 2
    assert "13 inputs are left" in err
    assert "--yes" in err
    assert run("certify", "--yes")[0] == 0
    assert len(scribe.received) == INPUTS


@pytest.mark.parametrize("row", [0, 3, -1])
def test_a_changed_record_is_noticed(run, faq, scribe, row):
    assert run("certify")[0] == 0
    path = faq / "certificate.jsonl"
    whole = lines(path)
    whole[row] = whole[row].replace('"', '" ', 1) if row else whole[row].replace("gpt-4.1-mini", "gpt-4.1")
    changed = json.loads(whole[row])
    changed["inputs" if row in (0, -1) else "answer"] = 3
    whole[row] = json.dumps(changed) + "\n"
    path.write_text("".join(whole), "utf-8")
    code, _, err = run("certify", "--check", "certificate.jsonl")
    assert code == 2
    assert "was changed" in err


def test_a_forged_record_is_noticed_by_the_key_and_by_the_index(run, faq, scribe):
    (faq / "key").write_text("a secret of the operator", "utf-8")
    assert run("certify", "--key", "key")[0] == 0
    path = faq / "certificate.jsonl"
    assert run("certify", "--check", path, "--key", "key")[0] == 0
    true = record.read(path)
    path.unlink()
    writer = record.Writer(path)
    header = {name: value for name, value in true.header.items() if name != "kind"}
    writer.add(record.HEADER, header)
    for row in true.rows:
        writer.add(record.ROW, {**row, "answer": "Everything is refunded within 99 days."})
    end = {name: value for name, value in true.end.items() if name not in ("kind", "signature")}
    writer.close(end, b"another secret there")
    assert run("certify", "--check", path)[0] == 0  # the chain is whole, and nobody asked for the key
    code, _, err = run("certify", "--check", path, "--key", "key")
    assert (code, "was not signed with this key" in err) == (2, True)
    code, _, err = run("certify", "--check", path, "--store", ".equipoise/index.db")
    assert (code, "is not what it says" in err) == (2, True)


def test_what_is_no_record_is_one_clear_sentence(run, faq):
    for text in ("", "{}\n", "[1]\n", "\0", '{"kind": "header", "hash": "x"}\n'):
        (faq / "odd.jsonl").write_text(text, "utf-8")
        code, _, err = run("certify", "--check", "odd.jsonl")
        assert code == 2
        assert err.startswith("equipoise: odd.jsonl")
    assert run("certify", "--check", "nowhere.jsonl")[0] == 2
    with pytest.raises(InputError, match="cannot be read"):
        checked(faq / "nowhere.jsonl")


def test_the_budget_is_shown_for_people(run, faq):
    code, out, _ = run("budget", "--llm", "local")
    assert code == 0
    assert "5 sentences in 1 passage of 1 document" in out
    assert f"one question, here: at most {2 * SETS} inputs" in out
    assert "highlight.max_sentences_per_span" in out
