"""Pipelines by name: `vanilla`, a highlighter, or HIGHLIGHTER+SUMMARIZER."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from equipoise.core.errors import InputError
from equipoise.core.protocols import ChatModel, Highlighter, Pipeline
from equipoise.core.settings import Settings
from equipoise.rag import build
from equipoise.rag.components import Components

VANILLA = "vanilla"
NO_MODEL = "none"
HIGHLIGHT_CALLS = {"sentence": 0, "reader": 0, "extractive_qa": 0, "two_step": 2, "indexed": 2}
"""Calls of a language model for one question, by highlighter; 1 for all others."""


@dataclass(frozen=True, slots=True)
class System:
    """A pipeline under the name it was asked for by. `summarizer` is "" for vanilla."""

    name: str
    highlighter: str
    summarizer: str

    @property
    def highlights(self) -> bool:
        """Whether it highlights at all."""
        return self.highlighter != VANILLA

    @property
    def calls(self) -> int:
        """How often it asks a language model for one answered question, as a rule."""
        return HIGHLIGHT_CALLS.get(self.highlighter, 1) + (self.summarizer == "llm")

    def model(self, chat: ChatModel | None) -> str:
        """The name of its language model in rows."""
        return chat.name if chat and self.calls else NO_MODEL

    def highlighting(self, components: Components) -> Highlighter | None:
        """Its highlighter, which serves every store; None for vanilla. Raises what it raises that is not there."""
        return build.highlighter(self._own(components)) if self.highlights else None

    def pipeline(self, components: Components) -> Pipeline:
        """The pipeline over the store of `components`. Raises what the components raise that are not there."""
        return (
            build.highlight_summarize(self._own(components)) if self.highlights else build.vanilla(components)
        )

    def _own(self, components: Components) -> Components:
        return replace(components, settings=self.settings(components.settings))

    def settings(self, settings: Settings) -> Settings:
        """The settings with its highlighter and summarizer."""
        highlight = settings.highlight.model_copy(update={"name": self.highlighter})
        summarize = settings.summarize.model_copy(update={"name": self.summarizer})
        return settings.model_copy(update={"highlight": highlight, "summarize": summarize})


def systems(names: Sequence[str], *, with_llm: bool) -> tuple[System, ...]:
    """The pipelines called `names`, each once.

    A highlighter alone gets the summarizer `llm` where there is a language model, else `extractive`.
    Raises InputError for none, for an unknown name, and for one that needs a language model without one.
    """
    if not names:
        raise InputError("no pipeline was named: give --pipelines vanilla,indexed for example")
    found = tuple(_system(name, with_llm=with_llm) for name in dict.fromkeys(names))
    for one in found:
        if one.calls and not with_llm:
            raise InputError(f"the pipeline {one.name!r} needs a language model: name one with --llm")
    return found


def _system(name: str, *, with_llm: bool) -> System:
    if name == VANILLA:
        return System(name, VANILLA, "")
    highlighter, plus, summarizer = name.partition("+")
    summarizer = summarizer if plus else "llm" if with_llm else "extractive"
    if highlighter not in build.HIGHLIGHTERS or summarizer not in build.SUMMARIZERS:
        raise InputError(
            f"there is no pipeline {name!r}: choose {VANILLA} or one of {', '.join(build.HIGHLIGHTERS)}, "
            f"with a + and one of {', '.join(build.SUMMARIZERS)} after it if you like"
        )
    return System(name, highlighter, summarizer)
