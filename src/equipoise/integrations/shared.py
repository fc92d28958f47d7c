"""What the parts for every framework do with chunks from elsewhere: filter, highlight, cross the boundary, summarize.

A `Chunk` is a framework's document as this package reads it; `as_documents` makes documents and passages of chunks,
with the names by which spans point into them. From the boundary on there is no question: `crossed` is a function of
(picks, chunks, policy), `summarized` of `Quotes` alone, in a context of its own (`apart`).
"""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np

from equipoise.core.errors import InputError, ModelError
from equipoise.core.protocols import Encoder, Highlighter, PassageFilter, Summarizer
from equipoise.core.results import Answer, Reason, Refusal, Trace
from equipoise.core.types import (
    Array,
    Candidates,
    Document,
    Dropped,
    Highlight,
    Highlights,
    Passage,
    Proposal,
    Span,
    Tag,
    Trust,
)
from equipoise.corpus.indexing import cut
from equipoise.corpus.pieces import passage_at
from equipoise.models.abilities import encode_questions
from equipoise.rag.boundary import crossing_tags, read_highlights, with_context
from equipoise.rag.gathering import DETAILS, checked
from equipoise.rag.search import OVER, accounted
from equipoise.text.spans import SpanPolicy

T = TypeVar("T")
MOST_PAGES = 100_000
NO_TEXT = "has no text"
TWICE = "came twice"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A framework's document. `chunk_id` may be empty, and stand for several texts.

    `page` counts from 1; `position` is where in `source` it begins, in any unit; `embedding` is (d,).
    """

    text: str
    chunk_id: str = ""
    source: str = ""
    title: str = ""
    page: int | None = None
    position: int | None = None
    trust: Trust = Trust.UNTRUSTED
    embedding: Sequence[float] | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class ChunkDocuments:
    """Chunks as documents with their sentences, by name, and as `passages`, all in the order they came.

    `rows` has for each name the row of its first chunk. A name is the chunk's id where that stands for one text.
    """

    documents: Mapping[str, Document]
    passages: tuple[Passage, ...]
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Sifted:
    """Rows of the chunks that were kept, in the order they came, and (row, reason, score) of every other one."""

    kept: tuple[int, ...]
    flagged: tuple[tuple[int, str, float], ...]


@dataclass(frozen=True, slots=True)
class Picks:
    """What a highlighter chose: spans and tags, and no word of anybody."""

    spans: tuple[Span, ...] = ()
    tags: frozenset[Tag] = frozenset()

    @classmethod
    def of(cls, proposal: Proposal) -> Self:
        """Without what the highlighter's model wrote and what it thinks of the question."""
        return cls(proposal.spans, proposal.tags)

    def to_dict(self) -> dict[str, Any]:
        """For snapshots and logs."""
        spans = [[span.doc_id, span.start, span.end] for span in self.spans]
        return {"spans": spans, "tags": sorted(self.tags)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """As `to_dict` wrote it."""
        return cls(tuple(Span(*span) for span in data["spans"]), frozenset(map(Tag, data["tags"])))


@dataclass(frozen=True, slots=True)
class Quotes:
    """What crosses the boundary, and all that a summarizer gets: canonical highlights, and tags that they bear out."""

    highlights: Highlights = field(default_factory=Highlights)
    tags: frozenset[Tag] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        """For snapshots and logs."""
        names = Highlight.__dataclass_fields__
        items = [{name: getattr(item, name) for name in names} for item in self.highlights.items]
        return {"highlights": items, "tags": sorted(self.tags)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """As `to_dict` wrote it."""
        items = tuple(Highlight(**item) for item in data["highlights"])
        return cls(Highlights(items), frozenset(map(Tag, data["tags"])))


def chunk_of(
    text: str,
    metadata: Mapping[str, object],
    chunk_id: str | None = None,
    *,
    trust_key: str = "",
    embedding: Sequence[float] | None = None,
    score: float | None = None,
) -> Chunk:
    """The chunk that a framework's document is, told by the keys of metadata that loaders and splitters use.

    It is trusted only where `trust_key` names a key of its metadata that says "trusted": choose one that nobody who
    writes documents can set.
    """
    trusted = bool(trust_key) and metadata.get(trust_key) == Trust.TRUSTED.value
    return Chunk(
        text,
        chunk_id or "",
        next(_strings(metadata, "source", "file_path", "file_name", "url", "source_id"), ""),
        next(_strings(metadata, "title"), ""),
        _page(metadata),
        next(_numbers(metadata, "start_index", "split_idx_start", "start_char_idx"), None),
        Trust.TRUSTED if trusted else Trust.UNTRUSTED,
        embedding,
        score or 0.0,
    )


def as_documents(chunks: Sequence[Chunk]) -> ChunkDocuments:
    """The chunks with text, each text under one name once; a long one has several passages."""
    documents: dict[str, Document] = {}
    passages: list[Passage] = []
    rows: dict[str, int] = {}
    for row, name in _named(chunks):
        document, places = cut(_document(chunks[row], name))
        documents[name], rows[name] = document, row
        passages += [passage_at(len(passages) + n, *place, document) for n, place in enumerate(places)]
    return ChunkDocuments(documents, tuple(passages), rows)


async def sifted(
    passage_filter: PassageFilter,
    question: str,
    chunks: Sequence[Chunk],
    *,
    k: int,
    encoder: Encoder,
    question_vector: Sequence[float] | None = None,
) -> Sifted:
    """At most `k` of the chunks; every other one is flagged with a reason.

    The chunks' own embeddings are used where all have one and the question's vector is given, else `encoder`. Raises
    QuestionError, CorpusError for vectors that cannot be used, and ModelError.
    """
    query = checked(question)
    candidates = await asyncio.to_thread(_candidates, query.text, chunks, encoder, question_vector)
    filtered = accounted(candidates, await passage_filter.filter(query, candidates, k=k), k)
    kept = tuple(passage.passage_id for passage in filtered.kept.passages)
    reasons = {flag.passage.passage_id: (flag.reason, flag.score) for flag in filtered.flagged}
    offered = {passage.passage_id for passage in candidates.passages}
    for row, chunk in enumerate(chunks):
        if row not in kept:
            unread = OVER if row in offered else TWICE if has_text(chunk) else NO_TEXT
            reasons.setdefault(row, (unread, chunk.score))
    return Sifted(kept, tuple((row, *why) for row, why in sorted(reasons.items())))


async def proposed(highlighter: Highlighter, question: str, chunk_documents: ChunkDocuments) -> Proposal:
    """What the highlighter proposes for the question. Raises QuestionError and ModelError."""
    return await highlighter.highlight(checked(question), chunk_documents.passages)


def crossed(
    picks: Picks, chunk_documents: ChunkDocuments, policy: SpanPolicy, *, context: bool = False
) -> tuple[Quotes, tuple[Dropped, ...]]:
    """The boundary: canonical quotes with their text read from the chunks' documents, and what was dropped and why.

    With `context` a summarizer may also read the passages around the quotes.
    """
    highlights, dropped = read_highlights(
        picks.spans, chunk_documents.passages, chunk_documents.documents, policy
    )
    tags, unborne = crossing_tags(picks.tags, highlights)
    if context:
        highlights = with_context(highlights, chunk_documents.documents, chunk_documents.passages)
    return Quotes(highlights, tags), (*dropped, *unborne)


async def summarized(summarizer: Summarizer, quotes: Quotes) -> Answer | Refusal:
    """The answer that rests on the quotes; a refusal where there are none, and where the summarizer's model fails."""
    if not isinstance(quotes, Quotes):
        raise InputError(f"quotes come from a boundary of this package, not of type {type(quotes).__name__}")
    if not quotes.highlights:
        return Refusal(Reason.NOTHING_HIGHLIGHTED, DETAILS[Reason.NOTHING_HIGHLIGHTED])
    tags = tuple(sorted(quotes.tags))
    try:
        summary = await apart(summarizer.summarize(quotes.highlights, tags=quotes.tags))
    except ModelError as error:
        trace = Trace(failure=str(error), usage=error.usage, tags=tags)
        return Refusal(Reason.MODEL_FAILED, DETAILS[Reason.MODEL_FAILED], quotes.highlights, trace)
    trace = Trace(
        guessed_questions=summary.guessed_questions,
        unsupported=summary.unsupported,
        missing=summary.missing,
        failure=summary.failure,
        usage=summary.usage,
        tags=tags,
    )
    return Answer(summary.answer, quotes.highlights, summary.grounded, trace)


async def apart(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` in an empty context: no callbacks, metadata, spans or baggage of whoever asked reach it.

    Frameworks hand these on through context variables, down to the headers of a model's requests.
    """
    return await asyncio.get_running_loop().create_task(work, context=Context())


def has_text(chunk: Chunk) -> bool:
    """Whether anything in the chunk could be quoted."""
    return any(map(str.isalnum, chunk.text))


def _strings(metadata: Mapping[str, object], *keys: str) -> Iterator[str]:
    values = (metadata.get(key) for key in keys)
    return (value for value in values if isinstance(value, str) and value.strip())


def _numbers(metadata: Mapping[str, object], *keys: str) -> Iterator[int]:
    values = (metadata.get(key) for key in keys)
    return (
        value for value in values if isinstance(value, int) and not isinstance(value, bool) and value >= 0
    )


def _page(metadata: Mapping[str, object]) -> int | None:
    """From 1; loaders count `page_number` and `page_label` from 1, and `page` from 0."""
    labels = (
        label
        for label in _strings(metadata, "page_label")
        if label.isascii() and label.isdigit() and len(label) < 7
    )
    counted = (page + 1 for page in _numbers(metadata, "page"))
    return next(chain(_numbers(metadata, "page_number"), map(int, labels), counted), None)


def _named(chunks: Sequence[Chunk]) -> Iterator[tuple[int, str]]:
    """(row, name) of the first chunk of each name. A name is a function of the chunk and of whether its id stands for
    other texts too; one that ends in a digest has a tilde before it, and no other name has one."""
    texts: dict[str, set[str]] = {}
    for chunk in chunks:
        texts.setdefault(_own_name(chunk), set()).add(chunk.text)
    seen: set[str] = set()
    for row, chunk in enumerate(chunks):
        name = _own_name(chunk)
        if not name or "~" in name or len(texts[name]) > 1:
            name = f"{name}~{sha256(chunk.text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        if has_text(chunk) and name not in seen:
            seen.add(name)
            yield row, name


def _own_name(chunk: Chunk) -> str:
    """The id or, without one, the place: names of one source are in its order."""
    if chunk.chunk_id or chunk.position is None:
        return chunk.chunk_id
    return f"{chunk.source}@{chunk.position:09d}"


def _document(chunk: Chunk, name: str) -> Document:
    before = min(chunk.page or 0, MOST_PAGES)
    return Document(
        name, chunk.text, chunk.source or name, chunk.title, chunk.trust, pages=(0,) * max(before, 0)
    )


def _candidates(
    question: str, chunks: Sequence[Chunk], encoder: Encoder, vector: Sequence[float] | None
) -> Candidates:
    """Each chunk whole, as one passage whose number is its row."""
    named = [(row, cut(_document(chunks[row], name))[0]) for row, name in _named(chunks)]
    passages = tuple(passage_at(row, 0, len(document.text), document) for row, document in named)
    given = [chunks[row].embedding for row, _ in named]
    if vector is not None and all(
        embedding is not None and len(embedding) == len(vector) for embedding in given
    ):
        rows = np.array(given, np.float32).reshape(len(given), len(vector))
        asked, embeddings = unit(np.array([vector], np.float32))[0], unit(rows)
    else:
        asked = encode_questions(encoder, [question])[0]
        embeddings = encoder.encode([passage.text for passage in passages])
    scores = np.array([chunks[row].score for row, _ in named], np.float32)
    documents = {document.doc_id: document for _, document in named}
    return Candidates(passages, scores, embeddings, asked, documents)


def unit(rows: Array) -> Array:
    """(n, d) rows of length 1; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Array = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
