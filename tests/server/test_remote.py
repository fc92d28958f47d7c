"""`ask --server` and `chat --server`: the same answers from a running server, without starting a model."""

import json
import socket

import pytest
from typer.testing import CliRunner

from equipoise.apps.cli import app
from equipoise.apps.remote import KEY, Remote
from equipoise.apps.server.keys import Scope
from equipoise.core.errors import InputError, QuestionError, ServerError

QUESTION = "Does logging work over a network?"
TWO = "Does logging work over a network? Who feeds the cats of the harbour?"


def timeless(fields):
    return {name: value for name, value in fields.items() if name != "timings"}


@pytest.mark.parametrize("question", [QUESTION, "Which colour has tuesday morning?", TWO])
def test_a_result_is_read_back_as_it_was(live, question):
    url, service = live()
    assert timeless(Remote.at(url).ask(question).to_dict()) == timeless(
        service.library.ask(question).to_dict()
    )


def test_ask_and_chat_print_what_they_print_without_a_server(live):
    url, _ = live()
    run = CliRunner()
    result = run.invoke(app, ["ask", QUESTION, "--server", url])
    assert "network filesystem" in result.output and "wal.txt" in result.output
    result = run.invoke(app, ["ask", QUESTION, "--server", url, "--json"])
    assert json.loads(result.stdout)["refused"] is False
    result = run.invoke(
        app, ["chat", "--server", url], input=f"{QUESTION}\nWho feeds the cats of the harbour?\n\n"
    )
    assert "network filesystem" in result.output and "fishermen" in result.output


def test_the_key_comes_from_the_environment(live, monkeypatch):
    url, service = live()
    secret = service.keys.create("asker", Scope.ASK)[1]
    with pytest.raises(InputError, match=KEY):
        Remote.at(url).ask(QUESTION)
    monkeypatch.setenv(KEY, secret)
    assert Remote.at(url).ask(QUESTION).trace.probability is None


def test_errors_are_one_sentence(live):
    url, _ = live()
    with pytest.raises(QuestionError):
        Remote.at(url).ask(" ")
    with pytest.raises(ServerError, match="no model"):
        Remote.at(url, "vanilla").ask(QUESTION)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ServerError, match="does it run"):
        Remote.at(f"http://127.0.0.1:{port}").ask(QUESTION)


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "http://", "http://a:b@host", "http://host:port", "http://h?q=1"]
)
def test_what_is_no_address(url):
    with pytest.raises(InputError):
        Remote.at(url)


def test_other_options_are_for_an_index_here(live):
    url, _ = live()
    result = CliRunner().invoke(app, ["ask", QUESTION, "--server", url, "-k", "3"])
    assert isinstance(result.exception, InputError)
