"""Progress on stderr: a bar on a terminal, for work over a second; else a line now and then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from equipoise.apps.terminal import Terminal, one_line, tell

if TYPE_CHECKING:
    from equipoise.corpus.indexing import Step

PATIENCE_S = 1.0
LINE_S = 10.0
"""Seconds between lines where there is no terminal."""
STAGES = {
    "retrieve": "searching",
    "rerank": "comparing passages",
    "filter": "filtering passages",
    "highlight": "choosing quotes",
    "canonicalize": "choosing quotes",
    "summarize": "writing the answer",
    "monitor": "checking the answer",
    "answer": "writing the answer",
}
"""What a stage is called where people read it."""

VECTORS = "vectors; words can be searched for already"
"""What is made once all files are read."""

Report = Callable[[int, int, str], None]
"""(done, total, what is in work)."""


@contextmanager
def files() -> Iterator[Callable[["Step"], None]]:
    """A bar that counts files while they are read, then passages while their vectors are made."""
    with _late(MofNCompleteColumn(), TimeRemainingColumn()) as report:

        def tell(step: "Step") -> None:
            if step.passages:
                report(step.embedded, step.passages, f"{VECTORS} ({step.source})")
            else:
                report(step.file - 1, step.files, step.source)

        yield tell


@contextmanager
def download(name: str) -> Iterator[Report]:
    """A bar that counts bytes."""
    with _late(DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()) as report:
        yield lambda done, total, source: report(done, total, f"{name} from {source}")


@contextmanager
def counted() -> Iterator[Report]:
    """A bar that counts what is done: passages, documents, samples."""
    with _late(MofNCompleteColumn(), TimeRemainingColumn()) as report:
        yield report


class Stages:
    """Says which stage of a question runs, from a second of work on, until `pause`."""

    def __init__(self) -> None:
        console = Terminal(errors=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._bar = Progress(*columns, console=console, transient=True, redirect_stdout=False)
        self._task = self._bar.add_task("", total=None)
        self._timer: Timer | None = None

    def begin(self, name: str) -> None:
        """`name` runs now."""
        self._bar.update(self._task, description=one_line(STAGES.get(name, name)))
        if self._timer is None and self._bar.console.is_terminal:
            self._timer = Timer(PATIENCE_S, self._bar.start)
            self._timer.daemon = True
            self._timer.start()

    def pause(self) -> None:
        """Leave the terminal to others, until the next stage."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None
        if self._bar.live.is_started:
            self._bar.stop()


@contextmanager
def stages() -> Iterator[Stages]:
    """The stages of one message."""
    shown = Stages()
    try:
        yield shown
    finally:
        shown.pause()


@contextmanager
def _late(*columns: ProgressColumn) -> Iterator[Report]:
    work, console = TextColumn("{task.description}", markup=False), Terminal(errors=True)
    bar = Progress(BarColumn(), *columns, work, console=console, transient=True)
    task = bar.add_task("", total=None)
    begin = said = monotonic()

    def report(done: int, total: int, what: str) -> None:
        nonlocal said
        now = monotonic()
        if console.is_terminal:
            bar.update(task, completed=done, total=total, description=one_line(what))
            if now - begin > PATIENCE_S:
                bar.start()
        elif now - said >= LINE_S:
            said = now
            tell(f"{done:,} of {total:,}: {one_line(what)}")

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
