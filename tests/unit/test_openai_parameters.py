"""OpenAIChat against a real loopback server: models that think first, and endpoints that refuse parameters."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat_server import Say, completion, error
from equipoise.core import sync
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.core.types import CUT, ChatOptions, Message, Usage
from equipoise.models.dialect import OPTIONAL, THINKING
from equipoise.models.probing import ASKED, MOST
from openai_client import SCHEMA, ask, chat, failure_of

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
