"""Items: a question, the documents it is asked over, and what a right answer is. Own data as JSON Lines.

One object a line; `item_id`, `question` and `documents` are needed, the rest may be left out:

    {"item_id": "q1", "question": "Who may approve a refund?",
     "documents": [{"doc_id": "handbook", "title": "Handbook", "text": "A refund is approved by ..."}],
     "references": ["the head of sales"], "gold": [["handbook", 0, 40]],
     "answerable": true, "decision": null}

Offsets count characters (code points) of the document's text, end exclusive.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Literal, cast, get_args

from equipoise.core.errors import InputError
from equipoise.core.types import Span
from equipoise.evaluation.jsonl import json_object, lines, text_of
from equipoise.text.sentences import sentence_spans

Decision = Literal["yes", "no", "maybe"]

FIELDS = ("item_id", "question", "documents", "references", "gold", "answerable", "decision")
DOCUMENT_FIELDS = ("doc_id", "title", "text")
SEED = 20261121
"""Of every sample that is drawn, the same as in benchmarks/splits.py."""


@dataclass(frozen=True, slots=True)
class Text:
    """A document of an item."""

    doc_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Item:
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
        """See `bench.scorers.Sample`."""
        return self.item_id


def read(path: Path) -> list[Item]:
    """The items of a JSON Lines file (gzipped: .gz). Raises InputError with file and line."""
    items: dict[str, Item] = {}
    for text, where in lines(path):
        item = from_row(json_object(text, where), where)
        if item.item_id in items:
            raise InputError(f"{where}: the item {item.item_id!r} stands here for the second time")
        items[item.item_id] = item
    if not items:
        raise InputError(f"{path} is empty: it needs at least one line")
    return list(items.values())


def from_row(row: Mapping[str, Any], where: str) -> Item:
    """The item of one object; `where` begins the message of the InputError for one that cannot be used."""
    _known(row, FIELDS, where)
    documents = tuple(_document(entry, where) for entry in _list(row, "documents", where))
    if not documents:
        raise InputError(f"{where}: 'documents' is empty: a question needs at least one")
    if len({document.doc_id for document in documents}) < len(documents):
        raise InputError(f"{where}: two documents have the same doc_id: ids must be distinct")
    answerable, decision = row.get("answerable"), row.get("decision")
    if not (answerable is None or isinstance(answerable, bool)):
        raise InputError(f"{where}: 'answerable' is {answerable!r}: write true, false or null")
    if decision is not None and decision not in get_args(Decision):
        raise InputError(f"{where}: 'decision' is {decision!r}: write yes, no, maybe or null")
    return Item(
        text_of(row, "item_id", where),
        text_of(row, "question", where),
        documents,
        _references(row, where),
        tuple(_span(entry, documents, where) for entry in _list(row, "gold", where)),
        answerable,
        cast(Decision | None, decision),
    )


def as_row(item: Item) -> dict[str, Any]:
    """The item as an object that `from_row` reads again."""
    return {
        "item_id": item.item_id,
        "question": item.question,
        "documents": [
            {name: getattr(document, name) for name in DOCUMENT_FIELDS} for document in item.documents
        ],
        "references": list(item.references),
        "gold": [[span.doc_id, span.start, span.end] for span in item.gold],
        "answerable": item.answerable,
        "decision": item.decision,
    }


def write(items: Sequence[Item], path: Path) -> None:
    """Write `items` in the form that `read` reads."""
    rows = [json.dumps(as_row(item), ensure_ascii=False) + "\n" for item in items]
    path.write_text("".join(rows), "utf-8")


def without(items: Sequence[Item], names: Sequence[str]) -> list[Item]:
    """The items that have none of the documents `names`; a name stands for its parts too ("a" for "a#3")."""
    left_out = set(names)
    return [item for item in items if left_out.isdisjoint(_names(item))]


def sample(items: Sequence[Item], limit: int | None, *, seed: int = SEED) -> list[Item]:
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


def gold_text(item: Item) -> str:
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


def _names(item: Item) -> set[str]:
    ids = {document.doc_id for document in item.documents}
    return ids | {doc_id.partition("#")[0] for doc_id in ids}


def _known(row: Mapping[str, Any], fields: Sequence[str], where: str) -> None:
    if unknown := [name for name in row if name not in fields]:
        raise InputError(f"{where}: unknown field {unknown[0]!r}: the fields are {', '.join(fields)}")


def _list(row: Mapping[str, Any], name: str, where: str) -> list[Any]:
    value = row.get(name, [])
    if not isinstance(value, list):
        raise InputError(f"{where}: {name!r} is no list: write [...]")
    return value


def _document(row: object, where: str) -> Text:
    if not isinstance(row, dict):
        raise InputError(f"{where}: a document is an object with doc_id, title and text, not {row!r}")
    _known(row, DOCUMENT_FIELDS, where)
    return Text(
        text_of(row, "doc_id", where), text_of(row, "title", where, needed=False), text_of(row, "text", where)
    )


def _references(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    references = _list(row, "references", where)
    if bad := [
        reference for reference in references if not isinstance(reference, str) or not reference.strip()
    ]:
        raise InputError(f"{where}: 'references' holds {bad[0]!r}: texts that are not empty are wanted")
    return tuple(references)


def _span(value: object, documents: Sequence[Text], where: str) -> Span:
    """[doc_id, start, end] inside a document of the item."""
    form = isinstance(value, list) and [type(part) for part in value] == [str, int, int]
    if not isinstance(value, list) or not form:
        raise InputError(f"{where}: 'gold' holds {value!r}: write [doc_id, start, end]")
    doc_id, start, end = value
    text = next((document.text for document in documents if document.doc_id == doc_id), None)
    if text is None:
        raise InputError(f"{where}: 'gold' names the document {doc_id!r}, which the item does not have")
    if not 0 <= start < end <= len(text):
        raise InputError(
            f"{where}: 'gold' has {start} to {end} in {doc_id!r}, which has {len(text)} characters"
        )
    return Span(doc_id, start, end)
