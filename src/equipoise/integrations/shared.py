"""What the parts for every framework do with chunks from elsewhere: filter, highlight, cross the boundary, summarize.

From the boundary on there is no question: `crossed` is a function of
(picks, chunks, policy), `summarized` of `Quotes` alone, in a context of its own (`apart`).

Unless the mode is EQUAL (`trust.mode`), what becomes of trusted chunks is a function of the trusted chunks, whatever
untrusted ones come with them: names, what a filter keeps, what is picked and written.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np
from pydantic import TypeAdapter

from equipoise.core.errors import InputError, ModelError
from equipoise.core.protocols import Encoder, PassageFilter, Summarizer
from equipoise.core.results import Answer, Others, Reason, Refusal, Statement, Trace
from equipoise.core.types import (
    Array,
    Candidates,
    Document,
    Dropped,
    Highlight,
    Highlights,
    Proposal,
    Query,
    Span,
    Tag,
    Trust,
)
from equipoise.corpus.indexing import cut
from equipoise.corpus.pieces import passage_at
from equipoise.integrations.chunks import (
    EQUAL,
    FIRST,
    Chunk,
    ChunkDocuments,
    document_of,
    has_text,
    named,
)
from equipoise.models.encoder import encode_questions
from equipoise.rag.boundary import crossing_tags, read_highlights, read_quotes, with_context
from equipoise.rag.gathering import because, checked
from equipoise.rag.journal import Journal
from equipoise.rag.pipeline import append_contact
from equipoise.rag.search import OVER, accounted
from equipoise.rag.versions import without_outdated_passages
from equipoise.rag.witnesses import Heard, untrusted_answer
from equipoise.text.spans import SpanPolicy

T = TypeVar("T")
NO_TEXT = "has no text"
TWICE = "came twice"
NOT_READ = "untrusted: only trusted documents are read"
OTHERS: TypeAdapter[Others | None] = TypeAdapter(Others | None)
ITEMS: TypeAdapter[tuple[Highlight, ...]] = TypeAdapter(tuple[Highlight, ...])


@dataclass(frozen=True, slots=True)
class Sifted:
    """Rows of the chunks that were kept, in the order they came, and (row, reason, score) of every other one."""

    kept: tuple[int, ...]
    flagged: tuple[tuple[int, str, float], ...]


@dataclass(frozen=True, slots=True)
class Picks:
    """What a highlighter chose: spans and tags, without any text; `others` is what untrusted chunks say, in quotes that
    the boundary reads again."""

    spans: tuple[Span, ...] = ()
    tags: frozenset[Tag] = frozenset()
    others: Others | None = None

    @classmethod
    def of(cls, proposal: Proposal) -> Self:
        """From a proposal, without what the highlighter's model wrote and how sure it is."""
        return cls(proposal.spans, proposal.tags)

    def to_dict(self) -> dict[str, Any]:
        """For snapshots and logs."""
        spans = [[span.doc_id, span.start, span.end] for span in self.spans]
        return {"spans": spans, "tags": sorted(self.tags), "others": _written(self.others)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """As `to_dict` wrote it."""
        spans = tuple(Span(*span) for span in data["spans"])
        return cls(spans, frozenset(map(Tag, data["tags"])), OTHERS.validate_python(data.get("others")))


@dataclass(frozen=True, slots=True)
class Quotes:
    """What crosses the boundary: canonical highlights, and tags that they bear out, which are all that a summarizer
    gets. `others` is what untrusted chunks say, for who asks alone: it is shown beside the answer or in its place.
    `metadata` is that of the documents, by name, to be shown with their quotes."""

    highlights: Highlights = field(default_factory=Highlights)
    tags: frozenset[Tag] = frozenset()
    others: Others | None = None
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)

    @property
    def shown(self) -> tuple[Highlight, ...]:
        """The highlights; where there are none, the quotes of others, claim by claim."""
        return self.highlights.items or self.of_others

    @property
    def of_others(self) -> tuple[Highlight, ...]:
        """The quotes of others, claim by claim."""
        return self.others.quotes if self.others else ()

    def to_dict(self) -> dict[str, Any]:
        """For snapshots and logs."""
        items = ITEMS.dump_python(self.highlights.items, mode="json")
        metadata = {name: dict(known) for name, known in self.metadata.items()}
        told = {"others": _written(self.others), "metadata": metadata}
        return {"highlights": list(items), "tags": sorted(self.tags)} | told

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """As `to_dict` wrote it."""
        items = Highlights(ITEMS.validate_python(data["highlights"]))
        others = OTHERS.validate_python(data.get("others"))
        return cls(items, frozenset(map(Tag, data["tags"])), others, data.get("metadata", {}))


async def sifted(
    passage_filter: PassageFilter,
    question: str,
    chunks: Sequence[Chunk],
    *,
    k: int,
    encoder: Encoder,
    question_vector: Sequence[float] | None = None,
    mode: str = EQUAL,
) -> Sifted:
    """At most `k` of the chunks; every other one is flagged with a reason, first those of which newer versions of their
    documents came, too. Unless the mode is EQUAL the filter sees the trusted chunks alone; in FIRST at most `k`
    untrusted ones of each source follow, so that none crowds out another.

    The chunks' own embeddings are used where all have one and the question's vector is given, else `encoder`. Raises
    QuestionError, CorpusError for vectors that cannot be used, and ModelError.
    """
    query = Query(checked(question))
    if mode != EQUAL:
        rows = [row for row, chunk in enumerate(chunks) if chunk.trust is Trust.TRUSTED]
        own, first = [chunks[row] for row in rows], Sifted((), ())
        if own:
            vector = question_vector
            first = await sifted(passage_filter, question, own, k=k, encoder=encoder, question_vector=vector)
        others = _of_each_source(chunks, k if mode == FIRST else 0)
        flagged = [(rows[row], reason, score) for row, reason, score in first.flagged]
        kept = (*(rows[row] for row in first.kept), *others.kept)
        return Sifted(kept, tuple(sorted([*flagged, *others.flagged])))
    candidates = await asyncio.to_thread(_candidates, query.text, chunks, encoder, question_vector)
    found, outdated = without_outdated_passages(query.text, candidates)
    filtered = accounted(found, await passage_filter.filter(query, found, k=k), k)
    kept = tuple(passage.passage_id for passage in filtered.kept.passages)
    flags = (*outdated, *filtered.flagged)
    reasons = {flag.passage.passage_id: (flag.reason, flag.score) for flag in flags}
    offered = {passage.passage_id for passage in candidates.passages}
    for row, chunk in enumerate(chunks):
        if row not in kept:
            unread = OVER if row in offered else TWICE if has_text(chunk) else NO_TEXT
            reasons.setdefault(row, (unread, chunk.score))
    return Sifted(kept, tuple((row, *why) for row, why in sorted(reasons.items())))


def crossed(
    picks: Picks,
    chunk_documents: ChunkDocuments,
    policy: SpanPolicy,
    *,
    context: bool = False,
    mode: str = EQUAL,
) -> tuple[Quotes, tuple[Dropped, ...]]:
    """The boundary: canonical quotes with their text read from the chunks' documents, and what was dropped and why.
    Unless the mode is EQUAL, quotes of trusted ones alone; what others say is never summarized.

    With `context` a summarizer may also read the passages around the quotes.
    """
    read = chunk_documents.read_in(mode)
    highlights, dropped = read_highlights(picks.spans, read.passages, read.documents, policy)
    tags, unsupported = crossing_tags(picks.tags, highlights)
    if context:
        highlights = with_context(highlights, read.documents, read.passages)
    others = picks.others and _read_again(picks.others, chunk_documents.documents)
    return Quotes(highlights, tags, others), (*dropped, *unsupported)


async def summarized(summarizer: Summarizer, quotes: Quotes, contact: str = "") -> Answer | Refusal:
    """The answer that rests on the quotes; where there are none, what others say. A refusal, with the `contact` of the
    settings, where these say nothing either, and where the summarizer's model fails."""
    if not isinstance(quotes, Quotes):
        raise InputError(f"quotes come from a boundary of this package, not of type {type(quotes).__name__}")
    if not quotes.highlights:
        if quotes.others and quotes.others.claims:
            return untrusted_answer(Heard(quotes.others, None, Journal()), Journal())
        return append_contact(Refusal(*because(Reason.NOTHING_HIGHLIGHTED)), contact)
    tags = tuple(sorted(quotes.tags))
    try:
        summary = await apart(summarizer.summarize(quotes.highlights, tags=quotes.tags))
    except ModelError as error:
        trace = Trace(failure=str(error), usage=error.usage, tags=tags)
        return append_contact(Refusal(*because(Reason.MODEL_FAILED), quotes.highlights, trace), contact)
    trace = Trace(
        guessed_questions=summary.guessed_questions,
        unsupported=summary.unsupported,
        missing=summary.missing,
        failure=summary.failure,
        usage=summary.usage,
        tags=tags,
    )
    return Answer(summary.answer, quotes.highlights, summary.grounded, trace, others=quotes.others)


async def apart(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` in an empty context: no callbacks, metadata, spans or baggage of whoever asked reach it.

    Frameworks hand these on through context variables, down to the headers of a model's requests.
    """
    return await asyncio.get_running_loop().create_task(work, context=Context())


def _of_each_source(chunks: Sequence[Chunk], most: int) -> Sifted:
    """Of the untrusted chunks, at most so many of each source."""
    names, taken = dict(named(chunks)), Counter[str]()
    kept: list[int] = []
    flagged: list[tuple[int, str, float]] = []
    for row, chunk in enumerate(chunks):
        if chunk.trust is Trust.TRUSTED:
            continue
        source = document_of(chunk, names.get(row, "")).written_by
        if row in names and taken[source] < most:
            taken[source] += 1
            kept.append(row)
        else:
            over = OVER if most else NOT_READ
            flagged.append(
                (row, over if row in names else TWICE if has_text(chunk) else NO_TEXT, chunk.score)
            )
    return Sifted(tuple(kept), tuple(flagged))


def _read_again(others: Others, documents: Mapping[str, Document]) -> Others:
    """What others say, without statements that are not in the documents as they are told."""
    claims = []
    for claim in others.claims:
        told = tuple(one for one in claim.statements if one.highlights and _stands(one, documents))
        claims += [replace(claim, statements=told)] if told else []
    return replace(others, claims=tuple(claims))


def _stands(one: Statement, documents: Mapping[str, Document]) -> bool:
    for item in one.highlights:
        document = documents.get(item.doc_id)
        if document is None or document.written_by != one.author:
            return False
        read = read_quotes(item.chosen, document)
        if item not in (*read, *(replace(one, title="") for one in read)):
            return False
    return True


def _written(others: Others | None) -> dict[str, Any] | None:
    written: dict[str, Any] | None = OTHERS.dump_python(others, mode="json")
    return written


def _candidates(
    question: str, chunks: Sequence[Chunk], encoder: Encoder, vector: Sequence[float] | None
) -> Candidates:
    """Each chunk whole, as one passage whose number is its row."""
    whole = [(row, cut(document_of(chunks[row], name)).document) for row, name in named(chunks)]
    passages = tuple(passage_at(row, 0, len(document.text), document) for row, document in whole)
    given = [chunks[row].embedding for row, _ in whole]
    if vector is not None and all(
        embedding is not None and len(embedding) == len(vector) for embedding in given
    ):
        rows = np.array(given, np.float32).reshape(len(given), len(vector))
        asked, embeddings = unit(np.array([vector], np.float32))[0], unit(rows)
    else:
        asked = encode_questions(encoder, [question])[0]
        embeddings = encoder.encode([passage.text for passage in passages])
    scores = np.array([chunks[row].score for row, _ in whole], np.float32)
    documents = {document.doc_id: document for _, document in whole}
    return Candidates(passages, scores, embeddings, asked, documents)


def unit(rows: Array) -> Array:
    """(n, d) rows of length 1; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Array = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
