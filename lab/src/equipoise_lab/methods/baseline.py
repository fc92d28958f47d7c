"""H&S Baseline (paper, section 4.1): a zero-shot model copies relevant text, fuzzy matching places it."""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Passage, Proposal, Query
from equipoise.rag.components import Components
from equipoise.rag.highlighters.quotations import documents_text, place
from equipoise.text.tokens import has_words
from equipoise_lab import prompts

NONE = "NONE"
"""Left out beside extracts, which count: the reply is one text, without an answer of its own that could decline."""


@dataclass(frozen=True, slots=True)
class BaselineHighlighter:
    """Extracts as a list, one a line. `threshold` is the paper's RapidFuzz score of 95."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    threshold: float = 95.0

    @classmethod
    def from_components(cls, components: Components) -> "BaselineHighlighter":
        """Built from the settings."""
        return cls(components.need_chat("the highlighter 'baseline'"), components.options)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The placed extracts; raises ModelError."""
        messages = prompts.load("baseline-v2", documents=documents_text(passages), question=query.text)
        reply = await self.chat.complete(messages, options=self.options)
        spans, dropped = place(extracts(reply.text), passages, threshold=self.threshold)
        return Proposal(spans, dropped, reply.usage)


def extracts(reply: str) -> list[str]:
    """The lines of a list without their bullet; a minus sign before a number stays. NONE gives none."""
    lines = [line.strip() for line in reply.splitlines()]
    bare = [line.removeprefix("- ").removeprefix("* ").strip() for line in lines]
    return [line for line in bare if has_words(line) and line.strip(".") != NONE]
