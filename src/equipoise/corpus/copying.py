"""Copies a store into one of any kind: documents keep their numbers and vectors, and nothing is computed anew."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from equipoise.core.errors import StoreError
from equipoise.corpus import contents
from equipoise.corpus.contents import Row
from equipoise.corpus.places import Places, is_address
from equipoise.corpus.record_types import Numbered
from equipoise.corpus.store import Store

AT_A_TIME = 50
"""Documents that are written in one transaction."""


def copy(source: Store, target: Store, report: Callable[[int, int, str], None] = lambda *_: None) -> str:
    """Copy everything in `source` into `target`, which is empty or holds a part of it from an earlier try. Returns the
    digest that both have then. `report` hears how many documents of how many are done.

    Raises StoreError where the target holds something else, or not the same afterwards.
    """
    with source.snapshot():
        total = source.counts().documents
        meta = takewhile(lambda row: row[0] == "meta", source.contents())
        if recorded := {str(key): str(value) for _, key, value in meta}:
            target.bind(recorded)
        old, new = Places(source.folder), Places(target.folder)
        files = [
            replace(one, path=_renamed(one.path, old, new), root=_renamed(one.root, old, new))
            for one in source.files().values()
        ]
        target.restore(files, [])
        done, batch = 0, list[Numbered]()
        for numbered in source.numbered():
            path = None if numbered.path is None else _renamed(numbered.path, old, new)
            batch.append(replace(numbered, path=path))
            if len(batch) == AT_A_TIME:
                target.restore([], batch)
                done, batch = done + len(batch), []
                report(done, total, "documents")
        target.restore([], batch)
        report(total, total, "documents")
        wanted = digest(source)
    target.optimize()
    target.index_vectors()
    if digest(target) != wanted:
        raise StoreError(f"{target.path} holds more than {source.path}: copy into a new store")
    return wanted


def digest(store: Store) -> str:
    """sha256 (hex) of what a store holds, with whole paths of its files: stores name them relative to their folder."""
    return contents.digest(_with_places(store))


def _with_places(store: Store) -> Iterator[Row]:
    places = Places(store.folder)

    def where(key: str | None) -> Path | str | None:
        return key if key is None or is_address(key) else places.path(key)

    files: list[Row] = []
    for row in store.contents():
        if row[0] == "files":
            files.append(("files", str(where(row[1])), *row[2:6], str(where(row[6])), row[7]))
        elif row[0] == "documents":
            yield (*row[:3], str(where(row[3])), *row[4:])
        else:
            yield row
    yield from sorted(files)


def _renamed(key: str, old: Places, new: Places) -> str:
    return key if is_address(key) else new.key(old.path(key))
