"""OpenAIChat against a real loopback server: what it sends, what comes back, and failures."""

import json
import socket

import pytest

from chat_server import KEY, Say, completion, error
from equipoise.core import sync
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.core.types import CUT, ChatOptions, Message, Usage
from equipoise.models.openai import OpenAIChat
from openai_client import SCHEMA, ask, chat, failure_of

# what is sent and what comes back


def test_a_request_has_the_parameters_and_the_key(server):
    reply = ask(chat(server), options=ChatOptions(temperature=0.5, max_tokens=9, seed=4))
    (got,) = server.received
    assert got.path == "/v1/chat/completions"
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert got.body == {
        "model": "tiny-1",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}],
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 4,
    }
    assert (reply.text, reply.model, reply.usage) == ("HELLO", "tiny-1", Usage(1, 7, 3))


def test_a_schema_goes_out_as_strict_json_schema_under_a_legal_name(server):
    reply = ask(chat(server), schema=SCHEMA)
    assert server.received[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Yes_or_no_", "schema": SCHEMA, "strict": True},
    }
    assert json.loads(reply.text) == {"yes": True}


def test_logprobs_come_back_token_by_token(server):
    reply = ask(chat(server), options=ChatOptions(top_logprobs=2))
    assert server.received[0].body["top_logprobs"] == 2
    (token,) = reply.logprobs
    assert (token.token, token.logprob, token.top) == ("HELLO", -1.0, (("t0", -1.0), ("t1", -2.0)))


def test_malformed_logprobs_and_usage_of_null_do_not_cost_the_reply(server):
    body = completion("fine") | {"usage": None}
    body["choices"][0]["logprobs"] = {"tokens": ["fine"], "content": "odd"}
    server.says.append(Say(body=body))
    reply = ask(chat(server), options=ChatOptions(top_logprobs=1))
    assert (reply.text, reply.logprobs, reply.usage) == ("fine", (), Usage(1, 0, 0))


def test_text_that_utf8_cannot_carry_is_sent_with_question_marks(server):
    sync.run(chat(server).complete([Message("user", "broken \ud800 pdf")]))
    assert server.received[0].body["messages"][0]["content"] == "broken ? pdf"


# failures


@pytest.mark.parametrize(
    ("say", "words"),
    [
        (Say(401, error(f"Incorrect API key provided: {KEY}")), "401): check OPENAI_API_KEY"),
        (Say(403, error("no access")), "denied access to tiny-1 (403)"),
        (Say(404, error("The model does not exist")), "does not know tiny-1 (404)"),
        (Say(400, error("the prompt has 9000 tokens")), "the prompt has 9000 tokens"),
        (Say(422, {"detail": [{"loc": ["body", "n"], "msg": "too small"}]}), "['body', 'n'] too small"),
        (Say(418, b"<html>teapot</html>", content_type="text/html"), "it gave no reason"),
        (Say(429, error("quota", code="insufficient_quota")), "no quota left"),
    ],
    ids=lambda v: str(v.status) if isinstance(v, Say) else "",
)
def test_a_status_says_what_to_do(server, say, words):
    server.says.append(say)
    message = str(failure_of(chat(server), ModelUnavailable))
    assert words in message
    assert server.url in message
    assert KEY not in message


def test_a_model_that_the_endpoint_has_not_is_told_with_those_it_has(server):
    names = ["qwen2.5:1.5b", "llama\x1b[2J3", *(f"m{n}" for n in range(7))]
    server.models = Say(body={"object": "list", "data": [{"id": name, "object": "model"} for name in names]})
    server.says.append(Say(404, error("model not found")))
    message = str(failure_of(chat(server), ModelUnavailable))
    assert "it has qwen2.5:1.5b, llama" in message and "and 4 more" in message and "\x1b" not in message
    assert "equipoise models use openai/NAME" in message and KEY not in message


@pytest.mark.parametrize("body", [[], {"data": None}, {"data": [{}]}, {"data": [3]}, "x", None])
def test_an_endpoint_that_lists_nothing_useful_is_told_without(server, body):
    server.models = Say(body=body)
    server.says.append(Say(404, error("model not found")))
    assert "check the model's name" in str(failure_of(chat(server), ModelUnavailable))


def test_rate_limits_for_ever_say_so(server):
    server.says.extend([Say(429, error("slow down"))] * 3)
    assert "limits the rate after 3 tries" in str(failure_of(chat(server), ModelUnavailable))


def test_a_refused_connection_names_the_base_url():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        failure = failure_of(OpenAIChat("m", base_url=url, max_retries=1, backoff_s=0.001), ModelUnavailable)
    assert f"cannot connect to {url} (2 tries)" in str(failure)


@pytest.mark.parametrize("pause", [0.1, 5.0], ids=["dribble", "silence"])
def test_the_time_out_covers_the_whole_answer(server, pause):
    server.says.append(Say(body=completion("slow"), pause=pause))
    failure = failure_of(chat(server, timeout_s=1.5), ModelUnavailable)
    assert "did not answer within 1.5 s" in str(failure)  # the whole answer takes more than 30
    assert len(server.received) <= 1


@pytest.mark.parametrize(
    ("say", "words"),
    [
        (Say(body=b"<html>Welcome</html>", content_type="text/html"), "not a chat completion"),
        (Say(body=b"<html>Welcome</html>"), "not a chat completion"),
        (Say(body=b""), "not a chat completion"),
        (Say(body=b"\xff\xfe"), "not a chat completion"),
        (Say(body=[1, 2]), "not a chat completion"),
        (Say(body={"choices": "many"}), "not a chat completion"),
        (Say(body={"object": "chat.completion"}), "has no choices"),
        (Say(body={"choices": []}), "has no choices"),
        (Say(body=error("overloaded")), "has no choices"),
        (Say(body=completion(None)), "empty reply"),
        (Say(body=completion(" \n")), "empty reply"),
        (Say(body=completion(None, refusal="I can't")), "declined"),
        (Say(body=completion("half", finish_reason="content_filter")), "content filter"),
        (Say(400, error("filtered", code="content_filter")), "content filter"),
    ],
)
def test_an_answer_that_cannot_be_used_is_a_reply_error(server, say, words):
    server.says.append(say)
    assert words in str(failure_of(chat(server), ModelReplyError))


@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_a_reply_that_was_cut_off_is_given_as_far_as_it_came(server, schema):
    server.says.append(Say(body=completion('{"yes": tr', finish_reason="length")))
    reply = ask(chat(server), schema=schema)
    assert (reply.text, reply.finish_reason) == ('{"yes": tr', CUT)
