"""What the pieces of a pipeline are built from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypedDict, cast

from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.core.protocols import (
    ChatModel,
    Encoder,
    Highlighter,
    PassageFilter,
    Reranker,
    Retriever,
    Summarizer,
)
from equipoise.core.settings import Settings
from equipoise.core.types import ChatOptions
from equipoise.core.where import Where
from equipoise.corpus.store import Store
from equipoise.corpus.within import Within
from equipoise.models.adapted import RankingModel
from equipoise.models.crossencoder import READER
from equipoise.models.encoder import is_multilingual


class Objects(TypedDict, total=False):
    """Your own objects in place of what the settings name; `chat` None is no language model."""

    encoder: Encoder
    chat: ChatModel | None
    reranker: Reranker | None
    retriever: Retriever
    filter: PassageFilter
    highlighter: Highlighter
    summarizer: Summarizer


EXTENSION_POINTS: Mapping[str, tuple[type, str]] = {
    "encoder": (Encoder, "name, dimensions, encode(texts)"),
    "chat": (ChatModel, "name, async complete(messages, *, schema, options)"),
    "reranker": (Reranker, "name, scores(question, texts)"),
    "retriever": (Retriever, "retrieve(query, *, k)"),
    "filter": (PassageFilter, "async filter(query, candidates, *, k)"),
    "highlighter": (Highlighter, "async highlight(query, passages)"),
    "summarizer": (Summarizer, "async summarize(highlights, *, tags)"),
}
"""For each keyword the protocol of the object, and the attributes and methods that it must have."""


def check_objects(given: Mapping[str, object]) -> None:
    """Raises InputError for a keyword that names no part, and for an object that lacks what its protocol asks for."""
    for name, part in given.items():
        if name not in EXTENSION_POINTS:
            raise InputError(f"there is no part {name!r} to give: choose among {', '.join(EXTENSION_POINTS)}")
        protocol, methods = EXTENSION_POINTS[name]
        if isinstance(part, type):
            raise InputError(f"{name} is the class {part.__name__}: give an object, {part.__name__}(...)")
        if not isinstance(part, protocol) and not (part is None and name in ("chat", "reranker")):
            raise InputError(
                f"{name} is of type {type(part).__name__}, which lacks {methods}: see docs/extensions.md"
            )


NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class Components:
    """Shared by everything `build` makes; `chat` is None where no language model is set up, `reranker` where
    nothing is to be reranked. The others stand in for what the settings name. `where` says which documents of the
    index there are for this pipeline; `store` has no others."""

    settings: Settings
    store: Store
    encoder: Encoder
    chat: ChatModel | None = None
    reranker: Reranker | None = None
    retriever: Retriever | None = None
    filter: PassageFilter | None = None
    highlighter: Highlighter | None = None
    summarizer: Summarizer | None = None
    where: Where | None = None

    def within(self, where: Where | None) -> "Components":
        """The same over the documents that `where` means: `store` is a view of these, to read."""
        if where is None:
            return self
        if self.where is not None:
            raise InputError(
                "these components are within a filter already: begin with those of the whole store"
            )
        return replace(self, store=cast("Store", Within(self.store, where)), where=where)

    @property
    def options(self) -> ChatOptions:
        """Sampling settings of every request: greedy, seeded."""
        return ChatOptions(max_tokens=self.settings.model.max_tokens)

    @property
    def resolved(self) -> "Resolved":
        """What "auto" stands for here."""
        llm = self.chat.name if self.chat else NO_MODEL
        return resolve(self.settings, llm, multilingual=is_multilingual(self.encoder))

    @property
    def reader(self) -> Reranker:
        """What reads sentences: the package's, or a reranker of your own, which does both."""
        own = self.reranker
        return READER if own is None or isinstance(own, RankingModel) else own

    def need_chat(self, who: str) -> ChatModel:
        """The language model; raises ModelUnavailable that says how to get one."""
        if self.chat is None:
            raise ModelUnavailable(
                f"{who} needs a language model: run  equipoise models pull qwen2.5-coder-1.5b  and  equipoise models "
                "use qwen2.5-coder-1.5b , or set OPENAI_API_KEY, or name one with --llm"
            )
        return self.chat


@dataclass(frozen=True, slots=True)
class Resolved:
    """What stands where the settings say "auto" or nothing. `reads` is the highlighter without a language model."""

    reads: str
    highlighter: str
    summarizer: str
    stance: str
    rerank: bool


def resolve(settings: Settings, llm: str, *, multilingual: bool) -> Resolved:
    """What "auto" stands for, given the name of the language model (NO_MODEL: none) and whether the encoder reads more
    than English. `reader` reads English only. A model on this machine reads worse than the cross-encoder does, and
    takes many times as long.
    """
    reads = "sentence" if multilingual else "reader"
    is_local = llm.partition("/")[0] == "local"
    reads_alone = llm == NO_MODEL or (is_local and not multilingual)
    rerank = settings.retrieval.rerank
    return Resolved(
        reads,
        _auto(settings.highlight.name, reads if reads_alone else "cascade"),
        _auto(settings.summarize.name, "extractive" if llm == NO_MODEL else "llm"),
        _auto(settings.filter.stance, "embedded" if llm == NO_MODEL or is_local else "chat"),
        not multilingual if rerank is None else rerank,
    )


def _auto(name: str, otherwise: str) -> str:
    return otherwise if name == "auto" else name
