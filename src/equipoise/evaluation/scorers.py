"""The three nouns of a benchmark: samples, the systems that are run on them, and the scorers of what came out.

A system is any object with a name that can be awaited with a sample; a scorer is any object with a name and
`score(sample, outcome)`. Neither inherits anything. `run.evaluate` puts them together.
"""

from collections.abc import Awaitable
from inspect import isawaitable
from typing import Protocol, TypeVar

from equipoise.core.errors import ModelError
from equipoise.core.types import Score
from equipoise.evaluation.records import Value

S_contra = TypeVar("S_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)
O_contra = TypeVar("O_contra", contravariant=True)

Scored = Value | Score


class Sample(Protocol):
    """What a system is run on: a question with what is known of it, a case of an attack, two answers to compare."""

    @property
    def sample_id(self) -> str:
        """Its name, distinct within a run."""
        ...


class System(Protocol[S_contra, O_co]):
    """What is measured: a pipeline, a filter, a judge, a server behind an address."""

    @property
    def name(self) -> str:
        """Its name in records and tables."""
        ...

    async def __call__(self, sample: S_contra, /) -> O_co:
        """The outcome for one sample. What it raises becomes the record of an error (see `run.evaluate`)."""
        ...


class Scorer(Protocol[S_contra, O_contra]):
    """One measure of one outcome."""

    @property
    def name(self) -> str:
        """Its name in records and tables."""
        ...

    def score(self, sample: S_contra, outcome: O_contra, /) -> Scored | Awaitable[Scored]:
        """A number, a flag, or None for what cannot be scored, never 0; a `Score` says why. It may be awaitable."""
        ...


async def score(scorer: Scorer[S_contra, O_contra], sample: S_contra, outcome: O_contra) -> tuple[Value, str]:
    """(value, why it is None): a scorer whose model fails scores nothing, and says so."""
    try:
        value = scorer.score(sample, outcome)
        scored = await value if isawaitable(value) else value
    except ModelError as error:
        return None, f"not scored: {error}"
    if isinstance(scored, Score):
        return scored.value, scored.explanation if scored.value is None else ""
    return scored, ""
