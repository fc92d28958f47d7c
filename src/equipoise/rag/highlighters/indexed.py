"""Indexed highlighter: sentences are numbered, the model returns numbers. Verbatim by construction."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pydantic import BaseModel, Field

from equipoise import prompts
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Dropped, Passage, Proposal, Query
from equipoise.models.structured import complete_as
from equipoise.rag.highlighters.sentences import Sentence, sentences_of
from equipoise.rag.parts import Parts
from equipoise.text.spans import DropReason


class IndexedReply(BaseModel):
    """`answerable` comes first, so that the model decides before it picks."""

    answerable: bool
    sentences: list[int] = Field(max_length=12)


@dataclass(frozen=True, slots=True)
class IndexedHighlighter:
    """One call over all passages."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()

    @classmethod
    def from_parts(cls, parts: Parts) -> "IndexedHighlighter":
        """Built from the settings."""
        return cls(parts.need_chat("the highlighter 'indexed'"), parts.options)

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The spans under the numbers the model chose; raises ModelError."""
        sentences = sentences_of(passages)
        messages = prompts.load("indexed-v1", sentences=numbered(sentences), question=query.text)
        reply, usage = await complete_as(self.chat, messages, IndexedReply, options=self.options)
        numbers = dict.fromkeys(reply.sentences) if reply.answerable else {}
        spans = tuple(sentences[n - 1].span for n in numbers if 0 < n <= len(sentences))
        unknown = [n for n in numbers if not 0 < n <= len(sentences)]
        dropped = tuple(Dropped(DropReason.NO_SUCH_NUMBER, quotation=str(n)) for n in unknown)
        return Proposal(spans, dropped, usage)


def numbered(sentences: Sequence[Sentence]) -> str:
    """`[n] sentence` lines, each passage under its document's title."""
    lines: list[str] = []
    rows = enumerate(sentences, 1)
    for passage, group in groupby(rows, key=lambda row: row[1].passage):
        lines.append(f"\n{passage.title}".rstrip())
        lines += [f"[{n}] {' '.join(sentence.text.split())}" for n, sentence in group]
    return "\n".join(lines).strip()
