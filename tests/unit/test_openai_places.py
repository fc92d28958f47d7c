"""Where OpenAIChat finds its model, what it keeps secret, and how it lives with event loops."""

import asyncio
import gc
import traceback
import warnings

import pytest

from chat_server import KEY, Say, completion, error
from equipoise.core.errors import ModelReplyError, ModelUnavailable, SettingsError
from equipoise.core.types import Message
from equipoise.models.openai import NO_KEY, OpenAIChat
from openai_client import HELLO, ask, chat


def failure_of(model, kind, **how):
    with pytest.raises(kind) as caught:
        asyncio.run(model.complete(HELLO, **how))
    return caught.value


# where the model is


def test_a_missing_key_says_which_variable():
    with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY"):
        OpenAIChat("gpt-x", api_key=" ")
    with pytest.raises(ModelUnavailable, match="set AZURE_OPENAI_API_KEY"):
        OpenAIChat("gpt-x", azure_endpoint="https://a.example", api_version="2024-10-21")


def test_a_local_endpoint_needs_no_key_and_gets_none_of_ours(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    ask(OpenAIChat("tiny-1", base_url=server.url))
    assert server.received[0].headers["authorization"] == f"Bearer {NO_KEY}"


def test_white_space_around_a_key_is_left_out(server):
    ask(OpenAIChat("tiny-1", base_url=server.url, api_key=f"{KEY}\n"))
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


def test_azure_has_its_own_url_and_header(server):
    endpoint = server.url.removesuffix("/v1") + "/"
    model = OpenAIChat("my deployment", azure_endpoint=endpoint, api_key=KEY, api_version="2024-10-21")
    assert ask(model).text == "HELLO"
    (got,) = server.received
    assert got.path == "/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21"
    assert got.headers["api-key"] == KEY
    assert KEY not in got.headers.get("authorization", "")
    assert model.name == "my deployment"


@pytest.mark.parametrize(
    "settings",
    [
        {"base_url": "localhost:8000/v1"},
        {"base_url": "ftp://host/v1"},
        {"base_url": "http://"},
        {"base_url": "http://host:port/v1"},
        {"base_url": "http://[::1/v1"},
        {"base_url": "http://h/v1", "azure_endpoint": "https://a.example"},
        {"azure_endpoint": "https://a.example", "api_key": KEY},
        {"base_url": "http://h/v1", "timeout_s": 0},
        {"base_url": "http://h/v1", "max_retries": -1},
        {"api_key": "sk-two\nlines"},
        {"api_key": "sk-ünïcode"},
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(settings):
    with pytest.raises(SettingsError) as caught:
        OpenAIChat("m", **settings)
    assert "sk-" not in str(caught.value)


# secrets


@pytest.mark.parametrize(
    "say",
    [
        Say(400, error(f"your key {KEY} has a bad prompt")),
        Say(401, error(f"Incorrect API key provided: {KEY}")),
        Say(500, error(f"crashed with {KEY}")),
        Say(body=b"<html>" + KEY.encode(), content_type="text/html"),
        Say(hang_up=True),
    ],
)
def test_the_key_is_in_no_message_and_no_traceback(server, say):
    server.says.append(say)
    address = server.url.replace("http://", "http://user:hunter2@") + "?token=hunter2"
    model = chat(server, max_retries=0, base_url=address)
    failure = failure_of(model, (ModelUnavailable, ModelReplyError))
    shown = "".join(traceback.format_exception(failure)) + repr(model) + str(model) + str(vars(model))
    assert KEY not in shown
    assert failure.__cause__ is None
    assert failure.__context__ is None
    assert "hunter2" not in str(failure) + repr(model)


# loops and tasks


def test_many_at_once_share_connections_and_keep_their_replies_apart(server):
    model = chat(server)

    async def ask_all():
        await model.complete(HELLO)
        return await asyncio.gather(*(model.complete([Message("user", f"word {i}")]) for i in range(40)))

    assert [r.text for r in asyncio.run(ask_all())] == [f"WORD {i}" for i in range(40)]
    assert len(server.received) == 41


def test_one_loop_reuses_its_connection_and_the_next_has_its_own(server):
    model = chat(server)

    async def ask_twice():
        await model.complete(HELLO)
        await model.complete(HELLO)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        asyncio.run(ask_twice())
        asyncio.run(ask_twice())
        gc.collect()
    assert [r.connection for r in server.received] == [1, 1, 2, 2]
    assert [str(w.message) for w in seen if issubclass(w.category, ResourceWarning)] == []
    assert model._clients == {}


def test_a_loop_that_was_closed_without_goodbye_is_forgotten(server):
    model = chat(server)
    rude = asyncio.new_event_loop()
    rude.run_until_complete(model.complete(HELLO))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        rude.close()
        assert ask(model).text == "HELLO"
        gc.collect()
    assert model._clients == {}


def test_aclose_closes_and_the_next_request_opens_again(server):
    async def open_close_open(model):
        await model.complete(HELLO)
        await model.aclose()
        await model.aclose()
        await model.complete(HELLO)

    asyncio.run(open_close_open(chat(server)))
    assert [r.connection for r in server.received] == [1, 2]


def test_a_cancelled_request_does_not_harm_the_next(server):
    server.says.append(Say(body=completion("slow"), pause=0.5))
    model = chat(server)

    async def give_up_then_ask():
        waiting = asyncio.create_task(model.complete(HELLO))
        while server.says:  # noqa: ASYNC110 - the server is a thread; until it has begun its answer
            await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return await model.complete(HELLO)

    assert asyncio.run(give_up_then_ask()).text == "HELLO"
