"""The trace of one question, written as it is answered, and the joint trace of all questions of a message."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

from equipoise.core.protocols import Observer
from equipoise.core.results import Trace
from equipoise.core.types import Candidates, Flag, ScoredPassage, Usage

T = TypeVar("T")
NEAR = 0.2
"""Cosine of question and passage from which on it is near: few questions off the topic have such a passage among their
best three, most on it do. With the encoder that ships; E5's cosines are all above it."""


@dataclass(slots=True)
class Journal:
    """One per question, never shared: `trace` is replaced by a fuller one at each step."""

    trace: Trace = field(default_factory=Trace)
    observer: Observer | None = None

    def note(self, **changes: Any) -> None:  # noqa: ANN401
        """Puts these fields into the trace."""
        self.trace = replace(self.trace, **changes)

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
            self.note(timings={**timings, name: spent})

    def spent(self, usage: Usage) -> None:
        """Adds what a model cost."""
        self.note(usage=self.trace.usage + usage)

    def with_costs_of(self, trace: Trace) -> "Journal":
        """This journal with the times and costs of another trace, too."""
        both = replace(self.trace, timings=_added(trace, self.trace), usage=trace.usage + self.trace.usage)
        return Journal(both, self.observer)

    def heard(self, trace: Trace) -> None:
        """Adds what happened while the passages of one author were read."""
        self.note(
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
        self.note(passages=passages, flagged=flagged)


def _added(*traces: Trace) -> dict[str, float]:
    """The seconds of each stage in all of them, stages in the order in which they come."""
    seconds: dict[str, float] = {}
    for trace in traces:
        for name, spent in trace.timings.items():
            seconds[name] = seconds.get(name, 0.0) + spent
    return seconds


def total(traces: Sequence[Trace]) -> Trace:
    """One trace: each passage once with its best score, each flagged passage once, times and costs added up.

    Probabilities, similarities, tags and what a question was read as stay with their parts.
    """
    return Trace(
        _best(scored for trace in traces for scored in trace.passages),
        _flagged(flag for trace in traces for flag in trace.flagged),
        tuple(drop for trace in traces for drop in trace.dropped),
        spelling=_once(pair for trace in traces for pair in trace.spelling),
        notice=" ".join(_once(trace.notice for trace in traces if trace.notice)),
        guessed_questions=_once(guess for trace in traces for guess in trace.guessed_questions),
        unsupported=_once(word for trace in traces for word in trace.unsupported),
        missing=_once(word for trace in traces for word in trace.missing),
        failure=" ".join(_once(trace.failure for trace in traces if trace.failure)),
        timings=_added(*traces),
        usage=sum((trace.usage for trace in traces), Usage()),
        models={name: model for trace in traces for name, model in trace.models.items()},
    )


def _once(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))


def _flagged(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Each passage with the first reason."""
    first: dict[int, Flag] = {}
    for flag in flags:
        first.setdefault(flag.passage.passage_id, flag)
    return tuple(first.values())


def _best(scored: Iterable[ScoredPassage]) -> tuple[ScoredPassage, ...]:
    """Each passage once, best first."""
    best: dict[int, ScoredPassage] = {}
    for candidate in scored:
        known = best.get(candidate.passage.passage_id)
        if known is None or candidate.score > known.score:
            best[candidate.passage.passage_id] = candidate
    return tuple(
        sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.passage.passage_id))
    )
