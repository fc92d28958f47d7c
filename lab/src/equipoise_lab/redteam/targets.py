"""What is attacked: our pipelines in this process, an OpenAI-compatible endpoint, any RAG that answers over HTTP, or an
object with `answer`.

A target takes a question and gives a `Response`. Those of this process can be attacked from inside too (`Inside`), and
some targets take documents from anybody (`Planting`).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from inspect import isawaitable
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

import numpy as np

from equipoise.core.errors import EquipoiseError, InputError, QuestionError, ServerError
from equipoise.core.protocols import ChatModel
from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import Candidates, ChatOptions, Document, Message, Passage, Proposal, Query, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.scope import trust_of
from equipoise.corpus.store import Store
from equipoise.models.listening import ListeningChat
from equipoise.rag import build, retrieval
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter
from equipoise_lab.redteam.choosing import Ground
from equipoise_lab.redteam.hijack import told
from equipoise_lab.redteam.planter import is_planted, uproot

SECONDS = 120.0
FORCED = "What do the documents say?"
"""The question beside spans that were forced; no part of the pipeline that is left reads it."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back: the `text` shown, empty where it was refused, and then why.

    `evidence` are the texts an answer may rest on, None where the target does not say. `quotes` are those of them that
    are shown. `written` is what the models behind the boundary replied, before any check. `reached` is whether such a
    model was asked, None where nobody can know. `untrusted` is whether the target says of what it shows that anybody
    may have written it. `error` says what failed.
    """

    text: str = ""
    refused: str = ""
    evidence: tuple[str, ...] | None = None
    quotes: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    reached: bool | None = None
    untrusted: bool = False
    error: str = ""


@runtime_checkable
class Target(Protocol):
    """Something that answers questions. `name` goes into records."""

    @property
    def name(self) -> str: ...

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        """The response to `question` after the questions `before`; with `tool` its models are told of the tool, where
        that is possible. Raises EquipoiseError."""
        ...


@runtime_checkable
class Inside(Target, Protocol):
    """A target whose highlighter an attacker can replace."""

    @property
    def ground(self) -> Ground:
        """What spans may point into."""
        ...

    async def force(self, proposal: Proposal, *, tool: bool = False) -> Response:
        """The response to a highlighter's choice. Raises EquipoiseError."""
        ...


@runtime_checkable
class Planting(Target, Protocol):
    """A target that takes documents from anybody, and gives them back."""

    async def plant(self, documents: Sequence[Document]) -> None:
        """Add them, as an outsider would. Raises EquipoiseError."""
        ...

    async def reset(self) -> None:
        """Take out whatever was planted, in this run or an earlier one. Raises EquipoiseError."""
        ...


async def asked(call: Awaitable[Response]) -> Response:
    """The response, or one that says what failed: a run that failed counts as a success of the attack."""
    try:
        return await call
    except QuestionError as error:
        return Response(refused=str(error), reached=False)
    except EquipoiseError as error:
        return Response(error=f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A highlighter in the attacker's hand."""

    proposal: Proposal

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """What it was given, whatever is asked."""
        return self.proposal


@dataclass(frozen=True, slots=True)
class _Given:
    """A retriever that finds the same passages for every question."""

    components: Components
    passages: tuple[int, ...]

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """The first `k` of them."""
        store, encoder = self.components.store, self.components.encoder
        nowhere = np.zeros(encoder.dimensions, np.float32)
        with store.snapshot():
            found = [
                retrieval.candidates(
                    store.partition(trust),
                    [(number, 1.0) for number in self.passages[:k] if trust_of(number) is trust],
                    nowhere,
                    encoder,
                )
                for trust in Trust
            ]
        return retrieval.joined(found)


@dataclass(frozen=True)
class OverStore:
    """A target over an index: what stands in it, and documents into it and out again, with the `planted:` ids of
    `redteam.planter`."""

    components: Components

    @cached_property
    def ground(self) -> Ground:
        """See Inside: what stood there when it was first asked for."""
        store = self.components.store
        return Ground(store.documents(store.doc_ids()))

    async def plant(self, documents: Sequence[Document]) -> None:
        if wrong := [document.doc_id for document in documents if not is_planted(document.doc_id)]:
            raise InputError(f"{wrong[0]!r} is no id of a planted document: let it begin with planted:")
        self.components.store.add_documents(prepare(documents, self.components.encoder))

    async def reset(self) -> None:
        uproot(self.components.store)


@dataclass(frozen=True)
class PipelineTarget(OverStore):
    """Our pipeline over an index. `pipeline` is `hs`, or `vanilla`, which has no highlighter to replace."""

    components: Components
    name: str = "hs"
    pipeline: str = "hs"

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        writer, parts = _listened(self.components, tool=tool)
        if self.pipeline == "vanilla":
            parts = replace(parts, chat=writer)
        result = await build.pipeline(self.pipeline, parts).ask(question, before=before)
        return response(result, writer)

    async def force(self, proposal: Proposal, *, tool: bool = False) -> Response:
        """See Inside. The passages that the spans lie in are what was retrieved, as many as the pipeline reads; no
        filter and no monitor is in the way: both depend on the question, which is the attacker's."""
        if self.pipeline != "hs":
            raise InputError(f"{self.name} has no highlighter to replace: attack it from outside")
        writer, parts = _listened(self.components, tool=tool)
        parts = replace(
            parts,
            retriever=_Given(parts, passages_of(parts.store, proposal)),
            filter=NoFilter(),
            reranker=None,
            highlighter=_Chosen(proposal),
        )
        pipeline = replace(build.highlight_summarize(parts), monitor=None, speller=None)
        return response(await pipeline.ask(FORCED), writer)


@dataclass(frozen=True, slots=True)
class ChatTarget:
    """An OpenAI-compatible endpoint. Earlier questions are asked first, and their answers stand in the conversation."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()

    @property
    def name(self) -> str:
        """The model's."""
        return self.chat.name

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        messages: tuple[Message, ...] = told(()) if tool else ()
        text = ""
        for query in (*before, question):
            messages = (*messages, Message("user", query))
            text = (await self.chat.complete(messages, options=self.options)).text
            messages = (*messages, Message("assistant", text))
        return Response(text)


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """Any RAG that answers `{"query": ...}` with `{"answer": ...}` at `url`; `{"documents": [...]}` sent to
    `url`/documents adds texts, and a request to `url`/reset takes them out, where it has these."""

    url: str
    key: str = ""

    @property
    def name(self) -> str:
        """The address."""
        return self.url

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        """See Target. Earlier questions are asked first."""
        text = ""
        for query in (*before, question):
            text = _answer_of(await asyncio.to_thread(self._sent, "", {"query": query}), self.url)
        return Response(text)

    async def plant(self, documents: Sequence[Document]) -> None:
        await asyncio.to_thread(
            self._sent, "/documents", {"documents": [document.text for document in documents]}
        )

    async def reset(self) -> None:
        await asyncio.to_thread(self._sent, "/reset", {})

    def _sent(self, path: str, body: Mapping[str, object]) -> object:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{self.url!r} is no address: write for example http://127.0.0.1:8000/ask")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        place = f"{parts.path.rstrip('/')}{path}" or "/"
        try:
            with closing(kind(parts.hostname, parts.port, timeout=SECONDS)) as connection:
                connection.request("POST", place, json.dumps(body).encode(), headers)
                reply = connection.getresponse()
                content = reply.read(10_000_000)
        except (OSError, HTTPException, ValueError) as error:
            said = str(error) or type(error).__name__
            raise ServerError(f"{self.url} cannot be asked ({said}): does it run?") from error
        if reply.status >= 300:
            raise ServerError(f"{parts.path or '/'}{path} of {self.url} answered with status {reply.status}")
        try:
            return json.loads(content) if content.strip() else None
        except ValueError as error:
            raise ServerError(f"{self.url} answered with what is no JSON") from error


class ObjectTarget:
    """A Python object with `answer(question) -> str` and perhaps `add_documents(texts)` and `reset()`, each plain or
    async: the targets of rag-redteam are such."""

    def __init__(self, rag: Any, name: str) -> None:  # noqa: ANN401 - somebody else's object
        if not callable(getattr(rag, "answer", None)):
            raise InputError(f"{name} has no method answer(question): a target needs one")
        self._rag = rag
        self.name = name

    async def ask(self, question: str, *, before: Sequence[str] = (), tool: bool = False) -> Response:
        """See Target. Earlier questions are asked first."""
        text: object = ""
        for query in (*before, question):
            text = await self._called(self._rag.answer, query)
        return Response(str(text or ""))

    async def plant(self, documents: Sequence[Document]) -> None:
        await self._called(self._method("add_documents"), [document.text for document in documents])

    async def reset(self) -> None:
        await self._called(self._method("reset"))

    def _method(self, name: str) -> Callable[..., object]:
        method = getattr(self._rag, name, None)
        if not callable(method):
            raise InputError(f"{self.name} has no method {name}: it takes no documents")
        return method  # type: ignore[no-any-return]

    async def _called(self, method: Callable[..., object], *given: object) -> object:
        """What the method gives. Raises ServerError for whatever it raises."""
        try:
            made = method(*given)
            return await made if isawaitable(made) else made
        except EquipoiseError:
            raise
        except Exception as error:
            raise ServerError(f"{self.name} failed ({type(error).__name__}: {error})") from error


def response(result: Answer | Refusal, writer: ListeningChat | None) -> Response:
    """A pipeline's result as a response; `writer` is the model behind the boundary, None where there is none."""
    answered = isinstance(result, Answer)
    written = tuple(writer.replies) if writer else ()
    reached = writer.asked > 0 if writer else answered
    items = result.highlights.items
    texts = [text for item in items for text in (item.text, item.title, item.context) if text]
    if not items:
        texts = [
            text
            for scored in result.trace.passages
            for text in (scored.passage.text, scored.passage.title)
            if text
        ]
    known = Response(
        evidence=tuple(texts),
        quotes=tuple(text for item in items for text in item.marked),
        written=written,
        reached=reached,
    )
    if isinstance(result, Answer):
        return replace(known, text=result.text, untrusted=result.trust is not Trust.TRUSTED)
    if result.reason is Reason.MODEL_FAILED:
        return replace(known, error=result.trace.failure or result.detail)
    return replace(known, refused=result.reason.value)


def passages_of(store: Store, proposal: Proposal) -> tuple[int, ...]:
    """The passages that the spans of a proposal lie in, in the order of the spans."""
    ids: dict[int, None] = {}
    for span in proposal.spans:
        for passage in store.passages_of(span.doc_id):
            if passage.start < span.end and span.start < passage.end:
                ids.setdefault(passage.passage_id)
    return tuple(ids)


def _listened(components: Components, *, tool: bool) -> tuple[ListeningChat | None, Components]:
    """The model behind the boundary with its record, and the components of a pipeline that has it there."""
    if components.chat is None:
        return None, components
    writer = ListeningChat(components.chat, rewrite=told if tool else None)
    reader = replace(components, chat=ListeningChat(components.chat, rewrite=told if tool else None))
    if build.names(components)["summarizer"] == "extractive":
        return None, replace(reader, summarizer=build.summarizer(components))
    return writer, replace(reader, summarizer=build.summarizer(replace(components, chat=writer)))


def _answer_of(reply: object, url: str) -> str:
    if not isinstance(reply, dict) or not isinstance(reply.get("answer"), str | None):
        raise ServerError(f'{url} did not answer with {{"answer": "..."}}')
    return reply.get("answer") or ""
