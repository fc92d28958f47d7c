"""How many requests go to a model at a time, and that results do not depend on it."""

import asyncio
import re
import threading

import pytest

import bias_corpus
import qa_town
import test_bias_run
from bias_corpus import unrendered  # noqa: F401
from equipoise.core import sync
from equipoise.core.settings import ModelSettings, Settings
from equipoise.core.types import ChatReply, Message, Usage
from equipoise.corpus.store import Store
from equipoise.models.local import LocalChat
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.components import Components
from equipoise_lab.bench.bias import bench
from equipoise_lab.bench.bias.asked import Asking
from equipoise_lab.bench.bias.bench import BiasOptions
from equipoise_lab.bench.bias.planting import Workspace
from equipoise_lab.bench.bias.records import BiasPlan
from equipoise_lab.commands.bench import CONCURRENCY, at_a_time
from hashed_words import HashedWords

FEW = BiasPlan(("none", "biasdef"), (0, 2), k=3, candidates=8)


class Meeting:
    """A model whose first `wanted` requests wait for each other; it knows what it is asked at the same time."""

    def __init__(self, say, wanted, name="meeting"):
        self.inside, self.wanted, self.name = ScriptedChat(say), wanted, name
        self.met, self.now, self.together, self.order = asyncio.Event(), [], [], []

    async def complete(self, messages, *, schema=None, options=None):
        self.now.append(messages)
        self.together.append(tuple(self.now))
        self.order.append(messages)
        if len(self.now) == self.wanted:
            self.met.set()
        await self.met.wait()
        self.now.remove(messages)
        return await self.inside.complete(messages, schema=schema, options=options)

    @property
    def most(self):
        """Requests at the same time."""
        return max(map(len, self.together))


def answers_of(out, concurrency):
    chat = Meeting(lambda messages: f"answer {len(messages[0].content)}", concurrency)
    with Store.open(out / "index.db", create=True) as store:
        components = Components(Settings(), store, HashedWords(256), chat)
        workspace = Workspace(components.encoder, out, test_bias_run.silent, concurrency)
        inputs = bias_corpus.write(out / "inputs")
        sync.run(bench.bench(FEW, BiasOptions(*inputs, Asking(answers=True)), components, workspace))
    return chat, (out / "answers.jsonl").read_bytes()


@pytest.fixture
def folders(tmp_path):
    places = tmp_path / "one", tmp_path / "four"
    for folder in places:
        folder.mkdir()
    return places


def test_answers_of_the_bias_bench_are_the_same_bytes_at_any_number(folders):
    (single, first), (four, second) = (
        answers_of(folder, n) for folder, n in zip(folders, (1, 4), strict=True)
    )
    assert (single.most, four.most) == (1, 4)
    assert first == second
    assert b"answer" in first


def test_generations_of_one_context_follow_each_other(folders):
    chat, _ = answers_of(folders[0], 1)
    again = [place for place in range(1, len(chat.order)) if chat.order[place] == chat.order[place - 1]]
    assert len(again) == 2 * len(set(chat.order))  # three in a row


def test_pipelines_of_one_question_follow_each_other(tmp_path):
    chat = Meeting(qa_town.say, 2, "town-crier")
    qa_town.run(
        qa_town.questions(tmp_path), tmp_path, chat=chat, pipelines=("vanilla", "baseline"), concurrency=2
    )
    assert chat.most == 2
    for messages in chat.together:
        asked = [match[1] for m in messages if (match := re.search(r"Question: (.*)", m[1].content))]
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize(
    ("names", "expected"),
    [((), 3), (("local/small",), 3), (("local/small", "gpt"), 3), (("gpt",), CONCURRENCY)],
)
def test_a_local_model_gets_as_many_as_it_has_slots(names, expected):
    models = [ScriptedChat([], name=name) for name in names]
    assert at_a_time([*models, None], ModelSettings(slots=3)) == expected


def test_local_requests_run_together_up_to_the_slots(tmp_path, monkeypatch):
    """More than the event loop's own pool has threads for; a stand-in for llama.cpp, the pool is the real one."""
    chat, meeting = LocalChat(tmp_path / "any.gguf", name="any", slots=12), threading.Barrier(12, timeout=100)

    def answer(*_, **__):
        meeting.wait()
        return ChatReply("yes", "any", Usage(1, 1, 1))

    monkeypatch.setattr(chat, "_complete", answer)

    async def ask():
        return await asyncio.gather(*(chat.complete([Message("user", "Hi")]) for _ in range(24)))

    assert len(asyncio.run(ask())) == 24
