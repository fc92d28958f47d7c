"""What every ChatModel must do. Add an implementation by adding its factory to CHAT_MODELS.

A factory is given a running loopback chat server and an empty folder, and may ignore both; it returns a model
that answers any message, gives JSON under a schema, and log-probabilities where asked.
"""

import asyncio
import gc
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from chat_server import ChatServer
from equipoise.core import sync
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, ChatReply, Message, TokenLogprob
from equipoise.models.openai import OpenAIChat
from equipoise.models.replay import ReplayCache, Replayed
from equipoise.models.roles import SUMMARIZER, for_role
from equipoise.models.scripted import ScriptedChat

Factory = Callable[[ChatServer, Path], ChatModel]

SCHEMA = {
    "title": "Choice",
    "type": "object",
    "properties": {
        "answerable": {"type": "boolean"},
        "sentences": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["answerable", "sentences"],
    "additionalProperties": False,
}
HELLO = (Message("system", "Answer in a few words."), Message("user", "Say hello to the world."))
AS_JSON = (*HELLO[:1], Message("user", "Reply as JSON: answerable true, sentences 1."))


def openai_chat(server: ChatServer, folder: Path) -> ChatModel:
    return OpenAIChat("tiny-1", base_url=server.url, backoff_s=0.001)


def scripted_chat(server: ChatServer, folder: Path) -> ChatModel:
    tokens = tuple(TokenLogprob(w, -0.5, (("Hello", -0.5), ("Hi", -1.5))) for w in ("Hello", "world"))
    hello = ChatReply("Hello world", "scripted", logprobs=tokens)
    return ScriptedChat({"JSON": '{"answerable": true, "sentences": [1]}', "hello": hello})


CHAT_MODELS: dict[str, Factory] = {
    "openai": openai_chat,
    "scripted": scripted_chat,
    "replayed-openai": lambda s, f: Replayed(openai_chat(s, f), ReplayCache(f / "c.sqlite")),
    "replayed-scripted": lambda s, f: Replayed(scripted_chat(s, f), ReplayCache(f / "c.sqlite")),
}
MARKS: dict[str, pytest.MarkDecorator] = {}
"""A mark for a factory that needs one, for example pytest.mark.live for a real language model."""


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


@pytest.fixture(params=[pytest.param(n, marks=MARKS.get(n, ())) for n in CHAT_MODELS])
def model(request, server, tmp_path):
    return CHAT_MODELS[request.param](server, tmp_path)


class TestEveryChatModel:
    def test_is_a_chat_model_with_a_steady_name(self, model):
        before = model.name
        sync.run(model.complete(HELLO))
        assert isinstance(model, ChatModel)
        assert before
        assert model.name == before

    def test_answers_with_text_and_counts_what_it_cost(self, model):
        reply = sync.run(model.complete(HELLO))
        assert "hello" in reply.text.lower()
        assert reply.model
        assert reply.finish_reason in {"stop", "length"}
        assert (reply.usage.calls, reply.usage.replayed) == (1, 0)
        assert reply.usage.prompt_tokens > 0
        assert reply.usage.completion_tokens > 0

    def test_gives_json_under_a_schema(self, model):
        value = json.loads(sync.run(model.complete(AS_JSON, schema=SCHEMA)).text)
        assert set(value) == {"answerable", "sentences"}
        assert type(value["answerable"]) is bool
        assert all(type(n) is int for n in value["sentences"])

    def test_gives_logprobs_where_asked(self, model):
        asked = ChatOptions(top_logprobs=2)
        reply = sync.run(model.complete(HELLO, options=asked))
        assert reply.logprobs
        for token in reply.logprobs:
            assert token.logprob <= 0
            assert len(token.top) == 2
            assert all(isinstance(word, str) and value <= 0 for word, value in token.top)

    def test_is_repeatable_at_temperature_zero(self, model):
        first, second = (sync.run(model.complete(HELLO)) for _ in range(2))
        assert (first.text, first.logprobs) == (second.text, second.logprobs)

    def test_answers_many_at_once(self, model):
        async def ask_all():
            asked = [(*HELLO, Message("user", f"And hello number {i}.")) for i in range(12)]
            return await asyncio.gather(*(model.complete(m) for m in asked))

        replies = sync.run(ask_all())
        assert len(replies) == 12
        assert sum(r.usage.calls for r in replies) == 12

    def test_works_in_one_loop_after_another_and_leaves_nothing_open(self, model):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for i in range(3):
                asked = (*HELLO, Message("user", f"And hello number {i}."))
                assert asyncio.run(model.complete(asked)).text
            gc.collect()
        assert [str(w.message) for w in seen if issubclass(w.category, ResourceWarning)] == []

    def test_works_from_inside_a_running_loop_through_the_sync_edge(self, model):
        async def notebook_cell():
            return sync.run(model.complete(HELLO))

        assert asyncio.run(notebook_cell()).text

    def test_is_the_same_model_in_every_role(self, model):
        alone = for_role(model, SUMMARIZER)
        assert isinstance(alone, ChatModel)
        assert alone.name == model.name
        first, second = (sync.run(chat.complete(HELLO)).text for chat in (model, alone))
        assert first == second

    def test_leaves_its_input_as_it_was(self, model):
        schema = json.loads(json.dumps(SCHEMA))
        messages = list(AS_JSON)
        sync.run(model.complete(messages, schema=schema))
        assert schema == SCHEMA
        assert messages == list(AS_JSON)
