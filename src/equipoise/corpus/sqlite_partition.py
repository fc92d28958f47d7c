"""One partition of a store file: the documents of one trust, searched by themselves.

What is counted, remembered or approximated here is read through the numbers of the partition (`corpus.partitions`) or
from its own search index, never over the whole file.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import CorpusError
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus import pending, rows
from equipoise.corpus.exact_rerank import MORE, exactly_ranked
from equipoise.corpus.fulltext import FullText, matching, words_of
from equipoise.corpus.keywords import LOOKED_AT, Keywords
from equipoise.corpus.nearest import EXACT_UP_TO, Nearest
from equipoise.corpus.partitions import bounds, trust_of
from equipoise.corpus.records import Authorship, Ids, PartCounts, authors_of, text
from equipoise.corpus.schema import mapped
from equipoise.corpus.spelling import Correction
from equipoise.text.tokens import content_words
from equipoise.text.visible import title

if TYPE_CHECKING:
    from equipoise.corpus.sqlite import SqliteStore


class SqlitePartition:
    """See `store.Partition`. Made by its store, which forgets for it what is older than the file."""

    def __init__(self, store: "SqliteStore", connection: sqlite3.Connection, trust: Trust) -> None:
        self.trust = trust
        self._store, self._connection = store, connection
        self._keywords = Keywords(FullText(connection, trust))
        self._nearest = Nearest(connection, trust)
        self._counts: PartCounts | None = None
        self._authors: Authorship | None = None
        self._sources: tuple[tuple[str, str], ...] | None = None

    @property
    def path(self) -> Path:
        """See `store.Partition`."""
        return self._store.path

    def close(self) -> None:
        """Give back what is held open."""
        self._keywords.close()

    def forget(self) -> None:
        """Drop what is in memory: the store has changed."""
        self._counts = self._authors = self._sources = None
        self._nearest.forget()
        self._keywords.forget()

    def snapshot(self) -> AbstractContextManager[None]:
        """See `store.Partition`."""
        return self._store.snapshot()

    def counts(self) -> PartCounts:
        """See `store.Partition`; kept in memory until the store changes."""
        with self._store.current():
            if self._counts is None:
                ask = "SELECT count(*) FROM documents WHERE number BETWEEN ? AND ?"
                documents = self._connection.execute(ask, bounds(self.trust)).fetchone()[0]
                passages = rows.passages_in(self._connection, self.trust)
                self._counts = PartCounts(documents, passages, pending.count(self._connection, self.trust))
            return self._counts

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """See `store.Partition`."""
        found = self._store.documents(doc_ids)
        if strange := next(
            (doc_id for doc_id, other in found.items() if other.trust is not self.trust), None
        ):
            raise self._elsewhere(f"document {strange!r}")
        return found

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """See `store.Partition`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        if strange := next((number for number in wanted if trust_of(number) is not self.trust), None):
            raise self._elsewhere(f"passage {strange}")
        return self._store.places(wanted)

    def matrix(self) -> tuple[Ids, Array]:
        """See `store.Partition`: kept in memory, read again when this or another process has changed the store."""
        with self._store.current():
            return self._nearest.matrix()

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `store.Partition` and `corpus.nearest`."""
        with self._store.current():
            if k < 1 or not (exact or self.counts().passages <= EXACT_UP_TO):
                return self._nearest.search(vector, k, exact=exact)
            near = [passage_id for passage_id, _ in self._nearest.search(vector, k + MORE, exact=exact)]
            return exactly_ranked(near, self._nearest.vectors(near)[1], vector, k)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """See `store.Partition`."""
        with self._store.current():
            return self._nearest.vectors(passage_ids)

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """See `store.Partition`."""
        if k < 1:
            return []
        with self._store.current():
            match = matching(self._keywords.plan(query))
            if not match.expression:
                return []
            words = words_of(self.trust)
            ask = f"SELECT rowid, bm25({words}) AS s FROM {words} WHERE {words} MATCH ? ORDER BY s, rowid LIMIT ?"
            found = self._connection.execute(ask, (match.expression, k)).fetchall()
            return [(row[0], -row[1] / match.times) for row in found]

    def authors(self) -> Authorship:
        """See `store.Partition`; kept in memory until the store changes."""
        with self._store.current():
            if self._authors is None:
                ask = (
                    "SELECT passage_id, coalesce(nullif(author, ''), source) FROM passages JOIN documents"
                    " ON number = document WHERE passage_id BETWEEN ? AND ? ORDER BY passage_id"
                )
                self._authors = authors_of(self._connection.execute(ask, bounds(self.trust)))
            return self._authors

    def sources(self) -> tuple[tuple[str, str], ...]:
        """See `store.Partition`; kept in memory until the store changes."""
        with self._store.current():
            if self._sources is None:
                ask = "SELECT source, title FROM documents WHERE number BETWEEN ? AND ? ORDER BY number"
                pairs = self._connection.execute(ask, bounds(self.trust))
                self._sources = tuple((text(source), title(named)) for source, named in pairs)
            return self._sources

    def holding(self, words: Sequence[str]) -> list[Ids]:
        """See `store.Partition`."""
        index = words_of(self.trust)
        ask = f"SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid"
        with self._store.current():
            found = (self._connection.execute(ask, (f'"{word}"',)) if word else () for word in words)
            return [np.fromiter((row[0] for row in rows), np.int64) for rows in found]

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """See `store.Partition`."""
        with self._store.current():
            return self._keywords.corrections(text, known, self._some_with)

    def out_of_corpus(self, text: str) -> tuple[str, ...]:
        """See `store.Partition`."""
        with self._store.current():
            return tuple(self._keywords.out_of_corpus(content_words(text)))

    def _some_with(self, stem: str) -> tuple[Passage, ...]:
        """Some passages in which a stem stands."""
        words = words_of(self.trust)
        with mapped(self.path):
            ask = f"SELECT rowid FROM {words} WHERE {words} MATCH ? LIMIT ?"
            found = self._connection.execute(ask, (f'"{stem}"', LOOKED_AT)).fetchall()
        return self._store.passages(row[0] for row in found)

    def _elsewhere(self, what: str) -> CorpusError:
        return CorpusError(f"{what} is not among the {self.trust} documents of {self.path}")
