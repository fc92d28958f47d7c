"""Progress on stderr: a bar on a terminal, for work over a second; else a line now and then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

from equipoise.apps.terminal import Terminal, one_line, tell
from equipoise.core.closing import Closing

if TYPE_CHECKING:
    from rich.progress import Progress

    from equipoise.corpus.indexing import IndexProgress


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

WHAT = "{task.description}"

Report = Callable[[int, int, str], None]
"""(done, total, what is in work)."""


@contextmanager
def files() -> Iterator[Callable[["IndexProgress"], None]]:
    """A bar that counts files while they are read, then passages while their vectors are made."""
    with counted() as report:

        def tell(step: "IndexProgress") -> None:
            if step.passages:
                report(step.embedded, step.passages, f"{VECTORS} ({step.source})")
            else:
                report(step.file - 1, step.files, step.source)

        yield tell


@contextmanager
def download(name: str) -> Iterator[Report]:
    """A bar that counts bytes."""
    with counted("DownloadColumn", "TransferSpeedColumn", "TimeRemainingColumn") as report:
        yield lambda done, total, source: report(done, total, f"{name} from {source}")


class Stages(Closing):
    """Says which stage of a question runs, from a second of work on, until `pause` or the end of the `with` block."""

    def __init__(self) -> None:
        self._bar = _bar("SpinnerColumn", WHAT, "TimeElapsedColumn", redirect_stdout=False)
        self._task = self._bar.add_task("", total=None) if self._bar else None
        self._timer: Timer | None = None

    def begin(self, name: str) -> None:
        """`name` runs now."""
        if self._bar is None or self._task is None:
            return
        self._bar.update(self._task, description=one_line(STAGES.get(name, name)))
        if self._timer is None:
            self._timer = Timer(PATIENCE_S, self._bar.start)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """Remove the bar from the terminal."""
        self.pause()

    def pause(self) -> None:
        """Leave the terminal to others, until the next stage."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None
        _end(self._bar)


@contextmanager
def counted(*columns: str) -> Iterator[Report]:
    """A bar that counts what is done: passages, documents, samples; `columns` in the place of the usual ones."""
    bar = _bar("BarColumn", *(columns or ("MofNCompleteColumn", "TimeRemainingColumn")), WHAT)
    task = bar.add_task("", total=None) if bar else None
    begin = said = monotonic()

    def report(done: int, total: int, what: str) -> None:
        nonlocal said
        now = monotonic()
        if bar is not None and task is not None:
            bar.update(task, completed=done, total=total, description=one_line(what))
            if now - begin > PATIENCE_S:
                bar.start()
        elif now - said >= LINE_S:
            said = now
            tell(f"{done:,} of {total:,}: {one_line(what)}")

    try:
        yield report
    finally:
        _end(bar)


def _bar(*columns: str, **how: Any) -> "Progress | None":  # noqa: ANN401
    """A bar of columns by their names in rich, WHAT for the description; None where stderr is no terminal.

    rich.progress is imported only on a terminal: it takes 15 ms, which a question into a pipe need not wait for.
    """
    console = Terminal(errors=True)
    if not console.is_terminal:
        return None
    import rich.progress as rich  # noqa: PLC0415

    made = [
        rich.TextColumn(WHAT, markup=False) if name == WHAT else getattr(rich, name)() for name in columns
    ]
    return rich.Progress(*made, console=console, transient=True, **how)


def _end(bar: "Progress | None") -> None:
    if bar is not None and bar.live.is_started:
        bar.stop()
