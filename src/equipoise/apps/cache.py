"""`equipoise cache`: the indexes that `--docs` made in the user's cache folder."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps.options import group
from equipoise.apps.terminal import Terminal, complain, one_line
from equipoise.core.errors import EquipoiseError, StoreError
from equipoise.corpus.store import Store
from equipoise.rag.updating import private_indexes

app = group("The indexes that --docs made: list, clear.")

BESIDE = ("", "-wal", "-shm")
"""The endings of a store's files."""


@app.command("list")
def listing() -> None:
    """Each index: its folders, size, last change."""
    rows = [
        (_folders(path), f"{_size(path) / 1e6:,.1f} MB", f"{_changed(path):%Y-%m-%d %H:%M}")
        for path in private_indexes()
    ]
    if rows:
        Terminal().table(("documents", "size", "last change"), rows)
    else:
        Terminal().print("There are none.")


@app.command("clear")
def clear(
    days: Annotated[
        int,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Only those not changed for so many days."),
    ] = 0,
) -> None:
    """Delete them; `--docs` makes an index again when it needs one."""
    before = datetime.now(UTC) - timedelta(days=days)
    old = [path for path in private_indexes() if days == 0 or _changed(path) < before]
    freed = sum(map(_size, old))
    for path in old:
        for ending in BESIDE:
            try:
                path.with_name(path.name + ending).unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"{path} cannot be deleted ({error.strerror})") from error
    Terminal().print(f"{len(old)} indexes deleted, {freed / 1e6:,.1f} MB")


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in _files(path))


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)  # opening it makes the files beside it anew


def _files(path: Path) -> Iterator[Path]:
    return (file for ending in BESIDE if (file := path.with_name(path.name + ending)).is_file())


def _folders(path: Path) -> str:
    """What the index was made from, as far as it can be read."""
    try:
        with Store.open(path, read_only=True) as store:
            roots = sorted({file.root for file in store.files().values()})
    except EquipoiseError as error:
        complain("cannot be read:", str(error))
        return "?"
    return one_line(", ".join(str((path.parent / root).resolve()) for root in roots)) or "nothing"
