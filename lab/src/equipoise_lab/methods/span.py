"""H&S span (reference implementation): the model names the first and last words of each passage.

A fraction of the output tokens of copying. A pair of quotations is placed inside one passage: the first words,
then the first place after them where the last words end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Dropped, Passage, Proposal, Query, Span
from equipoise.models.structured import complete_as
from equipoise.rag.components import Components
from equipoise.rag.highlighters.quotations import declined, declines, documents_text
from equipoise.text.align import align
from equipoise.text.spans import DropReason
from equipoise_lab import prompts

LONGEST = 1_500
"""Characters from the first word to the last: more than a passage of the embedded chunker has."""


class Ends(BaseModel):
    """The first and the last words of a passage."""

    start: str
    end: str


class SpanReply(BaseModel):
    """The reference's schema: the answer first, thrown away."""

    answer: str
    text_extracts: list[Ends] = Field(max_length=12)  # a hijacked model shall not quote a whole corpus


@dataclass(frozen=True, slots=True)
class SpanHighlighter:
    """One call over all passages. `threshold` is the paper's RapidFuzz score of 95."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    threshold: float = 95.0

    @classmethod
    def from_components(cls, components: Components) -> "SpanHighlighter":
        """Built from the settings."""
        return cls(components.need_chat("the highlighter 'span'"), components.options)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The placed passages, none where the model answers NONE; raises ModelError."""
        messages = prompts.load("span-v2", documents=documents_text(passages), question=query.text)
        reply, usage = await complete_as(self.chat, messages, SpanReply, options=self.options)
        named = reply.text_extracts
        if declines(reply.answer):
            return Proposal((), declined(f"{ends.start} ... {ends.end}" for ends in named), usage)
        placed = [place_between(ends.start, ends.end, passages, threshold=self.threshold) for ends in named]
        spans = tuple(item for item in placed if isinstance(item, Span))
        dropped = tuple(item for item in placed if isinstance(item, Dropped))
        return Proposal(spans, dropped, usage)


def place_between(
    start: str, end: str, passages: Sequence[Passage], *, threshold: float = 95.0
) -> Span | Dropped:
    """From the first words to the last words, in the first passage that has both, within LONGEST characters.

    Exact and normalised matches in any passage go before approximate ones. Otherwise what could not be placed,
    with its reason.
    """
    seen = False
    for fuzzy in (False, True):
        for passage in passages:
            begins = align(start, passage.text, threshold=threshold, fuzzy=fuzzy)
            if begins is None:
                continue
            seen = True
            low = max(begins.start, begins.end - len(end.strip()))  # the two quotations may overlap
            ends = align(end, passage.text, low, begins.start + LONGEST, threshold=threshold, fuzzy=fuzzy)
            if ends is not None and ends.end >= begins.end:
                return Span(passage.doc_id, passage.start + begins.start, passage.start + ends.end)
    reason = DropReason.END_NOT_FOUND if seen else DropReason.NOT_FOUND
    return Dropped(reason, quotation=f"{start} ... {end}")
