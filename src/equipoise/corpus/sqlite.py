"""The store as one SQLite file with documents, passages, vectors and full text search: the default.

Every change is one transaction, so a process killed at any moment loses at most the change in work. Many
processes may read while one writes. A `SqliteStore` may be used from several threads; calls take turns.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any, Self

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.metadata import Scalar, packed
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.core.where import Where
from equipoise.corpus import contents, pending, record_types, rows, verification
from equipoise.corpus.common import Alone, Closing
from equipoise.corpus.fulltext import show_words, words_of
from equipoise.corpus.pending import Pending
from equipoise.corpus.record_types import Counts, Damage, FileRecord, IndexEntry, ListedDocument, Numbered
from equipoise.corpus.schema import connect, mapped
from equipoise.corpus.scope import SQLITE, DocumentScope
from equipoise.corpus.sqlite_partition import SqlitePartition
from equipoise.corpus.stems import Stems


class SqliteStore(Alone, Closing):
    """An open store file; see `store.Store`. Each method raises StoreError where the file fails."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = RLock()
        self._writes = 0
        self._stems = Stems()
        for trust in Trust:
            show_words(connection, trust)
        self._partitions = {trust: self._part(DocumentScope(trust)) for trust in Trust}

    @classmethod
    def open(
        cls, path: Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
    ) -> Self:
        """The store at `path`; with `create` a missing one is made. Waits `timeout` seconds for a lock."""
        if isinstance(path, StoreUrl):
            raise StoreError(f"{path} is not a file")
        connection = connect(path, create=create, read_only=read_only, timeout=timeout)
        with mapped(path):
            return cls(path, connection)

    def close(self) -> None:
        """Close the file."""
        with self._lock, mapped(self.path):
            self._stems.close()
            self._connection.close()

    @property
    def folder(self) -> Path:
        """The folder of the file: both may move together."""
        return Path(os.path.realpath(self.path.parent))

    # Reading

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside it every read sees the store as at one moment, whatever other processes write."""
        with self._lock, mapped(self.path):
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def partition(self, trust: Trust, where: Where | None = None) -> SqlitePartition:
        """See `store.Readable`."""
        return self._partitions[trust] if where is None else self._part(DocumentScope(trust, where))

    def counts(self) -> Counts:
        """See `store.Readable`: kept in memory until the store changes, but for the files."""
        with self.snapshot():
            files = self._one("SELECT count(*) FROM files")[0]
            return Counts.of(files, {t: part.counts() for t, part in self._partitions.items()})

    def files(self) -> dict[str, FileRecord]:
        """Every indexed file by its path relative to the store's folder."""
        with mapped(self.path):
            return {
                row[0]: record_types.read_file(row)
                for row in self._rows(f"{record_types.FILE} ORDER BY path")
            }

    def file(self, path: str) -> FileRecord | None:
        """The file with this path; None where it is not indexed."""
        with mapped(self.path):
            hits = self._rows(f"{record_types.FILE} WHERE path = ?", (path,))
            return record_types.read_file(hits[0]) if hits else None

    def listing(self) -> tuple[ListedDocument, ...]:
        """Every document without its text, in the order of the store."""
        with mapped(self.path):
            return tuple(map(record_types.read_listed, self._rows(record_types.LISTED)))

    def doc_ids(self) -> tuple[str, ...]:
        """Every document, in the order of the store."""
        return self._texts("SELECT doc_id FROM documents ORDER BY number")

    def unfiled(self) -> tuple[str, ...]:
        """Documents that came from no file: `add_documents` put them in."""
        return self._texts("SELECT doc_id FROM documents WHERE path IS NULL ORDER BY number")

    def subjects(self, most: int, where: Where | None = None) -> tuple[str, ...]:
        """See `store.Readable`: what is shown to everybody is not for anybody to write."""
        inside = DocumentScope(Trust.TRUSTED, where).documents("number", SQLITE)
        hits = self._rows(
            f"SELECT title FROM documents JOIN vectors ON document = number WHERE {inside.text} AND title <> ''"
            " GROUP BY title ORDER BY sum(count) DESC, title LIMIT ?",
            (*inside.values, most),
        )
        return tuple(row[0] for row in hits)

    def file_of(self, doc_id: str) -> str | None:
        """The path (as in `files`) a document came from; None for an unknown one or one from no file."""
        hits = self._rows("SELECT path FROM documents WHERE doc_id = ?", (doc_id,))
        return hits[0][0] if hits else None

    def document(self, doc_id: str) -> Document:
        """The document. Raises CorpusError for an unknown one."""
        hits = self._rows(f"{record_types.DOCUMENT} WHERE doc_id = ?", (doc_id,))
        if not hits:
            raise record_types.unknown(doc_id, self.path)
        with mapped(self.path):
            return record_types.read_document(hits[0])

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """The documents by id. Raises CorpusError for an unknown one."""
        with self.snapshot():
            return {doc_id: self.document(doc_id) for doc_id in dict.fromkeys(doc_ids)}

    def passage(self, passage_id: int) -> Passage:
        """The passage. Raises CorpusError for an unknown one."""
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Iterable[int]) -> tuple[Passage, ...]:
        """The passages in the order asked for. Raises CorpusError for an unknown one."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        with self.snapshot():
            places = self.places(wanted)
            documents = self.documents(place.doc_id for place in places)
            pairs = zip(wanted, places, strict=True)
            return tuple(
                record_types.read_passage(number, place, documents[place.doc_id]) for number, place in pairs
            )

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """Where the passages lie, in the order asked for. Raises CorpusError for an unknown one."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        ask = f"{record_types.PLACE} WHERE p.passage_id IN ({','.join('?' * len(wanted))})"
        with mapped(self.path):
            places = dict(record_types.read_place(row) for row in self._rows(ask, tuple(wanted)))
        if unknown := [passage_id for passage_id in wanted if passage_id not in places]:
            self._complain(unknown[0])
        return tuple(places[passage_id] for passage_id in wanted)

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """The passages of a document, in its order."""
        with self.snapshot():
            hits = self._rows(f"{record_types.PLACE} WHERE d.doc_id = ? ORDER BY p.passage_id", (doc_id,))
            document = self.document(doc_id) if hits else None
            places = [record_types.read_place(row) for row in hits] if document else []
            return tuple(
                record_types.read_passage(number, place, document) for number, place in places if document
            )

    def pending(self) -> list[tuple[int, int]]:
        """(number, passages) of every document that words find and that has no vectors yet, in the store's order."""
        with self.snapshot():
            return pending.waiting(self._connection)

    def unembedded(self, numbers: Iterable[int]) -> tuple[Pending, ...]:
        """See `store.Embeds`."""
        with self.snapshot():
            return pending.read(self._connection, numbers)

    def encoder_name(self) -> str:
        """Whose vectors the store holds, "" before an encoder was bound."""
        return self._meta().get("encoder", "")

    # Writing

    def bind_encoder(self, encoder: Encoder) -> None:
        """Record whose vectors the store holds. Raises StoreError where it already holds another's."""
        if self._meta() != record_types.meta_of(encoder):
            with self._writing():
                if self.counts().documents == 0:
                    ask = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
                    self._connection.executemany(ask, record_types.meta_of(encoder).items())
        self.check_encoder(encoder)

    def check_encoder(self, encoder: Encoder) -> None:
        """Raises StoreError where the store's vectors are not of `encoder`."""
        record_types.check_encoder(self.path, self._meta(), encoder)

    def replace_file(self, record: FileRecord, entries: Sequence[IndexEntry]) -> None:
        """Put a file's documents in the place of those it had before, if any."""
        with self._writing():
            rows.remove(self._connection, rows.numbers_of_file(self._connection, record.path))
            rows.write_file(self._connection, record)
            rows.add(self._connection, entries, record.path)

    def add_vectors(self, made: Sequence[tuple[Pending, Array]]) -> None:
        """See `store.Embeds`."""
        with self._writing():
            pending.write(self._connection, made)

    def drop_pending(self, document: Pending) -> None:
        """Take the file of a document out for which there are no vectors, unless it has changed since it was read."""
        with self._writing():
            pending.drop_file(self._connection, document)

    def update_file(
        self, record: FileRecord, metadata: Mapping[str, Mapping[str, Scalar]] = MappingProxyType({})
    ) -> None:
        """See `store.Writable`."""
        with self._writing():
            ask = "UPDATE documents SET metadata = ? WHERE path = ? AND doc_id = ?"
            for doc_id, known in metadata.items():
                self._connection.execute(ask, (packed(known), record.path, doc_id))
            rows.write_file(self._connection, record)
            self._connection.execute(
                "UPDATE documents SET author = ? WHERE path = ?", (record.author, record.path)
            )
            rows.move(self._connection, rows.numbers_of_file(self._connection, record.path), record.trust)

    def set_trust(self, doc_ids: Iterable[str], trust: Trust) -> None:
        """See `store.Writable`."""
        with self._writing():
            for doc_id in doc_ids:
                hits = self._rows("SELECT number, path FROM documents WHERE doc_id = ?", (doc_id,))
                if not hits:
                    raise CorpusError(f"there is no document {doc_id!r} in {self.path}")
                ((number, path),) = hits
                self._connection.execute("UPDATE files SET trust = ? WHERE path = ?", (trust.value, path))
                rows.move(self._connection, [number], trust)

    def rename(self, doc_id: str, new_id: str, source: str) -> None:
        """See `store.Writable`."""
        record_types.check_keepable(f"the name {source!r}", (new_id, source))
        with self._writing():
            if self._rows("SELECT 1 FROM documents WHERE doc_id = ?", (new_id,)):
                raise CorpusError(f"there is a document {new_id!r} in {self.path} already")
            ask = "UPDATE documents SET doc_id = ?, source = ? WHERE doc_id = ?"
            if not self._connection.execute(ask, (new_id, source, doc_id)).rowcount:
                raise CorpusError(f"there is no document {doc_id!r} in {self.path}")

    def drop_file(self, path: str) -> None:
        """Take a file and its documents out; nothing happens where there is no such file."""
        with self._writing():
            rows.remove(self._connection, rows.numbers_of_file(self._connection, path))
            self._connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def add_documents(self, entries: Sequence[IndexEntry], *, again: bool = False) -> None:
        """See `store.Writable`."""
        with self._writing():
            ask = "SELECT number FROM documents WHERE doc_id = ? AND path IS NULL"
            for entry in entries if again else ():
                rows.remove(self._connection, [row[0] for row in self._rows(ask, (entry.document.doc_id,))])
            rows.add(self._connection, entries, None)

    def remove_documents(self, doc_ids: Iterable[str]) -> None:
        """See `store.Writable`."""
        with self._writing():
            ask = "SELECT number FROM documents WHERE doc_id = ? AND path IS NULL"
            hits = {doc_id: self._rows(ask, (doc_id,)) for doc_id in doc_ids}
            if unknown := [doc_id for doc_id, found in hits.items() if not found]:
                raise CorpusError(f"document {unknown[0]!r} was not added to {self.path} by add_documents")
            rows.remove(self._connection, [found[0][0] for found in hits.values()])

    def numbered(self) -> Iterator[Numbered]:
        """See `store.Writable`."""
        with self.snapshot():
            yield from rows.numbered(self._connection)

    def restore(self, files: Sequence[FileRecord], documents: Sequence[Numbered]) -> None:
        """See `store.Writable`."""
        with self._writing():
            for record in files:
                rows.write_file(self._connection, record)
            rows.restore(self._connection, documents)

    def optimize(self) -> None:
        """See `store.Writable`: one or two seconds for 100,000 passages."""
        with self._writing():
            for words in map(words_of, Trust):
                self._connection.execute(f"INSERT INTO {words}({words}) VALUES ('optimize')")

    def verify(self) -> None:
        """See `store.Readable`."""
        with self.snapshot():
            verification.verify(self._connection)

    def contents(self) -> Iterator[contents.Row]:
        """Every row; see `corpus.contents`."""
        with self.snapshot():
            yield from contents.of_file(self._connection)

    def digest(self) -> str:
        """sha256 (hex) over everything the store holds, but not how SQLite lays it out in the file."""
        return contents.digest(self.contents())

    # Inside

    def _complain(self, passage_id: int) -> None:
        """Raises Damage for a passage whose document is missing, CorpusError for one that is not there at all."""
        if self._rows("SELECT 1 FROM passages WHERE passage_id = ?", (passage_id,)):
            with mapped(self.path):
                raise Damage(f"passage {passage_id} has no document")
        raise CorpusError(f"there is no passage {passage_id} in {self.path}: it may have been replaced")

    def _meta(self) -> dict[str, str]:
        with self._lock, mapped(self.path):
            return rows.read_meta(self._connection)

    def _texts(self, ask: str) -> tuple[str, ...]:
        with mapped(self.path):
            return tuple(record_types.text(row[0]) for row in self._rows(ask))

    def _rows(self, ask: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock, mapped(self.path):
            return self._connection.execute(ask, values).fetchall()

    def _one(self, ask: str, values: tuple[object, ...] = ()) -> tuple[Any, ...]:
        return self._rows(ask, values)[0]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it is kept or, on any error, nothing."""
        with self._lock, mapped(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._writes += 1

    @contextmanager
    def current(self) -> Iterator[tuple[int, int]]:
        """A snapshot; what it sees is the same as in another one with the same two numbers."""
        with self.snapshot():
            self._one("SELECT count(*) FROM meta")
            yield self._one("PRAGMA data_version")[0], self._writes

    def _part(self, scope: DocumentScope) -> SqlitePartition:
        return SqlitePartition(self, self._connection, self._stems, scope)
