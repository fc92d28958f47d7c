"""What a store is, whatever keeps it: documents, their passages, vectors and words.

`open_store` makes one of an address. Every change is one transaction: it is there as a whole or not at all. A store
may be used from several threads, and several processes may have it open. Each method raises StoreError where the store
fails.

A store has a partition for each `Trust`, and is searched one partition at a time (`Partition`): there is no search, no
frequency and no spelling over several of them, so nothing that anybody may write can move what the trusted documents
give. Numbers of documents and ids of passages grow together, in the order in which the documents of a partition came; a
retriever may rely on ties being broken by them.

A kind of store (`corpus.sqlite`, `corpus.postgres`) defines how a statement is run, how documents are put in and taken
out, and what else differs. Statements here work in every kind of database: `?` stands for a value.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

from equipoise.core.addresses import SCHEMES, Place, StoreUrl
from equipoise.core.addresses import place as as_place
from equipoise.core.closing import Closing
from equipoise.core.errors import CorpusError, InputError, MissingExtra
from equipoise.core.metadata import Scalar, packed
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Trust
from equipoise.corpus import record_types
from equipoise.corpus.readable import Readable
from equipoise.corpus.record_types import FileRecord, IndexEntry, Numbered, storable
from equipoise.corpus.scope import bounds, trust_of

FILE = "equipoise.corpus.sqlite:SqliteStore"
DATABASE, EXTRA = "equipoise.corpus.postgres.store:PostgresStore", "postgres"
"""The class of a store at an address, imported when one is opened, and the extra that installs its LIBRARIES."""
LIBRARIES = ("psycopg", "pgvector")


class Store(Readable, Closing):
    """An open store. Close it, or use it in a `with` block; any later call raises StoreError."""

    PENDING: str
    """The statement whose rows `pending` returns."""
    WAITING: str
    """A statement that finds a row for the number of a document if the document has no vectors yet."""

    @classmethod
    def open(
        cls, path: Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
    ) -> "Store":
        """See `open_store`; a class that keeps stores opens its own kind alone."""
        return open_store(path, create=create, read_only=read_only, timeout=timeout)

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds open."""

    def bind_encoder(self, encoder: Encoder) -> None:
        """Record whose vectors the store holds. Raises StoreError where it already holds another's."""
        self.bind(record_types.meta_of(encoder))

    def bind(self, meta: Mapping[str, str]) -> None:
        """`bind_encoder`, for the encoder that another store has recorded so."""
        if self._meta() != meta:
            self._keep_meta(meta)
        record_types.check_meta(self.path, self._meta(), meta)

    def replace_file(self, record: FileRecord, entries: Sequence[IndexEntry]) -> None:
        """Put a file's documents in the place of those it had before, if any. Raises CorpusError for one that cannot
        be kept as it is."""

        def work() -> None:
            self._remove(self._numbers_of(record.path))
            self._put(record)
            self._add(entries, record.path)

        self._write(work)

    def update_file(
        self, record: FileRecord, metadata: Mapping[str, Mapping[str, Scalar]] = MappingProxyType({})
    ) -> None:
        """Record a new size, time or trust of a file whose content is the same, and other metadata of its documents, by
        their ids; another trust moves them."""

        def work() -> None:
            for doc_id, known in metadata.items():
                ask = "UPDATE documents SET metadata = ? WHERE path = ? AND doc_id = ?"
                self._change(ask, packed(known), record.path, doc_id)
            self._put(record)
            self._change("UPDATE documents SET author = ? WHERE path = ?", record.author, record.path)
            self._move(self._numbers_of(record.path), record.trust)

        self._write(work)

    def drop_file(self, path: str) -> None:
        """Take a file and its documents out; nothing happens where there is no such file."""
        self._write(lambda: self._drop(path))

    def set_trust(self, doc_ids: Iterable[str], trust: Trust) -> None:
        """Move documents, and the files they came from, into the partition of another trust, where they are the
        newest; their ids stay. Raises CorpusError for unknown ones."""
        chosen = list(doc_ids)

        def work() -> None:
            for doc_id in chosen:
                hits = self._rows("SELECT number, path FROM documents WHERE doc_id = ?", storable(doc_id))
                if not hits:
                    raise CorpusError(f"there is no document {doc_id!r} in {self.path}")
                ((number, path),) = hits
                self._change("UPDATE files SET trust = ? WHERE path = ?", trust.value, path)
                self._move([number], trust)

        self._write(work)

    def rename(self, doc_id: str, new_id: str, source: str) -> None:
        """Give a document another id and source. Raises CorpusError for an unknown one and where the id is taken."""
        record_types.check_keepable(f"the name {source!r}", (new_id, source))

        def work() -> None:
            if self._rows("SELECT 1 FROM documents WHERE doc_id = ?", new_id):
                raise CorpusError(f"there is a document {new_id!r} in {self.path} already")
            ask = "UPDATE documents SET doc_id = ?, source = ? WHERE doc_id = ?"
            if not self._change(ask, new_id, source, storable(doc_id)):
                raise CorpusError(f"there is no document {doc_id!r} in {self.path}")

        self._write(work, again=False)

    def add_documents(self, entries: Sequence[IndexEntry], *, again: bool = False) -> None:
        """Add documents that come from no file; with `again` in the place of such with the same ids. Raises CorpusError
        where an id is taken."""

        def work() -> None:
            for entry in entries if again else ():
                self._remove(self._numbers_added(entry.document.doc_id))
            self._add(entries, None)

        self._write(work, again=again)

    def remove_documents(self, doc_ids: Iterable[str]) -> None:
        """Take documents out again; the store then holds exactly what it held before they were added.

        Only documents that came from no file; raises CorpusError for others and unknown ones.
        """
        chosen = list(doc_ids)

        def work() -> None:
            hits = {doc_id: self._numbers_added(doc_id) for doc_id in chosen}
            if unknown := [doc_id for doc_id, found in hits.items() if not found]:
                raise CorpusError(f"document {unknown[0]!r} was not added to {self.path} by add_documents")
            self._remove([number for found in hits.values() for number in found])

        self._write(work, again=False)

    @abstractmethod
    def numbered(self) -> Iterator[Numbered]:
        """Every document with its passages, its vectors where it has them, and its number, in the store's order."""

    def restore(self, files: Sequence[FileRecord], documents: Sequence[Numbered]) -> None:
        """Put in what another store holds, under the same numbers; documents that are there stay.

        Raises CorpusError where another document has the number or id of one.
        """

        def work() -> None:
            for record in files:
                self._put(record)
            self._restore(documents)

        self._write(work)

    @abstractmethod
    def optimize(self) -> None:
        """Make searches faster after many changes."""

    # Vectors that are made after their documents are in the store and words find them

    def pending(self) -> list[tuple[int, int]]:
        """(number, passages) of every document that words find and that has no vectors yet, in the store's order."""
        return [(number, count) for number, count in self._rows(self.PENDING)]

    def unembedded(self, numbers: Iterable[int]) -> tuple[Numbered, ...]:
        """Those of the documents (numbers as in `pending`) that still have no vectors."""
        with self.snapshot():
            documents = [self._unembedded(number) for number in numbers]
            return tuple(document for document in documents if document is not None)

    def add_vectors(self, made: Sequence[tuple[Numbered, Array]]) -> None:
        """Give documents their vectors (n, d); what has changed since it was read stays without. Raises CorpusError
        for vectors that do not fit."""

        def work() -> None:
            width = self._width()
            for pending, vectors in made:
                record_types.check_vectors(pending.entry, vectors, width)
                if pending.is_like(self._unembedded(pending.number)):
                    self._put_vectors(pending.number, vectors)

        self._write(work)

    def drop_pending(self, document: Numbered) -> None:
        """Take the file of a document out for which there are no vectors, unless it has changed since it was read."""

        def work() -> None:
            if document.path is not None and document.is_like(self._unembedded(document.number)):
                self._drop(document.path)

        self._write(work)

    def index_vectors(self) -> None:
        """Make the index that search over many vectors needs, if any. Called once all vectors are there."""

    def claim(self, name: str) -> bool:
        """Whether a piece of work is ours: no other process that shares this store has it, nor is given it until
        `release`, or until this process ends in whatever way. A file has no such locks: each process that indexes into
        it does all that it sees undone."""
        return True

    def release(self, name: str) -> None:
        """Give a claimed piece of work back."""

    # Inside; what is called in `_write` belongs to that transaction

    @abstractmethod
    def _change(self, ask: str, *values: object) -> int:
        """Run a statement; returns how many rows it changed."""

    @abstractmethod
    def _write(self, work: Callable[[], None], *, again: bool = True) -> None:
        """One transaction around `work`: all of it is kept or nothing. `again`: it may be done twice."""

    @abstractmethod
    def _keep_meta(self, meta: Mapping[str, str]) -> None:
        """Record the encoder of an empty store, in a transaction; nothing happens where there are documents."""

    def _width(self) -> int:
        """The length of the store's vectors, 0 before an encoder is bound. Raises Damage."""
        return record_types.width_of(self._meta())

    @abstractmethod
    def _insert(self, numbered: Numbered) -> None:
        """Put a document in under its number with its passages."""

    @abstractmethod
    def _numbered_at(self, number: int) -> Numbered:
        """The document with this number. Raises Damage."""

    @abstractmethod
    def _remove(self, numbers: Sequence[int]) -> None:
        """Take documents out with everything that belongs to them."""

    @abstractmethod
    def _put_vectors(self, number: int, vectors: Array) -> None:
        """Keep the vectors of a document that had none."""

    def _add(self, entries: Sequence[IndexEntry], path: str | None) -> None:
        """Insert each document after all others of its partition. Raises CorpusError for one that cannot be kept as it
        is."""
        width = self._width()
        following = {trust: self._following(trust) for trust in {entry.document.trust for entry in entries}}
        for entry in entries:
            self._check(entry, width)
            number, passage = following[entry.document.trust]
            self._insert(Numbered(number, path, passage, entry))
            following[entry.document.trust] = number + 1, passage + len(entry.spans)

    def _move(self, numbers: Sequence[int], trust: Trust) -> None:
        """Give documents another trust: they leave their partition and become the newest of that trust's."""
        for number in [number for number in numbers if trust_of(number) is not trust]:
            moved = self._numbered_at(number)
            self._remove([number])
            document = replace(moved.entry.document, trust=trust)
            self._add([replace(moved.entry, document=document)], moved.path)

    def _restore(self, documents: Sequence[Numbered]) -> None:
        """Insert documents under their numbers; those that are there stay."""
        width = self._width()
        for numbered in documents:
            record_types.check_number(numbered)
            hits = self._rows("SELECT doc_id FROM documents WHERE number = ?", numbered.number)
            if hits and hits[0][0] != numbered.entry.document.doc_id:
                name = record_types.name_of(numbered.entry.document)
                raise CorpusError(
                    f"another document than {name} has its number {numbered.number}: copy into a new store"
                )
            if not hits:
                self._check(numbered.entry, width)
                self._insert(numbered)

    def _following(self, trust: Trust) -> tuple[int, int]:
        """The number of the next document of a partition, and the id of its first passage."""
        low, high = bounds(trust)
        number, passage = (
            self._rows(
                f"SELECT coalesce(max({column}), ?) + 1 FROM {table} WHERE {column} BETWEEN ? AND ?",
                low - 1,
                low,
                high,
            )[0][0]
            for table, column in (("documents", "number"), ("passages", "passage_id"))
        )
        return number, passage

    def _check(self, entry: IndexEntry, width: int) -> None:
        """Raises CorpusError for a document that cannot be kept, and where its id is taken."""
        record_types.check_entry(entry, width)
        if self._rows("SELECT 1 FROM documents WHERE doc_id = ?", entry.document.doc_id):
            name = record_types.name_of(entry.document)
            raise CorpusError(
                f"{name} is in the store already: give it another id, or remove the other first"
            )

    def _unembedded(self, number: int) -> Numbered | None:
        """The document, None where it has its vectors or is gone."""
        if not self._rows(self.WAITING, number):
            return None
        with self._mapped():
            found = self._numbered_at(number)
            record_types.check_passages(found.entry)
            return found

    def _numbers_of(self, path: str) -> list[int]:
        """The numbers of the documents that came from a file."""
        return [
            row[0] for row in self._rows("SELECT number FROM documents WHERE path = ? ORDER BY number", path)
        ]

    def _numbers_added(self, doc_id: str) -> list[int]:
        """The number of a document that came from no file, if there is one."""
        ask = "SELECT number FROM documents WHERE doc_id = ? AND path IS NULL"
        return [row[0] for row in self._rows(ask, storable(doc_id))]

    def _put(self, record: FileRecord) -> None:
        """Insert the record, or put it in the place of the one with its path."""
        self._change(
            "INSERT INTO files(path, sha256, size, mtime_ns, trust, root, author, metadata)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT(path) DO UPDATE SET sha256 = excluded.sha256, size = excluded.size,"
            " mtime_ns = excluded.mtime_ns, trust = excluded.trust, root = excluded.root, author = excluded.author,"
            " metadata = excluded.metadata",
            *record.row,
        )

    def _drop(self, path: str) -> None:
        self._remove(self._numbers_of(path))
        self._change("DELETE FROM files WHERE path = ?", path)


def open_store(
    place: str | Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
) -> Store:
    """The store at a path or address; with `create` a missing one is made. Waits `timeout` seconds for a lock.

    `read_only` may read from a replica of a database. Raises StoreError, InputError for an address that cannot be used,
    and MissingExtra where the part for it is not installed.
    """
    chosen = place if isinstance(place, StoreUrl) else as_place(place)
    if isinstance(chosen, StoreUrl) and chosen.scheme not in SCHEMES:
        raise InputError(
            f"there is no kind of store {chosen.scheme[:40]!r}: give the path of a file, or an address that begins "
            f"with {', '.join(f'{name}://' for name in SCHEMES)}"
        )
    name = DATABASE if isinstance(chosen, StoreUrl) else FILE
    module, _, class_name = name.partition(":")
    try:
        keeper: type[Store] = getattr(import_module(module), class_name)
    except ModuleNotFoundError as error:
        if isinstance(chosen, StoreUrl) and (error.name or "").partition(".")[0] in LIBRARIES:
            raise MissingExtra(f"{error.name}, which a store at {chosen} needs,", EXTRA) from error
        raise
    return keeper.open(chosen, create=create, read_only=read_only, timeout=timeout)
