"""Waiting for changes of files and folders."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from watchfiles import Change, watch

from equipoise.core.errors import InputError

EVERY_MS = 500
"""How long nothing must change before the first round: files are watched before they are read, so none is missed."""


def changes(paths: Sequence[Path], *, beside: Path) -> Iterator[None]:
    """Once at the beginning and after every change under `paths`, until Ctrl-C; changes of the store `beside` are
    none. Raises InputError for a path that is not there."""
    if gone := [path for path in paths if not path.exists()]:
        raise InputError(f"{gone[0]}: no such file or folder: check the path")
    store = beside.absolute()

    def counts(_change: Change, path: str) -> bool:
        return not path.startswith(str(store))

    beginning = True
    for changed in watch(
        *paths, watch_filter=counts, raise_interrupt=False, yield_on_timeout=True, rust_timeout=EVERY_MS
    ):
        if beginning or changed:
            yield
        beginning = False
