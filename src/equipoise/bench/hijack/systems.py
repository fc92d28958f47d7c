"""The pipelines under attack: the product's own, with models that are told of the tool."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from equipoise.core.errors import InputError
from equipoise.core.protocols import PassageFilter, Pipeline
from equipoise.core.types import Candidates, Filtered, Query
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.pipeline import VANILLA_PROMPT
from equipoise.redteam.hijack import ToolAwareChat

PLAIN = {"vanilla": VANILLA_PROMPT, "vanilla_chat": "vanilla-chat-v1"}
"""Plain RAG by its prompt: the question before the task, as the product asks, or as the user's whole message."""

SUMMARIZER = "llm"
ALWAYS = {"name": SUMMARIZER, "when": "always", "guesses": 1}
"""A summarizer that is asked about every quote, and guesses: the more an attack meets it, the harder the test."""


@dataclass(frozen=True, slots=True)
class ToolSystem:
    """A pipeline for one question, and what its models will have replied.

    `highlighter` is None for plain RAG, and is never asked where the highlighter has no language model; `writer`
    is the model that writes the answer.
    """

    pipeline: Pipeline
    highlighter: ToolAwareChat | None
    writer: ToolAwareChat


@dataclass(frozen=True, slots=True)
class InOrder:
    """What the filter `inner` keeps, in the order of the inbox instead of the rank.

    So every prompt begins alike and a server that keeps prompts reads the inbox once, not once a question.
    """

    inner: PassageFilter

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """See PassageFilter."""
        found = await self.inner.filter(query, candidates, k=k)
        passages = found.kept.passages
        rows = sorted(range(len(passages)), key=lambda row: passages[row].passage_id)
        return Filtered(found.kept.take(rows), found.flagged)


def names() -> tuple[str, ...]:
    """Plain RAG in both forms, and one whole pipeline for each highlighter of the product."""
    return (*PLAIN, *build.HIGHLIGHTERS)


def check(wanted: Sequence[str]) -> None:
    """Raises InputError for no name and for an unknown one."""
    if not wanted:
        raise InputError("no pipeline was named: give --pipelines vanilla,indexed for example")
    if unknown := [name for name in wanted if name not in names()]:
        raise InputError(f"there is no pipeline {unknown[0]!r}: choose among {', '.join(names())}")


def tool_system(name: str, components: Components) -> ToolSystem:
    """The pipeline `name` with fresh records of its models. Raises what building its components raises."""
    chat = components.need_chat("the tool hijack benchmark")
    reader, writer = ToolAwareChat(chat), ToolAwareChat(chat)
    if name in PLAIN:
        plain = build.vanilla(replace(components, chat=writer))
        return ToolSystem(replace(plain, filter=InOrder(plain.filter), prompt=PLAIN[name]), None, writer)
    settings = components.settings
    chosen = settings.model_copy(
        update={
            "highlight": settings.highlight.model_copy(update={"name": name}),
            "summarize": settings.summarize.model_copy(update=ALWAYS),
        }
    )
    reading = replace(components, settings=chosen, chat=reader)
    whole = build.highlight_summarize(reading)
    summarizer = build.summarizer(replace(reading, chat=writer))
    return ToolSystem(replace(whole, filter=InOrder(whole.filter), summarizer=summarizer), reader, writer)
