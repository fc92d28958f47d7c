"""Judges of one answer (H&S, section 5.2): correctness, relevance, quality, each on its published scale.

What a rule can decide, no model is asked: declining is right where the documents hold no answer and scores
lowest where they do; answering all the same scores lowest (so does the code of the H&S paper).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from equipoise.core.errors import InputError, ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Message
from equipoise.models.structured import complete_as
from equipoise.text.fence import fenced
from equipoise.text.tokens import has_words
from equipoise_lab import prompts
from equipoise_lab.evaluation.scores import Score

MAX_TOKENS = 160
"""Of one reply: an explanation of 25 words is about 40 tokens, the JSON around it 20."""

Explanation = Annotated[str, Field(json_schema_extra={"maxLength": 200})]
"""Short where the model's grammar can see to it. A longer one is used as well: it is no reason to ask again."""


class CorrectnessReply(BaseModel):
    """The reason first: the verdict then follows from it."""

    explanation: Explanation
    correct: bool


class RelevanceReply(BaseModel):
    """0 irrelevant, 1 related, 2 highly relevant, 3 perfectly relevant."""

    explanation: Explanation
    relevance: Literal[0, 1, 2, 3]


class QualityReply(BaseModel):
    """1 useless to 10 excellent."""

    explanation: Explanation
    rating: Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]


@dataclass(frozen=True, slots=True)
class Rubric:
    """What is judged: the prompt, the reply's form and the field of its verdict, the ends of the scale."""

    prompt: str
    reply: type[BaseModel]
    verdict: str
    worst: float
    best: float
    needs_reference: bool = False

    def request(self, *, question: str, prediction: str, reference: str) -> tuple[Message, ...]:
        """The messages; a rubric that needs no reference does not show it."""
        shown = {"question": fenced(question), "prediction": fenced(prediction)}
        if self.needs_reference:
            shown["reference"] = fenced(reference)
        return prompts.load(self.prompt, **shown)

    def by_rule(self, *, declined: bool, answerable: bool) -> Score:
        """The score where the system declined, or where the documents hold no answer. A blank answer declines."""
        did = "declined" if declined else "answered"
        known = "a question the documents answer" if answerable else "what the documents do not answer"
        right = declined and not answerable
        return Score(float(self.best if right else self.worst), f"{did} {known} (decided without a model)")


RUBRICS: Mapping[str, Rubric] = {
    "correctness": Rubric("judge-correctness-v1", CorrectnessReply, "correct", 0, 1, needs_reference=True),
    "relevance": Rubric("judge-relevance-v1", RelevanceReply, "relevance", 0, 3),
    "quality": Rubric("judge-quality-v1", QualityReply, "rating", 1, 10),
}
"""Correctness: the task of PoLL multi-hop (Verga et al. 2024). Relevance: the scale of Reliable CI. Quality:
that of MT-Bench (Zheng et al. 2023)."""


@dataclass(frozen=True, slots=True)
class LlmJudge:
    """A Judge by a chat model, see `core.protocols.Judge`. A reply never has more than MAX_TOKENS."""

    rubric: Rubric
    chat: ChatModel
    options: ChatOptions = ChatOptions()

    async def judge(self, *, question: str, prediction: str | None, reference: str | None) -> Score:
        """The score on the rubric's scale; None with the reason where the model's reply cannot be used."""
        if prediction is None or reference is None or not has_words(prediction):
            return self.rubric.by_rule(
                declined=not has_words(prediction or ""), answerable=reference is not None
            )
        if self.rubric.needs_reference and not has_words(reference):
            return Score(None, "not scored: there is no reference answer to compare with")
        messages = self.rubric.request(question=question, prediction=prediction, reference=reference)
        options = replace(self.options, max_tokens=min(self.options.max_tokens, MAX_TOKENS))
        try:
            reply, usage = await complete_as(self.chat, messages, self.rubric.reply, options=options)
        except ModelReplyError as error:
            return Score(None, f"not scored: {error}")
        fields = reply.model_dump()
        return Score(float(fields[self.rubric.verdict]), fields["explanation"].strip(), usage)


def make(name: str, chat: ChatModel, options: ChatOptions = ChatOptions()) -> LlmJudge:
    """The judge `name` of RUBRICS on `chat`; raises InputError for another name."""
    if name not in RUBRICS:
        raise InputError(f"there is no judge {name!r}: choose from {', '.join(RUBRICS)}")
    return LlmJudge(RUBRICS[name], chat, options)
