"""What happened to one question, written down as it happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from equipoise.core.protocols import Observer
from equipoise.core.results import Trace
from equipoise.core.types import Candidates, Flag, ScoredPassage, Usage

NEAR = 0.2
"""Cosine of question and passage from which on it is near, with the encoder that ships (docs/decisions.md)."""


@dataclass(slots=True)
class Journal:
    """One per question, never shared: `trace` is replaced by a fuller one at each step."""

    trace: Trace = field(default_factory=Trace)
    observer: Observer | None = None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the seconds spent inside to `trace.timings[name]`, also when it fails; the observer is told."""
        if self.observer:
            self.observer.stage(name)
        begin = perf_counter()
        try:
            yield
        finally:
            timings = self.trace.timings
            spent = timings.get(name, 0.0) + perf_counter() - begin
            self.trace = replace(self.trace, timings={**timings, name: spent})

    def spent(self, usage: Usage) -> None:
        """Adds what a model cost."""
        self.trace = replace(self.trace, usage=self.trace.usage + usage)

    def with_costs_of(self, trace: Trace) -> "Journal":
        """This journal with the times and costs of another trace, too."""
        both = replace(self.trace, timings=_added(trace, self.trace), usage=trace.usage + self.trace.usage)
        return Journal(both, self.observer)

    def failed(self, failure: str) -> None:
        """Notes why a model failed."""
        self.trace = replace(self.trace, failure=failure)

    def heard(self, trace: Trace) -> None:
        """Adds what happened while the passages of one author were read."""
        self.trace = replace(
            self.trace,
            passages=(*self.trace.passages, *trace.passages),
            flagged=(*self.trace.flagged, *trace.flagged),
            dropped=(*self.trace.dropped, *trace.dropped),
            timings=_added(self.trace, trace),
            usage=self.trace.usage + trace.usage,
            failure=self.trace.failure or trace.failure,
        )

    def filtered(self, kept: Candidates, flagged: tuple[Flag, ...]) -> None:
        """Notes the passages that go on to be read, and those that were taken out."""
        near = kept.embeddings @ kept.query_embedding >= NEAR
        rows = zip(kept.passages, kept.scores, near, strict=True)
        passages = tuple(ScoredPassage(passage, float(score), bool(close)) for passage, score, close in rows)
        self.trace = replace(self.trace, passages=passages, flagged=flagged)


def _added(first: Trace, then: Trace) -> dict[str, float]:
    """The seconds of each stage in both, stages in the order in which they come."""
    names = dict.fromkeys((*first.timings, *then.timings))
    return {name: first.timings.get(name, 0.0) + then.timings.get(name, 0.0) for name in names}
