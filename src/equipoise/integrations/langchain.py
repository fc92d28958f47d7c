"""Parts for LangChain: retriever, filter and highlighter as document compressors, summarizer, and all in one runnable.

`HighlightSummarize(retriever=...)` is a runnable from a question to an AIMessage with citations. Where `chat` and
`embeddings` are wanted, LangChain's chat models and embeddings, ours, and names (as in `model.llm` and
`retrieval.encoder`) are taken; without `chat` no language model is asked.

A `trust_key` names the key of documents' metadata that says "trusted". With one, trusted documents answer by
themselves, and what untrusted ones say is shown apart, where the trusted ones do not answer (`trust.mode` of the
settings says otherwise). Without one nothing is trusted, and all are read alike.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from pydantic import Field, PrivateAttr

from equipoise.core import sync
from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.results import Answer, Refusal
from equipoise.core.settings import settings_of
from equipoise.core.types import Candidates, Dropped, Highlight
from equipoise.core.where import Given as Meant
from equipoise.core.where import as_where, both
from equipoise.integrations import parts
from equipoise.integrations.chunks import Chunk, ChunkDocuments, as_documents, chunk_of
from equipoise.integrations.langchain_models import EncoderEmbeddings, chat_of, encoder_of
from equipoise.integrations.shared import (
    Quotes,
    crossed,
    sifted,
    summarized,
)
from equipoise.integrations.trusting import mode_of, picked, reader_of
from equipoise.rag.components import Components
from equipoise.rag.library import Library
from equipoise.rag.pipeline import is_weak
from equipoise.rag.summarizers.layout import laid_out
from equipoise.text.visible import flowing

try:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForChainRun,
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForChainRun,
        CallbackManagerForRetrieverRun,
        Callbacks,
    )
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.messages import AIMessage
    from langchain_core.messages.content import Citation, create_citation, create_text_block
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
    from langchain_core.runnables.config import patch_config
except ImportError:
    raise MissingExtra("langchain-core", "langchain") from None

__all__ = ["EncoderEmbeddings", "Filter", "HighlightSummarize", "Highlighter", "Retriever", "Summarizer"]

T = TypeVar("T")
P = TypeVar("P", "Filter", "Highlighter")
Sides: TypeAlias = tuple[list[Document], list[Document]]
"""Documents that were kept, and those that were flagged."""


class Retriever(BaseRetriever):
    """Passages of an index of this package, with their places and `trust` in their metadata: at most `top_k` of trusted
    documents, best first, and behind them as many of untrusted ones, as `trust.mode` has it. `where` says which
    documents there are, as text or JSON (docs/metadata.md); `invoke(question, where=...)` narrows it."""

    model_config = parts.STRICT
    index: str
    top_k: int = 20
    where: Any = None
    embeddings: Any = None
    settings: dict[str, Any] | None = None
    _library: Library | None = PrivateAttr(default=None)

    def close(self) -> None:
        """Close the index."""
        if self._library is not None:
            self._library.close()
            self._library = None

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        where: Meant | None = None,
    ) -> list[Document]:
        seen = both(as_where(self.where), as_where(where))
        return _passages(parts.retrieved(self._opened(), query, self.top_k, seen))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,
        where: Meant | None = None,
    ) -> list[Document]:
        return await asyncio.to_thread(self._get_relevant_documents, query, where=where)

    def _opened(self) -> Library:
        if self._library is None:
            self._library = parts.opened(self.index, self.settings, encoder_of(self.embeddings))
        return self._library


class _Seeing(BaseDocumentCompressor):
    """A part that sees the question."""

    model_config = parts.STRICT
    part: Any = "auto"
    chat: Any = None
    embeddings: Any = None
    settings: dict[str, Any] | None = None
    trust_key: str = ""
    _made: Any = PrivateAttr(default=None)


class Filter(_Seeing):
    """Takes documents out before anything reads them: `part` is a name of `filter.name`, or a PassageFilter.

    With a `trust_key` it sees the trusted documents alone; at most `top_k` untrusted ones of each source follow these.
    `compress_documents` returns those that are kept, in the order they came; `sift` the others, too.
    """

    top_k: int = 5

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """At most `top_k` documents."""
        return self.sift(documents, query)[0]

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        return (await self.asift(documents, query))[0]

    def sift(self, documents: Sequence[Document], query: str) -> Sides:
        """The documents that are kept, and all others with `flag` and `flag_score` in their metadata."""
        return sync.run(self._sift(documents, query, blocking=True))

    async def asift(self, documents: Sequence[Document], query: str) -> Sides:
        return await self._sift(documents, query, blocking=False)

    async def _sift(self, documents: Sequence[Document], query: str, *, blocking: bool) -> Sides:
        part, encoder = _part(self, lambda made: (parts.filter_of(self.part, made), made.encoder), blocking)
        chunks = _chunks(documents, self.trust_key)
        mode = mode_of(self.settings, self.trust_key)
        filtered = await sifted(part, query, chunks, k=self.top_k, encoder=encoder, mode=mode)
        flagged = [_flagged(documents[row], reason, score) for row, reason, score in filtered.flagged]
        return [documents[row] for row in filtered.kept], flagged


class Highlighter(_Seeing):
    """Quotes what answers the question: `part` is a name of `highlight.name`, or a Highlighter. "auto" is `cascade`
    with the chat model of an endpoint, else `reader`.

    Each document that `compress_documents` returns is a verbatim part of one that was handed in, with its metadata,
    `trust`, and its place there as `quote_start` and `quote_end`; none where nothing answers. With a `trust_key` these
    are quotes of trusted documents or, where no trusted one answers, of untrusted ones, which are read author by author
    without a language model; the author is the source.
    """

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """The quotes, in the order of the documents' ids and of the text; those of untrusted ones claim by claim."""
        quotes, chunk_documents, *_ = sync.run(self._quote(documents, query, blocking=True))
        return [_quoted(item, documents[chunk_documents.rows[item.doc_id]]) for item in quotes.shown]

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        quotes, chunk_documents, *_ = await self._quote(documents, query, blocking=False)
        return [_quoted(item, documents[chunk_documents.rows[item.doc_id]]) for item in quotes.shown]

    def quotes(
        self, documents: Sequence[Document], query: str, *, others: bool = False
    ) -> tuple[Quotes, tuple[Dropped, ...]]:
        """What a summarizer is given, and what was dropped with its reason. With `others` what untrusted documents say
        comes beside quotes of trusted ones, too."""
        quotes, _, dropped, _ = sync.run(self._quote(documents, query, others, blocking=True))
        return quotes, dropped

    async def aquotes(
        self, documents: Sequence[Document], query: str, *, others: bool = False
    ) -> tuple[Quotes, tuple[Dropped, ...]]:
        quotes, _, dropped, _ = await self._quote(documents, query, others, blocking=False)
        return quotes, dropped

    async def _quote(
        self, documents: Sequence[Document], query: str, others: bool = False, *, blocking: bool
    ) -> tuple[Quotes, ChunkDocuments, tuple[Dropped, ...], float | None]:
        """The quotes, what they stand in, what was dropped, and how probable it is that they answer."""
        chunk_documents = await asyncio.to_thread(as_documents, _chunks(documents, self.trust_key))
        reader = _part(self, lambda made: reader_of(self.part, made, self.trust_key), blocking)
        chosen = await picked(reader, query, chunk_documents, others=others)
        context = settings_of(self.settings).summarize.context == "passage"
        quotes, dropped = crossed(
            chosen.picks, chunk_documents, reader.policy, context=context, mode=reader.mode
        )
        return quotes, chunk_documents, (*chosen.dropped, *dropped), chosen.proposal.probability


class Summarizer(RunnableSerializable[Quotes, AIMessage]):
    """Answers from quotes and nothing else: `part` is a name of `summarize.name`, or a Summarizer. "auto" is `llm` with
    a chat model, `extractive` without.

    Its model is asked in a context of its own: callbacks, tags and metadata of a call do not reach it. Callbacks that
    it was made with do.
    """

    model_config = parts.STRICT
    part: Any = "auto"
    chat: Any = None
    settings: dict[str, Any] | None = None
    _made: Any = PrivateAttr(default=None)

    def invoke(self, input: Quotes, config: RunnableConfig | None = None, **kwargs: object) -> AIMessage:
        """The answer with a citation for each quote; where there is none, a sentence that says why, and `refused` in
        `response_metadata`."""
        return self._call_with_config(self._answer, input, config)

    async def ainvoke(
        self, input: Quotes, config: RunnableConfig | None = None, **kwargs: object
    ) -> AIMessage:
        return await self._acall_with_config(self._aanswer, input, config)

    def _answer(self, quotes: Quotes) -> AIMessage:
        return _message(sync.run(summarized(self._part(blocking=True), quotes, self._contact)))

    async def _aanswer(self, quotes: Quotes) -> AIMessage:
        return _message(await summarized(self._part(blocking=False), quotes, self._contact))

    @property
    def _contact(self) -> str:
        return settings_of(self.settings).question.contact

    def _part(self, *, blocking: bool) -> Any:  # noqa: ANN401
        return _part(self, lambda made: parts.summarizer_of(self.part, made), blocking)


class HighlightSummarize(RunnableSerializable[str, AIMessage]):
    """From a question to an answer with citations. `retriever` is any runnable from a question to documents; `filter`
    None takes nothing out.

    `trust_key` is that of filter and highlighter; over a `Retriever` of this package it is "trust". With `others` what
    untrusted documents say comes beside an answer of trusted ones, too.
    """

    model_config = parts.STRICT
    retriever: Runnable[str, list[Document]]
    trust_key: str = ""
    others: bool = False
    filter: Filter | None = Field(default_factory=Filter)
    highlighter: Highlighter = Field(default_factory=Highlighter)
    summarizer: Summarizer = Field(default_factory=Summarizer)

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401
        """Raises InputError where the parts have different trust keys."""
        super().model_post_init(context)
        seeing = [part for part in (self.filter, self.highlighter) if part]
        keys = {key for key in (self.trust_key, *(part.trust_key for part in seeing)) if key}
        if len(keys) > 1:
            raise InputError(f"filter and highlighter have one trust_key, not {', '.join(sorted(keys))}")
        self.trust_key = next(iter(keys), parts.TRUST if isinstance(self.retriever, Retriever) else "")
        self.filter = self.filter and _keyed(self.filter, self.trust_key)
        self.highlighter = _keyed(self.highlighter, self.trust_key)

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: object) -> AIMessage:
        """As `Summarizer.invoke`. Raises QuestionError for a question that cannot be used."""
        return self._call_with_config(self._answer, input, config)

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: object) -> AIMessage:
        return await self._acall_with_config(self._aanswer, input, config)

    def _answer(
        self, question: str, run_manager: CallbackManagerForChainRun, config: RunnableConfig
    ) -> AIMessage:
        within = patch_config(config, callbacks=run_manager.get_child())
        documents: Sequence[Document] = self.retriever.invoke(question, within)
        if self.filter:
            documents = self.filter.compress_documents(documents, question)
        work = self.highlighter._quote(documents, question, self.others, blocking=True)
        quotes, *_, chance = sync.run(work)
        return _weighed(self.summarizer.invoke(quotes, within), quotes, chance)

    async def _aanswer(
        self, question: str, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig
    ) -> AIMessage:
        within = patch_config(config, callbacks=run_manager.get_child())
        documents: Sequence[Document] = await self.retriever.ainvoke(question, within)
        if self.filter:
            documents = await self.filter.acompress_documents(documents, question)
        work = self.highlighter._quote(documents, question, self.others, blocking=False)
        quotes, *_, chance = await work
        return _weighed(await self.summarizer.ainvoke(quotes, within), quotes, chance)


def _part(owner: Any, make: Callable[[Components], T], blocking: bool) -> T:  # noqa: ANN401
    """What a component makes when it is first needed; see `parts.Made`."""
    if owner._made is None:
        owner._made = parts.Made(
            make,
            owner.settings,
            lambda blocking: chat_of(owner.chat, blocking=blocking),
            lambda: encoder_of(getattr(owner, "embeddings", None)),
        )
    made: T = owner._made.get(blocking=blocking)
    return made


def _keyed(part: P, trust_key: str) -> P:
    """The part with this key: a copy, if it has another one."""
    if part.trust_key == trust_key:
        return part
    keyed = part.model_copy(update={"trust_key": trust_key})
    keyed._made = None
    return keyed


def _chunks(documents: Sequence[Document], trust_key: str = "") -> list[Chunk]:
    for document in documents:
        if not isinstance(document, Document):
            raise InputError(
                f"documents are LangChain Document objects, not of type {type(document).__name__}"
            )
    return [
        chunk_of(document.page_content, document.metadata, document.id, trust_key=trust_key, first_page=0)
        for document in documents
    ]


def _passages(candidates: Candidates) -> list[Document]:
    return [
        Document(
            passage.text,
            id=f"{passage.doc_id}:{passage.start}-{passage.end}",
            metadata=parts.place(passage),
        )
        for passage in candidates.passages
    ]


def _flagged(document: Document, reason: str, score: float) -> Document:
    metadata = {**document.metadata, "flag": reason, "flag_score": score}
    return Document(document.page_content, id=document.id, metadata=metadata)


def _quoted(item: Highlight, document: Document) -> Document:
    return Document(item.text, id=document.id, metadata=parts.labelled(item, document.metadata))


def _message(result: Answer | Refusal) -> AIMessage:
    text = result.text if isinstance(result, Answer) else result.detail
    quotes = result.highlights.items if isinstance(result, Answer) else ()
    told = {
        "refused": isinstance(result, Refusal),
        "reason": result.reason.value if isinstance(result, Refusal) else None,
        "grounded": result.grounded if isinstance(result, Answer) else None,
        "trust": result.trust.value if isinstance(result, Answer) else None,
        "others": result.to_dict()["others"],
        "report": result.trace.to_dict(),
    }
    block = create_text_block(text, annotations=[_citation(item, text) for item in quotes])
    return AIMessage(content_blocks=[block], response_metadata=told)


def _weighed(message: AIMessage, quotes: Quotes, chance: float | None) -> AIMessage:
    """The message with the probability that its quotes answer. No summarizer knows it: it depends on the question."""
    told = message.response_metadata
    weak = None if told["refused"] else bool(quotes.highlights) and is_weak(chance)
    told = told | {"weak": weak, "report": told["report"] | {"probability": chance}}
    return message.model_copy(update={"response_metadata": told})


def _citation(item: Highlight, text: str) -> Citation:
    """A citation of the words of `text` that repeat the quote, or of all of it."""
    found = [
        (start, start + len(words))
        for words in (laid_out(item.text), flowing(item.text))
        if (start := text.find(words)) >= 0
    ]
    where = found[0] if found else (0, len(text))
    return create_citation(
        id=f"{item.doc_id}:{item.start}-{item.end}",
        url=item.source,
        title=item.title or item.source,
        start_index=where[0],
        end_index=where[1],
        cited_text=item.text,
        document_id=item.doc_id,
        quote_start=item.start,
        quote_end=item.end,
        trust=item.trust.value,
    )
