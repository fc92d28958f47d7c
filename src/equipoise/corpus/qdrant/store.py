"""The store in Qdrant, for vectors that one machine does not hold.

What it has not that the other stores have: transactions and snapshots. `points` says how nothing half-written is shown
all the same. Inside `snapshot` the catalogue stands still; a document that is taken out meanwhile is an error then. One
process writes at a time. BM25 is computed here, from the words of the passages that Qdrant finds.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Self

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient

from equipoise.core.addresses import Place, StoreUrl
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document, Passage, Span, Trust
from equipoise.corpus import contents, records
from equipoise.corpus.common import Alone, Closing
from equipoise.corpus.keywords import LOOKED_AT, Keywords
from equipoise.corpus.pending import Pending
from equipoise.corpus.qdrant import points, searching, writing
from equipoise.corpus.qdrant.clients import MEMORY, connected
from equipoise.corpus.qdrant.points import Catalogue, Shown
from equipoise.corpus.records import Counts, Entry, FileRecord, Ids, Listed, Numbered
from equipoise.corpus.schema import damaged
from equipoise.corpus.spelling import Correction
from equipoise.corpus.stems import Stems
from equipoise.text.tokens import content_words


class QdrantStore(Alone, Closing):
    """An open store in Qdrant; see `store.Store`."""

    def __init__(self, url: StoreUrl, client: QdrantClient, name: str) -> None:
        self.path = url
        self._client = client
        self._name = name
        self._stems = Stems()
        self._lock = RLock()
        self._catalogue: Catalogue | None = None
        self._depth = 0
        self._closed = False
        self._read_only = False

    @classmethod
    def open(
        cls, path: Place, *, create: bool = False, read_only: bool = False, timeout: float = 5.0
    ) -> Self:
        """The store at an address; with `create` it is made there. Waits `timeout` seconds for an answer."""
        if not isinstance(path, StoreUrl):
            raise StoreError(f"{path} is a file, not an address")
        client, name = connected(path, timeout)
        store = cls(path, client, name)
        with store._mapped():
            if not client.collection_exists(writing.beside(name)):
                if not create:
                    raise StoreError(
                        f"there is no store at {path}: make one with  equipoise index FOLDER --store URL"
                    )
                writing.make(client, name)
            store._read_only = read_only
            if not read_only:
                writing.sweep(client, name, store._now())
        return store

    @property
    def folder(self) -> Path:
        """The root: the database may be on another machine than the files."""
        return Path(Path.cwd().anchor)

    def close(self) -> None:
        """Close the connection; a store in memory stays for this process."""
        self._closed = True
        self._stems.close()
        if MEMORY not in self.path.address:
            self._client.close()

    # Reading

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside it the same documents are shown, whatever others write."""
        with self._reading():
            yield

    def counts(self) -> Counts:
        """See `store.Reading`."""
        with self._reading() as now:
            shown = now.documents.values()
            pending = sum(doc.count for doc in shown if not doc.embedded)
            trusted = sum(doc.trust is Trust.TRUSTED for doc in shown)
            return Counts(len(now.files), len(now.documents), now.passages, pending, trusted)

    def files(self) -> dict[str, FileRecord]:
        """See `store.Reading`."""
        with self._reading() as now:
            return dict(now.files)

    def file(self, path: str) -> FileRecord | None:
        """See `store.Reading`."""
        with self._reading() as now:
            return now.files.get(path)

    def listing(self) -> tuple[Listed, ...]:
        """See `store.Reading`."""
        with self._reading() as now:
            return tuple(
                Listed(doc.doc_id, doc.source, doc.title, doc.trust, doc.count, doc.path or "")
                for doc in now.documents.values()
            )

    def doc_ids(self) -> tuple[str, ...]:
        """See `store.Reading`."""
        return tuple(doc.doc_id for doc in self.listing())

    def unfiled(self) -> tuple[str, ...]:
        """See `store.Reading`."""
        with self._reading() as now:
            return tuple(doc.doc_id for doc in now.documents.values() if doc.path is None)

    def subjects(self, most: int) -> tuple[str, ...]:
        """See `store.Reading`."""
        weights: Counter[str] = Counter()
        for doc in self.listing():
            if doc.trust is Trust.TRUSTED and doc.title:
                weights[doc.title] += doc.passages
        return tuple(sorted(weights, key=lambda title: (-weights[title], title.encode()))[:most])

    def file_of(self, doc_id: str) -> str | None:
        """See `store.Reading`."""
        with self._reading() as now:
            return next((doc.path for doc in now.documents.values() if doc.doc_id == doc_id), None)

    def document(self, doc_id: str) -> Document:
        """See `store.Reading`."""
        return self.documents([doc_id])[doc_id]

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """See `store.Reading`."""
        wanted = list(dict.fromkeys(doc_ids))
        with self._reading() as now:
            numbers = {doc.doc_id: doc.number for doc in now.documents.values()}
            if unknown := [doc_id for doc_id in wanted if doc_id not in numbers]:
                raise self._no_document(unknown[0])
            every = self._numbered([numbers[i] for i in wanted])
            documents = {doc.number: doc.entry.document for doc in every}
            if gone := [doc_id for doc_id in wanted if numbers[doc_id] not in documents]:
                raise self._no_document(gone[0])
            return {doc_id: documents[numbers[doc_id]] for doc_id in wanted}

    def passage(self, passage_id: int) -> Passage:
        """See `store.Reading`."""
        return self.passages([passage_id])[0]

    def passages(self, passage_ids: Iterable[int]) -> tuple[Passage, ...]:
        """See `store.Reading`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        with self._reading():
            places = self.places(wanted)
            documents = self.documents(place.doc_id for place in places)
            pairs = zip(wanted, places, strict=True)
            return tuple(records.read_passage(i, place, documents[place.doc_id]) for i, place in pairs)

    def places(self, passage_ids: Iterable[int]) -> tuple[Span, ...]:
        """See `store.Reading`."""
        wanted = [int(passage_id) for passage_id in passage_ids]
        with self._reading() as now:
            holders = [now.holder(passage_id) for passage_id in wanted]
            documents = {doc.number: doc for doc in self._numbered({h.number for h in holders if h})}
            return tuple(
                self._place(passage_id, holder, documents)
                for passage_id, holder in zip(wanted, holders, strict=True)
            )

    def passages_of(self, doc_id: str) -> tuple[Passage, ...]:
        """See `store.Reading`."""
        with self._reading() as now:
            documents = [doc for doc in now.documents.values() if doc.doc_id == doc_id]
            return self.passages(i for doc in documents for i in range(doc.first, doc.first + doc.count))

    def encoder_name(self) -> str:
        """See `store.Reading`."""
        with self._reading() as now:
            return now.meta.get("encoder", "")

    def check_encoder(self, encoder: Encoder) -> None:
        """See `store.Reading`."""
        with self._reading() as now:
            records.check_encoder(self.path, now.meta, encoder)

    def verify(self) -> None:
        """See `store.Reading`."""
        with self._reading() as now:
            searching.verify(self._client, self._name, now, self.numbered(), self._stems)

    def contents(self) -> Iterator[contents.Row]:
        """See `store.Reading`."""
        with self._reading() as now:
            yield from contents.of_documents(now.meta, now.files.values(), self.numbered())

    def digest(self) -> str:
        """See `store.Reading`."""
        return contents.digest(self.contents())

    # Searching

    def matrix(self) -> tuple[Ids, Array]:
        """See `store.Searching`."""
        with self._reading() as now:
            return searching.matrix(self._client, self._name, now)

    def nearest(self, vector: Array, k: int, *, exact: bool = False) -> list[tuple[int, float]]:
        """See `store.Searching`; when a search is approximate, Qdrant decides."""
        with self._reading() as now:
            return searching.nearest(self._client, self._name, now, vector, k, exact=exact)

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """See `store.Searching`."""
        with self._reading() as now:
            return searching.vectors(self._client, self._name, now, passage_ids)

    def bm25(self, query: str, k: int) -> list[tuple[int, float]]:
        """See `store.Searching`."""
        with self._reading() as now:
            return searching.Words(self._client, self._name, now).bm25(query, self._stems)[: max(k, 0)]

    def corrections(self, text: str, known: Mapping[str, int]) -> tuple[Correction, ...]:
        """See `store.Searching`."""
        with self._reading() as now:
            words = searching.Words(self._client, self._name, now)

            def holding(stem: str) -> tuple[Passage, ...]:
                return self.passages(words.with_stem(stem)[:LOOKED_AT])

            return Keywords(words, self._stems).corrections(text, known, holding)

    def unheard(self, text: str) -> tuple[str, ...]:
        """See `store.Searching`."""
        with self._reading() as now:
            words = searching.Words(self._client, self._name, now)
            return tuple(Keywords(words, self._stems).unheard(content_words(text)))

    # Writing

    def bind_encoder(self, encoder: Encoder) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            if not writer.now.documents and writer.now.meta != records.meta_of(encoder):
                writer.bind(records.meta_of(encoder))
        self.check_encoder(encoder)

    def replace_file(self, record: FileRecord, entries: Sequence[Entry]) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            writer.replace(record, writer.after_all(entries, record.path))

    def update_file(self, record: FileRecord) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            writer.record_file(record)

    def drop_file(self, path: str) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            writer.drop(points.record_id(f"file {path}"))

    def set_trust(self, doc_ids: Iterable[str], trust: Trust) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            by_id = {doc.doc_id: doc for doc in writer.now.documents.values()}
            chosen = list(doc_ids)
            if unknown := [doc_id for doc_id in chosen if doc_id not in by_id]:
                raise CorpusError(f"there is no document {unknown[0]!r} in {self.path}")
            writer.trust([by_id[doc_id] for doc_id in chosen], trust)

    def add_documents(self, entries: Sequence[Entry]) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            writer.add(writer.after_all(entries, None))

    def remove_documents(self, doc_ids: Iterable[str]) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            own = {doc.doc_id: doc for doc in writer.now.documents.values() if doc.path is None}
            chosen = list(dict.fromkeys(doc_ids))
            if unknown := [doc_id for doc_id in chosen if doc_id not in own]:
                raise CorpusError(f"document {unknown[0]!r} was not added to {self.path} by add_documents")
            writer.remove([own[doc_id] for doc_id in chosen])

    def numbered(self) -> Iterator[Numbered]:
        """See `store.Writing`."""
        with self._reading() as now:
            numbers = list(now.documents)
            for start in range(0, len(numbers), points.AT_A_TIME):
                yield from self._numbered(numbers[start : start + points.AT_A_TIME], vectors=True)

    def restore(self, files: Sequence[FileRecord], documents: Sequence[Numbered]) -> None:
        """See `store.Writing`."""
        with self._writing() as writer:
            writer.restore(files, documents)

    def optimize(self) -> None:
        """Qdrant does that by itself."""

    # Embedding

    def pending(self) -> list[tuple[int, int]]:
        """See `store.Embedding`."""
        with self._reading() as now:
            waiting = (doc for doc in now.documents.values() if doc.count and not doc.embedded)
            return [(doc.number, doc.count) for doc in waiting]

    def unembedded(self, numbers: Iterable[int]) -> tuple[Pending, ...]:
        """See `store.Embedding`."""
        with self._reading() as now:
            wanted = [n for n in numbers if n in now.documents and not now.documents[n].embedded]
            return tuple(
                Pending(doc.number, doc.path, doc.entry.document, doc.entry.spans)
                for doc in self._numbered(wanted)
            )

    def add_vectors(self, made: Sequence[tuple[Pending, Array]]) -> None:
        """See `store.Embedding`."""
        with self._writing() as writer:
            width = int(writer.now.meta.get("dimensions", "0"))
            for pending, vectors in made:
                records.check_vectors(pending.document, vectors, (len(pending.spans), width))
            for pending, vectors in made:
                if pending.is_like(next(iter(self.unembedded([pending.number])), None)):
                    writer.embed(pending.number, vectors)

    def drop_pending(self, document: Pending) -> None:
        """See `store.Embedding`."""
        with self._writing() as writer:
            now = next(iter(self.unembedded([document.number])), None)
            if document.path is not None and document.is_like(now):
                writer.drop(points.record_id(f"file {document.path}"))

    # Inside

    @contextmanager
    def _reading(self) -> Iterator[Catalogue]:
        with self._lock, self._mapped():
            if not self._depth:
                self._catalogue = self._now()
            self._depth += 1
            try:
                yield self._catalogue or self._now()
            finally:
                self._depth -= 1

    @contextmanager
    def _writing(self) -> "Iterator[writing.Writer]":
        if self._read_only:
            raise StoreError(f"the store {self.path} was opened to be read: open it to write")
        with self._reading() as now:
            writer = writing.Writer(self._client, self._name, now, self._stems)
            try:
                yield writer
            finally:
                if writer.has_changed:
                    self._catalogue = writer.end(str(uuid.uuid4()))

    def _now(self) -> Catalogue:
        """What is shown now; kept in memory until somebody changes it."""
        hits = self._client.retrieve(writing.beside(self._name), [points.META], with_payload=["token"])
        token = str((hits[0].payload or {}).get("token", "")) if hits else ""
        if self._catalogue is None or self._catalogue.token != token:
            return points.read_catalogue(self._client, writing.beside(self._name))
        return self._catalogue

    def _numbered(self, numbers: Iterable[int], *, vectors: bool = False) -> list[Numbered]:
        return searching.numbered(self._client, self._name, list(numbers), vectors=vectors)

    def _place(self, passage_id: int, holder: Shown | None, documents: dict[int, Numbered]) -> Span:
        if holder is None or holder.number not in documents:
            raise CorpusError(f"there is no passage {passage_id} in {self.path}: it may have been replaced")
        doc = documents[holder.number]
        return Span(doc.entry.document.doc_id, *doc.entry.spans[passage_id - doc.first])

    def _no_document(self, doc_id: str) -> CorpusError:
        return CorpusError(f"there is no document {doc_id!r} in {self.path}: it may have been replaced")

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        if self._closed:
            raise StoreError(f"the store {self.path} is closed: open it again")
        try:
            yield
        except records.Damage as error:
            raise damaged(self.path, str(error)) from error
        except searching.FAILURES as error:
            raise StoreError(f"the store {self.path} failed ({searching.said(error)}): try again") from error
