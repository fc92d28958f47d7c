"""The store as one SQLite file with documents, passages, vectors and full text search: the default.

Every change is one transaction, so a process killed at any moment loses at most the change in work. Many
processes may read while one writes. A `SqliteStore` may be used from several threads; calls take turns.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.errors import StoreError
from equipoise.core.types import Array, Trust
from equipoise.core.where import Where
from equipoise.corpus import contents, rows
from equipoise.corpus.fulltext import FilteredText, FullText, show_words, words_of
from equipoise.corpus.keywords import Stems
from equipoise.corpus.nearest import EXACT_UP_TO, MORE, FilteredNearest, Nearest, exactly_ranked
from equipoise.corpus.partition import Partition
from equipoise.corpus.record_types import Ids, Numbered, PartCounts
from equipoise.corpus.schema import connect, mapped, transaction
from equipoise.corpus.scope import SQLITE, DocumentScope
from equipoise.corpus.store import Store

T = TypeVar("T")
_WAITING = "FROM vectors LEFT JOIN documents ON number = document WHERE length(data) = 0 AND count > 0"


class SqliteStore(Store):
    """An open store file; see `store.Store`. Each method raises StoreError where the file fails."""

    LISTED = (
        "SELECT doc_id, source, title, trust, coalesce(count, 0), coalesce(path, ''), metadata FROM documents"
        " LEFT JOIN vectors ON document = number ORDER BY number"
    )
    PENDING = f"SELECT document, count {_WAITING} ORDER BY document"
    WAITING = f"SELECT 1 {_WAITING} AND document = ?"
    path: Path

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = RLock()
        self._writes = 0
        self._stems = Stems()
        for trust in Trust:
            show_words(connection, trust)
        self._partitions = {trust: self._part(DocumentScope(trust)) for trust in Trust}

    @classmethod
    def open(
        cls, path: Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
    ) -> Self:
        """The store at `path`; with `create` a missing one is made. Waits `timeout` seconds for a lock."""
        if isinstance(path, StoreUrl):
            raise StoreError(f"{path} is not a file")
        connection = connect(path, create=create, read_only=read_only, timeout=timeout)
        with mapped(path):
            return cls(path, connection)

    def close(self) -> None:
        """Close the file."""
        with self._lock, mapped(self.path):
            self._stems.close()
            self._connection.close()

    @property
    def folder(self) -> Path:
        """The folder of the file: both may move together."""
        return Path(os.path.realpath(self.path.parent))

    # Reading

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside it every read sees the store as at one moment, whatever other processes write."""
        with self._lock, mapped(self.path):
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def _mapped(self) -> AbstractContextManager[None]:
        return mapped(self.path)

    def subjects(self, most: int, where: Where | None = None) -> tuple[str, ...]:
        """See `readable.Readable`. Trusted documents only: what everybody is shown must not be anybody's to write."""
        inside = DocumentScope(Trust.TRUSTED, where).documents("number", SQLITE)
        hits = self._rows(
            f"SELECT title FROM documents JOIN vectors ON document = number WHERE {inside.text} AND title <> ''"
            " GROUP BY title ORDER BY sum(count) DESC, title LIMIT ?",
            *inside.values,
            most,
        )
        return tuple(row[0] for row in hits)

    # Writing

    def numbered(self) -> Iterator[Numbered]:
        with self.snapshot():
            yield from rows.numbered(self._connection)

    def optimize(self) -> None:
        """See `store.Store`: one or two seconds for 100,000 passages."""
        with self._writing():
            for words in map(words_of, Trust):
                self._connection.execute(f"INSERT INTO {words}({words}) VALUES ('optimize')")

    def contents(self) -> Iterator[contents.Row]:
        """Every row; see `corpus.contents`."""
        with self.snapshot():
            yield from contents.of_file(self._connection)

    # Inside

    def _rows(self, ask: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, mapped(self.path):
            return self._connection.execute(ask, values).fetchall()

    def _each(self, ask: str, *values: object) -> sqlite3.Cursor:
        return self._connection.execute(ask, values)

    def _change(self, ask: str, *values: object) -> int:
        return self._connection.execute(ask, values).rowcount

    def _write(self, work: Callable[[], None], *, again: bool = True) -> None:
        with self._writing():
            work()

    def _meta(self) -> dict[str, str]:
        with self._lock, mapped(self.path):
            return rows.read_meta(self._connection)

    def _keep_meta(self, meta: Mapping[str, str]) -> None:
        with self._writing():
            if self.counts().documents == 0:
                self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())

    def _insert(self, numbered: Numbered) -> None:
        rows.insert(self._connection, numbered)

    def _numbered_at(self, number: int) -> Numbered:
        return rows.numbered_at(self._connection, number)

    def _remove(self, numbers: Sequence[int]) -> None:
        rows.remove(self._connection, numbers)

    def _put_vectors(self, number: int, vectors: Array) -> None:
        data = np.ascontiguousarray(vectors, "<f4").tobytes()
        self._change("UPDATE vectors SET data = ? WHERE document = ?", data, number)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it is kept or, on any error, nothing."""
        with self._lock, mapped(self.path):
            with transaction(self._connection):
                yield
            self._writes += 1

    @contextmanager
    def current(self) -> Iterator[tuple[int, int]]:
        """A snapshot, with two numbers for the state that it sees: equal numbers mean an equal state."""
        with self.snapshot():
            self._rows("SELECT count(*) FROM meta")
            ((version,),) = self._rows("PRAGMA data_version")
            yield version, self._writes

    def _part(self, scope: DocumentScope) -> "SqlitePartition":
        return SqlitePartition(self, self._connection, self._stems, scope)


class SqlitePartition(Partition):
    """See `partition.Partition`.

    What is counted, remembered or approximated here is read through the condition of its `DocumentScope`, or from the
    partition's own search index, never over the whole file.
    """

    DIALECT = SQLITE

    def __init__(
        self, store: SqliteStore, connection: sqlite3.Connection, stems: Stems, scope: DocumentScope
    ) -> None:
        super().__init__(store, stems, scope)
        self._connection, self._file = connection, store

    def counts(self) -> PartCounts:
        """See `partition.Partition`; kept in memory until the store changes."""
        return self._remembered("counts", self._counted)

    def matrix(self) -> tuple[Ids, Array]:
        """See `partition.Partition`: kept in memory, read again when this or another process has changed the store."""
        with self.snapshot():
            return self._nearest.matrix()

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `partition.Partition` and `corpus.nearest`."""
        with self.snapshot():
            index = self._nearest
            if k < 1 or not (exact or self.counts().passages <= EXACT_UP_TO):
                return index.search(vector, k, exact=exact)
            near = [passage_id for passage_id, _ in index.search(vector, k + MORE, exact=exact)]
            return exactly_ranked(near, index.vectors(near)[1], vector, k)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        with self.snapshot():
            return self._nearest.vectors(passage_ids)

    @property
    def _nearest(self) -> Nearest:
        """What finds the nearest vectors, inside a snapshot."""
        if self.scope.where is None:
            return self._remembered("nearest", lambda: Nearest(self._connection, self.scope))
        whole = cast("SqlitePartition", self._store.partition(self.trust))
        return self._remembered(
            "nearest", lambda: FilteredNearest(self._connection, self.scope, lambda: whole._nearest)
        )

    @property
    def _text(self) -> FullText:
        kind = FullText if self.scope.where is None else FilteredText
        made = partial(kind, self._connection, self.scope)
        text: FullText = self._remembered("text", made)
        return text

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self.snapshot(), self._text.at_once():
            yield

    def _counted(self) -> PartCounts:
        inside = self.scope.documents("number", SQLITE)
        ask = f"SELECT count(*) FROM documents WHERE {inside.text}"
        documents = self._connection.execute(ask, inside.values).fetchone()[0]
        passages = rows.passages_in(self._connection, self.scope)
        inside = self.scope.documents("document", SQLITE)
        ask = f"SELECT CAST(total(count) AS INTEGER) {_WAITING} AND {inside.text}"
        waiting = self._connection.execute(ask, inside.values).fetchone()[0]
        return PartCounts(documents, passages, waiting)

    def _remembered(self, name: str, read: Callable[[], T]) -> T:
        with self._file.current() as state:
            return self._memory.of(state, name, read)
