"""Answers of a chat model to what each filter kept, and their PS (Tables 5, 6 and 8, Figure 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.types import ChatOptions, Message, Passage
from equipoise.evaluation.records import read_records
from equipoise.evaluation.run import RecordForm, evaluate
from equipoise.evaluation.scorers import Measure
from equipoise_lab import prompts
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.records import DIGITS, AnswerRecord, BiasRecord
from equipoise_lab.bench.bias.vectors import Workspace

ANSWERS = "answers.jsonl"
GENERATIONS = 3
"""Answers to one question under one condition, as in the paper: sampling is random."""

WORDS = 60
"""Wanted of an answer; the paper gives no length."""

OPTIONS = ChatOptions(temperature=0.7, max_tokens=256)
"""The paper gives no decoding parameters for answers."""

Messages = tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """A Sample: what was kept of one question under one condition, to be answered for the `generation`th time."""

    record: BiasRecord
    attacked: AttackedQuestion
    messages: Messages
    generation: int

    @property
    def sample_id(self) -> str:
        """The record and the generation."""
        return f"{' '.join(map(str, self.record.place))} {self.generation}"


@dataclass(frozen=True, slots=True)
class Answering:
    """A System: a chat model. What it answers depends on the passages alone, so equal contexts share their answers."""

    chat: ChatModel
    said: dict[tuple[Messages, int], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model's."""
        return self.chat.name

    async def __call__(self, sample: Context) -> str:
        """The answer, "" where the model wrote nothing. Raises ModelError."""
        key = sample.messages, sample.generation
        if key not in self.said:
            options = ChatOptions(
                temperature=OPTIONS.temperature, max_tokens=OPTIONS.max_tokens, seed=sample.generation
            )
            self.said[key] = (await self.chat.complete(sample.messages, options=options)).text.strip()
        return self.said[key]


FORM: RecordForm[Context, str, AnswerRecord] = RecordForm(
    AnswerRecord,
    lambda sample, system: (*sample.record.place, sample.generation, system.name),
    lambda _, ran: {**ran.scores, "text": ran.value},
)


async def ask(
    records: Sequence[BiasRecord],
    attacked_questions: Sequence[AttackedQuestion],
    passages: Mapping[str, Passage],
    chat: ChatModel,
    workspace: Workspace,
) -> list[AnswerRecord]:
    """GENERATIONS answers for each record that the output folder does not hold yet; all of them by key.

    Of several choices of planted passages only the first is answered.

    Each has its PS on the question's axis, None where the model wrote nothing. `workspace.concurrency` contexts are
    asked at a time, the answers to one of them after each other: the model's prompt cache has read it then.
    Raises ModelError; what was answered before stays.
    """
    by_query = {attacked.attack.query_id: attacked for attacked in attacked_questions}
    contexts = [
        Context(
            record,
            attacked,
            context(attacked.attack.question, [passages[i] for i in record.kept]),
            generation,
        )
        for generation in range(GENERATIONS)
        for record in records
        if record.first == 0
        for attacked in [by_query[record.query_id]]
    ]
    ps: Measure[Context, str] = Measure(
        "ps", lambda sample, text: score(text, sample.attacked, workspace.encoder)
    )
    evaluated = await evaluate(
        contexts, [Answering(chat)], [ps], workspace.out, form=FORM, file=ANSWERS,
        progress=workspace.progress, concurrency=workspace.concurrency, errors=(),
        group=lambda sample: sample.messages, in_turn=True,
    )  # fmt: skip
    return evaluated.records


def kept(records: Sequence[BiasRecord], out: Path) -> list[AnswerRecord]:
    """The answers of every model that the folder `out` holds to what these records kept, by their keys."""
    places = {record.place for record in records if record.first == 0}
    return [answer for answer in read_records(out / ANSWERS, AnswerRecord) if answer.place in places]


def context(question: str, passages: Sequence[Passage]) -> Messages:
    """The paper's Prompt-Generation."""
    texts = "; ".join(f"[{place}] {passage.text}" for place, passage in enumerate(passages, 1))
    return prompts.load("ebi-generation-v1", question=question, passages=texts, words=str(WORDS))


def score(text: str, attacked: AttackedQuestion, encoder: Encoder) -> float | None:
    """PS of an answer; None for an empty one."""
    if not text:
        return None
    return round(float(np.asarray(encoder.encode([text])[0], np.float64) @ attacked.axis), DIGITS) + 0.0
