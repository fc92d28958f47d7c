"""One partition of a store in Postgres, or what a filter means of it, searched by itself.

What is counted, remembered or approximated here is read through the condition of its `Scope`, or from what is kept for
the partition alone (`terms`, `partitions`, its graph), never over the whole store.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.core.types import Array
from equipoise.corpus import postings
from equipoise.corpus.keywords import Keywords, QueryPlan
from equipoise.corpus.partition import Partition
from equipoise.corpus.postgres import searching
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.postgres.session import Session
from equipoise.corpus.postgres.words import PostgresWords, words_in
from equipoise.corpus.record_types import Ids, PartCounts
from equipoise.corpus.scope import POSTGRES, DocumentScope
from equipoise.corpus.stems import Stems

if TYPE_CHECKING:
    from equipoise.corpus.postgres.store import PostgresStore

T = TypeVar("T")


class PostgresPartition(Partition):
    """See `partition.Partition`."""

    DIALECT = POSTGRES

    def __init__(self, store: "PostgresStore", session: Session, stems: Stems, scope: DocumentScope) -> None:
        super().__init__(store, stems, scope)
        self._session = session
        self._memory = searching.Remembered()

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
        """See `partition.Partition`: kept in memory until the store changes, within a filter only which rows it has."""
        if self.scope.where is None:
            return self._kept("matrix", lambda link: searching.matrix(link, self.scope))
        with self._session.reading():
            ids, vectors = self._store.partition(self.trust).matrix()
            rows = self._kept("rows", lambda link: searching.inside(link, self.scope, ids))
            return ids[rows], vectors[rows]

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `partition.Partition`; approximate search is pgvector's HNSW, made once there are so many passages."""
        with self._session.reading() as link:
            return searching.nearest(link, self.scope, vector, k, exact=exact)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        with self._session.reading() as link:
            return searching.vectors(link, self.scope, passage_ids)

    def holding(self, words: Sequence[str]) -> list[Ids]:
        with self._reading():
            index, pairs = self._text, self._stems.of_texts(words)
            return [np.array(postings.holding(index, parts), np.int64) for parts in pairs]

    @property
    def _text(self) -> PostgresWords:
        with self._session.reading() as link:  # inside `_reading` the same one
            return words_in(link, self.scope)

    def _reading(self) -> AbstractContextManager[Link]:
        return self._session.reading()

    def _bm25(self, plan: QueryPlan, keywords: Keywords, k: int) -> list[tuple[int, float]]:
        return postings.bm25(self._text, plan, keywords)[:k]

    def _remembered(self, name: str, read: Callable[[], T]) -> T:
        return self._kept(name, lambda _: read())

    def _kept(self, name: str, read: Callable[[Link], T]) -> T:
        """What `read` gives for the state of the store that is seen now, remembered for this partition."""
        with self._session.reading() as link:
            return self._memory.of(link, name, lambda: read(link))
