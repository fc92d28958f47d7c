"""OpenAIChat against a real loopback server: requests, retries, failures, refused parameters."""

import asyncio
import json
import socket
from email.utils import formatdate
from threading import Thread
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat_server import KEY, Say, completion, error
from equipoise.core import sync
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.core.types import CUT, ChatOptions, Message, Usage
from equipoise.models import failures
from equipoise.models.dialect import OPTIONAL, THINKING
from equipoise.models.openai import OpenAIChat
from equipoise.models.probing import ASKED, MOST
from openai_client import HELLO, ask, chat

NOW = 1_790_000_000
"""Seconds since 1970, by a clock that stands still."""
SCHEMA = {
    "title": "Yes or no?",
    "type": "object",
    "properties": {"yes": {"type": "boolean"}},
    "required": ["yes"],
    "additionalProperties": False,
}


def failure_of(model, kind, **how):
    with pytest.raises(kind) as caught:
        asyncio.run(model.complete(HELLO, **how))
    return caught.value


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


# retries


@pytest.fixture
def waits(monkeypatch):
    """The seconds that are waited between tries, without waiting them."""
    asked, sleep = [], asyncio.sleep

    async def at_once(seconds):
        asked.append(seconds)
        await sleep(0)

    monkeypatch.setattr("equipoise.models.openai.asyncio.sleep", at_once)
    return asked


def test_retry_after_is_honoured(server, waits):
    server.says.append(Say(429, error("slow down"), {"Retry-After": "0.2"}))
    assert ask(chat(server)).text == "HELLO"
    assert waits == [0.2]
    assert len(server.received) == 2


@pytest.mark.parametrize("header", ["86400", formatdate(NOW + 86_400, usegmt=True)], ids=["seconds", "date"])
@pytest.mark.parametrize("status", [429, 503])
def test_who_asks_for_a_longer_wait_than_the_cap_is_left_alone(server, waits, monkeypatch, header, status):
    monkeypatch.setattr(failures, "time", SimpleNamespace(time=lambda: NOW))
    server.says.append(Say(status, error("slow down"), {"Retry-After": header}))
    message = str(failure_of(chat(server), ModelUnavailable))
    assert "86,400 s without a request" in message and f"{status}" in message
    assert waits == [] and len(server.received) == 1


@pytest.mark.parametrize("header", ["inf", "9" * 400])
def test_a_wait_that_nobody_means_is_the_backoff(server, waits, header):
    server.says.append(Say(429, error("slow down"), {"Retry-After": header}))
    assert ask(chat(server, max_backoff_s=0.05)).text == "HELLO"
    assert len(waits) == 1 and waits[0] <= 0.05


def test_a_connection_that_is_cut_is_not_called_one_that_cannot_be_made():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"

        def hang_up():
            for _ in range(2):
                listening.accept()[0].close()

        thread = Thread(target=hang_up)
        thread.start()
        failure = failure_of(OpenAIChat("m", base_url=url, max_retries=1, backoff_s=0.001), ModelUnavailable)
        thread.join()
    assert f"{url} broke off the connection" in str(failure) and "(2 tries)" in str(failure)


def test_retry_after_that_is_no_number_falls_back_to_the_backoff(server):
    server.says.append(Say(503, error("busy"), {"Retry-After": "soon"}))
    assert ask(chat(server)).text == "HELLO"


def test_one_500_is_forgiven(server):
    server.says.append(Say(500, error("oops")))
    assert ask(chat(server)).text == "HELLO"
    assert len(server.received) == 2


def test_a_connection_that_breaks_is_tried_again(server):
    server.says.append(Say(hang_up=True))
    assert ask(chat(server)).text == "HELLO"


@pytest.mark.parametrize("retries", [0, 2])
def test_500_for_ever_is_unavailable_after_the_configured_tries(server, retries):
    server.says.extend([Say(500, error("oops"))] * 9)
    failure = failure_of(chat(server, max_retries=retries), ModelUnavailable)
    assert len(server.received) == retries + 1
    assert f"status 500 in {retries + 1} tries" in str(failure)


def test_backoff_doubles(server, waits):
    server.says.extend([Say(500, error("oops"))] * 3)
    assert ask(chat(server, max_retries=3, backoff_s=0.1)).text == "HELLO"
    assert len(waits) == 3
    assert all(most / 2 <= wait <= most for wait, most in zip(waits, (0.1, 0.2, 0.4), strict=True))


@pytest.mark.parametrize(
    "say",
    [
        Say(429, error("no money", code="insufficient_quota")),
        Say(503, error("no"), {"x-should-retry": "false"}),
        Say(401, error("bad key")),
    ],
)
def test_what_cannot_pass_is_not_tried_again(server, say):
    server.says.append(say)
    failure_of(chat(server), ModelUnavailable)
    assert len(server.received) == 1


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


# a model that thinks before it answers

THOUGHT = Say(body=completion("", finish_reason=CUT))
ONLY_THINKS = Say(body=completion(None, finish_reason=CUT, reasoning_content="Let me see: "))
NO_ROOM = Say(
    400, error("Could not finish the message because max_tokens or model output limit was reached.")
)


@pytest.mark.parametrize(("thought", "calls"), [(THOUGHT, 3), (ONLY_THINKS, 3), (NO_ROOM, 8)])
def test_a_model_that_thinks_gets_tokens_for_it_from_then_on(server, thought, calls):
    server.thinks = thought
    model = chat(server)
    reply = ask(model, options=ChatOptions(max_tokens=1))
    assert reply.text == "HELLO"
    assert ask(model).usage.calls == 1
    asked = [r.body["max_tokens"] for r in server.received if r.body["messages"][-1]["content"] == "hello"]
    assert asked == [1, 1 + THINKING, 512 + THINKING]


def test_tokens_to_think_are_given_under_the_newer_name_too(server):
    server.refuses, server.thinks = {"max_tokens"}, THOUGHT
    ask(chat(server))
    assert server.received[-1].body["max_completion_tokens"] == 512 + THINKING


def test_one_reply_without_a_word_teaches_nothing(server):
    server.says.append(THOUGHT)
    model = chat(server)
    failure = failure_of(model, ModelReplyError)
    assert "used up its tokens before the first word" in str(failure)
    assert failure.usage == Usage(2, 14, 6)
    ask(model)
    assert server.received[-1].body["max_tokens"] == 512


def test_what_the_thinking_cost_is_told_where_the_second_reply_cannot_be_used(server):
    server.says.extend([THOUGHT, THOUGHT, Say(body=completion(None, refusal="I can't"))])
    assert failure_of(chat(server), ModelReplyError).usage.calls == 2


def test_a_blank_first_token_with_its_probabilities_is_a_reply(server):
    blank = completion("\n", finish_reason=CUT)
    told = {"token": "\n", "logprob": -0.1, "top_logprobs": [{"token": "yes", "logprob": -2.0}]}
    blank["choices"][0]["logprobs"] = {"content": [told]}
    server.says.append(Say(body=blank))
    reply = ask(chat(server), options=ChatOptions(max_tokens=1, top_logprobs=2))
    assert reply.logprobs[0].top == (("yes", -2.0),)
    assert len(server.received) == 1


# an endpoint that does not know every parameter


def forms(server):
    """The bodies of the requests that were no probes."""
    probe = ASKED[0].content
    return [r.body for r in server.received if r.body["messages"][-1]["content"] != probe]


def test_response_format_refused_puts_the_schema_in_words_and_is_remembered(server):
    server.refuses = {"response_format"}
    model = chat(server)
    for _ in range(2):
        ask(model, schema=SCHEMA)
    bodies = forms(server)
    assert ["response_format" in b for b in bodies] == [True, False, False]
    system, user = bodies[1]["messages"]
    assert system["content"].startswith("Be brief.\n\n")
    assert json.dumps(SCHEMA) in system["content"]
    assert user == {"role": "user", "content": "hello"}


def test_without_a_system_message_one_is_added_for_the_schema(server):
    server.refuses = {"response_format"}
    sync.run(chat(server).complete([Message("user", "hello")], schema=SCHEMA))
    assert [m["role"] for m in server.received[-1].body["messages"]] == ["system", "user"]


@pytest.mark.parametrize("thinks", [None, THOUGHT, NO_ROOM], ids=["", "thinks", "thinks-or-refuses"])
@given(refused=st.sets(st.sampled_from(OPTIONAL)))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_parameters_can_be_refused(server, thinks, refused):
    if thinks is NO_ROOM and {"max_tokens", "max_completion_tokens"} <= refused:
        return  # without a limit it has room
    server.received.clear()
    server.refuses, server.thinks = refused, thinks
    model = chat(server, max_retries=0)
    asked = {"schema": SCHEMA, "options": ChatOptions(top_logprobs=1, max_tokens=33)}
    assert ask(model, **asked).text
    probes = len(server.received) - len(forms(server))
    limit = next((name for name in ("max_tokens", "max_completion_tokens") if name not in refused), None)
    expected = {
        "model",
        "messages",
        "temperature",
        "seed",
        "response_format",
        "logprobs",
        "top_logprobs",
    } - refused
    expected -= {"top_logprobs"} & refused or ({"top_logprobs"} if "logprobs" in refused else set())
    last = server.received[-1].body
    assert set(last) == expected | ({limit} if limit else set())
    assert not limit or last[limit] == 33 + (THINKING if thinks else 0)
    assert probes <= MOST
    ask(model, **asked)
    assert len(server.received) == len(forms(server)) + probes


@pytest.mark.parametrize(
    "say",
    [
        Say(400, error("Unrecognized request argument supplied: seed")),
        Say(400, error("'temperature' does not support 0", code="unsupported_value")),
        Say(422, {"detail": [{"loc": ["body", "logprobs"], "msg": "Extra inputs are not permitted"}]}),
        Say(400, {"error": "json_schema is not supported by this model"}),
        Say(400, error("temperature must be between 0 and 2")),
        Say(400, error("max_tokens is too large: 512")),
        Say(400, error("too long", code="context_length_exceeded")),
    ],
)
def test_a_complaint_costs_one_probe_and_is_not_believed(server, say):
    """A faithful endpoint that complains of the message: it is asked once what it takes, and never again."""
    model = chat(server)
    for expected in (2, 3):
        server.says.append(say)
        failure_of(model, ModelUnavailable, schema=SCHEMA, options=ChatOptions(top_logprobs=1))
        assert len(server.received) == expected
    ask(model, schema=SCHEMA, options=ChatOptions(top_logprobs=1))
    assert {"seed", "temperature", "logprobs", "response_format", "max_tokens"} <= set(
        server.received[-1].body
    )


def test_probes_are_constant(server):
    """Whoever asks what in whatever form: the endpoint is asked the same, byte by byte."""
    rounds = []
    for text, options in (("one", ChatOptions()), ("two", ChatOptions(1.5, 9000, 7, 3))):
        server.refuses = {"seed"}
        server.received.clear()
        sync.run(chat(server).complete([Message("user", text)], options=options))
        rounds.append([r.raw for r in server.received[1:-1]])
    assert rounds[0] == rounds[1]
    assert len(rounds[0]) == 6


def test_one_round_of_probes_serves_all_who_ask_at_once(server):
    server.refuses = {"seed", "temperature"}
    model = chat(server)

    async def ask_all():
        return await asyncio.gather(*(model.complete([Message("user", f"word {i}")]) for i in range(20)))

    replies = asyncio.run(ask_all())
    assert [r.text for r in replies] == [f"WORD {i}" for i in range(20)]
    assert len(server.received) - len(forms(server)) == 6
    assert sum(r.usage.calls for r in replies) == 20 + 3  # of six probes three were refused


def test_a_caller_that_is_cancelled_while_it_probes_leaves_the_probing_to_another(server):
    server.refuses = {"seed"}
    model = chat(server)

    async def first_gives_up():
        first = asyncio.create_task(model.complete([Message("user", "one")]))
        while len(server.received) < 2:  # noqa: ASYNC110 - the server is a thread
            await asyncio.sleep(0)
        second = asyncio.create_task(model.complete([Message("user", "two")]))
        while not any(r.body["messages"][-1]["content"] == "two" for r in server.received):  # noqa: ASYNC110
            await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(first_gives_up()).text == "TWO"


def test_an_endpoint_that_fails_while_it_is_probed_teaches_nothing(server):
    refused = Say(400, error("no"))
    server.says.extend([refused, Say(401, error("bad key"))])
    model = chat(server)
    assert "(401)" in str(failure_of(model, ModelUnavailable))
    server.refuses = {"seed"}
    assert ask(model).text == "HELLO"
    assert "seed" not in server.received[-1].body


def test_a_role_learns_for_itself(server):
    server.refuses = {"seed"}
    model = chat(server)
    ask(model)
    other = model.for_role("summarizer")
    assert other.name == model.name
    ask(other)
    bodies = forms(server)
    assert ["seed" in body for body in bodies] == [True, False, True, False]
    ask(model.for_role("summarizer"))
    assert "seed" not in server.received[-1].body
    assert len(forms(server)) == 5
