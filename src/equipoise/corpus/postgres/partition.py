"""One partition of a store in Postgres: the documents of one trust, searched by themselves.

What is counted, remembered or approximated here is read through the numbers of the partition (`corpus.partitions`) or
from what is kept for it alone (`terms`, `partitions`, its graph), never over the whole store.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import CorpusError
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus.keywords import LOOKED_AT, Keywords
from equipoise.corpus.partitions import bounds, trust_of
from equipoise.corpus.postgres import rows, searching
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.postgres.session import Session
from equipoise.corpus.postgres.words import Words
from equipoise.corpus.records import Authorship, Ids, PartCounts, authors_of, text
from equipoise.corpus.spelling import Correction
from equipoise.corpus.stems import Stems
from equipoise.text.tokens import content_words
from equipoise.text.visible import title

if TYPE_CHECKING:
    from equipoise.corpus.postgres.store import PostgresStore

T = TypeVar("T")


class PostgresPartition:
    """See `store.Partition`. Made by its store, with which it shares connections, tokenizer and what is remembered."""

    def __init__(
        self,
        store: "PostgresStore",
        session: Session,
        stems: Stems,
        remembered: searching.Remembered,
        trust: Trust,
    ) -> None:
        self.trust = trust
        self._store, self._session = store, session
        self._stems, self._remembered = stems, remembered

    @property
    def path(self) -> StoreUrl:
        """See `store.Partition`."""
        return self._store.path

    def snapshot(self) -> AbstractContextManager[None]:
        """See `store.Partition`."""
        return self._store.snapshot()

    def counts(self) -> PartCounts:
        """See `store.Partition`; kept in memory until the store changes."""
        ask = (
            "SELECT count(*)::integer, coalesce(sum(count), 0)::integer,"
            " coalesce(sum(count) FILTER (WHERE NOT embedded), 0)::integer FROM documents"
            " WHERE number BETWEEN %s AND %s"
        )
        return self._kept(
            "counts", lambda link: PartCounts(*link.execute(ask, bounds(self.trust)).fetchall()[0])
        )

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """See `store.Partition`."""
        found = self._store.documents(doc_ids)
        for doc_id, document in found.items():
            if document.trust is not self.trust:
                raise self._elsewhere(f"document {doc_id!r}")
        return found

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """See `store.Partition`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        for passage_id in wanted:
            if trust_of(passage_id) is not self.trust:
                raise self._elsewhere(f"passage {passage_id}")
        return self._store.places(wanted)

    def matrix(self) -> tuple[Ids, Array]:
        """See `store.Partition`: kept in memory until the store changes."""
        return self._kept("matrix", lambda link: searching.matrix(link, self.trust))

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `store.Partition`; approximate search is pgvector's HNSW, made once there are so many passages."""
        with self._session.reading() as link:
            return searching.nearest(link, self.trust, vector, k, exact=exact)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            return searching.vectors(link, self.trust, passage_ids)

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """See `store.Partition`."""
        if k < 1:
            return []
        with self._session.reading() as link:
            words = Words(link, self.trust)
            keywords = Keywords(words, self._stems)
            plan = keywords.plan(query)
            if not plan.finding:
                return []
            passages, tokens = rows.size(link, self.trust)
            return words.bm25(plan, keywords, passages, tokens)[:k]

    def authors(self) -> Authorship:
        """See `store.Partition`; kept in memory until the store changes."""
        ask = (
            "SELECT passage_id, coalesce(nullif(author, ''), source) FROM passages JOIN documents"
            " ON number = document WHERE passage_id BETWEEN %s AND %s ORDER BY passage_id"
        )
        return self._kept("authors", lambda link: authors_of(link.execute(ask, bounds(self.trust))))

    def sources(self) -> tuple[tuple[str, str], ...]:
        """See `store.Partition`; kept in memory until the store changes."""
        ask = "SELECT source, title FROM documents WHERE number BETWEEN %s AND %s ORDER BY number"
        return self._kept(
            "sources",
            lambda link: tuple(
                (text(source), title(named)) for source, named in link.execute(ask, bounds(self.trust))
            ),
        )

    def holding(self, words: Sequence[str]) -> list[Ids]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            index = Words(link, self.trust)
            return [np.array(index.holding(parts), np.int64) for parts in self._stems.of_texts(words)]

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            words = self._remembered.vocabulary(link, self.trust)

            def holding(stem: str) -> tuple[Passage, ...]:
                return self._store.passages(words.with_stem(stem, LOOKED_AT))

            return Keywords(words, self._stems).corrections(text, known, holding)

    def out_of_corpus(self, text: str) -> tuple[str, ...]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            keywords = Keywords(self._remembered.vocabulary(link, self.trust), self._stems)
            return tuple(keywords.out_of_corpus(content_words(text)))

    def _kept(self, name: str, read: Callable[[Link], T]) -> T:
        """What `read` gives for the state of the store that is seen now, remembered for this partition."""
        with self._session.reading() as link:
            return self._remembered.of(link, f"{name} {self.trust}", lambda: read(link))

    def _elsewhere(self, what: str) -> CorpusError:
        return CorpusError(f"{what} is not among the {self.trust} documents of {self.path}")
