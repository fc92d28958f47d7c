"""Finds documents of a store by the names that people give them, and removes them."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from equipoise.core.errors import InputError
from equipoise.corpus.record_types import ListedDocument
from equipoise.corpus.store import Store

SHOWN = 10
"""Candidates that a message names."""


def named(name: str, documents: Iterable[ListedDocument]) -> tuple[ListedDocument, ...]:
    """The documents of one file, or the one document, that `name` means: an id, a source, or the end of a source's
    path.

    Raises InputError where it means none, or documents of several files.
    """
    if not isinstance(name, str | PurePath):
        raise InputError(f"a document is called by a string, not by one of type {type(name).__name__}")
    every = tuple(documents)
    exact = tuple(document for document in every if name in (document.doc_id, document.source))
    matches = exact or tuple(document for document in every if _ends(document.source, name))
    if not matches:
        raise InputError(f"no document is called {name!r}: run  equipoise documents list")
    if len({document.path or document.doc_id for document in matches}) > 1:
        listed = ", ".join(sorted({document.source for document in matches})[:SHOWN])
        raise InputError(f"{name!r} means {len(matches)} documents: write more of the path ({listed})")
    return matches


def remove(store: Store, chosen: Sequence[ListedDocument]) -> None:
    """Take the documents out, and the files they came from: all documents of such a file go."""
    for path in {document.path for document in chosen if document.path}:
        store.drop_file(path)
    store.remove_documents([document.doc_id for document in chosen if not document.path])


def with_siblings(
    chosen: Sequence[ListedDocument], documents: Iterable[ListedDocument]
) -> tuple[ListedDocument, ...]:
    """`chosen` and all other documents of the same files: a file has one trust, and goes as a whole."""
    paths = {document.path for document in chosen if document.path}
    ids = {document.doc_id for document in chosen}
    return tuple(document for document in documents if document.doc_id in ids or document.path in paths)


def _ends(source: str, name: str) -> bool:
    parts, wanted = PurePath(source).parts, PurePath(name).parts
    return bool(wanted) and parts[-len(wanted) :] == wanted
