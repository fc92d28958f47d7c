"""What may be quoted of passages, with its place in the document."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from equipoise.core.types import Passage, Span
from equipoise.text.outline import heading_text, path_line
from equipoise.text.sentences import sentence_spans
from equipoise.text.visible import title


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage; `start` and `end` count in the passage's text, and so do the stretches of it that are
    read for it (`read_stretches`)."""

    passage: Passage
    start: int
    end: int
    read_stretches: tuple[tuple[int, int], ...]

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
    """What may be quoted of the passages, in order: the units they carry, else their sentences."""
    return [
        Sentence(passage, *unit, stretches)
        for passage in passages
        for unit, stretches in zip(_units(passage), passage.readings or _alone(passage), strict=True)
    ]


def _alone(passage: Passage) -> Sequence[tuple[tuple[int, int], ...]]:
    return [(unit,) for unit in _units(passage)]


def _units(passage: Passage) -> Sequence[tuple[int, int]]:
    return sentence_spans(passage.text) if passage.sentences is None else passage.sentences


def numbered(sentences: Sequence[Sentence]) -> str:
    """`[n] sentence` lines, each passage under its document's title and headings, with the headings and labels
    between its sentences in lines that begin with `#`: no text of a document begins a line but such a path."""
    lines: list[str] = []
    rows = enumerate(sentences, 1)
    for passage, group in groupby(rows, key=lambda row: row[1].passage):
        lines.append(f"\n{path_line(passage.title, passage.headings)}".rstrip())
        at = 0
        for n, sentence in group:
            if between := _unsaid(passage, at, sentence.start):
                lines.append(f"# {between}")
            lines.append(f"[{n}] {' '.join(sentence.text.split())}")
            at = sentence.end
    return "\n".join(lines).strip()


def _unsaid(passage: Passage, start: int, end: int) -> str:
    """The headings and labels in a stretch of a passage that do not stand above it, as one clean line."""
    headings = [heading_text(line) for line in passage.text[start:end].splitlines()]
    said = {passage.title, *passage.headings}
    return title(" > ".join(line for line in headings if line not in said and any(c.isalnum() for c in line)))
