"""`equipoise store`: the index as a whole."""

from typing import Annotated

from equipoise.apps import progress
from equipoise.apps.options import group, store_argument
from equipoise.apps.terminal import Terminal
from equipoise.core.errors import InputError
from equipoise.corpus import copying
from equipoise.corpus.store import open_store

app = group("The index as a whole: copy it to another kind of store.")


@app.callback()
def store() -> None:
    """The index as a whole: copy it to another kind of store."""


@app.command("copy")
def copy(
    source: Annotated[object, store_argument("FROM", "An index: a file, or the address of a database.")],
    target: Annotated[object, store_argument("TO", "Where to make the copy.")],
) -> None:
    """Copy an index with its vectors into a new one, of the same or another kind, and compare both.

    An interrupted copy resumes where it stopped.
    """
    if source == target:
        raise InputError("FROM and TO are the same index: give another place for the copy")
    with (
        open_store(source, read_only=True) as old,  # type: ignore[arg-type]
        open_store(target, create=True) as new,  # type: ignore[arg-type]
        progress.counted() as report,
    ):
        digest = copying.copy(old, new, report)
        held = new.counts()
    Terminal().print(f"{held.documents} documents, {held.passages} passages in {target} (sha256 {digest})")
