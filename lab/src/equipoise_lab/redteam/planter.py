"""Planted documents: how they are known, and how every one of them is taken out again.

Their ids begin with `PREFIX`, so that `uproot` finds them in another process, after any crash.
"""

from collections.abc import Iterable

from equipoise.corpus.store import Store

PREFIX = "planted:"


def is_planted(doc_id: str) -> bool:
    """Whether a document was planted."""
    return doc_id.startswith(PREFIX)


def uproot(store: Store, doc_ids: Iterable[str] | None = None) -> tuple[str, ...]:
    """Take planted documents out, by default all there are; the ids taken out. Safe to repeat.

    An id that is not there, or does not begin with PREFIX, is left alone.
    """
    present = [doc_id for doc_id in store.unfiled() if is_planted(doc_id)]
    wanted = set(present if doc_ids is None else doc_ids)
    removed = tuple(doc_id for doc_id in present if doc_id in wanted)
    if removed:
        store.remove_documents(removed)
    return removed
