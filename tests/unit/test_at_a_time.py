"""How many requests go to a model at a time, and that results do not depend on it."""

import asyncio
import re
import threading
import time

import pytest
import test_bias_run
import test_qa_run
from test_qa_run import file  # noqa: F401

import bias_corpus
from equipoise.apps.bench_qa import CONCURRENCY, at_a_time
from equipoise.bench.bias import bench
from equipoise.bench.bias.bench import Options
from equipoise.bench.bias.runner import Plan
from equipoise.bench.bias.vectors import Desk
from equipoise.core import sync
from equipoise.core.settings import ModelSettings, Settings
from equipoise.core.types import ChatReply, Message, Usage
from equipoise.corpus.store import Store
from equipoise.models.local import LocalChat
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.parts import Parts
from hashed_words import HashedWords

FEW = Plan(("none", "biasdef"), (0, 2), k=3, candidates=8)


class Slow:
    """A model that takes a moment, and knows what it is asked at the same time."""

    def __init__(self, say, name="slow"):
        self.inside, self.name = ScriptedChat(say), name
        self.now, self.most, self.order = set(), 0, []

    async def complete(self, messages, *, schema=None, options=None):
        self.now.add(messages)
        self.most = max(self.most, len(self.now))
        self.order.append(messages)
        await asyncio.sleep(0.002)
        self.now.discard(messages)
        return await self.inside.complete(messages, schema=schema, options=options)


def answers_of(out, concurrency):
    chat = Slow(lambda messages: f"answer {len(messages[0].content)}")
    with Store.open(out / "index.db", create=True) as store:
        parts = Parts(Settings(), store, HashedWords(256), chat)
        desk = Desk(parts.encoder, out, test_bias_run.silent, concurrency)
        inputs = bias_corpus.write(out / "inputs")
        sync.run(bench.bench(FEW, Options(*inputs, answers=True), parts, desk))
    return chat, (out / "answers.jsonl").read_bytes()


@pytest.fixture
def folders(tmp_path):
    found = tmp_path / "one", tmp_path / "four"
    for folder in found:
        folder.mkdir()
    return found


def test_answers_of_the_bias_bench_are_the_same_bytes_at_any_number(folders):
    (one, first), (four, second) = (answers_of(folder, n) for folder, n in zip(folders, (1, 4), strict=True))
    assert (one.most, four.most) == (1, 4)
    assert first == second
    assert b"answer" in first


def test_generations_of_one_context_follow_each_other(folders):
    chat, _ = answers_of(folders[0], 1)
    again = [place for place in range(1, len(chat.order)) if chat.order[place] == chat.order[place - 1]]
    assert len(again) == 2 * len(set(chat.order))  # three in a row


def test_pipelines_of_one_question_follow_each_other(file, tmp_path):  # noqa: F811
    chat = Slow(test_qa_run.say, "town-crier")
    test_qa_run.run(file, tmp_path, chat=chat, pipelines=("vanilla", "baseline"), concurrency=2)
    asked = [re.search(r"Question: (.*)", m[1].content) for m in chat.order if "Task:" in m[1].content]
    assert chat.most == 2
    assert len(asked) == len(test_qa_run.rows_of(tmp_path))
    for question in {found[1] for found in asked}:
        own = [place for place, found in enumerate(asked) if found[1] == question]
        assert own[1] - own[0] <= 2  # nothing but the other question's request between them


@pytest.mark.parametrize(
    ("names", "expected"),
    [((), 3), (("local/small",), 3), (("local/small", "gpt"), 3), (("gpt",), CONCURRENCY)],
)
def test_a_local_model_gets_as_many_as_it_has_slots(names, expected):
    models = [ScriptedChat([], name=name) for name in names]
    assert at_a_time([*models, None], ModelSettings(slots=3)) == expected


def test_local_requests_run_together_up_to_the_slots(tmp_path, monkeypatch):
    """More than the event loop's own pool has threads for; a stand-in for llama.cpp, the pool is the real one."""
    chat, busy, most, lock = (
        LocalChat(tmp_path / "any.gguf", name="any", slots=12),
        [0],
        [0],
        threading.Lock(),
    )

    def answer(*_):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.2)
        with lock:
            busy[0] -= 1
        return ChatReply("yes", "any", Usage(1, 1, 1))

    monkeypatch.setattr(chat, "_complete", answer)

    async def ask():
        await asyncio.gather(*(chat.complete([Message("user", "Hi")]) for _ in range(20)))

    asyncio.run(ask())
    assert most[0] == 12
