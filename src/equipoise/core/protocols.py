"""The extension points: one or two methods each. A backend is an object that has them; nothing to inherit from.

Whatever may wait for a model is async; pure computation is not. `core.sync.run` calls async code from sync code.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from equipoise.core.results import Answer, Refusal, SubAnswer
from equipoise.core.types import (
    Array,
    Candidates,
    ChatOptions,
    ChatReply,
    Filtered,
    Highlights,
    Message,
    Passage,
    Proposal,
    Query,
    Summary,
    Tag,
)

JsonSchema = Mapping[str, Any]


@runtime_checkable
class ChatModel(Protocol):
    """A language model. `name` goes into reports and into the key of the replay cache."""

    @property
    def name(self) -> str: ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        """One reply; with `schema` the model is asked for JSON of that form, which callers still have to validate.

        Raises ModelUnavailable or ModelReplyError.
        """
        ...


@runtime_checkable
class Encoder(Protocol):
    """Texts to unit vectors. `name` identifies the vector space: a store refuses another one.

    Optional abilities, such as encoding questions differently or reading many languages: see `models.encoder`.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Array:
        """(n, d) float32, every row of length 1; (0, d) for no texts."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """Finds passages for a question."""

    def retrieve(self, query: Query, *, k: int) -> Candidates:
        """At most `k` candidates, best first, each passage once, with the documents of all of them.

        Nothing is read from the store after this. Raises CorpusError, or ModelError where the encoder fails.
        """
        ...


@runtime_checkable
class Reranker(Protocol):
    """Reads question and text together. `name` identifies the scale of the scores: a calibration is for one."""

    @property
    def name(self) -> str: ...

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n,) for n texts, higher for likelier answers; each score depends on the question and its text alone.

        Raises ModelError.
        """
        ...


@runtime_checkable
class PassageFilter(Protocol):
    """Takes passages out before anything reads them."""

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """At most `k` kept passages, in the order they came, and a flag for each one taken out on purpose.

        Raises ModelError, or CorpusError for passages that it cannot judge.
        """
        ...


@runtime_checkable
class Highlighter(Protocol):
    """Picks spans for a question: the last part that sees it."""

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """Spans inside `passages`, not yet canonical; none when the passages do not answer."""
        ...


@runtime_checkable
class Summarizer(Protocol):
    """Turns highlights into an answer, without ever seeing the question."""

    async def summarize(self, highlights: Highlights, *, tags: frozenset[Tag] = frozenset()) -> Summary:
        """The answer; raises ModelError when its model fails."""
        ...


@runtime_checkable
class Observer(Protocol):
    """Is told of the progress while a message is answered. Calls come one at a time, not all from the same thread;
    nothing of the answer depends on them."""

    def stage(self, name: str) -> None:
        """A stage begins: retrieve, rerank, filter, highlight, canonicalize, summarize, monitor; answer (plain RAG)."""
        ...

    def quotes(self, answers: Sequence[SubAnswer]) -> None:
        """Before anything is written: each question with its refusal, or an answer whose text is still empty.

        Not called where a monitor may refuse what the quotes say.
        """
        ...


@runtime_checkable
class Pipeline(Protocol):
    """All the way from a question to an answer or a refusal."""

    async def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
    ) -> Answer | Refusal:
        """An answer with its highlights or a refusal with its reason.

        `before` are questions that the same person typed earlier, oldest first: a question that only makes sense after
        one of them ("And who elects him?") is read together with the last that stands alone. Never put an answer there.
        With `others` what untrusted documents say comes beside an answer of trusted ones, too (`Answer.others`).

        Raises QuestionError for a question that cannot be used: for the person who asks. Every other error, such as
        CorpusError from a retriever or filter, is for the operator; a ModelError is a refusal instead.
        """
        ...
