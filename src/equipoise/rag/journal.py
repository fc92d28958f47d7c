"""What happened to one question, written down as it happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from equipoise.core.types import Candidates, Dropped, Flag, ScoredPassage, Tag, Trace, Usage


@dataclass(slots=True)
class Journal:
    """One per question, never shared; `trace` is its frozen copy."""

    models: dict[str, str]
    passages: tuple[ScoredPassage, ...] = ()
    flagged: tuple[Flag, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    guessed_questions: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    failure: str = ""
    probability: float | None = None
    tags: tuple[Tag, ...] = ()
    usage: Usage = Usage()
    timings: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the seconds spent inside to `timings[name]`, also when it fails."""
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
            self.passages,
            self.flagged,
            self.dropped,
            self.guessed_questions,
            self.unsupported,
            self.missing,
            self.failure,
            self.probability,
            self.tags,
            dict(self.timings),
            self.usage,
            dict(self.models),
        )
