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
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus import contents, pending, records, verification
from equipoise.corpus.common import Alone, Closing
from equipoise.corpus.fulltext import FullText, matching
from equipoise.corpus.keywords import LOOKED_AT, Keywords
from equipoise.corpus.nearest import EXACT_UP_TO, Nearest
from equipoise.corpus.pending import Pending
from equipoise.corpus.records import Counts, Damage, Entry, FileRecord, Ids, Listed, Numbered
from equipoise.corpus.schema import connect, mapped
from equipoise.corpus.settling import MORE, settled
from equipoise.corpus.spelling import Correction
from equipoise.text.tokens import content_words


class SqliteStore(Alone, Closing):
    """An open store file; see `store.Store`. Each method raises StoreError where the file fails."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = RLock()
        self._keywords = Keywords(FullText(connection))
        self._writes = 0
        self._seen: tuple[int, int] | None = None
        self._nearest = Nearest(connection)
        self._counts: Counts | None = None

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
            self._keywords.close()
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

    def counts(self) -> Counts:
        """Files, documents, passages, passages without vectors, trusted documents; kept in memory as `matrix`."""
        with self.snapshot():
            self._notice_changes()
            if self._counts is None:
                tables = ("files", "documents", "passages", "documents WHERE trust = 'trusted'")
                files, documents, passages, trusted = (
                    self._one(f"SELECT count(*) FROM {t}")[0] for t in tables
                )
                self._counts = Counts(files, documents, passages, pending.count(self._connection), trusted)
            return self._counts

    def files(self) -> dict[str, FileRecord]:
        """Every indexed file by its path relative to the store's folder."""
        with mapped(self.path):
            return {row[0]: records.read_file(row) for row in self._rows(f"{records.FILE} ORDER BY path")}

    def file(self, path: str) -> FileRecord | None:
        """The file with this path; None where it is not indexed."""
        with mapped(self.path):
            hits = self._rows(f"{records.FILE} WHERE path = ?", (path,))
            return records.read_file(hits[0]) if hits else None

    def listing(self) -> tuple[Listed, ...]:
        """Every document without its text, in the order of the store."""
        with mapped(self.path):
            return tuple(map(records.read_listed, self._rows(records.LISTED)))

    def doc_ids(self) -> tuple[str, ...]:
        """Every document, in the order of the store."""
        return self._texts("SELECT doc_id FROM documents ORDER BY number")

    def unfiled(self) -> tuple[str, ...]:
        """Documents that came from no file: `add_documents` put them in."""
        return self._texts("SELECT doc_id FROM documents WHERE path IS NULL ORDER BY number")

    def subjects(self, most: int) -> tuple[str, ...]:
        """See `store.Reading`: what is shown to everybody is not for anybody to write."""
        rows = self._rows(
            "SELECT title FROM documents JOIN vectors ON document = number WHERE trust = ? AND title <> ''"
            " GROUP BY title ORDER BY sum(count) DESC, title LIMIT ?",
            (Trust.TRUSTED.value, most),
        )
        return tuple(row[0] for row in rows)

    def file_of(self, doc_id: str) -> str | None:
        """The path (as in `files`) a document came from; None for an unknown one or one from no file."""
        rows = self._rows("SELECT path FROM documents WHERE doc_id = ?", (doc_id,))
        return rows[0][0] if rows else None

    def document(self, doc_id: str) -> Document:
        """The document. Raises CorpusError for an unknown one."""
        rows = self._rows(f"{records.DOCUMENT} WHERE doc_id = ?", (doc_id,))
        if not rows:
            raise CorpusError(f"there is no document {doc_id!r} in {self.path}: it may have been replaced")
        with mapped(self.path):
            return records.read_document(rows[0])

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
                records.read_passage(number, place, documents[place.doc_id]) for number, place in pairs
            )

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """Where the passages lie, in the order asked for. Raises CorpusError for an unknown one."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        ask = f"{records.PLACE} WHERE p.passage_id IN ({','.join('?' * len(wanted))})"
        with mapped(self.path):
            places = dict(records.read_place(row) for row in self._rows(ask, tuple(wanted)))
        if unknown := [passage_id for passage_id in wanted if passage_id not in places]:
            self._complain(unknown[0])
        return tuple(places[passage_id] for passage_id in wanted)

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """The passages of a document, in its order."""
        with self.snapshot():
            rows = self._rows(f"{records.PLACE} WHERE d.doc_id = ? ORDER BY p.passage_id", (doc_id,))
            document = self.document(doc_id) if rows else None
            places = [records.read_place(row) for row in rows] if document else []
            return tuple(
                records.read_passage(number, place, document) for number, place in places if document
            )

    def matrix(self) -> tuple[Ids, Array]:
        """See `store.Searching`: kept in memory, read again when this or another process has changed the store."""
        with self.snapshot():
            self._notice_changes()
            return self._nearest.matrix()

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `store.Searching` and `corpus.nearest`."""
        with self.snapshot():
            self._notice_changes()
            if k < 1 or not (exact or self.counts().passages <= EXACT_UP_TO):
                return self._nearest.search(vector, k, exact=exact)
            near = [passage_id for passage_id, _ in self._nearest.search(vector, k + MORE, exact=exact)]
            return settled(near, self._nearest.vectors(near)[1], vector, k)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """See `store.Searching`."""
        with self.snapshot():
            self._notice_changes()
            return self._nearest.vectors(passage_ids)

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """See `store.Searching`."""
        with self.snapshot():
            self._notice_changes()
            return self._keywords.corrections(text, known, self._holding)

    def unheard(self, text: str) -> tuple[str, ...]:
        """See `store.Searching`."""
        with self.snapshot():
            self._notice_changes()
            return tuple(self._keywords.unheard(content_words(text)))

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """At most `k` (passage_id, score) for any text, best first, ties by id; a score is 0 or more."""
        if k < 1:
            return []
        with self.snapshot():
            self._notice_changes()
            match = matching(self._keywords.plan(query))
            if not match.expression:
                return []
            ask = "SELECT rowid, bm25(words) AS s FROM words WHERE words MATCH ? ORDER BY s, rowid LIMIT ?"
            return [(row[0], -row[1] / match.times) for row in self._rows(ask, (match.expression, k))]

    def pending(self) -> list[tuple[int, int]]:
        """(number, passages) of every document that words find and that has no vectors yet, in the store's order."""
        with self.snapshot():
            return pending.waiting(self._connection)

    def unembedded(self, numbers: Iterable[int]) -> tuple[Pending, ...]:
        """See `store.Embedding`."""
        with self.snapshot():
            return pending.read(self._connection, numbers)

    def encoder_name(self) -> str:
        """Whose vectors the store holds, "" before an encoder was bound."""
        return self._meta().get("encoder", "")

    # Writing

    def bind_encoder(self, encoder: Encoder) -> None:
        """Record whose vectors the store holds. Raises StoreError where it already holds another's."""
        if self._meta() != records.meta_of(encoder):
            with self._writing():
                if self.counts().documents == 0:
                    ask = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
                    self._connection.executemany(ask, records.meta_of(encoder).items())
        self.check_encoder(encoder)

    def check_encoder(self, encoder: Encoder) -> None:
        """Raises StoreError where the store's vectors are not of `encoder`."""
        records.check_encoder(self.path, self._meta(), encoder)

    def replace_file(self, record: FileRecord, entries: Sequence[Entry]) -> None:
        """Put a file's documents in the place of those it had before, if any."""
        with self._writing():
            records.remove(self._connection, records.numbers_of_file(self._connection, record.path))
            records.write_file(self._connection, record)
            records.add(self._connection, entries, record.path)

    def add_vectors(self, made: Sequence[tuple[Pending, Array]]) -> None:
        """See `store.Embedding`."""
        with self._writing():
            pending.write(self._connection, made)

    def drop_pending(self, document: Pending) -> None:
        """Take the file of a document out for which there are no vectors, unless it has changed since it was read."""
        with self._writing():
            pending.drop_file(self._connection, document)

    def update_file(self, record: FileRecord) -> None:
        """Record a new size, time or trust of a file whose content is the same."""
        with self._writing():
            records.write_file(self._connection, record)
            values = (record.trust.value, record.path)
            self._connection.execute("UPDATE documents SET trust = ? WHERE path = ?", values)

    def set_trust(self, doc_ids: Iterable[str], trust: Trust) -> None:
        """Record another trust of documents, and of the files they came from. Raises CorpusError for unknown ones."""
        with self._writing():
            for doc_id in doc_ids:
                ask = "UPDATE documents SET trust = ? WHERE doc_id = ?"
                if not self._connection.execute(ask, (trust.value, doc_id)).rowcount:
                    raise CorpusError(f"there is no document {doc_id!r} in {self.path}")
                ask = "UPDATE files SET trust = ? WHERE path = (SELECT path FROM documents WHERE doc_id = ?)"
                self._connection.execute(ask, (trust.value, doc_id))

    def drop_file(self, path: str) -> None:
        """Take a file and its documents out; nothing happens where there is no such file."""
        with self._writing():
            records.remove(self._connection, records.numbers_of_file(self._connection, path))
            self._connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def add_documents(self, entries: Sequence[Entry]) -> None:
        """Add documents that come from no file. Raises CorpusError where an id is taken."""
        with self._writing():
            records.add(self._connection, entries, None)

    def remove_documents(self, doc_ids: Iterable[str]) -> None:
        """See `store.Writing`."""
        with self._writing():
            ask = "SELECT number FROM documents WHERE doc_id = ? AND path IS NULL"
            hits = {doc_id: self._rows(ask, (doc_id,)) for doc_id in doc_ids}
            if unknown := [doc_id for doc_id, rows in hits.items() if not rows]:
                raise CorpusError(f"document {unknown[0]!r} was not added to {self.path} by add_documents")
            records.remove(self._connection, [rows[0][0] for rows in hits.values()])

    def numbered(self) -> Iterator[Numbered]:
        """See `store.Writing`."""
        with self.snapshot():
            yield from records.numbered(self._connection)

    def restore(self, files: Sequence[FileRecord], documents: Sequence[Numbered]) -> None:
        """See `store.Writing`."""
        with self._writing():
            for record in files:
                records.write_file(self._connection, record)
            records.restore(self._connection, documents)

    def optimize(self) -> None:
        """See `store.Writing`: one or two seconds for 100,000 passages."""
        with self._writing():
            self._connection.execute("INSERT INTO words(words) VALUES ('optimize')")

    def verify(self) -> None:
        """See `store.Reading`."""
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

    def _holding(self, stem: str) -> tuple[Passage, ...]:
        """Some passages in which a stem stands."""
        ask = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
        return self.passages(row[0] for row in self._rows(ask, (f'"{stem}"', LOOKED_AT)))

    def _meta(self) -> dict[str, str]:
        with self._lock, mapped(self.path):
            return records.read_meta(self._connection)

    def _texts(self, ask: str) -> tuple[str, ...]:
        with mapped(self.path):
            return tuple(records.text(row[0]) for row in self._rows(ask))

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

    def _notice_changes(self) -> None:
        """Forget what is in memory when the file has changed. Call it inside a snapshot, after a read."""
        self._one("SELECT count(*) FROM meta")
        now = (self._one("PRAGMA data_version")[0], self._writes)
        if now != self._seen:
            self._seen, self._counts = now, None
            self._nearest.forget()
            self._keywords.forget()
