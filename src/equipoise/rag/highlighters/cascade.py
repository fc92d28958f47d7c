"""Cascade highlighter: the cross-encoder reads and decides; a language model is asked only where that is unsure.

Where its probability that the best windows answer is near the threshold, the model picks among numbered sentences,
once, and an empty pick declines. Most questions cost no request (FrugalGPT, arXiv 2305.05176, calls it an LLM cascade).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel, Highlighter
from equipoise.core.types import ChatOptions, Dropped, Passage, Proposal, Query
from equipoise.rag.components import Components
from equipoise.rag.highlighters.abstention import log_odds
from equipoise.rag.highlighters.indexed import pick
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.sentence import SentenceHighlighter
from equipoise.rag.highlighters.sentences import sentences_of
from equipoise.text.spans import DropReason

UNSURE = 1.0
"""Log-odds on both sides of the threshold within which the model is asked: with .6, from .36 to .80."""
READ, MOST = 5, 6
"""Passages the model sees: the answer stood in the fourth where three were shown. Sentences it may pick: an answer of
several steps has more than three."""
PICK = "evidence-pick-v2"


@dataclass(frozen=True, slots=True)
class CascadeHighlighter:
    """`first` gives a probability and its threshold; `chat` picks where the two are within `unsure` log-odds. After two
    replies that are not valid `first` decides."""

    first: Highlighter
    chat: ChatModel
    options: ChatOptions = ChatOptions()
    unsure: float = UNSURE

    @classmethod
    def from_components(cls, components: Components) -> "CascadeHighlighter":
        """Built from the settings. With an encoder of several languages the model is always asked."""
        chat = components.need_chat("the highlighter 'cascade'")
        if components.resolved.reads == "sentence":
            return cls(SentenceHighlighter.from_components(components), chat, components.options, inf)
        return cls(ReaderHighlighter.from_components(components), chat, components.options)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The spans of `first`, or what the model picks; none where the one that decides finds none. Raises
        ModelError."""
        read = await self.first.highlight(query, passages)
        if read.probability is None or not self._is_unsure(read.probability, read.threshold or 0.0):
            return read
        try:
            picked = await pick(
                PICK, self.chat, query, sentences_of(passages[:READ]), options=self.options, most=MOST
            )
        except ModelReplyError as error:
            unusable = Dropped(DropReason.NO_VALID_REPLY, quotation=str(error))
            return replace(read, dropped=(unusable,), usage=error.usage)
        return replace(picked, probability=read.probability, threshold=read.threshold)

    def _is_unsure(self, probability: float, threshold: float) -> bool:
        return abs(log_odds(probability) - log_odds(threshold)) < self.unsure
