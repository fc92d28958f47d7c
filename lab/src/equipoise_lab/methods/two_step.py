"""H&S two steps (reference implementation): the model answers, then extracts what its answer rests on.

The second call is the first one's conversation continued, so that a prompt cache keeps the documents. The
answer stays in here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from equipoise.core.errors import after_spending
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Message, Passage, Proposal, Query
from equipoise.models.structured import complete_as
from equipoise.rag.components import Components
from equipoise.rag.highlighters.quotations import declines, documents_text, place
from equipoise_lab import prompts


class ExtractsReply(BaseModel):
    """The second reply."""

    text_extracts: list[str]


@dataclass(frozen=True, slots=True)
class TwoStepHighlighter:
    """One call where the model declines, two otherwise. `threshold` is the paper's RapidFuzz score of 95."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    threshold: float = 95.0

    @classmethod
    def from_components(cls, components: Components) -> "TwoStepHighlighter":
        """Built from the settings."""
        return cls(components.need_chat("the highlighter 'two_step'"), components.options)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The placed extracts, none where the model answers NONE or nothing; raises ModelError."""
        asked = prompts.load("two-step-answer-v2", documents=documents_text(passages), question=query.text)
        answer = await self.chat.complete(asked, options=self.options)
        if declines(answer.text):
            return Proposal((), usage=answer.usage)
        messages = (*asked, Message("assistant", answer.text), *prompts.load("two-step-extract-v1"))
        with after_spending(answer.usage):
            reply, usage = await complete_as(
                self.chat, messages, ExtractsReply, options=self.options, cut=True
            )
        spans, dropped = place(reply.text_extracts, passages, threshold=self.threshold)
        return Proposal(spans, dropped, answer.usage + usage)
