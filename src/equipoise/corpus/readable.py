"""What can be read from a store by names and numbers, whatever keeps it; see `corpus.store`.

Statements here are read by every kind of database: `?` stands for a value.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from equipoise.core.addresses import Place
from equipoise.core.errors import CorpusError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Document, Passage, Span, Trust
from equipoise.core.where import Where
from equipoise.corpus import contents, record_types
from equipoise.corpus.partition import Partition
from equipoise.corpus.record_types import Counts, Damage, FileRecord, ListedDocument, storable, text
from equipoise.corpus.scope import DocumentScope


class Readable(ABC):
    """Documents, passages and files by their names."""

    path: Place
    """Where the store is; as text it is fit for people."""
    LISTED: str
    """The statement whose rows `record_types.read_listed` reads."""
    _partitions: Mapping[Trust, Partition]

    @property
    @abstractmethod
    def folder(self) -> Path:
        """The folder that the names of files in this store are relative to."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Inside it every read of this thread sees the store as at one moment, whatever others write."""

    def partition(self, trust: Trust, where: Where | None = None) -> Partition:
        """The documents of this trust, or those of them that `where` matches, searched by themselves. Keep a partition
        with a filter as long as it is used again: what it has in memory goes with it."""
        return self._partitions[trust] if where is None else self._part(DocumentScope(trust, where))

    def counts(self) -> Counts:
        """How much the store holds, all partitions together."""
        with self.snapshot():
            ((files,),) = self._rows("SELECT count(*) FROM files")
            return Counts.of(files, {trust: part.counts() for trust, part in self._partitions.items()})

    def files(self) -> dict[str, FileRecord]:
        """Every indexed file by its path relative to `folder`."""
        with self._mapped():
            found = self._rows(f"{record_types.FILE} ORDER BY path")
            return {row[0]: record_types.read_file(row) for row in found}

    def file(self, path: str) -> FileRecord | None:
        """The file with this path; None where it is not indexed."""
        with self._mapped():
            hits = self._rows(f"{record_types.FILE} WHERE path = ?", path)
            return record_types.read_file(hits[0]) if hits else None

    def listing(self) -> tuple[ListedDocument, ...]:
        """Every document without its text, in the order of the store."""
        with self._mapped():
            return tuple(map(record_types.read_listed, self._rows(self.LISTED)))

    def doc_ids(self) -> tuple[str, ...]:
        """Every document, in the order of the store."""
        return self._texts("SELECT doc_id FROM documents ORDER BY number")

    def unfiled(self) -> tuple[str, ...]:
        """Documents that came from no file: `add_documents` put them in."""
        return self._texts("SELECT doc_id FROM documents WHERE path IS NULL ORDER BY number")

    @abstractmethod
    def subjects(self, most: int, where: Where | None = None) -> tuple[str, ...]:
        """The `most` titles with the most passages, of trusted documents that `where` matches."""

    def file_of(self, doc_id: str) -> str | None:
        """The path (as in `files`) a document came from; None for an unknown one or one from no file."""
        hits = self._rows("SELECT path FROM documents WHERE doc_id = ?", storable(doc_id))
        return hits[0][0] if hits else None

    def document(self, doc_id: str) -> Document:
        """The document. Raises CorpusError for an unknown one."""
        hits = self._rows(f"{record_types.DOCUMENT} WHERE doc_id = ?", storable(doc_id))
        if not hits:
            raise record_types.unknown(doc_id, self.path)
        with self._mapped():
            return record_types.read_document(hits[0])

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """The documents by id. Raises CorpusError for an unknown one."""
        with self.snapshot():
            return {doc_id: self.document(doc_id) for doc_id in dict.fromkeys(doc_ids)}

    def passages(self, passage_ids: Iterable[int]) -> tuple[Passage, ...]:
        """The passages in the order asked for. Raises CorpusError for an unknown one."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        with self.snapshot():
            places = self.places(wanted)
            documents = self.documents(place.doc_id for place in places)
            pairs = zip(wanted, places, strict=True)
            return tuple(record_types.read_passage(i, place, documents[place.doc_id]) for i, place in pairs)

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """Where the passages lie, in the order asked for. Raises CorpusError for an unknown one."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        ask = f"{record_types.PLACE} WHERE p.passage_id IN ({','.join('?' * len(wanted)) or 'NULL'})"
        with self._mapped():
            places = dict(map(record_types.read_place, self._rows(ask, *wanted)))
        if unknown := next((passage_id for passage_id in wanted if passage_id not in places), None):
            self._complain(unknown)
        return tuple(places[passage_id] for passage_id in wanted)

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """The passages of a document, in its order."""
        ask = f"{record_types.PLACE} WHERE d.doc_id = ? ORDER BY p.passage_id"
        with self.snapshot():
            hits = self._rows(ask, storable(doc_id))
            if not hits:
                return ()
            document = self.document(doc_id)
            places = map(record_types.read_place, hits)
            return tuple(record_types.read_passage(number, place, document) for number, place in places)

    def encoder_name(self) -> str:
        """The name of the encoder whose vectors the store holds; "" before one was bound."""
        return self._meta().get("encoder", "")

    def check_encoder(self, encoder: Encoder) -> None:
        """Raises StoreError where the store's vectors are not of `encoder`."""
        record_types.check_meta(self.path, self._meta(), record_types.meta_of(encoder))

    @abstractmethod
    def contents(self) -> Iterable[contents.Row]:
        """Every row that the store holds; see `corpus.contents`."""

    def written(self) -> str:
        """A mark of all changes so far, for `read_after`; "" where every read sees them anyway."""
        return ""

    def read_after(self, mark: str) -> None:  # noqa: B027
        """From now on reads see at least the changes made before the mark, whichever replica of a database is asked."""

    def digest(self) -> str:
        """sha256 (hex) over everything the store holds, but not how it lays it out: stores of every kind with the
        same content have the same digest."""
        return contents.digest(self.contents())

    @abstractmethod
    def _mapped(self) -> AbstractContextManager[None]:
        """A context that turns errors of the database, and Damage, into a StoreError."""

    @abstractmethod
    def _rows(self, ask: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows that a statement finds."""

    @abstractmethod
    def _each(self, ask: str, *values: object) -> Iterable[tuple[Any, ...]]:
        """The rows that a statement finds, one by one, inside a snapshot: there may be millions."""

    @abstractmethod
    def _part(self, scope: DocumentScope) -> Partition: ...

    @abstractmethod
    def _meta(self) -> dict[str, str]: ...

    def _texts(self, ask: str) -> tuple[str, ...]:
        with self._mapped():
            return tuple(text(row[0]) for row in self._rows(ask))

    def _complain(self, passage_id: int) -> None:
        """Raises Damage for a passage whose document is missing, CorpusError for one that is not there at all."""
        if self._rows("SELECT 1 FROM passages WHERE passage_id = ?", passage_id):
            with self._mapped():
                raise Damage(f"passage {passage_id} has no document")
        raise CorpusError(f"there is no passage {passage_id} in {self.path}: it may have been replaced")
