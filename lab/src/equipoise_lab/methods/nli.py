"""Natural language inference for filters: which model, and which passages contradict each other."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from pydantic import BaseModel

from equipoise.core.errors import InputError, MissingExtra, ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import Array, ChatOptions, Passage
from equipoise.maths.checks import Floats
from equipoise.models.pretrained import installed
from equipoise.models.structured import complete_as
from equipoise.rag.components import Components
from equipoise_lab import prompts
from equipoise_lab.maths.diversity import conflict_matrix
from equipoise_lab.models.nli import DEFAULT, CrossEncoderNLI

CONCURRENCY = 4
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
"""The columns of what `NLI.predict` returns."""
COLUMNS = {"entailment": ENTAILMENT, "neutral": NEUTRAL, "contradiction": CONTRADICTION}


@runtime_checkable
class NLI(Protocol):
    """Natural language inference: what a premise says about a hypothesis."""

    async def predict(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """(n, 3) float32 for n pairs of premise and hypothesis, rows sum to 1; (0, 3) for no pairs.

        Columns are the probabilities of ENTAILMENT, NEUTRAL and CONTRADICTION. Raises ModelUnavailable or
        ModelReplyError.
        """
        ...


class NliReply(BaseModel):
    """One of three words."""

    relation: Literal["entailment", "neutral", "contradiction"]


@dataclass(frozen=True, slots=True)
class ChatNLI:
    """NLI by a chat model: one request a pair, `concurrency` at a time. Rows are certain: 1 and two 0."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    concurrency: int = CONCURRENCY

    async def predict(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """See `core.protocols.NLI`; raises what the chat model raises, after ending the other requests."""
        gate = asyncio.Semaphore(self.concurrency)
        tasks: list[asyncio.Task[int]] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks.extend(group.create_task(self._column(pair, gate)) for pair in pairs)
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return np.eye(len(COLUMNS), dtype=np.float32)[[task.result() for task in tasks]]

    async def _column(self, pair: tuple[str, str], gate: asyncio.Semaphore) -> int:
        messages = prompts.load("nli-v1", premise=pair[0], hypothesis=pair[1])
        async with gate:
            reply, _ = await complete_as(self.chat, messages, NliReply, options=self.options)
        return COLUMNS[reply.relation]


def from_components(components: Components) -> NLI | None:
    """The model of the setting `filter.nli`; None for "none", which leaves conflicts out.

    Raises ModelUnavailable for "chat" without a language model, MissingExtra for "hf" without
    transformers, InputError for any other name.
    """
    backend, _, name = components.settings.filter.nli.partition("/")
    if backend == "none":
        return None
    if backend == "chat":
        return ChatNLI(components.need_chat("filter.nli = 'chat'"), components.options)
    if backend != "hf":
        raise InputError(f"filter.nli is {components.settings.filter.nli!r}: write hf[/NAME], chat or none")
    if not installed():
        what = (
            "the library for NLI models, which the filter 'smart' asks (or set filter.nli to chat or none),"
        )
        raise MissingExtra(what, "hf")
    return CrossEncoderNLI(name or DEFAULT)


async def conflicts(model: NLI | None, passages: Sequence[Passage], weight: Floats, *, pairs: int) -> Floats:
    """SMART's conflicts (n, n) between n passages: see `maths.diversity.conflict_matrix`.

    `model` is asked about both directions of the `pairs` pairs with the largest `weight` (n, n, symmetric),
    all in one call; every other pair has conflict 0, as all have without a model. Raises what the model
    raises, ModelReplyError where its answer holds no probabilities.
    """
    one_way = np.zeros((len(passages), len(passages)))
    left, right = np.triu_indices(len(passages), 1)
    chosen = np.argsort(-weight[left, right], kind="stable")[:pairs]
    if model is None or not len(chosen):
        return one_way
    premises = np.concatenate([left[chosen], right[chosen]])
    hypotheses = np.concatenate([right[chosen], left[chosen]])
    texts = [passage.text for passage in passages]
    said = await model.predict([(texts[a], texts[b]) for a, b in zip(premises, hypotheses, strict=True)])
    if said.shape != (len(premises), len(COLUMNS)) or not (said.min() >= 0 and said.max() <= 1):
        raise ModelReplyError("the NLI model gave no probabilities: name another one in filter.nli")
    one_way[premises, hypotheses] = said[:, CONTRADICTION]
    return conflict_matrix(one_way)
