"""Endpoints that mean harm or are broken: where requests go, how much is read, and what is believed of it."""

import asyncio
import gzip
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat_server import KEY, ChatServer, Say, completion, error, faithful
from equipoise.core.errors import ModelError, ModelReplyError, ModelUnavailable, SettingsError
from equipoise.core.types import ChatOptions, ChatReply, TokenLogprob, Usage
from equipoise.models.address import address
from equipoise.models.failures import wait_s
from equipoise.models.odds import is_logprob, yes_odds
from equipoise.models.openai import OpenAIChat
from equipoise.models.transport import MOST_BYTES
from openai_client import HELLO, ask, chat


def failure_of(model, kind, **how):
    with pytest.raises(kind) as caught:
        asyncio.run(model.complete(HELLO, **how))
    return str(caught.value)


# where requests go


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_no_redirect_is_followed(server, status, elsewhere):
    with ChatServer() as other:
        target = (other if elsewhere else server).url + "/chat/completions"
        server.says.append(Say(status, error("moved"), {"Location": target}))
        message = failure_of(chat(server), ModelUnavailable)
    assert f"{server.url} sends requests on to another address ({status})" in message
    assert other.received == []
    assert len(server.received) == 1


def test_what_the_environment_adds_goes_to_no_endpoint_of_ones_own(server, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: token-secret\nAuthorization: Bearer other-secret")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "ad-secret")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "admin-secret")
    ask(chat(server))
    azure = {"azure_endpoint": server.url.removesuffix("/v1"), "api_version": "2024-10-21"}
    ask(OpenAIChat("m", api_key=KEY, **azure))
    own, of_azure = (got.headers for got in server.received)
    assert "secret" not in json.dumps([own, of_azure])
    assert own["authorization"] == f"Bearer {KEY}"
    assert of_azure["api-key"] == KEY


def test_proxies_of_the_environment_are_used_and_no_proxy_is_heeded(server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, server.url.removesuffix("/v1"))
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert ask(OpenAIChat("m", base_url="http://models.example/v1")).text == "HELLO"
    assert server.received[0].path == "http://models.example/v1/chat/completions"
    with ChatServer() as direct:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        ask(chat(direct))
    assert [got.path for got in direct.received] == ["/v1/chat/completions"]
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://ho st/v1", "http://host/v 1", "http://host\n/v1", "http://host/v1\x00", "http://\x1b[2Jhost/v1",
        "http://host:99999/v1", "http://host:-1/v1", "http://host:0x50/v1", "http://:80/v1", "http:///v1", "http://",
        "http://☃︎.\u202eexample/v1", "http://a..b/v1", f"http://{'a' * 64}.example/v1",
        f"http://{'a.' * 200}example/v1", f"http://host/{'v' * 3_000}", f"http://{'ü' * 5_000}.example/v1",
        "http://[::1/v1", "http://[::zz]/v1", "http://a%20b/v1", "http://good.example\\@evil.example/v1",
        "//host/v1", "javascript:alert(1)", "", " ", "http://us er:hunter2@host/v1", "http://host/\ud800",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_used_is_one_clear_error(url):
    with pytest.raises(
        SettingsError, match=r"the model's base URL .*must look like https://host/v1"
    ) as caught:
        address(url)
    message = str(caught.value)
    assert len(message) < 300
    assert message.isprintable()
    assert "hunter2" not in message


@pytest.mark.parametrize(
    ("url", "connected", "shown"),
    [
        ("http://Host:8000/v1/", "http://host:8000/v1", "http://host:8000/v1"),
        ("https://u:hunter2@host/v1?k=1#f", "https://u:hunter2@host/v1?k=1", "https://host/v1"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1", "http://[::1]:80/v1"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1", "https://xn--bcher-kva.example/v1"),
        ("http://my_host/v1", "http://my_host/v1", "http://my_host/v1"),
    ],
)
def test_an_address_is_brought_into_one_form(url, connected, shown):
    assert address(url)[:2] == (connected, shown)


@given(st.text(max_size=40) | st.from_regex(r"https?://(xn--)?[^/]{1,20}(/.*)?", fullmatch=True))
@settings(deadline=None)
def test_any_address_is_usable_or_a_settings_error(url):
    """Usable: the client takes it, connecting to the host that was checked."""
    try:
        place = address(url)
    except SettingsError:
        return
    model = OpenAIChat("m", base_url=url)
    host = asyncio.run(_host(model))
    assert place.shown.split("//")[1].partition("/")[0] in {host, f"[{host}]"} or ":" in place.shown[6:]


async def _host(model):
    client = await model._client()
    return client.base_url.raw_host.decode("ascii")


def test_a_password_of_the_address_is_nowhere(server):
    address_with = server.url.replace("http://", "http://user:hunter2@")
    model = chat(server, base_url=address_with)
    server.says.append(Say(400, error("bad login user:hunter2 for " + address_with)))
    message = failure_of(model, ModelUnavailable)
    assert "hunter2" not in message + repr(model) + str(vars(model))


# how much is read


def test_an_endless_answer_is_left(server):
    server.says.append(Say(body=b'{"choices": [', endless=b"[]," * 10_000))
    assert "sent an answer of more than 2 MiB" in failure_of(chat(server), ModelReplyError)
    assert len(server.received) == 1


def test_an_endless_error_is_left(server):
    server.says.append(Say(400, b'{"error": "', endless=b"x" * 10_000))
    assert "refused the request" in failure_of(chat(server), ModelUnavailable)


@pytest.mark.parametrize("times", [1, 2])
def test_an_answer_that_swells_is_left(server, times):
    data = b" " * (64 << 20)
    for _ in range(times):
        data = gzip.compress(data, 1)
    encoding = {"Content-Encoding": ", ".join(["gzip"] * times)}
    server.says.append(Say(body=data, headers=encoding))
    assert "sent an answer of more than 2 MiB" in failure_of(chat(server), ModelReplyError)


def test_compression_is_not_asked_for_and_is_understood(server):
    data = gzip.compress(json.dumps(completion("fine")).encode())
    server.says.append(Say(body=data, headers={"Content-Encoding": "gzip"}))
    assert ask(chat(server)).text == "fine"
    assert server.received[0].headers["accept-encoding"] == "identity"


def test_an_answer_of_the_most_bytes_is_read(server):
    body = json.dumps(completion("fine")).encode()
    server.says.append(Say(body=body + b" " * (MOST_BYTES - len(body))))
    assert ask(chat(server)).text == "fine"


@pytest.mark.parametrize(
    "say",
    [
        Say(body=b"[" * 1_000_000),
        Say(body=b'{"choices":' * 100_000),
        Say(body=b'{"choices": [{"message": {"content": "hi"}}], "usage": ' + b"[" * 1_000_000),
        Say(body=b"1" * 1_000_000),
        Say(400, b"[" * 1_000_000),
        Say(400, b'{"error":' * 6_000),
        Say(body=completion("hi"), headers={"X-Long": "x" * 200_000}),
        Say(body=completion("hi"), headers={"Content-Encoding": "gzip"}),
        Say(body=completion("hi"), headers={"Content-Encoding": "gzip, " * 20 + "gzip"}),
        Say(299, b""),
        Say(204, b""),
    ],
)
def test_a_broken_answer_is_one_error(server, say):
    server.says.extend([say] * 20)
    assert len(failure_of(chat(server), ModelError)) < 400


# what is believed


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_field_may_hold_anything(server, data):
    """A whole answer with one value replaced, wherever it stands: a reply or an error of ours."""
    body = faithful({"messages": [{"content": "a b"}], "logprobs": True, "top_logprobs": 2})
    node, path = body, []
    while isinstance(node, dict | list) and node:
        path.append(data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node)))))
        parent, node = node, node[path[-1]]
        if data.draw(st.booleans()):
            break
    parent[path[-1]] = data.draw(values)
    server.says.append(Say(body=json.dumps(body).encode()))
    try:
        reply = ask(chat(server), options=ChatOptions(top_logprobs=2))
    except ModelReplyError:
        server.says.clear()
        return
    assert reply.model.isprintable()
    assert reply.usage.calls in {1, 2}
    assert all(is_logprob(value) for token in reply.logprobs for _, value in token.top)
    odds = yes_odds(reply)
    assert odds is None or not math.isnan(odds)


@given(body=values, status=st.sampled_from([400, 404, 422, 429, 500]))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_error_may_say_anything(server, body, status):
    for said in (
        body,
        {"error": body},
        {"error": {"message": body, "code": body, "param": body}},
        {"detail": body},
    ):
        server.says.extend([Say(status, said)] * 2)
        message = failure_of(chat(server, max_retries=0), ModelError)
        server.says.clear()
        assert message.isprintable()
        assert len(message) < 500


def test_an_error_is_shown_as_one_short_line_without_controls(server):
    server.says.append(Say(400, error("\x1b[2J\u202eevil\r\n" + "x" * 10_000)))
    message = failure_of(chat(server), ModelUnavailable)
    assert message.isprintable()
    assert "[2J evil xxx" in message
    assert len(message) < 400


@pytest.mark.parametrize("told", [{"prompt_tokens": -1, "completion_tokens": 3},
                                  {"prompt_tokens": 10**30, "completion_tokens": 3},
                                  {"prompt_tokens": "7", "completion_tokens": 3}, [], "many", 7])  # fmt: skip
def test_counts_that_are_none_do_not_cost_the_reply(server, told):
    server.says.append(Say(body=completion("fine") | {"usage": told}))
    reply = ask(chat(server))
    assert (reply.text, reply.usage) == ("fine", Usage(1, 0, 0))


@pytest.mark.parametrize(("told", "kept"), [("\x1b]0;x\x07m" * 2, "]0;x m ]0;x m"), (7, "tiny-1"), ("", "tiny-1"),
                                            ("m" * 1_000_000, "m" * 200)])  # fmt: skip
def test_the_name_an_endpoint_gives_its_model_is_one_short_line(server, told, kept):
    server.says.append(Say(body=completion("fine") | {"model": told}))
    assert ask(chat(server)).model == kept


@pytest.mark.parametrize("value", ["1e6", "NaN", "Infinity", "-Infinity", "1e400", '"x"', "null"])
def test_a_logprob_that_is_none_leaves_the_reply_without(server, value):
    body = completion("yes")
    body["choices"][0]["logprobs"] = {"content": [{"token": "yes", "logprob": 0.5, "top_logprobs": []}]}
    server.says.append(Say(body=json.dumps(body).replace("0.5", value).encode()))
    reply = ask(chat(server), options=ChatOptions(top_logprobs=2))
    assert (reply.text, reply.logprobs) == ("yes", ())


@given(st.lists(st.tuples(st.sampled_from(["yes", "no", "maybe"]), st.floats()), max_size=5), st.floats())
def test_odds_are_never_no_number(top, logprob):
    reply = ChatReply("yes", "m", logprobs=(TokenLogprob("yes", logprob, tuple(top)),))
    odds = yes_odds(reply)
    assert odds is None or not math.isnan(odds)


@pytest.mark.parametrize(
    "header",
    ["nan", "-1", "-inf", "1e400", "9" * 5_000, "soon", "", "Mon, 01 Jan 99999 00:00:00 GMT",
     "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 +2359",
     "Fri, 31 Dec 9999 23:59:59 -2359"],
)  # fmt: skip
def test_a_retry_after_that_is_nonsense_is_a_wait_within_bounds(server, header):
    server.says.append(Say(503, error("busy"), {"Retry-After": header}))
    assert ask(chat(server, max_backoff_s=0.01)).text == "HELLO"
    assert wait_s(TimeoutError(), tries=10**6, backoff_s=1.0, max_backoff_s=2.0) <= 2.0
