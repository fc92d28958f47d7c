"""What a store is, whatever keeps it: documents, their passages, vectors and words.

`open_store` makes one of an address. Every change is one transaction: it is there as a whole or not at all. A store
may be used from several threads, and several processes may have it open.

A store has two partitions, the trusted documents and the untrusted ones, and is searched one partition at a time
(`Partition`): there is no search, no frequency and no spelling over both, so nothing that anybody may write can move
what the trusted documents give. Numbers of documents and ids of passages grow together, in the order in which the
documents of a partition came; a retriever may rely on ties being broken by them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.addresses import place as as_place
from equipoise.core.errors import MissingExtra
from equipoise.core.metadata import Scalar
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.core.where import Where
from equipoise.corpus.contents import Row
from equipoise.corpus.pending import Pending
from equipoise.corpus.record_types import (
    Authorship,
    Counts,
    FileRecord,
    Ids,
    IndexEntry,
    ListedDocument,
    Numbered,
    PartCounts,
)
from equipoise.corpus.spelling import Correction

FILE = "equipoise.corpus.sqlite:SqliteStore"
KINDS = {"postgres": "equipoise.corpus.postgres.store:PostgresStore"}
"""By kind of address, also the name of the extra: what keeps the store, imported when such an address is opened."""
LIBRARIES = ("psycopg", "pgvector")


class Readable(Protocol):
    """Documents, passages and files by their names. Each method raises StoreError where the store fails."""

    @property
    def path(self) -> Place:
        """Where the store is; as text it is fit for people."""
        ...

    @property
    def folder(self) -> Path:
        """The folder that the names of files in this store are relative to."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Inside it every read of this thread sees the store as at one moment, whatever others write."""
        ...

    def counts(self) -> Counts:
        """How much the store holds, both partitions together."""
        ...

    def partition(self, trust: Trust, where: Where | None = None) -> "Partition":
        """The documents of this trust, or those of them that `where` means, searched by themselves. Keep one with a
        filter while it is asked again: what it has in memory goes with it."""
        ...

    def files(self) -> dict[str, FileRecord]:
        """Every indexed file by its path relative to `folder`."""
        ...

    def file(self, path: str) -> FileRecord | None:
        """The file with this path; None where it is not indexed."""
        ...

    def listing(self) -> tuple[ListedDocument, ...]:
        """Every document without its text, in the order of the store."""
        ...

    def doc_ids(self) -> tuple[str, ...]:
        """Every document, in the order of the store."""
        ...

    def unfiled(self) -> tuple[str, ...]:
        """Documents that came from no file: `add_documents` put them in."""
        ...

    def subjects(self, most: int, where: Where | None = None) -> tuple[str, ...]:
        """The titles that most passages stand under, of trusted documents that `where` means."""
        ...

    def file_of(self, doc_id: str) -> str | None:
        """The path (as in `files`) a document came from; None for an unknown one or one from no file."""
        ...

    def document(self, doc_id: str) -> Document:
        """The document. Raises CorpusError for an unknown one."""
        ...

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """The documents by id. Raises CorpusError for an unknown one."""
        ...

    def passage(self, passage_id: int) -> Passage:
        """The passage. Raises CorpusError for an unknown one."""
        ...

    def passages(self, passage_ids: Iterable[int]) -> tuple[Passage, ...]:
        """The passages in the order asked for. Raises CorpusError for an unknown one."""
        ...

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """Where the passages lie, in the order asked for. Raises CorpusError for an unknown one."""
        ...

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """The passages of a document, in its order."""
        ...

    def encoder_name(self) -> str:
        """Whose vectors the store holds, "" before an encoder was bound."""
        ...

    def check_encoder(self, encoder: Encoder) -> None:
        """Raises StoreError where the store's vectors are not of `encoder`."""
        ...

    def contents(self) -> Iterator[Row]:
        """Every row that the store holds; see `corpus.contents`."""
        ...

    def written(self) -> str:
        """A mark of all changes so far, for `read_after`; "" where every read sees them anyway."""
        ...

    def read_after(self, mark: str) -> None:
        """From now on reads see at least what the mark was made after, whichever replica of a database is asked."""
        ...

    def verify(self) -> None:
        """Check everything that the store holds against the rest of it. Raises StoreError for damage."""
        ...

    def digest(self) -> str:
        """sha256 (hex) over everything the store holds, but not how it lays it out: stores of every kind with the
        same content have the same digest."""
        ...


class Partition(Protocol):
    """The documents of one trust, or what a filter means of them, searched by themselves: whatever a method gives is a
    function of these documents alone, byte for byte, but for the numbers of passages within a filter. Each method
    raises StoreError where the store fails."""

    @property
    def trust(self) -> Trust:
        """Who may have written its documents."""
        ...

    @property
    def path(self) -> Place:
        """Where the store is; as text it is fit for people."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """See `Readable.snapshot`: the whole store stands still."""
        ...

    def counts(self) -> PartCounts:
        """How much the partition holds."""
        ...

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """The documents by id. Raises CorpusError for one that is not in the partition."""
        ...

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """Where the passages lie, in the order asked for. Raises CorpusError for one not in the partition."""
        ...

    def matrix(self) -> tuple[Ids, Array]:
        """The ids (n,) of all passages that have vectors, ascending, and these, unit vectors (n, d), both read-only."""
        ...

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """At most `k` (passage_id, cosine) for a unit vector (d,), best first, ties by id.

        Of more than 20,000 passages the search is approximate unless `exact`.
        """
        ...

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """Which of the passages (n,) have vectors, and these unit vectors (m, d), both in the order asked for."""
        ...

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """At most `k` (passage_id, score) for any text, best first, ties by id; a score is 0 or more.

        The same in every kind of store; see `corpus.keywords`.
        """
        ...

    def authors(self) -> Authorship:
        """Who wrote which passage."""
        ...

    def sources(self) -> tuple[tuple[str, str], ...]:
        """(source, title) of every document, in the order of the partition."""
        ...

    def holding(self, words: Sequence[str]) -> list[Ids]:
        """For each word, in lower case, the ids of the passages that have it in any form, ascending."""
        ...

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """The words of `text` that nobody knows, each with the word of the documents or of English that was meant;
        `known` are words in lower case that are right whatever the documents hold, with their rank from 0."""
        ...

    def out_of_corpus(self, text: str) -> tuple[str, ...]:
        """The words of `text` that no document has in any form, stop words aside."""
        ...


class Writable(Protocol):
    """Changes. Each is one transaction, and raises StoreError where the store cannot be written."""

    def bind_encoder(self, encoder: Encoder) -> None:
        """Record whose vectors the store holds. Raises StoreError where it already holds another's."""
        ...

    def replace_file(self, record: FileRecord, entries: Sequence[IndexEntry]) -> None:
        """Put a file's documents in the place of those it had before, if any. Raises CorpusError for one that cannot
        be kept as it is."""
        ...

    def update_file(
        self, record: FileRecord, metadata: Mapping[str, Mapping[str, Scalar]] = MappingProxyType({})
    ) -> None:
        """Record a new size, time or trust of a file whose content is the same, and other metadata of its documents, by
        their ids; another trust moves them."""
        ...

    def drop_file(self, path: str) -> None:
        """Take a file and its documents out; nothing happens where there is no such file."""
        ...

    def set_trust(self, doc_ids: Iterable[str], trust: Trust) -> None:
        """Move documents, and the files they came from, into the partition of another trust, where they are the
        newest; their ids stay. Raises CorpusError for unknown ones."""
        ...

    def rename(self, doc_id: str, new_id: str, source: str) -> None:
        """Give a document another id and source. Raises CorpusError for an unknown one and where the id is taken."""
        ...

    def add_documents(self, entries: Sequence[IndexEntry], *, again: bool = False) -> None:
        """Add documents that come from no file; with `again` in the place of such with the same ids. Raises CorpusError
        where an id is taken."""
        ...

    def remove_documents(self, doc_ids: Iterable[str]) -> None:
        """Take documents out again; the store then holds exactly what it held before they were added.

        Only documents that came from no file; raises CorpusError for others and unknown ones.
        """
        ...

    def numbered(self) -> Iterator[Numbered]:
        """Every document with its passages, its vectors where it has them, and its number, in the store's order."""
        ...

    def restore(self, files: Sequence[FileRecord], documents: Sequence[Numbered]) -> None:
        """Put in what another store holds, under the same numbers; documents that are there stay.

        Raises CorpusError where another document has the number or id of one.
        """
        ...

    def optimize(self) -> None:
        """Make searches faster after many changes."""
        ...


class Embeds(Protocol):
    """Vectors that are made after their documents are in the store and words find them."""

    def pending(self) -> list[tuple[int, int]]:
        """(number, passages) of every document that words find and that has no vectors yet, in the store's order."""
        ...

    def unembedded(self, numbers: Iterable[int]) -> tuple[Pending, ...]:
        """Those of the documents (numbers as in `pending`) that still have no vectors."""
        ...

    def add_vectors(self, made: Sequence[tuple[Pending, Array]]) -> None:
        """Give documents their vectors (n, d); what has changed since it was read stays without. Raises CorpusError
        for vectors that do not fit."""
        ...

    def drop_pending(self, document: Pending) -> None:
        """Take the file of a document out for which there are no vectors, unless it has changed since it was read."""
        ...

    def index_vectors(self) -> None:
        """Make what searches for the nearest of many vectors need, if anything: all vectors have come."""
        ...

    def claim(self, name: str) -> bool:
        """Whether a piece of work is ours: no other process that shares this store has it, nor is given it until
        `release`, or until this process ends in whatever way."""
        ...

    def release(self, name: str) -> None:
        """Give a claimed piece of work back."""
        ...


class Store(Readable, Writable, Embeds, Protocol):
    """An open store. Close it, or use it in a `with` block; any later call raises StoreError."""

    @classmethod
    def open(
        cls, path: Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
    ) -> "Store":
        """See `open_store`; a class that keeps stores opens its own kind alone."""
        return open_store(path, create=create, read_only=read_only, timeout=timeout)

    def close(self) -> None:
        """Give back what it holds open."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_store(
    place: str | Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
) -> Store:
    """The store at a path or address; with `create` a missing one is made. Waits `timeout` seconds for a lock.

    `read_only` may read from a replica of a database. Raises StoreError, InputError for an address that cannot be used,
    and MissingExtra where the part for it is not installed.
    """
    chosen = place if isinstance(place, StoreUrl) else as_place(place)
    name = KINDS[chosen.kind] if isinstance(chosen, StoreUrl) else FILE
    module, _, class_name = name.partition(":")
    try:
        keeper: type[Store] = getattr(import_module(module), class_name)
    except ModuleNotFoundError as error:
        if isinstance(chosen, StoreUrl) and (error.name or "").partition(".")[0] in LIBRARIES:
            raise MissingExtra(f"{error.name}, which a store at {chosen} needs,", chosen.kind) from error
        raise
    return keeper.open(chosen, create=create, read_only=read_only, timeout=timeout)
