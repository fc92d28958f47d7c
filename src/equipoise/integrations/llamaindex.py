"""Parts for LlamaIndex: filter and highlighter as node postprocessors, a synthesizer that never sees the question, and
query engines.

    retriever -> Filter -> Highlighter -> Synthesizer          query_engine(retriever) puts them together
    QueryEngine(library)                                       over an index of this package

A `trust_key` names the key of nodes' metadata that says "trusted". With one, trusted nodes answer by themselves, and
what untrusted ones say is shown apart, where the trusted ones do not answer (`trust.mode` of the settings says
otherwise). Without one nothing is trusted, and all are read alike.

The highlighter is the last that sees the question. It gives `QuoteNode`s: verbatim text with its place, and what the
boundary (`integrations.shared.crossed`) let through. The synthesizer reads that alone; whatever is done to the nodes'
text and metadata in between does not reach its model, and no question does, through events, callbacks or spans either.
Where `chat` and `embedder` are wanted, LlamaIndex's LLMs and embeddings, ours, and names (as in `model.llm` and
`retrieval.encoder`) are taken; without `chat` no language model is asked. Raises MissingExtra on import without
the extra `llamaindex`.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from equipoise.core import sync
from equipoise.core.errors import InputError, MissingExtra
from equipoise.core.results import Answer
from equipoise.core.settings import Given, Settings, settings_of
from equipoise.core.types import Dropped, Highlights
from equipoise.integrations import parts
from equipoise.integrations.chunks import Chunk, as_documents
from equipoise.integrations.llamaindex_nodes import (
    Chat,
    Embedder,
    QuoteNode,
    chat_of,
    chunk,
    encoder_of,
    library_quote,
    quote,
    quotes_of,
    response,
    weighed,
)
from equipoise.integrations.shared import Quotes, apart, crossed, sifted, summarized
from equipoise.integrations.trusting import ChunkReader, mode_of, picked, reader_of
from equipoise.rag.components import Components
from equipoise.rag.gathering import best_first
from equipoise.rag.library import Library

try:
    from llama_index.core.base.response.schema import Response
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
    from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent, SynthesizeStartEvent
    from llama_index.core.llms import MockLLM
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
    from llama_index.core.response_synthesizers import BaseSynthesizer
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import (
        NodeWithScore,
        QueryBundle,
        QueryType,
    )
    from llama_index_instrumentation import get_dispatcher
    from llama_index_instrumentation.base import BaseEvent
    from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
except ImportError as error:
    raise MissingExtra("llama-index-core", "llamaindex") from error

__all__ = [
    "Filter",
    "Highlighter",
    "NotQuoted",
    "QueryEngine",
    "QuoteNode",
    "Synthesizer",
    "TakenOut",
    "chat_of",
    "encoder_of",
    "query_engine",
]

T = TypeVar("T")
dispatcher = get_dispatcher(__name__)
NO_QUESTION = ""
"""What events and callbacks of the synthesizer have in the place of the question."""
NO_QUOTES = "texts are no quotes: pass the nodes of a Highlighter to synthesize"


class TakenOut(BaseEvent):
    """What a filter took out: (node id, reason, score) of each. Operators listen for it."""

    flagged: list[tuple[str, str, float]]

    @classmethod
    def class_name(cls) -> str:
        """Its name in traces."""
        return "EquipoiseTakenOut"


class NotQuoted(BaseEvent):
    """What a highlighter picked and the boundary dropped: (reason, name, start, end) of each."""

    dropped: list[tuple[str, str, int, int]]

    @classmethod
    def class_name(cls) -> str:
        """Its name in traces."""
        return "EquipoiseNotQuoted"


class _Postprocessor(BaseNodePostprocessor):
    """A part that sees the question, made from its name when it is first needed, or given as an object."""

    model_config = parts.STRICT
    chat: Any = Field(default=None, exclude=True)
    embedder: Any = Field(default=None, exclude=True)
    settings: Any = Field(default=None)
    trust_key: str = ""
    _made: Any = PrivateAttr(default=None)

    def _part(self, *, blocking: bool) -> tuple[Any, Components]:
        """The part and its components; with `blocking` a model of LlamaIndex is called as its sync methods want."""
        self._made = self._made or made_of(
            lambda made: (self._make(made), made), self.settings, self.chat, self.embedder
        )
        part: tuple[Any, Components] = self._made.get(blocking=blocking)
        return part

    @abstractmethod
    def _make(self, made: Components) -> object: ...

    @abstractmethod
    async def _judged(
        self, nodes: list[NodeWithScore], asked: QueryBundle | None, *, blocking: bool
    ) -> list[NodeWithScore]:
        """The nodes that go on."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return sync.run(self._judged(nodes, query_bundle, blocking=True))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return await self._judged(nodes, query_bundle, blocking=False)

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401
        """Raises InputError for an unknown name, and SettingsError."""
        super().model_post_init(context)
        if isinstance(self.settings, Settings):
            self.settings = self.settings.model_dump(exclude_unset=True)  # what is not set stays to be chosen
        self._part(blocking=True)

    def _chunks(self, nodes: Sequence[NodeWithScore]) -> list[Chunk]:
        return [chunk(node, self.trust_key) for node in nodes]


class Filter(_Postprocessor):
    """Takes nodes out before anything reads them: `part` is a name of `filter.name`, or a PassageFilter.

    At most `top_k` nodes are kept, in the order they came; `TakenOut` tells of every other one. With a `trust_key` it
    sees the trusted nodes alone; at most `top_k` untrusted ones of each source follow these. Their embeddings are used
    where all have one and the query bundle has its own, else `embedder`.
    """

    part: Any = "auto"
    top_k: int = Field(default=5, ge=1)

    @classmethod
    def class_name(cls) -> str:
        """Its name in serialised forms."""
        return "EquipoiseFilter"

    def _make(self, made: Components) -> object:
        return parts.filter_of(self.part, made)

    async def _judged(
        self, nodes: list[NodeWithScore], asked: QueryBundle | None, *, blocking: bool
    ) -> list[NodeWithScore]:
        question, vector = _question(asked), asked.embedding if asked else None
        part, made = self._part(blocking=blocking)
        filtered = await sifted(
            part,
            question,
            self._chunks(nodes),
            k=self.top_k,
            encoder=made.encoder,
            question_vector=vector,
            mode=mode_of(made.settings, self.trust_key),
        )
        if filtered.flagged:
            flagged = [(nodes[row].node.node_id, reason, score) for row, reason, score in filtered.flagged]
            dispatcher.event(TakenOut(flagged=flagged))
        return [nodes[row] for row in filtered.kept]


class Highlighter(_Postprocessor):
    """Turns nodes into the quotes that answer: `part` is a name of `highlight.name`, or a Highlighter.

    The result is `QuoteNode`s, the best first; none where the nodes do not answer. `NotQuoted` tells what was dropped.
    With a `trust_key` they are quotes of trusted nodes. Where no trusted node answers they are those of untrusted ones,
    which are read author by author without a language model; the author is the source. With `others` these follow the
    trusted ones, too. Each says its `trust` in its metadata, and no model writes about those of untrusted nodes.
    """

    part: Any = "auto"
    others: bool = False

    @classmethod
    def class_name(cls) -> str:
        """Its name in serialised forms."""
        return "EquipoiseHighlighter"

    def _make(self, made: Components) -> object:
        return reader_of(self.part, made, self.trust_key)

    async def _judged(
        self, nodes: list[NodeWithScore], asked: QueryBundle | None, *, blocking: bool
    ) -> list[NodeWithScore]:
        part, made = self._part(blocking=blocking)
        reader: ChunkReader = part
        chunk_documents = as_documents(self._chunks(nodes))
        chosen = await picked(reader, _question(asked), chunk_documents, others=self.others)
        context = made.settings.summarize.context == "passage"
        quotes, dropped = crossed(
            chosen.picks, chunk_documents, reader.policy, context=context, mode=reader.mode
        )
        _tell_dropped((*chosen.dropped, *dropped))
        items = quotes.highlights.items
        best = [items[row] for row in best_first(quotes.highlights, chosen.picks.spans)]
        chance = chosen.proposal.probability
        crossing = [(item, Quotes(Highlights((item,)), quotes.tags), chance) for item in best]
        crossing += [(item, Quotes(others=quotes.others), None) for item in quotes.of_others]
        rows = chunk_documents.rows
        return [quote(item, one, nodes[rows[item.doc_id]], likely) for item, one, likely in crossing]


def _unseen(method: Callable[..., Any]) -> Callable[..., Any]:
    """Marks `method`, so that LlamaIndex puts no span around it: that would hold its arguments, the question too."""
    setattr(method, DISPATCHER_SPAN_DECORATED_ATTR, True)
    return method


class Synthesizer(BaseSynthesizer):
    """Writes the answer from the `QuoteNode`s of a `Highlighter`; its model, events and spans never see the question.

    `part` is a name of `summarize.name`, or a Summarizer. A refusal is a `Response` with its sentence, and `refused`
    and `reason` in its metadata.
    """

    def __init__(
        self,
        part: Any = "auto",  # noqa: ANN401
        *,
        chat: Chat = None,
        settings: Given = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(llm=MockLLM(), callback_manager=callback_manager)
        self._contact = settings_of(settings).question.contact
        self._parts = made_of(lambda made: parts.summarizer_of(part, made), settings, chat, None)
        self._parts.get(blocking=True)  # raises at once what is wrong

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        return None

    @_unseen
    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,  # noqa: ANN401
    ) -> Response:
        """The answer that rests on the quotes; the question is not looked at. Raises InputError for other nodes."""
        return sync.run(self._written(nodes, additional_source_nodes or (), blocking=True))

    @_unseen
    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,  # noqa: ANN401
    ) -> Response:
        return await self._written(nodes, additional_source_nodes or (), blocking=False)

    @_unseen
    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> str:  # noqa: ANN401
        """Always raises InputError: a bare text may hold the question."""
        raise InputError(NO_QUOTES)

    @_unseen
    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> str:  # noqa: ANN401
        raise InputError(NO_QUOTES)

    async def _written(
        self, nodes: Sequence[NodeWithScore], more: Sequence[NodeWithScore], *, blocking: bool
    ) -> Response:
        quotes = quotes_of(nodes)
        dispatcher.event(SynthesizeStartEvent(query=NO_QUESTION))
        payload: dict[str, Any] = {EventPayload.QUERY_STR: NO_QUESTION}
        with self.callback_manager.event(CBEventType.SYNTHESIZE, payload=payload) as event:
            result = await summarized(self._parts.get(blocking=blocking), quotes, self._contact)
            written = response(weighed(result, nodes), [*nodes, *more])
            event.on_end(payload={EventPayload.RESPONSE: written})
        dispatcher.event(SynthesizeEndEvent(query=NO_QUESTION, response=written))
        return written


class QueryEngine(CustomQueryEngine):
    """Answers or refuses a question over an index of this package, which is `library`.

    `source_nodes` are the quotes, the best first. With `others` what untrusted documents say comes beside an answer of
    trusted ones, too: in the metadata of the response. `where` says which documents there are, as text or JSON
    (docs/metadata.md).
    """

    model_config = parts.STRICT
    library: Any
    others: bool = False
    where: Any = None

    def custom_query(self, query_str: str) -> Response:
        """The answer; raises QuestionError for a question that cannot be used."""
        return sync.run(self.acustom_query(query_str))

    async def acustom_query(self, query_str: str) -> Response:
        library: Library = self.library
        result = await apart(library.aask(query_str, others=self.others, where=self.where))
        quotes = result.quotes if isinstance(result, Answer) else result.highlights.items
        return response(result, [library_quote(item) for item in quotes])


def query_engine(
    retriever: BaseRetriever,
    *,
    chat: Chat = None,
    embedder: Embedder = None,
    settings: Given = None,
    trust_key: str = "",
    others: bool = False,
    top_k: int = 5,
    callback_manager: CallbackManager | None = None,
) -> RetrieverQueryEngine:
    """Filter, highlighter and synthesizer behind a retriever of LlamaIndex; parts as the settings name them."""
    seeing: dict[str, Any] = {
        "chat": chat,
        "embedder": embedder,
        "settings": settings,
        "trust_key": trust_key,
    }
    return RetrieverQueryEngine(
        retriever=retriever,
        node_postprocessors=[Filter(top_k=top_k, **seeing), Highlighter(others=others, **seeing)],
        response_synthesizer=Synthesizer(chat=chat, settings=settings, callback_manager=callback_manager),
        callback_manager=callback_manager,
    )


def made_of(
    make: Callable[[Components], T], settings: Given, chat: Chat, embedder: Embedder
) -> parts.Made[T]:
    """As `parts.Made`; a model of LlamaIndex is called in a thread where `blocking`, else in the loop."""
    return parts.Made(
        make, settings, lambda blocking: chat_of(chat, blocking=blocking), lambda: encoder_of(embedder)
    )


def _question(asked: QueryBundle | None) -> str:
    if asked is None:
        raise InputError("nodes are judged by a question: pass query_str or query_bundle")
    return asked.query_str


def _tell_dropped(dropped: Sequence[Dropped]) -> None:
    if dropped:
        told = [
            (drop.reason, drop.span.doc_id, drop.span.start, drop.span.end)
            if drop.span
            else (drop.reason, "", 0, 0)
            for drop in dropped
        ]
        dispatcher.event(NotQuoted(dropped=told))
