"""H&S Structured (paper, section 4.1): the model answers first, then extracts; the answer is thrown away.

If the answer is NONE, as the prompt asks for where nothing answers, its extracts are dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from equipoise import prompts
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Passage, Proposal, Query
from equipoise.models.structured import complete_as
from equipoise.rag.components import Components
from equipoise.rag.highlighters.quotations import declined, declines, documents_text, place


class StructuredReply(BaseModel):
    """The paper's schema."""

    answer: str
    text_extracts: list[str]


@dataclass(frozen=True, slots=True)
class StructuredHighlighter:
    """`threshold` is the paper's RapidFuzz score of 95."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    threshold: float = 95.0

    @classmethod
    def from_components(cls, components: Components) -> "StructuredHighlighter":
        """Built from the settings."""
        return cls(components.need_chat("the highlighter 'structured'"), components.options)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The placed extracts, none where the model answers NONE or nothing; raises ModelError."""
        messages = prompts.load("structured-v2", documents=documents_text(passages), question=query.text)
        reply, usage = await complete_as(self.chat, messages, StructuredReply, options=self.options, cut=True)
        if declines(reply.answer):
            return Proposal((), declined(reply.text_extracts), usage)
        spans, dropped = place(reply.text_extracts, passages, threshold=self.threshold)
        return Proposal(spans, dropped, usage)
