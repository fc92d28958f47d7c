"""The systems of all benchmarks, by name: pipelines that answer, pipelines under attack, filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from equipoise.core.errors import EquipoiseError, InputError
from equipoise.core.protocols import ChatModel, Highlighter, PassageFilter, Pipeline, Reranker
from equipoise.core.results import Answer, Refusal
from equipoise.core.settings import Settings
from equipoise.core.types import Candidates, Filtered, Query
from equipoise.maths.biasdef import ALGORITHM_1, AS_WRITTEN, DEFAULTS
from equipoise.models.listening import ListeningChat
from equipoise.rag import build, others
from equipoise.rag.components import Components
from equipoise.rag.filters import BiasDefFilter
from equipoise.rag.vanilla import PROMPT
from equipoise_lab.methods.filters import BrraFilter, InTurn, SmartFilter
from equipoise_lab.redteam.hijack import told

VANILLA = "vanilla"
NO_MODEL = "none"
HIGHLIGHT_CALLS = {"sentence": 0, "reader": 0, "extractive_qa": 0, "two_step": 2, "indexed": 2}
"""Calls of a language model for one question, by highlighter; 1 for all others."""

PLAIN = {"vanilla": PROMPT, "vanilla_chat": "vanilla-chat-v1"}
"""Plain RAG by its prompt: the question before the task, as the product asks, or as the user's whole message."""

ALWAYS = {"name": "llm", "when": "always", "guesses": 1}
"""A summarizer that is asked about every quote, and guesses: the more an attack meets it, the harder the test."""

SECOND_AXIS = BiasDefFilter(replace(DEFAULTS, component=2))
FILTER_VARIANTS: Mapping[str, PassageFilter] = {
    "brra": BrraFilter(),
    "biasdef-as-written": BiasDefFilter(AS_WRITTEN),
    "biasdef-algorithm-1": BiasDefFilter(ALGORITHM_1),
    "biasdef-second-axis": SECOND_AXIS,
    "biasdef-twice": InTurn((BiasDefFilter(), BiasDefFilter())),
    "biasdef-both-axes": InTurn((BiasDefFilter(), SECOND_AXIS)),
    "smart-without-nli": SmartFilter(None),
}
"""What no pipeline has: BRRA, which searches the corpus; BiasDef as section 6 and as Algorithm 1 have it, without our
limit on a cut and with 20 bins, and as section 7 thinks of it; SMART without its conflict matrix."""

BY_TRUST = "auto"
"""No filter here: it depends on who may write a document, which a benchmark corpus does not say."""


@dataclass(frozen=True, slots=True)
class Named:
    """A pipeline of the product under the name it was asked for by. `summarizer` is "" for vanilla."""

    name: str
    highlighter: str
    summarizer: str

    @property
    def highlights(self) -> bool:
        """Whether it highlights at all."""
        return self.highlighter != VANILLA

    @property
    def writes(self) -> bool:
        """Whether a language model writes its answers from highlights."""
        return self.summarizer == "llm"

    @property
    def calls(self) -> int:
        """How often it asks a language model for one answered question, as a rule."""
        return HIGHLIGHT_CALLS.get(self.highlighter, 1) + self.writes

    def model(self, chat: ChatModel | None) -> str:
        """The name of its language model in rows."""
        return chat.name if chat and self.calls else NO_MODEL

    def highlighting(self, components: Components) -> Highlighter | None:
        """Its highlighter, which serves every store; None for vanilla. Raises what it raises that is not there."""
        return build.highlighter(self._own(components)) if self.highlights else None

    def pipeline(self, components: Components) -> Pipeline:
        """The pipeline over the store of `components`. Raises what the components raise that are not there."""
        if not self.highlights:
            return build.vanilla(components)
        return build.highlight_summarize(self._own(components))

    def _own(self, components: Components) -> Components:
        chosen = _changed(components.settings, self.highlighter, {"name": self.summarizer})
        return replace(components, settings=chosen)


def pipelines(names: Sequence[str], *, with_llm: bool) -> tuple[Named, ...]:
    """The pipelines called `names`, each once: `vanilla`, a highlighter, or HIGHLIGHTER+SUMMARIZER.

    A highlighter alone gets the summarizer `llm` where there is a language model, else `extractive`.
    Raises InputError for none, for an unknown name, and for one that needs a language model without one.
    """
    if not names:
        raise InputError("no pipeline was named: give --pipelines vanilla,indexed for example")
    chosen = tuple(_named(name, with_llm=with_llm) for name in dict.fromkeys(names))
    for pipeline in chosen:
        if pipeline.calls and not with_llm:
            raise InputError(f"the pipeline {pipeline.name!r} needs a language model: name one with --llm")
    return chosen


def highlighters() -> tuple[str, ...]:
    """The names of the product's highlighters and of those that this package and others add."""
    return others.known("highlighter", build.HIGHLIGHTERS)


def filter_names() -> tuple[str, ...]:
    """The filters that can be benchmarked: those of the product and variants for comparison."""
    every = others.known("filter", build.FILTERS)
    return (*(name for name in every if name != BY_TRUST), *FILTER_VARIANTS)


def filters(names: Sequence[str], components: Components) -> dict[str, PassageFilter]:
    """The filters by name; raises InputError for an unknown one, and what a filter needs and has not."""
    _known(names, filter_names(), "filter")
    return {
        name: FILTER_VARIANTS.get(name) or build.make("filter", build.FILTERS, name, components)
        for name in names
    }


def attacked_names() -> tuple[str, ...]:
    """Plain RAG in both forms, and one whole pipeline for each highlighter of the product."""
    return (*PLAIN, *highlighters())


def check_attacked(names: Sequence[str]) -> None:
    """Raises InputError for no name and for an unknown one."""
    _known(names, attacked_names(), "pipeline")


@dataclass(frozen=True, slots=True)
class HijackOutcome:
    """How one question ended under attack, and what the models replied.

    `highlighter` is None for plain RAG, and is never asked where the highlighter has no language model; `writer`
    is the model that writes the answer.
    """

    result: Answer | Refusal | EquipoiseError
    highlighter: ListeningChat | None
    writer: ListeningChat

    @property
    def plain(self) -> bool:
        """Whether it was plain RAG."""
        return self.highlighter is None

    @property
    def place(self) -> str:
        """The model that the question had come to in the end."""
        if self.writer.asked:
            return "summarizer" if self.highlighter else "model"
        return "highlighter" if self.highlighter and self.highlighter.asked else "before the models"


class Asks(Protocol):
    """A sample with a question."""

    @property
    def question(self) -> str:
        """What is asked."""
        ...


@dataclass(frozen=True, slots=True)
class ToolPipeline:
    """A System: the product's own pipeline, with models that are told of the tool.

    `reader` is the cross-encoder of its highlighter, loaded once for all questions; nothing is reranked with it.
    """

    name: str
    components: Components
    reader: Reranker

    async def __call__(self, sample: Asks) -> HijackOutcome:
        """Ask the question with fresh records of the models; an error is part of the outcome."""
        pipeline, highlighter, writer = self._built()
        try:
            return HijackOutcome(await pipeline.ask(sample.question), highlighter, writer)
        except EquipoiseError as error:
            return HijackOutcome(error, highlighter, writer)

    def _built(self) -> tuple[Pipeline, ListeningChat | None, ListeningChat]:
        """The pipeline, its highlighter's model and the model that answers. Raises what building raises."""
        components = self.components
        chat = components.need_chat("the tool hijack benchmark")
        reader, writer = ListeningChat(chat, rewrite=told), ListeningChat(chat, rewrite=told)
        if self.name in PLAIN:
            plain = build.vanilla(replace(components, chat=writer))
            return replace(plain, filter=InOrder(plain.filter), prompt=PLAIN[self.name]), None, writer
        chosen = _changed(components.settings, self.name, ALWAYS)
        reading = replace(components, settings=chosen, chat=reader)
        highlighter = build.highlighter(replace(reading, reranker=self.reader))
        whole = build.highlight_summarize(replace(reading, highlighter=highlighter))
        summarizer = build.summarizer(replace(reading, chat=writer))
        return replace(whole, filter=InOrder(whole.filter), summarizer=summarizer), reader, writer


@dataclass(frozen=True, slots=True)
class InOrder:
    """What the filter `inner` keeps, in the order of the inbox instead of the rank.

    So every prompt begins alike and a server that keeps prompts reads the inbox once, not once a question.
    """

    inner: PassageFilter

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """See PassageFilter."""
        filtered = await self.inner.filter(query, candidates, k=k)
        passages = filtered.kept.passages
        rows = sorted(range(len(passages)), key=lambda row: passages[row].passage_id)
        return Filtered(filtered.kept.take(rows), filtered.flagged)


def _named(name: str, *, with_llm: bool) -> Named:
    if name == VANILLA:
        return Named(name, VANILLA, "")
    highlighter, plus, summarizer = name.partition("+")
    summarizer = summarizer if plus else "llm" if with_llm else "extractive"
    if highlighter not in highlighters() or summarizer not in build.SUMMARIZERS:
        raise InputError(
            f"there is no pipeline {name!r}: choose {VANILLA} or one of {', '.join(highlighters())}, "
            f"with a + and one of {', '.join(build.SUMMARIZERS)} after it if you like"
        )
    return Named(name, highlighter, summarizer)


def _changed(settings: Settings, highlighter: str, summarize: Mapping[str, object]) -> Settings:
    return settings.model_copy(
        update={
            "highlight": settings.highlight.model_copy(update={"name": highlighter}),
            "summarize": settings.summarize.model_copy(update=dict(summarize)),
        }
    )


def _known(names: Sequence[str], known: Sequence[str], what: str) -> None:
    if not names:
        raise InputError(f"no {what} was named: choose among {', '.join(known)}")
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"there is no {what} {unknown[0]!r}: choose among {', '.join(known)}")
