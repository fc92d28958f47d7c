"""One partition of a store file, or what a filter means of it, searched by itself.

What is counted, remembered or approximated here is read through the condition of its `Scope`, or from the partition's
own search index, never over the whole file.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from equipoise.core.types import Array
from equipoise.corpus import pending, rows
from equipoise.corpus.fulltext import FilteredText, FullText
from equipoise.corpus.keywords import Keywords, QueryPlan
from equipoise.corpus.nearest import EXACT_UP_TO, MORE, FilteredNearest, Nearest, exactly_ranked
from equipoise.corpus.partition import Partition
from equipoise.corpus.record_types import Ids, PartCounts
from equipoise.corpus.scope import SQLITE, DocumentScope
from equipoise.corpus.stems import Stems

if TYPE_CHECKING:
    from equipoise.corpus.sqlite import SqliteStore

T = TypeVar("T")


class SqlitePartition(Partition):
    """See `partition.Partition`."""

    DIALECT = SQLITE

    def __init__(
        self, store: "SqliteStore", connection: sqlite3.Connection, stems: Stems, scope: DocumentScope
    ) -> None:
        super().__init__(store, stems, scope)
        self._connection, self._file = connection, store
        self._nearest = (
            Nearest(connection, scope)
            if scope.where is None
            else FilteredNearest(
                connection,
                scope,
                self._nearest_of_whole,
            )
        )
        self._kept: dict[str, Any] = {}
        self._as_of: object = None

    def counts(self) -> PartCounts:
        """See `partition.Partition`; kept in memory until the store changes."""
        return self._remembered("counts", self._counted)

    def matrix(self) -> tuple[Ids, Array]:
        """See `partition.Partition`: kept in memory, read again when this or another process has changed the store."""
        with self._current():
            return self._nearest.matrix()

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `partition.Partition` and `corpus.nearest`."""
        with self._current():
            if k < 1 or not (exact or self.counts().passages <= EXACT_UP_TO):
                return self._nearest.search(vector, k, exact=exact)
            near = [passage_id for passage_id, _ in self._nearest.search(vector, k + MORE, exact=exact)]
            return exactly_ranked(near, self._nearest.vectors(near)[1], vector, k)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        with self._current():
            return self._nearest.vectors(passage_ids)

    def holding(self, words: Sequence[str]) -> list[Ids]:
        with self._reading():
            return self._text.holding(words, self._keywords)

    def _nearest_of_whole(self) -> Nearest:
        return cast("SqlitePartition", self._store.partition(self.trust)).nearest_of_all()

    def nearest_of_all(self) -> Nearest:
        """What finds the nearest vectors of the whole partition, up to date; for its filters. Call it inside a
        snapshot."""
        with self._current():
            return self._nearest

    @property
    def _text(self) -> FullText:
        kind = FullText if self.scope.where is None else FilteredText
        made = partial(kind, self._connection, self.scope)
        text: FullText = self._remembered("text", made)
        return text

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._current(), self._text.at_once():
            yield

    def _bm25(self, plan: QueryPlan, keywords: Keywords, k: int) -> list[tuple[int, float]]:
        return self._text.bm25(plan, keywords, k)

    def _counted(self) -> PartCounts:
        inside = self.scope.documents("number", SQLITE)
        ask = f"SELECT count(*) FROM documents WHERE {inside.text}"
        documents = self._connection.execute(ask, inside.values).fetchone()[0]
        passages = rows.passages_in(self._connection, self.scope)
        return PartCounts(documents, passages, pending.count(self._connection, self.scope))

    def _remembered(self, name: str, read: Callable[[], T]) -> T:
        with self._current():
            if name not in self._kept:
                self._kept[name] = read()
            kept: T = self._kept[name]
            return kept

    @contextmanager
    def _current(self) -> Iterator[None]:
        """A snapshot in which nothing in memory is older than the file."""
        with self._file.current() as now:
            if now != self._as_of:
                self._as_of, self._kept = now, {}
                self._nearest.forget()
            yield
