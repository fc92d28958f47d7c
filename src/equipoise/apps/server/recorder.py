"""Records what the summarizer's model received, what a question has cost, and where its candidates stand.

The recorder stands between a pipeline and its model or filter, writes down what passes, and changes nothing. What it
writes goes to the question that is being answered in the same context, never to another one.
"""

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from equipoise.core.errors import EquipoiseError, ModelError
from equipoise.core.protocols import ChatModel, JsonSchema, PassageFilter, Pipeline
from equipoise.core.types import Candidates, ChatOptions, ChatReply, Filtered, Message, Query
from equipoise.maths.biasdef import bias_def
from equipoise.models.roles import SUMMARIZER, for_role
from equipoise.rag.pipeline import HighlightSummarize

DIGITS = 4
LETTERS_A_TOKEN = 4
"""Characters of a token, to estimate what a cancelled request has cost."""


@dataclass(slots=True)
class RequestRecord:
    """Of one question: the tokens it has cost so far, the complete requests to the summarizer's model, and where its
    candidates stand."""

    tokens: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    candidates: list[dict[str, Any]] = field(default_factory=list)
    wants_candidates: bool = False


@dataclass(frozen=True, slots=True)
class RequestRecorder:
    """Hands records out: `current` is that of the question in this context."""

    current: ContextVar[RequestRecord | None] = field(
        default_factory=lambda: ContextVar("record", default=None)
    )

    def of_chat(self, chat: ChatModel | None) -> ChatModel | None:
        """`chat`, which now records its tokens and the summarizer's requests."""
        return None if chat is None else _WatchedChat(chat, self)

    def of_pipeline(self, pipeline: Pipeline) -> Pipeline:
        """`pipeline`, which now records its candidates where they are wanted."""
        if isinstance(pipeline, HighlightSummarize):
            return replace(pipeline, filter=_WatchedFilter(pipeline.filter, self))
        return pipeline


@dataclass(frozen=True, slots=True)
class _WatchedChat:
    """Counts what is spent, also where nobody waits for the reply any more; writes down what `role` receives if that
    is the summarizer."""

    chat: ChatModel
    recorder: RequestRecorder
    role: str = ""

    @property
    def name(self) -> str:
        return self.chat.name

    def for_role(self, role: str) -> ChatModel:
        return _WatchedChat(for_role(self.chat, role), self.recorder, role)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: JsonSchema | None = None,
        options: ChatOptions = ChatOptions(),
    ) -> ChatReply:
        record = self.recorder.current.get() or RequestRecord()
        if self.role == SUMMARIZER:
            said = [{"role": message.role, "content": message.content} for message in messages]
            record.requests.append({"messages": said, "schema": schema})
        try:
            reply = await self.chat.complete(messages, schema=schema, options=options)
        except asyncio.CancelledError:
            record.tokens += sum(len(message.content) for message in messages) // LETTERS_A_TOKEN
            raise
        except ModelError as error:
            record.tokens += error.usage.prompt_tokens + error.usage.completion_tokens
            raise
        record.tokens += reply.usage.prompt_tokens + reply.usage.completion_tokens
        return reply


@dataclass(frozen=True, slots=True)
class _WatchedFilter:
    filter_: PassageFilter
    recorder: RequestRecorder

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        filtered = await self.filter_.filter(query, candidates, k=k)
        record = self.recorder.current.get()
        if record and record.wants_candidates:
            record.candidates += _points(candidates, filtered)
        return filtered


def _points(candidates: Candidates, filtered: Filtered) -> list[dict[str, Any]]:
    """Relevance (likeness to the question) and polarization score of every candidate, and what became of it."""
    try:
        measured = bias_def(candidates.query_embedding, candidates.embeddings)
    except (EquipoiseError, ValueError):  # too few candidates, or vectors that say nothing
        return []
    flagged = {flag.passage.passage_id: flag.reason for flag in filtered.flagged}
    kept = {passage.passage_id for passage in filtered.kept.passages}
    return [
        {
            "passage_id": passage.passage_id,
            "source": passage.source,
            "relevance": round(float(relevance), DIGITS),
            "polarization": round(float(score), DIGITS),
            "kept": passage.passage_id in kept,
            "reason": flagged.get(passage.passage_id),
            "text": passage.text[:300],
        }
        for passage, relevance, score in zip(
            candidates.passages, measured.similarities, measured.scores, strict=True
        )
    ]
