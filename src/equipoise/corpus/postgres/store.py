"""The store in Postgres with pgvector, for many documents and several machines.

Every change is one transaction on the host that takes changes, one at a time; a question reads one snapshot
(REPEATABLE READ) on one connection. Exact search and BM25 give what a store file gives for the same documents. A
change is kept once its method has returned: on how many hosts, the database's `synchronous_commit` says.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.metadata import Scalar, packed
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.core.where import Where
from equipoise.corpus import contents, record_types
from equipoise.corpus.common import Closing
from equipoise.corpus.pending import Pending
from equipoise.corpus.postgres import migrations, rows, searching, verification
from equipoise.corpus.postgres.connections import Link, mapped
from equipoise.corpus.postgres.partition import PostgresPartition
from equipoise.corpus.postgres.session import Session
from equipoise.corpus.record_types import Counts, FileRecord, IndexEntry, ListedDocument, Numbered
from equipoise.corpus.scope import POSTGRES, DocumentScope
from equipoise.corpus.stems import Stems


class PostgresStore(Closing):
    """An open store in Postgres; see `store.Store`. A method raises StoreLost where its connection broke."""

    def __init__(self, url: StoreUrl, *, read_only: bool, timeout: float) -> None:
        self.path = url
        self._session = Session(url, read_only=read_only, timeout=timeout)
        self._stems = Stems()
        self._remembered = searching.Remembered()
        self._partitions = {trust: self._part(DocumentScope(trust)) for trust in Trust}

    @classmethod
    def open(
        cls, path: Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
    ) -> Self:
        """The store at an address; with `create` it is made there, and one of an older version brought up to date.

        With `read_only` replicas are asked where there are some. Waits `timeout` seconds for a host to read from.
        """
        if not isinstance(path, StoreUrl):
            raise StoreError(f"{path} is a file, not an address")
        store = cls(path, read_only=read_only, timeout=timeout)
        try:
            with store._session.bare(at_once=True) as link:
                address = store._session.address
                migrations.prepare(link, address, path, create=create, read_only=read_only)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def folder(self) -> Path:
        """The root: the database may be on another machine than the files."""
        return Path(Path.cwd().anchor)

    def close(self) -> None:
        """Close all connections, and let go of what was claimed."""
        self._session.close()
        self._stems.close()

    # Reading

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside it every read of this thread is on one connection and sees the store as at one moment."""
        with self._session.reading():
            yield

    def written(self) -> str:
        """See `store.Readable`."""
        return self._session.written()

    def read_after(self, mark: str) -> None:
        """See `store.Readable`."""
        self._session.read_after(mark)

    def partition(self, trust: Trust, where: Where | None = None) -> PostgresPartition:
        """See `store.Readable`."""
        return self._partitions[trust] if where is None else self._part(DocumentScope(trust, where))

    def counts(self) -> Counts:
        """See `store.Readable`; kept in memory until the store changes."""
        with self._session.reading() as link:
            return self._remembered.of(link, "counts", self._counted)

    def files(self) -> dict[str, FileRecord]:
        """See `store.Readable`."""
        with mapped(self.path):
            return {
                row[0]: record_types.read_file(row)
                for row in self._rows(f"{record_types.FILE} ORDER BY path")
            }

    def file(self, path: str) -> FileRecord | None:
        """See `store.Readable`."""
        with mapped(self.path):
            hits = self._rows(f"{record_types.FILE} WHERE path = %s", path)
            return record_types.read_file(hits[0]) if hits else None

    def listing(self) -> tuple[ListedDocument, ...]:
        """See `store.Readable`."""
        with mapped(self.path):
            return tuple(map(record_types.read_listed, self._rows(rows.LISTED)))

    def doc_ids(self) -> tuple[str, ...]:
        """See `store.Readable`."""
        return tuple(row[0] for row in self._rows("SELECT doc_id FROM documents ORDER BY number"))

    def unfiled(self) -> tuple[str, ...]:
        """See `store.Readable`."""
        ask = "SELECT doc_id FROM documents WHERE path IS NULL ORDER BY number"
        return tuple(row[0] for row in self._rows(ask))

    def subjects(self, most: int, where: Where | None = None) -> tuple[str, ...]:
        """See `store.Readable`."""
        inside = DocumentScope(Trust.TRUSTED, where).documents("number", POSTGRES)
        ask = (
            f"SELECT title FROM documents WHERE {inside.text} AND title <> ''"
            ' GROUP BY title ORDER BY sum(count) DESC, title COLLATE "C" LIMIT %s'
        )
        return tuple(row[0] for row in self._rows(ask, *inside.values, most))

    def file_of(self, doc_id: str) -> str | None:
        """See `store.Readable`."""
        hits = self._rows("SELECT path FROM documents WHERE doc_id = %s", searching.storable(doc_id))
        return hits[0][0] if hits else None

    def document(self, doc_id: str) -> Document:
        """See `store.Readable`."""
        hits = self._rows(f"{record_types.DOCUMENT} WHERE doc_id = %s", searching.storable(doc_id))
        if not hits:
            raise record_types.unknown(doc_id, self.path)
        with mapped(self.path):
            return record_types.read_document(hits[0])

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """See `store.Readable`."""
        wanted = list(dict.fromkeys(doc_ids))
        asked = [searching.storable(doc_id) for doc_id in wanted]
        with self._session.reading():
            by_id = {
                row[0]: row for row in self._rows(f"{record_types.DOCUMENT} WHERE doc_id = ANY(%s)", asked)
            }
            return {
                doc_id: record_types.read_document(by_id[doc_id])
                if doc_id in by_id
                else self.document(doc_id)
                for doc_id in wanted
            }

    def passage(self, passage_id: int) -> Passage:
        """See `store.Readable`."""
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Iterable[int]) -> tuple[Passage, ...]:
        """See `store.Readable`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        with self._session.reading():
            places = self.places(wanted)
            documents = self.documents(place.doc_id for place in places)
            pairs = zip(wanted, places, strict=True)
            return tuple(record_types.read_passage(i, place, documents[place.doc_id]) for i, place in pairs)

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """See `store.Readable`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        with mapped(self.path):
            places = dict(
                map(record_types.read_place, self._rows(f"{rows.PLACE} WHERE p.passage_id = ANY(%s)", wanted))
            )
        if unknown := [passage_id for passage_id in wanted if passage_id not in places]:
            raise CorpusError(f"there is no passage {unknown[0]} in {self.path}: it may have been replaced")
        return tuple(places[passage_id] for passage_id in wanted)

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """See `store.Readable`."""
        with self._session.reading():
            ask = f"{rows.PLACE} WHERE d.doc_id = %s ORDER BY p.passage_id"
            ids = [row[0] for row in self._rows(ask, searching.storable(doc_id))]
            return self.passages(ids)

    def encoder_name(self) -> str:
        """See `store.Readable`."""
        return self._meta().get("encoder", "")

    def check_encoder(self, encoder: Encoder) -> None:
        """See `store.Readable`."""
        record_types.check_encoder(self.path, self._meta(), encoder)

    def verify(self) -> None:
        """See `store.Readable`."""
        with self._session.reading() as link:
            verification.verify(link, self._stems)

    def contents(self) -> Iterator[contents.Row]:
        """See `store.Readable`."""
        with self._session.reading() as link:
            yield from rows.contents(link)

    def digest(self) -> str:
        """See `store.Readable`."""
        return contents.digest(self.contents())

    # Writing

    def bind_encoder(self, encoder: Encoder) -> None:
        """See `store.Writable`."""
        if self._meta() != (wanted := record_types.meta_of(encoder)):
            self._session.write(lambda link: migrations.bind(link, wanted))
        self.check_encoder(encoder)

    def replace_file(self, record: FileRecord, entries: Sequence[IndexEntry]) -> None:
        """See `store.Writable`."""

        def work(link: Link) -> None:
            rows.remove(link, self._stems, rows.numbers_of_file(link, record.path))
            rows.write_file(link, record)
            rows.add(link, self._stems, entries, record.path)

        self._session.write(work)

    def update_file(
        self, record: FileRecord, metadata: Mapping[str, Mapping[str, Scalar]] = MappingProxyType({})
    ) -> None:
        """See `store.Writable`."""

        def work(link: Link) -> None:
            ask = "UPDATE documents SET metadata = %s WHERE path = %s AND doc_id = %s"
            for doc_id, known in metadata.items():
                link.execute(ask, (packed(known), record.path, doc_id))
            rows.write_file(link, record)
            ask = "UPDATE documents SET author = %s WHERE path = %s"
            link.execute(ask, (record.author, record.path))
            rows.move(link, self._stems, rows.numbers_of_file(link, record.path), record.trust)

        self._session.write(work)

    def drop_file(self, path: str) -> None:
        """See `store.Writable`."""

        def work(link: Link) -> None:
            rows.remove(link, self._stems, rows.numbers_of_file(link, path))
            link.execute("DELETE FROM files WHERE path = %s", (path,))

        self._session.write(work)

    def set_trust(self, doc_ids: Iterable[str], trust: Trust) -> None:
        """See `store.Writable`."""
        chosen = list(doc_ids)

        def work(link: Link) -> None:
            for doc_id in chosen:
                ask = "SELECT number, path FROM documents WHERE doc_id = %s"
                row = link.execute(ask, (searching.storable(doc_id),)).fetchone()
                if row is None:
                    raise CorpusError(f"there is no document {doc_id!r} in {self.path}")
                link.execute("UPDATE files SET trust = %s WHERE path = %s", (trust.value, row[1]))
                rows.move(link, self._stems, [row[0]], trust)

        self._session.write(work)

    def rename(self, doc_id: str, new_id: str, source: str) -> None:
        """See `store.Writable`."""
        record_types.check_keepable(f"the name {source!r}", (new_id, source))

        def work(link: Link) -> None:
            if link.execute("SELECT 1 FROM documents WHERE doc_id = %s", (new_id,)).fetchone():
                raise CorpusError(f"there is a document {new_id!r} in {self.path} already")
            ask = "UPDATE documents SET doc_id = %s, source = %s WHERE doc_id = %s"
            if not link.execute(ask, (new_id, source, searching.storable(doc_id))).rowcount:
                raise CorpusError(f"there is no document {doc_id!r} in {self.path}")

        self._session.write(work, again=False)

    def add_documents(self, entries: Sequence[IndexEntry], *, again: bool = False) -> None:
        """See `store.Writable`."""

        def work(link: Link) -> None:
            ask = "SELECT number FROM documents WHERE doc_id = ANY(%s) AND path IS NULL"
            names = [searching.storable(entry.document.doc_id) for entry in entries]
            taken = link.execute(ask, (names,)).fetchall() if again else []
            rows.remove(link, self._stems, [row[0] for row in taken])
            rows.add(link, self._stems, entries, None)

        self._session.write(work, again=again)

    def remove_documents(self, doc_ids: Iterable[str]) -> None:
        """See `store.Writable`."""
        chosen = list(doc_ids)

        def work(link: Link) -> None:
            ask = "SELECT number FROM documents WHERE doc_id = %s AND path IS NULL"
            hits = {doc_id: link.execute(ask, (searching.storable(doc_id),)).fetchone() for doc_id in chosen}
            if unknown := [doc_id for doc_id, row in hits.items() if row is None]:
                raise CorpusError(f"document {unknown[0]!r} was not added to {self.path} by add_documents")
            rows.remove(link, self._stems, [row[0] for row in hits.values() if row])

        self._session.write(work, again=False)

    def numbered(self) -> Iterator[Numbered]:
        """See `store.Writable`."""
        with self._session.reading() as link:
            yield from rows.numbered(link)

    def restore(self, files: Sequence[FileRecord], documents: Sequence[Numbered]) -> None:
        """See `store.Writable`."""

        def work(link: Link) -> None:
            for record in files:
                rows.write_file(link, record)
            rows.restore(link, self._stems, documents)

        self._session.write(work)

    def optimize(self) -> None:
        """See `store.Writable`."""
        with self._session.bare() as link:
            link.execute("ANALYZE documents, passages, vectors, postings, terms")

    # Embedding

    def pending(self) -> list[tuple[int, int]]:
        """See `store.Embeds`."""
        ask = "SELECT number, count::integer FROM documents WHERE NOT embedded AND count > 0 ORDER BY number"
        return [(number, count) for number, count in self._rows(ask)]

    def unembedded(self, numbers: Iterable[int]) -> tuple[Pending, ...]:
        """See `store.Embeds`."""
        with self._session.reading() as link:
            documents = [rows.unembedded(link, number) for number in numbers]
            return tuple(document for document in documents if document is not None)

    def add_vectors(self, made: Sequence[tuple[Pending, Array]]) -> None:
        """See `store.Embeds`."""
        self._session.write(lambda link: rows.add_vectors(link, made))

    def drop_pending(self, document: Pending) -> None:
        """See `store.Embeds`."""

        def work(link: Link) -> None:
            if document.path is not None and document.is_like(rows.unembedded(link, document.number)):
                rows.remove(link, self._stems, rows.numbers_of_file(link, document.path))
                link.execute("DELETE FROM files WHERE path = %s", (document.path,))

        self._session.write(work)

    def index_vectors(self) -> None:
        """See `store.Embeds`."""
        with self._session.bare() as link:
            migrations.index_vectors(link, self._session.address.name)

    def claim(self, name: str) -> bool:
        """See `store.Embeds`. A lock of the session: it ends with this process, however that ends."""
        return self._session.claim(name)

    def release(self, name: str) -> None:
        """See `store.Embeds`."""
        self._session.release(name)

    # Inside

    def _part(self, scope: DocumentScope) -> PostgresPartition:
        return PostgresPartition(self, self._session, self._stems, scope)

    def _counted(self) -> Counts:
        ((files,),) = self._rows("SELECT count(*)::integer FROM files")
        return Counts.of(files, {trust: part.counts() for trust, part in self._partitions.items()})

    def _meta(self) -> dict[str, str]:
        with self._session.reading() as link:
            return rows.meta(link)

    def _rows(self, ask: str, *values: object) -> list[tuple[Any, ...]]:
        with self._session.reading() as link:
            return link.execute(ask.encode(), values).fetchall()
