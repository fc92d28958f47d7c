"""The local model for real: llama.cpp in this process, on weights that were pulled."""

import asyncio
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise import prompts
from equipoise.core.errors import ModelReplyError, ModelUnavailable
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Message
from equipoise.models import local, weights
from equipoise.models.local import LocalChat
from equipoise.models.structured import strict_schema
from equipoise.rag.summarizers.llm import reply_schema

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

SCHEMA = {
    "type": "object",
    "properties": {
        "answerable": {"type": "boolean"},
        "sentences": {"type": "array", "items": {"enum": [1, 2, 3]}, "maxItems": 3},
    },
    "required": ["answerable", "sentences"],
    "additionalProperties": False,
}
FRANCE = [Message("user", "What is the capital of France? Answer with one word.")]
SENTENCES = [
    Message("user", "[1] Paris is in France. [2] Rome is in Italy. [3] It rained. Which sentence names Rome?")
]


@pytest.fixture(scope="module")
def name():
    """The smallest weights of a chat model that are on this disk."""
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'equipoise[local]'")
    folder = weights_folder()
    listed = weights.listing(folder=folder)
    there = [row.weights for row in listed if row.path and row.weights.role == "chat"]
    if not there:
        pytest.skip("no weights here: run  equipoise models pull qwen2.5-coder-1.5b")
    return min(there, key=lambda entry: entry.size).name


def weights_folder():
    return Path(os.environ["EQUIPOISE_MODEL_FOLDER"]) if "EQUIPOISE_MODEL_FOLDER" in os.environ else None


@pytest.fixture(scope="module")
def chat(name):
    chat = LocalChat.from_weights(name, folder=weights_folder(), n_ctx=1024)
    yield chat
    chat.close()


def ask(chat, messages, **arguments):
    return asyncio.run(chat.complete(messages, **arguments))


def test_it_answers_and_counts(chat, name):
    reply = ask(chat, FRANCE, options=ChatOptions(max_tokens=8))
    assert isinstance(chat, ChatModel)
    assert "Paris" in reply.text
    assert reply.model == chat.name == f"local/{name}"
    assert reply.finish_reason == "stop"
    assert reply.usage.calls == 1
    assert 15 < reply.usage.prompt_tokens < 60
    assert 1 <= reply.usage.completion_tokens <= 8
    assert reply.logprobs == ()


def test_slots_answer_several_requests_each_its_own(name):
    capitals = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid"}
    chat = LocalChat.from_weights(name, folder=weights_folder(), n_ctx=3 * 512, slots=3)

    async def all_at_once():
        asked = [
            [Message("user", f"What is the capital of {country}? Answer with one word.")]
            for country in capitals
        ]
        return await asyncio.gather(*(chat.complete(m, options=ChatOptions(max_tokens=8)) for m in asked))

    try:
        replies = asyncio.run(all_at_once())
    finally:
        chat.close()
    assert [town in reply.text for town, reply in zip(capitals.values(), replies, strict=True)] == [True] * 3


def test_logprobs_spell_the_reply(chat):
    reply = ask(chat, FRANCE, options=ChatOptions(max_tokens=8, top_logprobs=3))
    assert "".join(token.token for token in reply.logprobs) == reply.text
    first = reply.logprobs[0]
    assert len(first.top) == 3
    assert first.top[0] == (first.token, first.logprob)
    assert sum(math.exp(logprob) for _, logprob in first.top) <= 1 + 1e-6


def test_the_schema_is_obeyed_on_one_line(chat):
    reply = ask(chat, SENTENCES, schema=SCHEMA, options=ChatOptions(max_tokens=40, top_logprobs=2))
    value = json.loads(reply.text)
    assert list(value) == ["answerable", "sentences"]
    assert isinstance(value["answerable"], bool)
    assert set(value["sentences"]) <= {1, 2, 3}
    assert "\n" not in reply.text
    assert "".join(token.token for token in reply.logprobs) == reply.text


def test_a_guess_is_one_question(chat):
    quotes = "From Harlow bridge:\n- It was built in 1871, is 212 metres long and stands on seven piers of grey stone."
    asked = prompts.load("summarize-v2", guesses="1", quotes=quotes)
    reply = ask(chat, asked, schema=strict_schema(reply_schema(1)), options=ChatOptions(max_tokens=200))
    (guess,) = json.loads(reply.text)["guessed_questions"]
    assert guess.endswith("?")
    assert guess.count("?") == 1


def test_the_same_request_gives_the_same_reply(chat):
    options = ChatOptions(max_tokens=24, top_logprobs=1)
    question = [Message("user", "Write one sentence about iron.")]
    first = ask(chat, question, options=options)
    ask(chat, [Message("user", "Write one sentence about tea.")], options=options)
    again = ask(chat, question, options=options)
    assert again == first


def test_no_reply_depends_on_a_request_that_began_alike(chat):
    """Byte for byte, whatever was answered from the same slot."""
    options = ChatOptions(max_tokens=12, top_logprobs=3)
    tasks = [[Message("user", f"Write one sentence about {thing}.")] for thing in ("iron", "tea", "Paris")]
    fresh = [ask(chat, task, options=options) for task in tasks]
    for number, (task, first) in enumerate(zip(tasks, fresh, strict=True)):
        longer = [Message("user", f"{task[0].content} And {number} more.")]
        ask(chat, longer, options=ChatOptions(max_tokens=2))
        assert ask(chat, task, options=options) == first


def test_requests_at_once_are_answered_one_after_the_other(chat):
    async def both():
        options = ChatOptions(max_tokens=8)
        italy = [Message("user", "What is the capital of Italy? Answer with one word.")]
        return await asyncio.gather(
            chat.complete(FRANCE, options=options), chat.complete(italy, options=options)
        )

    france, italy = asyncio.run(both())
    assert "Paris" in france.text
    assert "Rome" in italy.text


def test_a_cut_reply_says_so(chat):
    question = [Message("user", "Count from 1 to 50.")]
    assert ask(chat, question, options=ChatOptions(max_tokens=5)).finish_reason == "length"


def test_a_prompt_longer_than_the_context_names_both_sizes(chat):
    with pytest.raises(ModelReplyError, match=r"prompt has \d+ tokens .* context of 1024: use fewer"):
        ask(chat, [Message("user", "fox " * 1500)])


def test_a_schema_it_cannot_use_is_an_error(chat):
    lookahead = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)y"}}}
    with pytest.raises(ModelReplyError, match=r"something llama\.cpp cannot enforce"):
        ask(chat, FRANCE, schema=lookahead, options=ChatOptions(max_tokens=8))
    with pytest.raises(ModelReplyError, match=r"something llama\.cpp cannot enforce"):
        ask(
            chat,
            [Message("user", "Count from 1 to 50.")],
            schema=lookahead,
            options=ChatOptions(max_tokens=4),
        )


QUIET = """
import asyncio, sys
from pathlib import Path
from equipoise.core.types import ChatOptions, Message
from equipoise.models.local import LocalChat
chat = LocalChat(Path(sys.argv[1]), name="quiet", n_ctx=256)
asyncio.run(chat.complete([Message("user", "Hi")], options=ChatOptions(max_tokens=1)))
listening = chat._server.listening_address
assert listening.startswith("unix://"), listening
folder = Path(listening.removeprefix("unix://")).parent
assert folder.stat().st_mode & 0o77 == 0
chat.close()
assert not folder.exists()
"""


def test_it_writes_nothing_and_listens_on_nothing_public(name):
    path = weights.find(name, folder=weights_folder())
    environment = os.environ | {"PYTHONPATH": str(Path(local.__file__).parents[2])}
    command = [sys.executable, "-c", QUIET, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_file_that_is_no_model_is_named(tmp_path, name):
    (tmp_path / "bad.gguf").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match=r"bad\.gguf could not be loaded"):
        ask(LocalChat(tmp_path / "bad.gguf", name="bad"), FRANCE)
