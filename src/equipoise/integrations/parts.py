"""Makes objects with our protocols from what the integrations are given: names, and models of the frameworks.

Unless a chat model is named or passed, none is asked, whatever the environment holds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import numpy as np
from pydantic import ConfigDict

from equipoise.core.errors import EquipoiseError, InputError, ModelUnavailable
from equipoise.core.protocols import ChatModel, Encoder, Highlighter, JsonSchema, PassageFilter, Summarizer
from equipoise.core.settings import Given, settings_of
from equipoise.core.types import (
    Array,
    Candidates,
    ChatOptions,
    ChatReply,
    Filtered,
    Highlight,
    Message,
    Passage,
    Query,
    Trust,
)
from equipoise.core.where import Given as Meant
from equipoise.corpus.store import Store
from equipoise.integrations.shared import unit
from equipoise.models.adapted import RANKING
from equipoise.models.dialect import with_schema_in_words
from equipoise.rag import build
from equipoise.rag.calls import Call
from equipoise.rag.components import Components, Objects, check_objects
from equipoise.rag.filters import NoFilter, QuotaFilter
from equipoise.rag.gathering import checked
from equipoise.rag.library import Library
from equipoise.rag.retrieval import joined
from equipoise.rag.search import usable

T = TypeVar("T")
SHOWN = 200
TRUST = "trust"
"""The key of metadata that says the trust of what our retrievers find, and of every quote."""
STRICT = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
"""For every part that is a pydantic model: a misspelt name, of a filter or of a trust key, must be an error."""


def components(
    given: Given = None, *, chat: ChatModel | str | None = None, encoder: Encoder | str | None = None
) -> Components:
    """What parts are built from, without a store. `chat` is a model or its name as in `model.llm`.

    Weights are loaded at first use. Raises InputError, SettingsError or ModelUnavailable.
    """
    settings = settings_of(given)
    if isinstance(chat, str):
        named = settings.model.model_copy(update={"llm": chat})
        chat = build.chat_model(named)
    elif chat is None and "llm" in settings.model.model_fields_set:
        chat = build.chat_model(settings.model)
    made = (
        build.encoder(encoder or settings.retrieval.encoder) if not isinstance(encoder, Encoder) else encoder
    )
    check_objects({"chat": chat, "encoder": made})
    return Components(settings, cast(Store, _NoStore()), made, chat, RANKING)


def filter_of(part: str | PassageFilter, made: Components) -> PassageFilter:
    """The filter of that name within the quotas of the settings, or the object as it is."""
    if not isinstance(part, str):
        check_objects({"filter": part})
        return part
    wanted = made.settings.filter
    name = wanted.name if part == build.AUTO else part
    if name == "quotas":
        return Quotas(NoFilter(), wanted.untrusted, wanted.per_document)
    filter_: PassageFilter = build.make("filter", build.FILTERS, name, made)
    return filter_ if name in build.UNBOUNDED else Quotas(filter_, wanted.untrusted, wanted.per_document)


def highlighter_of(part: str | Highlighter, made: Components) -> Highlighter:
    """The highlighter of that name, or the object as it is. "auto" is `cascade` with the chat model of an endpoint,
    else `reader`."""
    if not isinstance(part, str):
        check_objects({"highlighter": part})
        return part
    return build.highlighter(_naming(made, "highlight", part))


def summarizer_of(part: str | Summarizer, made: Components) -> Summarizer:
    """The summarizer of that name ("auto": with a chat model `llm`, else `extractive`), or the object as it is."""
    if not isinstance(part, str):
        check_objects({"summarizer": part})
        return part
    return build.summarizer(_naming(made, "summarize", part))


def _naming(made: Components, section: str, name: str) -> Components:
    """The components with another name in the settings; "auto" leaves that of the settings."""
    if name == build.AUTO:
        return made
    named = getattr(made.settings, section).model_copy(update={"name": name})
    return replace(made, settings=made.settings.model_copy(update={section: named}))


class Made(Generic[T]):
    """Makes a part when it is first needed: one for sync calls (`blocking`), whose chat models run in threads since the
    event loop ends with the call, and one for async calls, whose models are awaited. They share weights."""

    def __init__(
        self,
        make: Callable[[Components], T],
        given: Given,
        chat: Callable[[bool], ChatModel | str | None],
        encoder: Callable[[], Encoder | str | None],
    ) -> None:
        self._make, self._given, self._chat, self._encoder = make, given, chat, encoder
        self._base: Components | None = None
        self._parts: dict[bool, T] = {}

    def get(self, *, blocking: bool) -> T:
        """The part. Raises what `components` and `make` raise."""
        if blocking not in self._parts:
            chat = self._chat(blocking)
            if self._base is None:
                self._base = components(self._given, chat=chat, encoder=self._encoder())
            made = replace(self._base, chat=chat) if isinstance(chat, ForeignChat) else self._base
            self._parts[blocking] = self._make(made)
        return self._parts[blocking]


@dataclass(frozen=True, slots=True)
class Quotas:
    """`inner` within quotas (see `QuotaFilter`); seats are kept for trusted documents where some were handed in."""

    inner: PassageFilter
    untrusted: int
    per_document: int

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        trusted = any(document.trust is Trust.TRUSTED for document in candidates.documents.values())
        bounded = QuotaFilter(self.inner, self.untrusted, self.per_document, lambda: trusted)
        return await bounded.filter(query, candidates, k=k)


@dataclass(frozen=True, slots=True)
class ForeignChat:
    """A framework's chat model as a ChatModel: `say` answers messages.

    A schema is described in words, which every model takes. Sampling settings are those that the model was made with:
    their names differ from maker to maker.
    """

    name: str
    say: Callable[[Sequence[Message]], Awaitable[ChatReply]]

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """The model's reply; raises ModelUnavailable where it fails in any way."""
        with mapped(f"the chat model {self.name}"):
            return await self.say(with_schema_in_words(messages, schema) if schema else messages)


class ForeignEncoder:
    """A framework's embedder as an Encoder: functions that give a vector for each text and for a question."""

    def __init__(
        self,
        name: str,
        texts: Callable[[list[str]], Sequence[Sequence[float]]],
        question: Callable[[str], Sequence[float]],
    ) -> None:
        self.name = name
        self._texts = texts
        self._question = question

    @cached_property
    def dimensions(self) -> int:
        """Those of the vector of a question; asks the embedder once."""
        return int(self.encode_questions(["question"]).shape[1])

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, d) float32, rows of length 1. Raises ModelUnavailable where the embedder fails."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        with mapped(f"the embedder {self.name}"):
            return unit(np.array(self._texts(list(texts)), np.float32).reshape(len(texts), -1))

    def encode_questions(self, questions: Sequence[str]) -> Array:
        """As `encode`, for questions."""
        if not questions:
            return np.empty((0, self.dimensions), np.float32)
        with mapped(f"the embedder {self.name}"):
            vectors = [self._question(question) for question in questions]
            return unit(np.array(vectors, np.float32).reshape(len(questions), -1))


async def in_thread(work: Callable[..., T], *args: object, **more: object) -> T:
    """As `asyncio.to_thread`, which waits for ever where `work` raises StopIteration."""

    def guarded() -> T:
        try:
            return work(*args, **more)
        except StopIteration as error:
            raise RuntimeError("it has nothing more to say") from error

    return await asyncio.to_thread(guarded)


@contextmanager
def mapped(who: str) -> Iterator[None]:
    """Turns whatever a framework's model raises into ModelUnavailable."""
    try:
        yield
    except EquipoiseError:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:SHOWN]
        raise ModelUnavailable(f"{who} failed ({type(error).__name__}: {said}): try it by itself") from error


def opened(index: str, given: Given, encoder: Encoder | str | None) -> Library:
    """An index to search in; `encoder` None is that of the index. Raises StoreError or InputError."""
    made = build.encoder(encoder) if isinstance(encoder, str) else encoder
    objects: Objects = {"chat": None} if made is None else {"chat": None, "encoder": made}
    return Library.open(index, settings=settings_of(given), **objects)


def retrieved(library: Library, question: str, k: int, where: Meant | None = None) -> Candidates:
    """At most `k` passages of trusted documents, best first, that hold something to quote, and behind them as many of
    untrusted ones, as `trust.mode` has it; of documents that `where` selects. Raises QuestionError, InputError,
    CorpusError or ModelError."""
    query, searches = Query(checked(question)), build.searches(library.calls.parts(Call.of(where=where)))
    with library.store.snapshot():
        return joined([usable(search.retriever.retrieve(query, k=k), k) for search in searches])


def place(item: Passage | Highlight) -> dict[str, Any]:
    """Metadata: the place of a passage, or of a quote in the document that was handed in, and its trust; what is not
    known is left out."""
    quote = {"quote_start": item.start, "quote_end": item.end}
    where = (
        quote
        if isinstance(item, Highlight)
        else {"line": item.line, "start_index": item.start, "end_index": item.end}
    )
    told = {
        "document_id": item.doc_id,
        "source": item.source,
        "title": item.title,
        "page_number": item.page,
        **where,
        TRUST: item.trust.value,
    }
    return {key: value for key, value in told.items() if value not in (None, "")}


def labelled(item: Highlight, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of the document that a quote is from, with its place there and its trust in place of what the
    document says; a title that is a trusted document's is left out of an untrusted one's."""
    own = {key: value for key, value in metadata.items() if item.title or key != "title"}
    return own | {"quote_start": item.start, "quote_end": item.end, TRUST: item.trust.value}


class _NoStore:
    """Stands in for a store, since parts over chunks from elsewhere have none. Using it for more than a snapshot or a
    partition raises InputError."""

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def partition(self, trust: Trust) -> "_NoStore":
        return self

    def __getattr__(self, name: str) -> object:
        raise InputError("this part reads an index, and chunks from elsewhere have none: pass another part")
