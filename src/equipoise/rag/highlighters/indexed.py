"""Indexed highlighter: sentences are numbered, the model returns numbers. Verbatim by construction.

Three short requests begin with the same text, which an endpoint with a prompt cache reads once: does it answer
(declined below the calibrated probability, and nothing more is asked), which sentences, and for yes/no
questions, yes or no. What the second opinion of the check finds likeliest is added to the picked sentences: the
two miss different things; for a model that writes no valid reply it stands alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, Field, create_model

from equipoise import prompts
from equipoise.core.errors import ModelReplyError, after_spending
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Dropped, Passage, Proposal, Query, Span, Tag, Usage
from equipoise.models.odds import first_token, yes_odds
from equipoise.models.structured import complete_as
from equipoise.rag.components import Components
from equipoise.rag.highlighters.abstention import READ, Check
from equipoise.rag.highlighters.sentences import Sentence, numbered, sentences_of
from equipoise.text.polar import is_yes_no
from equipoise.text.spans import DropReason

PICK, VERDICT = "evidence-pick-v1", "evidence-verdict-v1"
MOST = 3
SURE = 1.0
"""Least log-odds for a tag to cross: below, yes/no questions are answered by the quotes alone."""


class PickReply(BaseModel):
    """The numbers of sentences; a reply that lists more than were asked for is cut."""

    sentences: list[int]


@dataclass(frozen=True, slots=True)
class IndexedHighlighter:
    """The first READ passages at once. `check` decides whether to decline; without one, only an empty pick declines."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    check: Check | None = None

    @classmethod
    def from_components(cls, components: Components) -> "IndexedHighlighter":
        """Built from the settings."""
        who = "the highlighter 'indexed'"
        return cls(components.need_chat(who), components.options, Check.from_components(components, who))

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The spans under the numbers the model chose; raises ModelError."""
        sentences = sentences_of(passages[:READ])
        if not sentences:
            return Proposal(())
        if self.check is None:
            return await self._pick(query, sentences)
        checked = await self.check.ask(query, passages)
        if declined := self.check.declines(checked):
            return declined
        with after_spending(checked.usage):
            picked = await self._pick_or(checked.likeliest, query, sentences)
        with after_spending(checked.usage + picked.usage):
            tags, cost = await self._tags(query, sentences) if picked.spans else (frozenset(), Usage())
        return Proposal(
            widened(picked.spans, checked.likeliest),
            picked.dropped,
            checked.usage + picked.usage + cost,
            checked.probability,
            self.check.fitted.threshold,
            tags,
        )

    async def _pick_or(self, likeliest: Span | None, query: Query, sentences: Sequence[Sentence]) -> Proposal:
        """What the model picks; the likeliest span for a model that twice writes no valid reply."""
        try:
            return await self._pick(query, sentences)
        except ModelReplyError as error:
            if likeliest is None:
                raise
            unusable = Dropped(DropReason.NO_VALID_REPLY, quotation=str(error))
            return Proposal((likeliest,), (unusable,), error.usage)

    async def _pick(self, query: Query, sentences: Sequence[Sentence]) -> Proposal:
        return await pick(PICK, self.chat, query, sentences, options=self.options, most=MOST)

    async def _tags(self, query: Query, sentences: Sequence[Sentence]) -> tuple[frozenset[Tag], Usage]:
        """Yes or no, for a question that wants one and a model that is sure enough."""
        if not is_yes_no(query.text):
            return frozenset(), Usage()
        messages = prompts.load(VERDICT, sentences=numbered(sentences), question=query.text)
        reply = await self.chat.complete(messages, options=first_token(self.options))
        odds = yes_odds(reply) or 0.0
        tags = {Tag.YES} if odds >= SURE else {Tag.NO} if odds <= -SURE else set()
        return frozenset(tags), reply.usage


async def pick(
    prompt: str,
    chat: ChatModel,
    query: Query,
    sentences: Sequence[Sentence],
    *,
    options: ChatOptions,
    most: int,
) -> Proposal:
    """The sentences whose numbers the model names, `most` at most; raises ModelError."""
    messages = prompts.load(prompt, sentences=numbered(sentences), question=query.text, most=str(most))
    reply, usage = await complete_as(chat, messages, reply_schema(most), options=options)
    picked = dict.fromkeys(reply.sentences[:most])
    known = [n for n in picked if 0 < n <= len(sentences)]
    dropped = [Dropped(DropReason.NO_SUCH_NUMBER, quotation=str(n)) for n in picked if n not in known]
    over = [n for n in dict.fromkeys(reply.sentences[most:]) if n not in picked]
    dropped += [Dropped(DropReason.OVER_THE_PICK, quotation=str(n)) for n in over]
    return Proposal(tuple(sentences[n - 1].span for n in known), tuple(dropped), usage)


@cache
def reply_schema(most: int) -> type[PickReply]:
    """PickReply with the number of sentences in its JSON schema; not enforced, since `pick` drops the rest."""
    bounded: Any = (list[int], Field(json_schema_extra={"maxItems": most}))
    return create_model("PickReply", __base__=PickReply, sentences=bounded)


def widened(picked: Sequence[Span], likeliest: Span | None) -> tuple[Span, ...]:
    """The `picked` spans and the likeliest one; nothing where nothing was picked."""
    added = [likeliest] if picked and likeliest else []
    return tuple(dict.fromkeys([*picked, *added]))
