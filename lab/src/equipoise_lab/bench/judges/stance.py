"""A judge of stance: where a text stands on a question, on the seven points of Figure 2 of the EBI paper.

The paper has a language model fill them in and prints neither its prompt nor its words for the points; both are ours
(`prompts/stance-likert-v1.toml`).
"""

from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel

from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Message
from equipoise.models.structured import complete_as
from equipoise.text.fence import fenced
from equipoise_lab import prompts
from equipoise_lab.evaluation.scores import Score

PROMPT = "stance-likert-v1"
LONGEST = 1_600
"""Characters of a text that the model reads: a whole passage of the attack, and most of a person's."""
MAX_TOKENS = 32
"""Of one reply: a point and the JSON around it are 8 tokens."""


class LikertReply(BaseModel):
    """A point of the scale and nothing else."""

    stance: Literal[1, 2, 3, 4, 5, 6, 7]


@dataclass(frozen=True, slots=True)
class LikertJudge:
    """The judge with `chat` as its model. Texts stand behind bars, and a reply is one of seven numbers: a text that
    asks for another reply can at most choose among these."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()

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
