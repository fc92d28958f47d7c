"""Passages cut into sentences, with their place in the document."""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.types import Passage, Span
from equipoise.text.sentences import sentence_spans


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage; `start` and `end` count in the passage's text."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        """The sentence."""
        return self.passage.text[self.start : self.end]

    @property
    def span(self) -> Span:
        """Its place in the document."""
        offset = self.passage.start
        return Span(self.passage.doc_id, offset + self.start, offset + self.end)


def sentences_of(passages: Sequence[Passage]) -> list[Sentence]:
    """All sentences, passage by passage."""
    return [Sentence(p, start, end) for p in passages for start, end in sentence_spans(p.text)]
