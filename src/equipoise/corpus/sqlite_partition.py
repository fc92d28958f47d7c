"""One partition of a store file, or what a filter means of it, searched by itself.

What is counted, remembered or approximated here is read through the condition of its `Scope`, or from the partition's
own search index, never over the whole file.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import CorpusError
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus import pending, rows
from equipoise.corpus.fulltext import FilteredText, FullText
from equipoise.corpus.keywords import LOOKED_AT, Keywords
from equipoise.corpus.nearest import EXACT_UP_TO, MORE, FilteredNearest, Nearest, exactly_ranked
from equipoise.corpus.record_types import Authorship, Ids, PartCounts, authors_of, text
from equipoise.corpus.scope import SQLITE, DocumentScope, trust_of
from equipoise.corpus.spelling import Correction
from equipoise.corpus.stems import Stems
from equipoise.text.tokens import content_words
from equipoise.text.visible import title

if TYPE_CHECKING:
    from equipoise.corpus.sqlite import SqliteStore

T = TypeVar("T")


class SqlitePartition:
    """See `store.Partition`. Made by its store; what it keeps in memory goes when the store changes, or with it."""

    def __init__(
        self, store: "SqliteStore", connection: sqlite3.Connection, stems: Stems, scope: DocumentScope
    ) -> None:
        self.scope = scope
        self._store, self._connection, self._stems = store, connection, stems
        self._nearest = (
            Nearest(connection, scope)
            if scope.where is None
            else FilteredNearest(connection, scope, lambda: store.partition(scope.trust).nearest_of_all())
        )
        self._kept: dict[str, Any] = {}
        self._as_of: object = None

    @property
    def trust(self) -> Trust:
        """See `store.Partition`."""
        return self.scope.trust

    @property
    def path(self) -> Path:
        """See `store.Partition`."""
        return self._store.path

    def snapshot(self) -> AbstractContextManager[None]:
        """See `store.Partition`."""
        return self._store.snapshot()

    def counts(self) -> PartCounts:
        """See `store.Partition`; kept in memory until the store changes."""
        return self._remembered("counts", self._counted)

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """See `store.Partition`."""
        found = self._store.documents(doc_ids)
        if strange := next((doc_id for doc_id, other in found.items() if not self.scope.has(other)), None):
            raise self._elsewhere(f"document {strange!r}")
        return found

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """See `store.Partition`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        if strange := next((number for number in wanted if trust_of(number) is not self.trust), None):
            raise self._elsewhere(f"passage {strange}")
        places = self._store.places(wanted)
        if self.scope.where is not None:
            self.documents(place.doc_id for place in places)
        return places

    def matrix(self) -> tuple[Ids, Array]:
        """See `store.Partition`: kept in memory, read again when this or another process has changed the store."""
        with self._current():
            return self._nearest.matrix()

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `store.Partition` and `corpus.nearest`."""
        with self._current():
            if k < 1 or not (exact or self.counts().passages <= EXACT_UP_TO):
                return self._nearest.search(vector, k, exact=exact)
            near = [passage_id for passage_id, _ in self._nearest.search(vector, k + MORE, exact=exact)]
            return exactly_ranked(near, self._nearest.vectors(near)[1], vector, k)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """See `store.Partition`."""
        with self._current():
            return self._nearest.vectors(passage_ids)

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """See `store.Partition`."""
        if k < 1:
            return []
        with self._current(), self._text.at_once():
            plan = self._keywords.plan(query)
            return self._text.bm25(plan, self._keywords, k) if plan.finding else []

    def authors(self) -> Authorship:
        """See `store.Partition`; kept in memory until the store changes."""
        inside = self.scope.passages("passage_id", SQLITE)
        ask = (
            "SELECT passage_id, coalesce(nullif(author, ''), source) FROM passages JOIN documents"
            f" ON number = document WHERE {inside.text} ORDER BY passage_id"
        )
        return self._remembered("authors", lambda: authors_of(self._connection.execute(ask, inside.values)))

    def sources(self) -> tuple[tuple[str, str], ...]:
        """See `store.Partition`; kept in memory until the store changes."""
        inside = self.scope.documents("number", SQLITE)
        ask = f"SELECT source, title FROM documents WHERE {inside.text} ORDER BY number"

        def read() -> tuple[tuple[str, str], ...]:
            pairs = self._connection.execute(ask, inside.values)
            return tuple((text(source), title(named)) for source, named in pairs)

        return self._remembered("sources", read)

    def holding(self, words: Sequence[str]) -> list[Ids]:
        """See `store.Partition`."""
        with self._current(), self._text.at_once():
            return self._text.holding(words, self._keywords)

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """See `store.Partition`."""
        with self._current(), self._text.at_once():
            return self._keywords.corrections(text, known, self._some_with)

    def out_of_corpus(self, text: str) -> tuple[str, ...]:
        """See `store.Partition`."""
        with self._current(), self._text.at_once():
            return tuple(self._keywords.out_of_corpus(content_words(text)))

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """See `keywords.Terms`."""
        return self._text.frequencies(stems)

    def vocabulary(self) -> list[str]:
        """See `keywords.Terms`: that of the whole partition, which is kept in memory once, whatever filters there
        are."""
        whole = self._store.partition(self.trust)
        return self._remembered("vocabulary", self._text.vocabulary) if whole is self else whole.vocabulary()

    def nearest_of_all(self) -> Nearest:
        """What finds the nearest vectors of the whole partition, up to date; for its filters. Call it inside a
        snapshot."""
        with self._current():
            return self._nearest

    @property
    def _keywords(self) -> Keywords:
        return Keywords(self, self._stems)

    @property
    def _text(self) -> FullText:
        kind = FullText if self.scope.where is None else FilteredText
        made = partial(kind, self._connection, self.scope)
        text: FullText = self._remembered("text", made)
        return text

    def _counted(self) -> PartCounts:
        inside = self.scope.documents("number", SQLITE)
        ask = f"SELECT count(*) FROM documents WHERE {inside.text}"
        documents = self._connection.execute(ask, inside.values).fetchone()[0]
        passages = rows.passages_in(self._connection, self.scope)
        return PartCounts(documents, passages, pending.count(self._connection, self.scope))

    def _some_with(self, stem: str) -> tuple[Passage, ...]:
        """Some passages in which a stem stands."""
        return self._store.passages(self._text.with_term(stem, LOOKED_AT))

    def _remembered(self, name: str, read: Callable[[], T]) -> T:
        """What `read` gives, kept until the store changes."""
        with self._current():
            if name not in self._kept:
                self._kept[name] = read()
            kept: T = self._kept[name]
            return kept

    @contextmanager
    def _current(self) -> Iterator[None]:
        """A snapshot in which nothing in memory is older than the file."""
        with self._store.current() as now:
            if now != self._as_of:
                self._as_of, self._kept = now, {}
                self._nearest.forget()
            yield

    def _elsewhere(self, what: str) -> CorpusError:
        return CorpusError(f"{what} is not among the {self.trust} documents of {self.path}")
