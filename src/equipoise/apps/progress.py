"""Progress bars on stderr, where it is a terminal, for work over a second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from equipoise.apps.terminal import Terminal, one_line

if TYPE_CHECKING:
    from equipoise.corpus.indexing import Step

PATIENCE_S = 1.0

Report = Callable[[int, int, str], None]
"""(done, total, what is in work)."""


@contextmanager
def files() -> Iterator[Callable[["Step"], None]]:
    """A bar that counts files, and the passages of a large one."""
    with _late(MofNCompleteColumn(), TimeRemainingColumn()) as report:
        yield lambda step: report(step.file - 1, step.files, _work(step))


@contextmanager
def download(name: str) -> Iterator[Report]:
    """A bar that counts bytes."""
    with _late(DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()) as report:
        yield lambda done, total, source: report(done, total, f"{name} from {source}")


@contextmanager
def passages() -> Iterator[Report]:
    """A bar that counts passages written."""
    with _late(MofNCompleteColumn(), TimeRemainingColumn()) as report:
        yield report


def _work(step: "Step") -> str:
    return f"{step.source} ({step.embedded}/{step.passages})" if step.passages else step.source


@contextmanager
def _late(*columns: ProgressColumn) -> Iterator[Report]:
    work, console = TextColumn("{task.description}", markup=False), Terminal(errors=True)
    bar = Progress(BarColumn(), *columns, work, console=console, transient=True)
    task = bar.add_task("", total=None)
    begin = monotonic()

    def report(done: int, total: int, what: str) -> None:
        bar.update(task, completed=done, total=total, description=one_line(what))
        if console.is_terminal and monotonic() - begin > PATIENCE_S:
            bar.start()

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
