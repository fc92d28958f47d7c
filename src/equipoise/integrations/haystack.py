"""Parts for Haystack: retriever, filter, highlighter, boundary, summarizer, and a proof that no question gets through.

    filter(query, documents) -> highlighter(query, documents) -> boundary(picks, documents) -> summarizer(quotes)

Give the filter, the highlighter and the boundary one `trust_key`, the key of documents' metadata that says "trusted".
Then trusted documents answer by themselves, and what untrusted ones say is shown apart, where the trusted ones do not
answer (`trust.mode` of the settings says otherwise). Without one nothing is trusted, and all are read alike.

The summarizer has no socket for a question; `assert_no_path` proves of a whole pipeline that none reaches it by another
way. Where `chat` and `embedder` are wanted, Haystack's chat generators and text embedders, ours, and names (as in
`model.llm` and `retrieval.encoder`) are taken; without `chat` no language model is asked. With names and components of
Haystack a pipeline can be dumped and loaded (`allowed_modules=["equipoise.integrations.haystack"]`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from equipoise.core import sync
from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.protocols import Highlighter as AnyHighlighter
from equipoise.core.protocols import PassageFilter
from equipoise.core.protocols import Summarizer as AnySummarizer
from equipoise.core.results import Answer, dropped_dict
from equipoise.core.settings import settings_of
from equipoise.core.types import Highlight, Passage
from equipoise.core.where import as_where, both
from equipoise.integrations import haystack_paths, parts
from equipoise.integrations.chunks import EQUAL, Chunk, as_documents, chunk_of
from equipoise.integrations.haystack_models import (
    Chat,
    Embedder,
    Settings,
    WarmMade,
    Written,
    encoder_of,
    type_name,
)
from equipoise.integrations.shared import (
    Picks,
    Quotes,
    crossed,
    sifted,
    summarized,
)
from equipoise.integrations.trusting import mode_of, picked, reader_of
from equipoise.rag import build
from equipoise.rag.library import Library
from equipoise.rag.pipeline import is_weak

try:
    from haystack import Document, Pipeline, component
except ImportError:
    raise MissingExtra("haystack-ai", "haystack") from None


@component
class Retriever(Written):
    """Passages of an index of this package, with embeddings, places, and `trust` in their metadata: "trust" is the
    `trust_key` of what is behind it. `where` says which documents there are, as text or JSON (docs/metadata.md); that
    of a run narrows that of the component."""

    trust_key = parts.TRUST

    def __init__(
        self,
        index: str,
        *,
        top_k: int = 20,
        embedder: Embedder = None,
        settings: Settings | None = None,
        where: str | dict[str, Any] | None = None,
    ) -> None:
        _checked(settings)
        self.index, self.top_k, self.embedder, self.settings = index, top_k, embedder, settings
        self.where = where
        self._library: Library | None = None

    def warm_up(self) -> None:
        """Open the index. Raises StoreError, InputError or ModelUnavailable."""
        if self._library is None:
            self._library = parts.opened(self.index, self.settings, encoder_of(self.embedder))

    def close(self) -> None:
        """Close the index."""
        if self._library is not None:
            self._library.close()
            self._library = None

    @component.output_types(documents=list[Document], query_embedding=list[float])
    def run(
        self, query: str, top_k: int | None = None, where: str | dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """At most `top_k` passages of trusted documents, best first, and behind them as many of untrusted ones, as
        `trust.mode` has it, and the vector of the question."""
        self.warm_up()
        if self._library is None:
            raise InputError("the index was closed while it was asked: run the pipeline again")
        seen = both(as_where(self.where), as_where(where))
        candidates = parts.retrieved(self._library, query, self.top_k if top_k is None else top_k, seen)
        documents = [
            _passage(passage, float(score), vector.tolist())
            for passage, score, vector in zip(
                candidates.passages, candidates.scores, candidates.embeddings, strict=True
            )
        ]
        return {"documents": documents, "query_embedding": candidates.query_embedding.tolist()}

    @component.output_types(documents=list[Document], query_embedding=list[float])
    async def run_async(
        self, query: str, top_k: int | None = None, where: str | dict[str, Any] | None = None
    ) -> dict[str, Any]:
        return await asyncio.to_thread(self.run, query, top_k, where)


@component
class Filter(Written):
    """Takes documents out before anything reads them: `part` is a name of `filter.name`, or a PassageFilter.

    With a `trust_key` it sees the trusted documents alone; at most `top_k` untrusted ones of each source follow these.
    """

    def __init__(
        self,
        part: str | PassageFilter = "auto",
        *,
        top_k: int = 5,
        chat: Chat = None,
        embedder: Embedder = None,
        settings: Settings | None = None,
        trust_key: str = "",
    ) -> None:
        self.part, self.top_k, self.chat, self.embedder = part, top_k, chat, embedder
        self.settings, self.trust_key = _checked(settings), trust_key
        self._made = WarmMade(
            settings, chat, embedder, lambda made: (parts.filter_of(part, made), made.encoder)
        )

    def warm_up(self) -> None:
        """Make the filter; raises InputError for an unknown name."""
        self._made.warm_up()

    @component.output_types(documents=list[Document], flagged=list[Document])
    def run(
        self, query: str, documents: list[Document], query_embedding: list[float] | None = None
    ) -> dict[str, Any]:
        """At most `top_k` documents, in the order they came, trusted ones first, and all others with `flag` and
        `flag_score` in their metadata. The documents' embeddings are used where all have one and `query_embedding` is
        given."""
        return sync.run(self._sift(query, documents, query_embedding, blocking=True))

    @component.output_types(documents=list[Document], flagged=list[Document])
    async def run_async(
        self, query: str, documents: list[Document], query_embedding: list[float] | None = None
    ) -> dict[str, Any]:
        return await self._sift(query, documents, query_embedding, blocking=False)

    async def _sift(
        self, query: str, documents: list[Document], vector: list[float] | None, *, blocking: bool
    ) -> dict[str, Any]:
        part, encoder = self._made.get(blocking=blocking)
        chunks = _chunks(documents, self.trust_key)
        mode = mode_of(self.settings, self.trust_key)
        filtered = await sifted(
            part, query, chunks, k=self.top_k, encoder=encoder, question_vector=vector, mode=mode
        )
        flagged = [_flagged(documents[row], reason, score) for row, reason, score in filtered.flagged]
        return {"documents": [documents[row] for row in filtered.kept], "flagged": flagged}


@component
class Highlighter(Written):
    """Picks spans for the question, the last part that sees it: `part` is a name of `highlight.name`, or a
    Highlighter. "auto" is `cascade` with the chat model of an endpoint, else `reader`.

    With a `trust_key` it reads the trusted documents alone. Where it picks nothing, and with `others`, the picks also
    say what untrusted ones say, which are read author by author without a language model; the author is the source.
    """

    def __init__(
        self,
        part: str | AnyHighlighter = "auto",
        *,
        chat: Chat = None,
        embedder: Embedder = None,
        settings: Settings | None = None,
        trust_key: str = "",
    ) -> None:
        self.part, self.chat, self.embedder, self.settings = part, chat, embedder, _checked(settings)
        self.trust_key = trust_key
        self._made = WarmMade(settings, chat, embedder, lambda made: reader_of(part, made, trust_key))

    def warm_up(self) -> None:
        """Make the highlighter; raises InputError for an unknown name."""
        self._made.warm_up()

    @component.output_types(picks=Picks, report=dict[str, Any])
    def run(self, query: str, documents: list[Document], others: bool = False) -> dict[str, Any]:
        """The picks, and a report for the operator alone: it may hold what the highlighter's model wrote."""
        return sync.run(self._pick(query, documents, others, blocking=True))

    @component.output_types(picks=Picks, report=dict[str, Any])
    async def run_async(self, query: str, documents: list[Document], others: bool = False) -> dict[str, Any]:
        return await self._pick(query, documents, others, blocking=False)

    async def _pick(
        self, query: str, documents: list[Document], others: bool, *, blocking: bool
    ) -> dict[str, Any]:
        chunk_documents = await asyncio.to_thread(as_documents, _chunks(documents, self.trust_key))
        chosen = await picked(self._made.get(blocking=blocking), query, chunk_documents, others=others)
        report = {
            "probability": chosen.proposal.probability,
            "threshold": chosen.proposal.threshold,
            "weak": bool(chosen.picks.spans) and is_weak(chosen.proposal.probability),
            "dropped": [dropped_dict(drop) for drop in chosen.dropped],
            "failure": chosen.heard.failure,
        }
        return {"picks": chosen.picks, "report": report}


@component
class Boundary(Written):
    """Reads the text under the picks from the documents: nothing that a highlighter's model wrote passes.

    `settings`: the limits of `highlight`, and `summarize.context`. Whatever comes in as `documents` is the corpus:
    connect it to what the highlighter reads. With a `trust_key` nothing of untrusted documents passes to be written
    about.
    """

    def __init__(self, *, settings: Settings | None = None, trust_key: str = "") -> None:
        self.settings, self.trust_key = _checked(settings), trust_key
        chosen = settings_of(settings)
        self._policy = replace(build.policy(chosen), within_passages=False)
        self._context = chosen.summarize.context == "passage"

    @component.output_types(quotes=Quotes, dropped=list[dict[str, Any]])
    def run(self, picks: Picks, documents: list[Document]) -> dict[str, Any]:
        """Canonical quotes, and what was dropped with its reason."""
        if not isinstance(picks, Picks):
            raise InputError(
                f"picks come from a highlighter of this package, not of type {type(picks).__name__}"
            )
        chunk_documents = as_documents(_chunks(documents, self.trust_key))
        mode = mode_of(self.settings, self.trust_key)
        quotes, left_out = crossed(picks, chunk_documents, self._policy, context=self._context, mode=mode)
        rows = {item.doc_id: chunk_documents.rows[item.doc_id] for item in quotes.shown}
        quotes = replace(quotes, metadata={name: documents[row].meta for name, row in rows.items()})
        return {"quotes": quotes, "dropped": [dropped_dict(drop) for drop in left_out]}

    @component.output_types(quotes=Quotes, dropped=list[dict[str, Any]])
    async def run_async(self, picks: Picks, documents: list[Document]) -> dict[str, Any]:
        return await asyncio.to_thread(self.run, picks, documents)


@component
class Summarizer(Written):
    """Answers from the quotes and nothing else: `part` is a name of `summarize.name`, or a Summarizer. "auto" is `llm`
    with a chat model, `extractive` without. Its model is asked in a context of its own: no trace or baggage reaches it.
    """

    def __init__(
        self, part: str | AnySummarizer = "auto", *, chat: Chat = None, settings: Settings | None = None
    ) -> None:
        self.part, self.chat, self.settings = part, chat, _checked(settings)
        self._made = WarmMade(settings, chat, None, lambda made: parts.summarizer_of(part, made))

    def warm_up(self) -> None:
        """Make the summarizer; raises InputError for an unknown name."""
        self._made.warm_up()

    @component.output_types(
        answer=str, refused=bool, quotes=list[Document], others=dict[str, Any], report=dict[str, Any]
    )
    def run(self, quotes: Quotes) -> dict[str, Any]:
        """The answer (where `refused`, a sentence that says why there is none), the quotes as documents with the
        metadata of those they stand in, their place there (`document_id`, `quote_start`, `quote_end`) and their
        `trust`, and a report for the operator.
        `others` is what untrusted documents say, claim by claim, empty where they were not heard."""
        return sync.run(self._answer(quotes, blocking=True))

    @component.output_types(
        answer=str, refused=bool, quotes=list[Document], others=dict[str, Any], report=dict[str, Any]
    )
    async def run_async(self, quotes: Quotes) -> dict[str, Any]:
        return await self._answer(quotes, blocking=False)

    async def _answer(self, quotes: Quotes, *, blocking: bool) -> dict[str, Any]:
        result = await summarized(
            self._made.get(blocking=blocking), quotes, settings_of(self.settings).question.contact
        )
        answered, told = isinstance(result, Answer), result.to_dict()
        del (
            told["weak"],
            told["probability"],
        )  # they depend on the question: the highlighter's report has them
        return {
            "answer": result.text if isinstance(result, Answer) else result.detail,
            "refused": not answered,
            "quotes": [
                _quoted(item, quotes.metadata.get(item.doc_id, {})) for item in result.highlights.items
            ],
            "others": told["others"] or {},
            "report": told | result.trace.to_dict(),
        }


def assert_no_path(pipeline: Pipeline, target: str) -> None:
    """Raises AssertionError unless all that reaches the component `target` is `Quotes` out of a `Boundary`.

    Four things are proved of the graph, with SuperComponents opened (a component inside one is "outer.inner"): nothing
    that a caller of `run` may fill is a socket of the target; without the boundaries nothing reaches it; each edge into
    it carries `Quotes`; the parts of this package that lead to it tell trusted documents by one key. A subclass is no
    `Boundary`. What is handed in as documents is the corpus.
    """
    haystack_paths.assert_no_path(pipeline, target, boundary=Boundary, carries=Quotes)
    before = haystack_paths.before(pipeline, target)
    keys = {name: _key(part) for name, part in before.items() if hasattr(part, "trust_key")}
    if len(set(keys.values())) > 1:
        told = ", ".join(f"{name} by {key!r}" if key else f"{name} by none" for name, key in keys.items())
        raise AssertionError(
            f"the parts tell trusted documents by different keys: {told}: give all one trust_key"
        )


def _key(part: Any) -> str:  # noqa: ANN401
    """By what key a part tells trusted documents; empty where it reads all alike."""
    key: str = part.trust_key
    return "" if mode_of(part.settings, key) == EQUAL else key


def _checked(settings: Settings | None) -> Settings | None:
    chosen = settings_of(settings)
    if chosen.model.api_key is not None:
        raise InputError(
            "a key in settings would stand in the dump of the pipeline: set OPENAI_API_KEY instead"
        )
    return settings


def _chunks(documents: Sequence[Document], trust_key: str = "") -> list[Chunk]:
    for document in documents:
        if not isinstance(document, Document):
            raise InputError(f"documents are haystack.Document objects, not of type {type_name(document)}")
    return [
        chunk_of(
            document.content or "",
            document.meta,
            document.id,
            trust_key=trust_key,
            embedding=document.embedding,
            score=document.score,
        )
        for document in documents
    ]


def _flagged(document: Document, reason: str, score: float) -> Document:
    return replace(document, meta={**document.meta, "flag": reason, "flag_score": score})


def _passage(passage: Passage, score: float, vector: list[float]) -> Document:
    name = f"{passage.doc_id}:{passage.start}-{passage.end}"
    return Document(id=name, content=passage.text, meta=parts.place(passage), score=score, embedding=vector)


def _quoted(item: Highlight, metadata: Mapping[str, Any]) -> Document:
    return Document(content=item.text, meta=parts.labelled(item, metadata) | parts.place(item))
