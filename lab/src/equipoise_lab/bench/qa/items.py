"""Items: a question, the documents it is asked over, and what a right answer is. Own data as JSON Lines.

One object a line; `item_id`, `question` and `documents` are needed, the rest may be left out:

    {"item_id": "q1", "question": "Who may approve a refund?",
     "documents": [{"doc_id": "handbook", "title": "Handbook", "text": "A refund is approved by ..."}],
     "references": ["the head of sales"], "gold": [["handbook", 0, 40]],
     "answerable": true, "decision": null}

Offsets count characters (code points) of the document's text, end exclusive.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from equipoise.core.errors import InputError
from equipoise.core.types import Span
from equipoise.text.sentences import sentence_spans
from equipoise_lab.evaluation.jsonl import lines
from equipoise_lab.text.rows import Count, Words, parsed

Decision = Literal["yes", "no", "maybe"]

SEED = 20261121
"""Of every sample that is drawn, the same as in benchmarks/splits.py."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document of an item."""

    doc_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class QaItem:
    """One question.

    `gold` are spans of the documents that hold the answer. `answerable` None: nobody said, or it is doubtful.
    `decision` is the right answer to a question that wants yes or no.
    """

    item_id: str
    question: str
    documents: tuple[Text, ...]
    references: tuple[str, ...] = ()
    gold: tuple[Span, ...] = ()
    answerable: bool | None = None
    decision: Decision | None = None

    @property
    def sample_id(self) -> str:
        """See `evaluation.run.Sample`."""
        return self.item_id


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    doc_id: Words
    title: str = ""
    text: Words


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    item_id: Words
    question: Words
    documents: Annotated[list[_Document], Field(min_length=1)]
    references: list[Words] = []
    gold: list[tuple[str, Count, Count]] = []
    answerable: bool | None = None
    decision: Decision | None = None

    def item(self) -> QaItem:
        """The item of the row. Raises ValueError for documents or spans that do not fit together."""
        texts = {document.doc_id: document.text for document in self.documents}
        if len(texts) < len(self.documents):
            raise ValueError("two documents have the same doc_id: ids must be distinct")
        for doc_id, start, end in self.gold:
            if doc_id not in texts:
                raise ValueError(f"'gold' names the document {doc_id!r}, which the item does not have")
            if not start < end <= len(texts[doc_id]):
                size = len(texts[doc_id])
                raise ValueError(f"'gold' has {start} to {end} in {doc_id!r}, which has {size} characters")
        documents = tuple(Text(document.doc_id, document.title, document.text) for document in self.documents)
        gold, references = tuple(Span(*span) for span in self.gold), tuple(self.references)
        return QaItem(
            self.item_id, self.question, documents, references, gold, self.answerable, self.decision
        )


def read(path: Path) -> list[QaItem]:
    """The items of a JSON Lines file (packed: .gz, .xz). Raises InputError with file and line."""
    items: dict[str, QaItem] = {}
    for text, where in lines(path):
        item = from_line(text, where)
        if item.item_id in items:
            raise InputError(f"{where}: the item {item.item_id!r} stands here for the second time")
        items[item.item_id] = item
    if not items:
        raise InputError(f"{path} is empty: it needs at least one line")
    return list(items.values())


def from_line(line: str, where: str) -> QaItem:
    """The item of one line; `where` begins the message of the InputError for one that cannot be used."""
    row = parsed(_Row, line, where)
    try:
        return row.item()
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def as_row(item: QaItem) -> dict[str, Any]:
    """The item as an object whose line `from_line` reads again."""
    return asdict(item) | {"gold": [[span.doc_id, span.start, span.end] for span in item.gold]}


def without(items: Sequence[QaItem], names: Sequence[str]) -> list[QaItem]:
    """The items that have none of the documents `names`; a name stands for its parts too ("a" for "a#3")."""
    left_out = set(names)
    return [item for item in items if left_out.isdisjoint(_names(item))]


def sample(items: Sequence[QaItem], limit: int | None, *, seed: int = SEED) -> list[QaItem]:
    """`limit` items drawn with `seed` (None: all, as they come); a larger limit draws the same ones and more.

    Where some are answerable and some not, half of each, in turns; those that are neither are left out.
    """
    if limit is None:
        return list(items)
    drawn = Random(seed).sample(list(items), len(items))
    yes = [item for item in drawn if item.answerable is True]
    no = [item for item in drawn if item.answerable is False]
    if not (yes and no):
        return drawn[:limit]
    pairs = min(len(yes), len(no))
    turns = [item for pair in zip(yes, no, strict=False) for item in pair]
    return [*turns, *yes[pairs:], *no[pairs:]][:limit]


def merged(gold: Sequence[Span]) -> tuple[Span, ...]:
    """The same characters as spans in order that do not overlap or touch."""
    spans: list[Span] = []
    for span in sorted(gold):
        if spans and spans[-1].doc_id == span.doc_id and span.start <= spans[-1].end:
            spans[-1] = Span(span.doc_id, spans[-1].start, max(spans[-1].end, span.end))
        else:
            spans.append(span)
    return tuple(spans)


def gold_text(item: QaItem) -> str:
    """The gold passage: the text under the gold spans, overlapping ones once, one a line.

    A span that only marks an answer (its text is one of the references) stands for the sentences it lies in:
    a passage that is one word long would make every highlight look imprecise.
    """
    texts = {document.doc_id: document.text for document in item.documents}
    answers = {reference.strip() for reference in item.references}
    wide = [
        _in_sentences(span, texts[span.doc_id])
        if texts[span.doc_id][span.start : span.end].strip() in answers
        else span
        for span in item.gold
    ]
    return "\n".join(texts[span.doc_id][span.start : span.end] for span in merged(wide))


_sentences = lru_cache(maxsize=64)(sentence_spans)
"""Many questions are about one document."""


def _in_sentences(span: Span, text: str) -> Span:
    """The span grown to the whole sentences that it touches."""
    touched = [(start, end) for start, end in _sentences(text) if start < span.end and span.start < end]
    start = min([span.start, *(start for start, _ in touched)])
    return Span(span.doc_id, start, max([span.end, *(end for _, end in touched)]))


def _names(item: QaItem) -> set[str]:
    ids = {document.doc_id for document in item.documents}
    return ids | {doc_id.partition("#")[0] for doc_id in ids}
