"""The store in Postgres with pgvector, for many documents and several machines.

Every change is one transaction on the host that takes changes, one at a time; a question reads one snapshot
(REPEATABLE READ) on one connection. Exact search and BM25 give what a store file gives for the same documents. A
change is kept once its method has returned: on how many hosts, the database's `synchronous_commit` says.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.errors import StoreError
from equipoise.core.types import Array, Document, Trust
from equipoise.core.where import Where
from equipoise.corpus import contents, record_types
from equipoise.corpus.keywords import Stems
from equipoise.corpus.partition import Partition, Remembered
from equipoise.corpus.postgres import rows, searching, tables
from equipoise.corpus.postgres.connections import Link, mapped
from equipoise.corpus.postgres.session import Session
from equipoise.corpus.postgres.words import FilteredWords, PostgresWords
from equipoise.corpus.record_types import Counts, Ids, Numbered, PartCounts, storable
from equipoise.corpus.scope import POSTGRES, DocumentScope
from equipoise.corpus.store import Store

T = TypeVar("T")


class PostgresStore(Store):
    """An open store in Postgres; see `store.Store`. A method raises StoreLost where its connection broke."""

    LISTED = (
        "SELECT doc_id, source, title, trust, count::integer, coalesce(path, ''), metadata FROM documents"
        " ORDER BY number"
    )
    PENDING = "SELECT number, count::integer FROM documents WHERE NOT embedded AND count > 0 ORDER BY number"
    WAITING = "SELECT 1 FROM documents WHERE number = ? AND NOT embedded"
    path: StoreUrl

    def __init__(self, url: StoreUrl, *, read_only: bool, timeout: float) -> None:
        self.path = url
        self._session = Session(url, read_only=read_only, timeout=timeout)
        self._stems = Stems()
        self._remembered = Remembered()
        self._partitions = {trust: self._part(DocumentScope(trust)) for trust in Trust}

    @classmethod
    def open(
        cls, path: Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
    ) -> Self:
        """The store at an address; with `create` a missing one is made there.

        With `read_only` replicas are asked where there are some. Waits `timeout` seconds for a host to read from.
        """
        if not isinstance(path, StoreUrl):
            raise StoreError(f"{path} is a file, not an address")
        store = cls(path, read_only=read_only, timeout=timeout)
        try:
            with store._session.bare(at_once=True) as link:
                tables.prepare(link, store._session.address, path, create=create and not read_only)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def folder(self) -> Path:
        """The root of the file system: the database may be on another machine than the files."""
        return Path(Path.cwd().anchor)

    def close(self) -> None:
        """Close all connections, and let go of what was claimed."""
        self._session.close()
        self._stems.close()

    # Reading

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside it every read of this thread is on one connection and sees the store as at one moment."""
        with self._session.reading():
            yield

    def _mapped(self) -> AbstractContextManager[None]:
        return mapped(self.path)

    def written(self) -> str:
        return self._session.written()

    def read_after(self, mark: str) -> None:
        self._session.read_after(mark)

    def counts(self) -> Counts:
        """See `store.Store`; kept in memory until the store changes."""
        with self._session.reading() as link:
            return self._remembered.of(rows.state(link), "counts", super().counts)

    def subjects(self, most: int, where: Where | None = None) -> tuple[str, ...]:
        inside = DocumentScope(Trust.TRUSTED, where).documents("number", POSTGRES)
        ask = (
            f"SELECT title FROM documents WHERE {inside.text} AND title <> ''"
            ' GROUP BY title ORDER BY sum(count) DESC, title COLLATE "C" LIMIT ?'
        )
        return tuple(row[0] for row in self._rows(ask, *inside.values, most))

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        wanted = list(dict.fromkeys(doc_ids))
        asked = [storable(doc_id) for doc_id in wanted]
        with self._session.reading():
            by_id = {
                row[0]: row for row in self._rows(f"{record_types.DOCUMENT} WHERE doc_id = ANY(?)", asked)
            }
            return {
                doc_id: record_types.read_document(by_id[doc_id])
                if doc_id in by_id
                else self.document(doc_id)
                for doc_id in wanted
            }

    def contents(self) -> Iterator[contents.Row]:
        with self._session.reading() as link:
            yield from rows.contents(link)

    # Writing

    def numbered(self) -> Iterator[Numbered]:
        with self._session.reading() as link:
            yield from rows.numbered(link)

    def optimize(self) -> None:
        with self._session.bare() as link:
            link.execute("ANALYZE documents, passages, vectors, postings, terms")

    # Embedding

    def index_vectors(self) -> None:
        with self._session.bare() as link:
            tables.index_vectors(link, self._session.address.name)

    def claim(self, name: str) -> bool:
        """See `store.Store`. A lock of the session: it ends with this process, however that ends."""
        return self._session.claim(name)

    def release(self, name: str) -> None:
        self._session.release(name)

    # Inside

    def _part(self, scope: DocumentScope) -> "PostgresPartition":
        return PostgresPartition(self, self._session, self._stems, scope)

    def _meta(self) -> dict[str, str]:
        with self._session.reading() as link:
            return rows.meta(link)

    def _rows(self, ask: str, *values: object) -> list[tuple[Any, ...]]:
        with self._session.reading() as link:
            return link.execute(ask.replace("?", "%s").encode(), values).fetchall()

    _each = _rows

    def _change(self, ask: str, *values: object) -> int:
        with self._session.reading() as link:  # inside `_write` that of the transaction
            return link.execute(ask.replace("?", "%s").encode(), values).rowcount

    def _write(self, work: Callable[[], None], *, again: bool = True) -> None:
        def change(link: Link) -> None:
            work()
            rows.plan_anew(link)

        self._session.write(change, again=again)

    def _keep_meta(self, meta: Mapping[str, str]) -> None:
        self._session.write(lambda link: tables.bind(link, meta))

    def _insert(self, numbered: Numbered) -> None:
        with self._session.reading() as link:
            rows.insert(link, self._stems, numbered)

    def _numbered_at(self, number: int) -> Numbered:
        with self._session.reading() as link:
            return rows.numbered_at(link, number)

    def _remove(self, numbers: Sequence[int]) -> None:
        with self._session.reading() as link:
            rows.remove(link, self._stems, numbers)

    def _put_vectors(self, number: int, vectors: Array) -> None:
        with self._session.reading() as link:
            first = rows.scalar(link, "SELECT first FROM documents WHERE number = %s", number)
            rows.write_vectors(link, first, vectors)
            link.execute("UPDATE documents SET embedded = true WHERE number = %s", (number,))


class PostgresPartition(Partition):
    """See `partition.Partition`.

    What is counted, remembered or approximated here is read through the condition of its `DocumentScope`, or from what
    is kept for the partition alone (`terms`, `partitions`, its graph), never over the whole store.
    """

    DIALECT = POSTGRES

    def __init__(self, store: PostgresStore, session: Session, stems: Stems, scope: DocumentScope) -> None:
        super().__init__(store, stems, scope)
        self._session = session

    def counts(self) -> PartCounts:
        """See `partition.Partition`; kept in memory until the store changes."""
        inside = self.scope.documents("number", POSTGRES)
        ask = (
            "SELECT count(*)::integer, coalesce(sum(count), 0)::integer,"
            " coalesce(sum(count) FILTER (WHERE NOT embedded), 0)::integer FROM documents"
            f" WHERE {inside.text}"
        ).encode()
        return self._kept("counts", lambda link: PartCounts(*link.execute(ask, inside.values).fetchall()[0]))

    def matrix(self) -> tuple[Ids, Array]:
        """See `partition.Partition`: kept in memory until the store changes; of a filter only its rows in the whole."""
        if self.scope.where is None:
            return self._kept("matrix", lambda link: searching.matrix(link, self.scope))
        with self._session.reading():
            ids, vectors = self._store.partition(self.trust).matrix()
            rows = self._kept("rows", lambda link: searching.inside(link, self.scope, ids))
            return ids[rows], vectors[rows]

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `partition.Partition`; approximate search uses pgvector's HNSW graph (`corpus.postgres.searching`)."""
        with self._session.reading() as link:
            return searching.nearest(link, self.scope, vector, k, exact=exact)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        with self._session.reading() as link:
            return searching.vectors(link, self.scope, passage_ids)

    @property
    def _text(self) -> PostgresWords:
        with self._session.reading() as link:  # inside `_reading` the same one
            return (PostgresWords if self.scope.where is None else FilteredWords)(link, self.scope)

    def _reading(self) -> AbstractContextManager[Link]:
        return self._session.reading()

    def _remembered(self, name: str, read: Callable[[], T]) -> T:
        return self._kept(name, lambda _: read())

    def _kept(self, name: str, read: Callable[[Link], T]) -> T:
        """What `read` gives for the state of the store that is seen now, remembered for this partition."""
        with self._session.reading() as link:
            return self._memory.of(rows.state(link), name, lambda: read(link))
