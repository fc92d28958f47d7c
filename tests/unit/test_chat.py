"""`equipoise chat`: a question that follows an earlier one is read with it, and says so; nothing else is remembered."""

import json

import pytest

from chat_server import Say, completion
from processes_cli import environment, piped

OPENS = "When does the office of the harbour master open?"
OFFICE = (
    "# Harbour\n\nThe office of the harbour master opens at half past eight in the morning.\n\n"
    "The harbour master is elected by the owners of the boats every second year.\n\n"
    "Parking is free for visitors.\n"
)
READ_AS = "read as: "
TO_AN_ENDPOINT = {
    "EQUIPOISE_SUMMARIZE_WHEN": "always",
    "EQUIPOISE_HIGHLIGHT_NAME": "structured",
}


@pytest.fixture
def office(run, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "office.md").write_text(OFFICE)
    assert run("index", "docs")[0] == 0
    return tmp_path


@pytest.fixture
def typed(monkeypatch):
    def types(*lines):
        given = iter([*lines, ""])
        monkeypatch.setattr("rich.console.Console.input", lambda *_: next(given))

    return types


def read_as(out):
    return [line.partition(READ_AS)[2] for line in out.splitlines() if READ_AS in line]


def test_follow_ups_over_a_pipe(office):
    lines = f"{OPENS}\nAnd who elects him?\nIs parking free?\nThanks!\nFor visitors?\n"
    done = piped(
        "chat", "--llm", "none", cwd=office, env=environment(office), input=lines.encode(), stdin=None
    )
    out = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert read_as(out) == [f"{OPENS} And who elects him?", "Is parking free? For visitors?"]
    assert out.index("half past eight") < out.index(READ_AS) < out.rindex("elected by the owners")


def test_what_could_not_be_asked_is_not_remembered(run, office, typed):
    typed(OPENS, "x" * 5000, "And who elects him?")
    code, out, _ = run("chat", "--llm", "none")
    assert code == 0
    assert read_as(out) == [f"{OPENS} And who elects him?"]


def test_an_earlier_question_is_left_out_where_both_are_too_long(run, office, typed):
    typed(f"{OPENS} {'a' * 3950}", "And who elects him?")
    assert read_as(run("chat", "--llm", "none")[1]) == []


def test_a_session_ends_with_chat(run, office, typed):
    typed(OPENS)
    run("chat", "--llm", "none")
    typed("And who elects him?")
    assert read_as(run("chat", "--llm", "none")[1]) == []


def test_what_begins_with_a_slash_is_a_command(run, office, typed):
    typed(OPENS, "/new", "And who elects him?", "/sources", "/help", "/nothing")
    code, out, _ = run("chat", "--llm", "none")
    assert code == 0 and read_as(out) == []
    assert "forgotten" in out and "about: Harbour" in out
    assert out.count("/new forgets") == 2 and out.count("There is no such command") == 1


@pytest.fixture
def endpoint(office, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    for name, value in TO_AN_ENDPOINT.items():
        monkeypatch.setenv(name, value)
    return server


@pytest.mark.parametrize("split", ["true", "false"])
def test_nothing_that_a_model_wrote_or_quoted_is_remembered(run, endpoint, typed, monkeypatch, split):
    monkeypatch.setenv("EQUIPOISE_QUESTION_SPLIT", split)
    quote = "The office of the harbour master opens at half past eight in the morning."
    picked = json.dumps({"answer": "At 8:30, CANARY.", "text_extracts": [quote]})
    written = json.dumps(
        {"answer": "The office of the harbour master opens at half past eight, in the morning."}
    )
    endpoint.says += [Say(body=completion(text)) for text in (picked, written) * 2]
    typed(OPENS, "And who elects him?")
    code, out, err = run("chat")
    assert (code, len(endpoint.received), read_as(out)) == (0, 4, [f"{OPENS} And who elects him?"]), err
    assert (out.count(f"    {quote}\n"), out.count("\nAnswer\n")) == (2, 2)
    first, summary, second, other = [request.body["messages"] for request in endpoint.received]
    assert summary == other
    assert "elects him" not in str(other)
    assert str(second) == str(first).replace(OPENS, f"{OPENS} And who elects him?")


def test_json_says_what_parts_were_read_as(run, office):
    message = f"{OPENS} Is parking free? Who is it for?"
    shown = json.loads(run("ask", message, "--llm", "none", "--json")[1])
    assert shown["read_as"] is None
    assert [part["read_as"] for part in shown["sub_answers"]] == [
        None,
        None,
        "Is parking free? Who is it for?",
    ]
