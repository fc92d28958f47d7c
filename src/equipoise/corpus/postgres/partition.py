"""One partition of a store in Postgres, or what a filter means of it, searched by itself.

What is counted, remembered or approximated here is read through the condition of its `Scope`, or from what is kept for
the partition alone (`terms`, `partitions`, its graph), never over the whole store.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import StoreUrl
from equipoise.core.errors import CorpusError
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus import postings
from equipoise.corpus.keywords import LOOKED_AT, Keywords
from equipoise.corpus.postgres import searching
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.postgres.session import Session
from equipoise.corpus.postgres.words import PostgresWords, words_in
from equipoise.corpus.record_types import Authorship, Ids, PartCounts, authors_of, text
from equipoise.corpus.scope import POSTGRES, DocumentScope, trust_of
from equipoise.corpus.spelling import Correction
from equipoise.corpus.stems import Stems
from equipoise.text.tokens import content_words
from equipoise.text.visible import title

if TYPE_CHECKING:
    from equipoise.corpus.postgres.store import PostgresStore

T = TypeVar("T")


class PostgresPartition:
    """See `store.Partition`. Made by its store, with which it shares connections and tokenizer."""

    def __init__(self, store: "PostgresStore", session: Session, stems: Stems, scope: DocumentScope) -> None:
        self.scope = scope
        self._store, self._session, self._stems = store, session, stems
        self._remembered = searching.Remembered()

    @property
    def trust(self) -> Trust:
        """See `store.Partition`."""
        return self.scope.trust

    @property
    def path(self) -> StoreUrl:
        """See `store.Partition`."""
        return self._store.path

    def snapshot(self) -> AbstractContextManager[None]:
        """See `store.Partition`."""
        return self._store.snapshot()

    def counts(self) -> PartCounts:
        """See `store.Partition`; kept in memory until the store changes."""
        inside = self.scope.documents("number", POSTGRES)
        ask = (
            "SELECT count(*)::integer, coalesce(sum(count), 0)::integer,"
            " coalesce(sum(count) FILTER (WHERE NOT embedded), 0)::integer FROM documents"
            f" WHERE {inside.text}"
        ).encode()
        return self._kept("counts", lambda link: PartCounts(*link.execute(ask, inside.values).fetchall()[0]))

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """See `store.Partition`."""
        found = self._store.documents(doc_ids)
        for doc_id, document in found.items():
            if not self.scope.has(document):
                raise self._elsewhere(f"document {doc_id!r}")
        return found

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """See `store.Partition`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        for passage_id in wanted:
            if trust_of(passage_id) is not self.trust:
                raise self._elsewhere(f"passage {passage_id}")
        places = self._store.places(wanted)
        if self.scope.where is not None:
            self.documents(place.doc_id for place in places)
        return places

    def matrix(self) -> tuple[Ids, Array]:
        """See `store.Partition`: kept in memory until the store changes, within a filter only which rows it has."""
        if self.scope.where is None:
            return self._kept("matrix", lambda link: searching.matrix(link, self.scope))
        with self._session.reading():
            ids, vectors = self._store.partition(self.trust).matrix()
            rows = self._kept("rows", lambda link: searching.inside(link, self.scope, ids))
            return ids[rows], vectors[rows]

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `store.Partition`; approximate search is pgvector's HNSW, made once there are so many passages."""
        with self._session.reading() as link:
            return searching.nearest(link, self.scope, vector, k, exact=exact)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            return searching.vectors(link, self.scope, passage_ids)

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """See `store.Partition`."""
        if k < 1:
            return []
        with self._session.reading() as link:
            index = words_in(link, self.scope)
            keywords = Keywords(index, self._stems)
            plan = keywords.plan(query)
            return postings.bm25(index, plan, keywords)[:k] if plan.finding else []

    def authors(self) -> Authorship:
        """See `store.Partition`; kept in memory until the store changes."""
        inside = self.scope.passages("passage_id", POSTGRES)
        ask = (
            "SELECT passage_id, coalesce(nullif(author, ''), source) FROM passages JOIN documents"
            f" ON number = document WHERE {inside.text} ORDER BY passage_id"
        ).encode()
        return self._kept("authors", lambda link: authors_of(link.execute(ask, inside.values)))

    def sources(self) -> tuple[tuple[str, str], ...]:
        """See `store.Partition`; kept in memory until the store changes."""
        inside = self.scope.documents("number", POSTGRES)
        ask = f"SELECT source, title FROM documents WHERE {inside.text} ORDER BY number".encode()
        return self._kept(
            "sources",
            lambda link: tuple(
                (text(source), title(named)) for source, named in link.execute(ask, inside.values)
            ),
        )

    def holding(self, words: Sequence[str]) -> list[Ids]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            index = words_in(link, self.scope)
            pairs = self._stems.of_texts(words)
            return [np.array(postings.holding(index, parts), np.int64) for parts in pairs]

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            index = _Terms(words_in(link, self.scope), self.vocabulary)

            def holding(stem: str) -> tuple[Passage, ...]:
                return self._store.passages(index.words.with_term(stem, LOOKED_AT))

            return Keywords(index, self._stems).corrections(text, known, holding)

    def out_of_corpus(self, text: str) -> tuple[str, ...]:
        """See `store.Partition`."""
        with self._session.reading() as link:
            keywords = Keywords(words_in(link, self.scope), self._stems)
            return tuple(keywords.out_of_corpus(content_words(text)))

    def vocabulary(self) -> list[str]:
        """See `keywords.Terms`: that of the whole partition, which is kept in memory once, whatever filters there
        are."""
        whole = self._store.partition(self.trust)
        if whole is not self:
            return whole.vocabulary()
        return self._kept("vocabulary", lambda link: words_in(link, self.scope).vocabulary())

    def _kept(self, name: str, read: Callable[[Link], T]) -> T:
        """What `read` gives for the state of the store that is seen now, remembered for this partition."""
        with self._session.reading() as link:
            return self._remembered.of(link, name, lambda: read(link))

    def _elsewhere(self, what: str) -> CorpusError:
        return CorpusError(f"{what} is not among the {self.trust} documents of {self.path}")


class _Terms(NamedTuple):
    """See `keywords.Terms`."""

    words: PostgresWords
    vocabulary: Callable[[], list[str]]

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """See `keywords.Terms`."""
        return self.words.frequencies(stems)
