"""What happened to one question, written down as it happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from equipoise.core.protocols import Observer
from equipoise.core.types import Candidates, Dropped, Flag, ScoredPassage, Tag, Trace, Usage


@dataclass(slots=True)
class Journal:
    """One per question, never shared; `trace` is its frozen copy."""

    models: dict[str, str]
    observer: Observer | None = None
    passages: tuple[ScoredPassage, ...] = ()
    flagged: tuple[Flag, ...] = ()
    read_as: str = ""
    spelling: tuple[tuple[str, str], ...] = ()
    dropped: tuple[Dropped, ...] = ()
    guessed_questions: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    failure: str = ""
    probability: float | None = None
    wanted: float | None = None
    similarity: float | None = None
    tags: tuple[Tag, ...] = ()
    usage: Usage = Usage()
    timings: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the seconds spent inside to `timings[name]`, also when it fails; the observer is told."""
        if self.observer:
            self.observer.stage(name)
        begin = perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + perf_counter() - begin

    def saw(self, candidates: Candidates) -> None:
        """Notes the passages that go on to be read."""
        pairs = zip(candidates.passages, candidates.scores, strict=True)
        self.passages = tuple(ScoredPassage(passage, float(score)) for passage, score in pairs)

    def trace(self) -> Trace:
        """A frozen copy."""
        return Trace(
            passages=self.passages,
            flagged=self.flagged,
            read_as=self.read_as,
            spelling=self.spelling,
            dropped=self.dropped,
            guessed_questions=self.guessed_questions,
            unsupported=self.unsupported,
            missing=self.missing,
            failure=self.failure,
            probability=self.probability,
            wanted=self.wanted,
            similarity=self.similarity,
            tags=self.tags,
            timings=dict(self.timings),
            usage=self.usage,
            models=dict(self.models),
        )
