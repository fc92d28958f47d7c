"""Passages cut into sentences, with their place in the document."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from equipoise.core.types import Passage, Span
from equipoise.text.sentences import sentence_spans
from equipoise.text.visible import title


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


def numbered(sentences: Sequence[Sentence]) -> str:
    """`[n] sentence` lines, each passage under its document's title: no text of a document begins a line."""
    lines: list[str] = []
    rows = enumerate(sentences, 1)
    for passage, group in groupby(rows, key=lambda row: row[1].passage):
        lines.append(f"\n{title(passage.title)}".rstrip())
        lines += [f"[{n}] {' '.join(sentence.text.split())}" for n, sentence in group]
    return "\n".join(lines).strip()
