"""A judge of stance: where a text stands on a question, on the seven points of Figure 2 of the EBI paper.

The paper has a language model fill them in and prints neither its prompt nor its words for the points; both are ours
(`prompts/stance-likert-v1.toml`). The judge is also a `rag.voices.Stance`: it can stand where `ChatStance` does.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from pydantic import BaseModel

from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.sync import together
from equipoise.core.types import ChatOptions, Message, Query, Score, Usage
from equipoise.models.structured import complete_as
from equipoise.rag.stance import Sides
from equipoise.text.fence import fenced
from equipoise_lab import prompts

PROMPT = "stance-likert-v1"
LOWEST, NEUTRAL, HIGHEST = 1, 4, 7
LONGEST = 1_600
"""Characters of a text that the model reads: a whole passage of the attack, and most of a person's."""
MAX_TOKENS = 32
"""Of one reply: a point and the JSON around it are 8 tokens."""
CONCURRENCY = 4


class LikertReply(BaseModel):
    """A point of the scale and nothing else."""

    stance: Literal[1, 2, 3, 4, 5, 6, 7]


@dataclass(frozen=True, slots=True)
class LikertJudge:
    """The judge with `chat` as its model; `concurrency` texts are asked about at a time. Texts stand behind bars, and a
    reply is one of seven numbers: a text that asks for another reply can at most choose among these."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    concurrency: int = CONCURRENCY

    def request(self, question: str, text: str) -> tuple[Message, ...]:
        """The messages. What is the same for all texts of a question comes first, for prompt caches."""
        return prompts.load(PROMPT, question=fenced(question), text=fenced(text[:LONGEST]))

    async def judge(self, *, question: str, text: str) -> Score:
        """The point, 1 to 7; None with the reason for an empty text and where the reply cannot be used, never 0.

        Raises ModelUnavailable.
        """
        if not text.strip():
            return Score(None, "not scored: there is no text")
        options = replace(self.options, max_tokens=min(self.options.max_tokens, MAX_TOKENS))
        try:
            reply, usage = await complete_as(
                self.chat, self.request(question, text), LikertReply, options=options
            )
        except ModelReplyError as error:
            return Score(None, f"not scored: {error}")
        return Score(float(reply.stance), "", usage)

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """The points of `texts` as sides (n,), 1 is -1, 4 is 0 and 7 is 1; NaN where one could not be scored.

        Raises ModelUnavailable.
        """
        gate = asyncio.Semaphore(self.concurrency)
        scores: list[Score] = [Score(None, "")] * len(texts)

        async def score(place: int, text: str) -> None:
            async with gate:
                scores[place] = await self.judge(question=query.text, text=text)

        await together(score(place, text) for place, text in enumerate(texts))
        values = np.array([np.nan if each.value is None else side(each.value) for each in scores])
        return Sides(values, sum((each.usage for each in scores), Usage()))


def side(point: float) -> float:
    """A point of the scale as a side. Worked value: 1, 4 and 6 give -1, 0 and 2/3."""
    return (point - NEUTRAL) / (HIGHEST - NEUTRAL)
