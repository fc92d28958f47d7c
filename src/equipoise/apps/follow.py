"""Waiting for changes of files and folders."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

from equipoise.core.addresses import Place
from equipoise.core.errors import InputError
from equipoise.corpus.places import is_of_store

EVERY_MS = 500
"""How long nothing must change before the first round: files are watched before they are read, so none is missed."""


def changes(paths: Sequence[Path], *, beside: Place) -> Iterator[None]:
    """Yields at the beginning and after every change under `paths`, until Ctrl-C; changes of the store `beside` do not
    count. Raises InputError for a path that is not there."""
    if gone := [path for path in paths if not path.exists()]:
        raise InputError(f"{gone[0]}: no such file or folder: check the path")

    def counts(_change: Change, path: str) -> bool:
        return not is_of_store(path, beside)

    with _stopped_by_interrupt() as stop:
        beginning = True
        for changed in watch(
            *paths, watch_filter=counts, stop_event=stop, yield_on_timeout=True, rust_timeout=EVERY_MS
        ):
            if beginning or changed:
                yield
            beginning = False


@contextmanager
def _stopped_by_interrupt() -> Iterator[Event]:
    """An event that the first Ctrl-C sets, so that what is being indexed is finished; a second one interrupts."""
    stop = Event()
    before = signal.getsignal(signal.SIGINT)

    def end(_number: int, _frame: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, end)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
