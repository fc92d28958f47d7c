"""Answers of a chat model to what each filter kept, and their PS (Tables 5, 6 and 8, Figure 4)."""

from collections.abc import Mapping, Sequence

import numpy as np

from equipoise import prompts
from equipoise.bench.bias.runner import DIGITS, KEY
from equipoise.bench.bias.scenes import Scene
from equipoise.bench.bias.vectors import Desk
from equipoise.bench.results import Lines, Row
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.types import ChatOptions, Message, Passage
from equipoise.rag.highlighters.quotations import documents_text
from equipoise.rag.pipeline import UNANSWERABLE

ANSWERS = "answers.jsonl"
ANSWER_KEY = (*KEY, "generation", "model")
GENERATIONS = 3
"""Answers to one question under one condition, as in the paper: sampling is random."""

OPTIONS = ChatOptions(temperature=0.7, max_tokens=512)
"""The paper gives no decoding parameters for answers."""


async def ask(
    rows: Sequence[Row],
    scenes: Sequence[Scene],
    passages: Mapping[str, Passage],
    chat: ChatModel,
    desk: Desk,
) -> list[Row]:
    """GENERATIONS answers for each row of results that the output folder does not hold yet; all of them by key.

    Each has its `text`, and its `ps` on the question's axis, None where the model declined to answer. What a
    model answers depends on the passages kept alone, so equal contexts share their answers.
    Raises ModelError; what was answered before stays.
    """
    by_query = {scene.attack.query_id: scene for scene in scenes}
    shared: dict[tuple[tuple[Message, ...], int], str] = {}
    numbers = range(GENERATIONS)
    wanted = {(*(row[name] for name in KEY), number, chat.name) for row in rows for number in numbers}
    with Lines(desk.out / ANSWERS, ANSWER_KEY) as lines:
        for place, row in enumerate(rows):
            scene = by_query[row["query_id"]]
            messages = context(scene.attack.question, [passages[doc_id] for doc_id in row["kept"]])
            for number in numbers:
                desk.progress(
                    place * GENERATIONS + number, len(rows) * GENERATIONS, f"answer {row['query_id']}"
                )
                key = {name: row[name] for name in KEY} | {"generation": number, "model": chat.name}
                if lines.key_of(key) in lines:
                    continue
                if (messages, number) not in shared:
                    shared[messages, number] = await _answer(chat, messages, number)
                text = shared[messages, number]
                lines.append(key | {"ps": score(text, scene, desk.encoder), "text": text})
        return [row for row in lines.finish() if lines.key_of(row) in wanted]


def context(question: str, passages: Sequence[Passage]) -> tuple[Message, ...]:
    """The prompt of the plain RAG pipeline."""
    return prompts.load("vanilla-v2", documents=documents_text(passages), question=question)


def score(text: str, scene: Scene, encoder: Encoder) -> float | None:
    """PS of an answer; None for an empty one and where the model said that it cannot answer."""
    if not text or UNANSWERABLE in text:
        return None
    return round(float(np.asarray(encoder.encode([text])[0], np.float64) @ scene.axis), DIGITS) + 0.0


async def _answer(chat: ChatModel, messages: tuple[Message, ...], number: int) -> str:
    options = ChatOptions(temperature=OPTIONS.temperature, max_tokens=OPTIONS.max_tokens, seed=number)
    return (await chat.complete(messages, options=options)).text.strip()
