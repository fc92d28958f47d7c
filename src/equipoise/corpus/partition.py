"""One partition of a store, whatever keeps it: the documents of one trust, searched by themselves (see
`corpus.store`)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import Place
from equipoise.core.errors import CorpusError
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus.keywords import LOOKED_AT, Keywords, QueryPlan, Stems, Terms
from equipoise.corpus.record_types import Authorship, Ids, PartCounts, authors_of, text
from equipoise.corpus.scope import DocumentScope, SqlDialect, trust_of
from equipoise.corpus.spelling import Correction
from equipoise.text.corrections import NOTE, contrasted_amounts, correction_words_in_name
from equipoise.text.tokens import content_words
from equipoise.text.visible import title

if TYPE_CHECKING:
    from equipoise.corpus.store import Store

T = TypeVar("T")
NOTICED = 1_000
"""Most short documents of a folder that are read, once, for amounts that they say are wrong: 50 microseconds each."""


class Beside(NamedTuple):
    """In one folder: the ids of corrections, and the numbers of other documents of at most NOTE characters."""

    corrections: list[str]
    short: list[int]


class Remembered:
    """A cache of what was read from one state of a store, until another one is seen; threads may see different ones."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._state: object = None
        self._kept: dict[str, Any] = {}

    def of(self, state: object, name: str, read: Callable[[], T]) -> T:
        """What `read` gives in `state`, the one that is seen now; read once, then kept under `name`."""
        with self._lock:
            if state == self._state and name in self._kept:
                kept: T = self._kept[name]
                return kept
        made = read()
        with self._lock:
            if state != self._state:
                self._state, self._kept = state, {}
            self._kept[name] = made
        return made


class SearchIndex(Terms, Protocol):
    """The full text search index of a partition."""

    def with_term(self, term: str, most: int | None = None) -> list[int]: ...

    def bm25(self, plan: QueryPlan, keywords: Keywords, k: int) -> list[tuple[int, float]]: ...

    def holding(self, words: Sequence[str], keywords: Keywords) -> list[Ids]: ...


class Partition(ABC):
    """The documents of one trust, or those of them that a filter matches, searched by themselves: what a method returns
    depends on these documents alone, byte for byte, but for the numbers of passages, which a filter does not change. A
    store makes its partitions; what they keep in memory goes when the store changes."""

    DIALECT: SqlDialect

    def __init__(self, store: "Store", stems: Stems, scope: DocumentScope) -> None:
        self.scope = scope
        self._store, self._stems = store, stems
        self._memory = Remembered()

    @abstractmethod
    def counts(self) -> PartCounts:
        """How much the partition holds."""

    @abstractmethod
    def matrix(self) -> tuple[Ids, Array]:
        """The ids (n,) of all passages that have vectors, ascending, and these, unit vectors (n, d), both read-only."""

    @abstractmethod
    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """At most `k` (passage_id, cosine) for a unit vector (d,), best first, ties by id.

        Over more than 20,000 passages the search may be approximate unless `exact`.
        """

    @abstractmethod
    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """Which of the passages (n,) have vectors, and these unit vectors (m, d), both in the order asked for."""

    @property
    @abstractmethod
    def _text(self) -> SearchIndex:
        """The search index, inside `_reading`."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Any]:
        """A snapshot, around what belongs to one question."""

    @abstractmethod
    def _remembered(self, name: str, read: Callable[[], T]) -> T:
        """What `read` gives, kept in memory until the store changes."""

    @property
    def trust(self) -> Trust:
        """Who may have written its documents."""
        return self.scope.trust

    @property
    def path(self) -> Place:
        """Where the store is; as text it is fit for people."""
        return self._store.path

    def snapshot(self) -> AbstractContextManager[None]:
        """See `Readable.snapshot`: the whole store stands still."""
        return self._store.snapshot()

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """The documents by id. Raises CorpusError for one that is not in the partition."""
        found = self._store.documents(doc_ids)
        if strange := next((doc_id for doc_id, other in found.items() if not self.scope.has(other)), None):
            raise self._elsewhere(f"document {strange!r}")
        return found

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """The passages of a document. Raises CorpusError for one that is not in the partition."""
        self.documents([doc_id])
        return self._store.passages_of(doc_id)

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """Where the passages lie, in the order asked for. Raises CorpusError for one not in the partition."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        if strange := next((number for number in wanted if trust_of(number) is not self.trust), None):
            raise self._elsewhere(f"passage {strange}")
        places = self._store.places(wanted)
        if self.scope.where is not None:
            self.documents(place.doc_id for place in places)
        return places

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """At most `k` (passage_id, score) for any text, best first, ties by id; a score is 0 or more.

        The same in every kind of store; see `corpus.keywords`.
        """
        if k < 1:
            return []
        with self._reading():
            plan = self._keywords.plan(query)
            return self._text.bm25(plan, self._keywords, k) if plan.finding else []

    def holding(self, words: Sequence[str]) -> list[Ids]:
        """For each word, in lower case, the ids of the passages that have it in any form, ascending."""
        with self._reading():
            return self._text.holding(words, self._keywords)

    def authors(self) -> Authorship:
        """Who wrote which passage."""
        inside = self.scope.passages("passage_id", self.DIALECT)
        ask = (
            "SELECT passage_id, coalesce(nullif(author, ''), source) FROM passages JOIN documents"
            f" ON number = document WHERE {inside.text} ORDER BY passage_id"
        )
        return self._remembered("authors", lambda: authors_of(self._store._each(ask, *inside.values)))

    def sources(self) -> tuple[tuple[str, str], ...]:
        """(source, title) of every document, in the order of the partition."""
        inside = self.scope.documents("number", self.DIALECT)
        ask = f"SELECT source, title FROM documents WHERE {inside.text} ORDER BY number"

        def read() -> tuple[tuple[str, str], ...]:
            pairs = self._store._each(ask, *inside.values)
            return tuple((text(source), title(named)) for source, named in pairs)

        return self._remembered("sources", read)

    def correcting(self) -> Mapping[PurePosixPath, Beside]:
        """For each folder, documents whose title or file name says that they are a correction, and short documents."""
        inside = self.scope.documents("number", self.DIALECT)
        short = f'SELECT document FROM passages GROUP BY document HAVING max("end") <= {NOTE}'
        ask = (
            f"SELECT number, doc_id, source, title, number IN ({short}) FROM documents WHERE {inside.text}"
            " ORDER BY number"
        )

        def read() -> dict[PurePosixPath, Beside]:
            found: dict[str, Beside] = {}
            for number, doc_id, *name, is_short in self._store._each(ask, *inside.values):
                source, named = map(text, name)
                place = source.rpartition("/")[0]
                if correction_words_in_name(source, named):
                    found.setdefault(place, Beside([], [])).corrections.append(doc_id)
                elif is_short:
                    found.setdefault(place, Beside([], [])).short.append(number)
            return {PurePosixPath(place): beside for place, beside in found.items()}

        return self._remembered("correcting", read)

    def notices(self, folder: PurePosixPath) -> Sequence[tuple[str, frozenset[str]]]:
        """The ids of the short documents of a folder that set one amount against another, each with the amounts that it
        says are wrong; none where there are more than NOTICED short ones."""
        beside = self.correcting().get(folder)
        if beside is None or len(beside.short) > NOTICED:
            return ()
        ask = f"SELECT doc_id, text FROM documents WHERE number = {self.DIALECT.place}"

        def read() -> tuple[tuple[str, frozenset[str]], ...]:
            texts = (row for number in beside.short for row in self._store._each(ask, number))
            found = ((doc_id, contrasted_amounts(text(written))) for doc_id, written in texts)
            return tuple(pair for pair in found if pair[1])

        return self._remembered(f"notices {folder}", read)

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """The words of `text` that nobody knows, each with the word of the documents or of English that was meant;
        `known` are words in lower case that are right whatever the documents hold, with their rank from 0."""
        with self._reading():
            return self._keywords.corrections(text, known, self._some_with)

    def out_of_corpus(self, text: str) -> tuple[str, ...]:
        """The words of `text` that no document has in any form, stop words aside."""
        with self._reading():
            return tuple(self._keywords.out_of_corpus(content_words(text)))

    def frequencies(self, stems: Sequence[str]) -> Mapping[str, int]:
        return self._text.frequencies(stems)

    def vocabulary(self) -> Iterable[str]:
        """See `keywords.Terms`: that of the whole partition, which is kept in memory once, whatever filters there
        are."""
        whole: Partition = self._store.partition(self.trust)
        if whole is not self:
            return whole.vocabulary()
        return self._remembered("vocabulary", self._own_vocabulary)

    def _own_vocabulary(self) -> Iterable[str]:
        return self._text.vocabulary()

    @property
    def _keywords(self) -> Keywords:
        return Keywords(self, self._stems)

    def _some_with(self, stem: str) -> tuple[Passage, ...]:
        """Some passages in which a stem stands."""
        return self._store.passages(self._text.with_term(stem, LOOKED_AT))

    def _elsewhere(self, what: str) -> CorpusError:
        return CorpusError(f"{what} is not among the {self.trust} documents of {self.path}")
