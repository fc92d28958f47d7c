"""What a person sees while a question is answered: the stage that runs, and the quotes before the written answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from equipoise.apps import progress, render
from equipoise.apps.terminal import Terminal
from equipoise.core.results import SubAnswer


@dataclass(slots=True)
class Watch:
    """An `Observer`: stages go to stderr, quotes to `console`; `shown` are those that stand there."""

    console: Terminal
    stages: progress.Stages
    shown: Sequence[SubAnswer] = ()

    def stage(self, name: str) -> None:
        self.stages.begin(name)

    def quotes(self, answers: Sequence[SubAnswer]) -> None:
        self.stages.pause()
        render.show_quotes(answers, self.console)
        self.shown = answers


@contextmanager
def watching(console: Terminal) -> Iterator[Watch]:
    """For one message; at its end nothing of the stages is left on the terminal."""
    with progress.stages() as stages:
        yield Watch(console, stages)
