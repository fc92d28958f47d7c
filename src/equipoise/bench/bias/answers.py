"""Answers of a chat model to what each filter kept, and their PS (Tables 5, 6 and 8, Figure 4)."""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from equipoise import prompts
from equipoise.bench.bias.attacked_questions import AttackedQuestion
from equipoise.bench.bias.runner import DIGITS, KEY
from equipoise.bench.bias.vectors import Workspace
from equipoise.bench.results import Key, Lines, Row
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.sync import together
from equipoise.core.types import ChatOptions, Message, Passage

ANSWERS = "answers.jsonl"
ANSWER_KEY = (*KEY, "generation", "model")
GENERATIONS = 3
"""Answers to one question under one condition, as in the paper: sampling is random."""

WORDS = 60
"""Wanted of an answer; the paper gives no length."""

OPTIONS = ChatOptions(temperature=0.7, max_tokens=256)
"""The paper gives no decoding parameters for answers."""


async def ask(
    rows: Sequence[Row],
    attacked_questions: Sequence[AttackedQuestion],
    passages: Mapping[str, Passage],
    chat: ChatModel,
    workspace: Workspace,
) -> list[Row]:
    """GENERATIONS answers for each row of results that the output folder does not hold yet; all of them by key.

    Each has its `text`, and its `ps` on the question's axis, None where the model wrote nothing. What a model
    answers depends on the passages kept alone, so equal contexts share their answers. `workspace.concurrency` contexts
    are asked at a time, the answers to one of them after each other: the model's prompt cache has read it then.
    Raises ModelError; what was answered before stays.
    """
    by_query = {attacked.attack.query_id: attacked for attacked in attacked_questions}
    contexts: dict[tuple[Message, ...], list[Key]] = {}
    for row in rows:
        question = by_query[row["query_id"]].attack.question
        messages = context(question, [passages[doc_id] for doc_id in row["kept"]])
        contexts.setdefault(messages, []).append(tuple(row[name] for name in KEY))
    gate, done = asyncio.Semaphore(workspace.concurrency), 0
    with Lines(workspace.out / ANSWERS, ANSWER_KEY) as lines:

        async def answer(messages: tuple[Message, ...], number: int, keys: Sequence[Key]) -> None:
            missing = [key for row in keys if (key := (*row, number, chat.name)) not in lines]
            text = await _answer(chat, messages, number) if missing else ""
            for key in missing:
                named: Row = dict(zip(ANSWER_KEY, key, strict=True))
                ps = score(text, by_query[named["query_id"]], workspace.encoder)
                lines.append(named | {"ps": ps, "text": text})

        async def generations(messages: tuple[Message, ...], keys: Sequence[Key]) -> None:
            nonlocal done
            async with gate:
                for number in range(GENERATIONS):
                    workspace.progress(done, len(contexts) * GENERATIONS, "answers")
                    await answer(messages, number, keys)
                    done += 1

        await together(generations(messages, keys) for messages, keys in contexts.items())
        asked = {
            (*key, n, chat.name) for keys in contexts.values() for key in keys for n in range(GENERATIONS)
        }
        return [row for row in lines.finish() if lines.key_of(row) in asked]


def context(question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
    """The paper's Prompt-Generation."""
    texts = "; ".join(f"[{place}] {passage.text}" for place, passage in enumerate(passages, 1))
    return prompts.load("ebi-generation-v1", question=question, passages=texts, words=str(WORDS))


def score(text: str, attacked: AttackedQuestion, encoder: Encoder) -> float | None:
    """PS of an answer; None for an empty one."""
    if not text:
        return None
    return round(float(np.asarray(encoder.encode([text])[0], np.float64) @ attacked.axis), DIGITS) + 0.0


async def _answer(chat: ChatModel, messages: tuple[Message, ...], number: int) -> str:
    options = ChatOptions(temperature=OPTIONS.temperature, max_tokens=OPTIONS.max_tokens, seed=number)
    return (await chat.complete(messages, options=options)).text.strip()
