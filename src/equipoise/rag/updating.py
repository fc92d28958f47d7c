"""Indexes that are brought up to date without being asked: the one of a folder, and those of `--docs` in the cache."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

import platformdirs

from equipoise.core.addresses import Place
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.protocols import Encoder
from equipoise.core.source_settings import SourceSettings
from equipoise.corpus import loaders
from equipoise.corpus.embedding_reuse import ReusingEncoder
from equipoise.corpus.indexing import IndexOptions, SyncOptions, index
from equipoise.corpus.naming import document_id
from equipoise.corpus.places import shown
from equipoise.corpus.report import IndexReport
from equipoise.corpus.sources.addresses import root
from equipoise.corpus.store import Store
from equipoise.rag import build
from equipoise.rag.impersonation import lookalikes


def update(
    path: Place, docs: Iterable[Path], *, encoder: str = build.AUTO, **how: Unpack[IndexOptions]
) -> IndexReport:
    """Bring the index at `path` up to date with `docs`; see `corpus.indexing.index`, and `build.encoder` for the name
    of the encoder. What an index of `private_index` holds of the same files is not embedded again."""
    with _opened(path, encoder) as (store, made):
        lenders = [private for private in private_indexes() if private != path]
        report = index(docs, store, ReusingEncoder(made, store, lenders), **how)
        return replace(report, alike=lookalikes(report.strangers, store))


def update_source(
    path: Place, chosen: SourceSettings, *, encoder: str = build.AUTO, **how: Unpack[SyncOptions]
) -> IndexReport:
    """Bring the index at `path` up to date with a source; see `corpus.sources.opening.sync_source`."""
    from equipoise.corpus.sources.opening import sync_source  # noqa: PLC0415 - its HTTP client, for sites alone

    root(chosen.address)  # what cannot be used leaves no file behind
    with _opened(path, encoder) as (store, made):
        report = sync_source(chosen, store, made, **how)
        return replace(report, alike=lookalikes(report.strangers, store))


def private_folder() -> Path:
    """Where the indexes of `private_index` are."""
    return Path(platformdirs.user_cache_dir("equipoise", appauthor=False)) / "docs"


def private_indexes() -> list[Path]:
    """The indexes that `private_index` names and that are there."""
    return sorted(path for path in private_folder().glob("*.db") if path.is_file())


def private_index(docs: Iterable[Path], encoder: str = build.AUTO) -> Path:
    """Where the index of just these paths is kept, in the user's cache folder, apart for each encoder and version of
    the loaders.

    Raises StoreError, and InputError for a name of an encoder that cannot be used.
    """
    # Sources are written relative to the working folder: from another one they would lead nowhere.
    said = sorted(_named(path) for path in docs)
    key = "\n".join([*said, build.encoder(encoder).name, f"loaders {loaders.VERSION}"])
    folder = private_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror}): set XDG_CACHE_HOME"
        ) from error
    return folder / f"{document_id(key)}.db"


def _named(path: Path) -> str:
    """`path` with links resolved, and as its sources begin, as valid UTF-8; unchanged if that fails, since indexing
    says what is wrong with it."""
    try:
        resolved = f"{os.path.realpath(path)} {shown(path)}"
    except (OSError, ValueError):
        resolved = str(path)
    return resolved.encode("utf-8", "backslashreplace").decode()


@contextmanager
def _opened(path: Place, encoder: str) -> Iterator[tuple[Store, Encoder]]:
    """The store at `path`, made where there is none, and the encoder of that name for it."""
    build.encoder(encoder)  # a name that cannot be used leaves no file behind
    with _no_empty_store(path), Store.open(path, create=True) as store:
        yield store, build.encoder(encoder, store)


@contextmanager
def _no_empty_store(path: Place) -> Iterator[None]:
    """Wraps what makes a store: if it fails, no empty store is left where there was no file before."""
    unmake = unmaking(path)
    try:
        yield
    except CorpusError:
        if unmake:
            unmake()
        raise


def unmaking(path: Place) -> Callable[[], None] | None:
    """A function that deletes the store made at `path` if nothing is in it; None where there was a file before, and
    for a store that is no file."""
    if not isinstance(path, Path) or path.exists():
        return None
    return partial(_drop_empty, path, None if path.parent.exists() else path.parent)


def _drop_empty(path: Path, folder: Path | None) -> None:
    if not path.exists():
        return
    with Store.open(path) as store:
        empty = not store.counts().documents
    with suppress(OSError):
        for ending in ("", "-wal", "-shm") if empty else ():
            Path(f"{path}{ending}").unlink(missing_ok=True)
        if empty and folder:
            folder.rmdir()
