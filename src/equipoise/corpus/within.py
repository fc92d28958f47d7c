"""A store as somebody sees it to whom a filter leaves a part of its documents: nothing else is to be had from it.

The visibility of a key, a collection, and the filter of one question are all this.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from equipoise.core.addresses import Place
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document, Trust
from equipoise.core.where import Where
from equipoise.corpus.record_types import Counts, ListedDocument, unknown
from equipoise.corpus.store import Partition, Readable


@dataclass(frozen=True, slots=True)
class Within:
    """What pipelines and readers ask of a `store.Readable`, of the documents that `where` means. A document outside is
    an unknown one. Keep it while the same filter is used again: partitions remember what they have read."""

    store: Readable
    where: Where
    _partitions: dict[Trust, Partition] = field(default_factory=dict)

    @property
    def path(self) -> Place:
        """See `store.Readable`."""
        return self.store.path

    def snapshot(self) -> AbstractContextManager[None]:
        """See `store.Readable`."""
        return self.store.snapshot()

    def partition(self, trust: Trust) -> Partition:
        """See `store.Readable`."""
        if trust not in self._partitions:
            self._partitions[trust] = self.store.partition(trust, self.where)
        return self._partitions[trust]

    def counts(self) -> Counts:
        """See `store.Readable`."""
        with self.snapshot():
            files = {document.path for document in self.listing()} - {""}
            return Counts.of(len(files), {trust: self.partition(trust).counts() for trust in Trust})

    def subjects(self, most: int) -> tuple[str, ...]:
        """See `store.Readable`."""
        return self.store.subjects(most, self.where)

    def listing(self) -> tuple[ListedDocument, ...]:
        """See `store.Readable`."""
        return tuple(document for document in self.store.listing() if self.where.matches(document.metadata))

    def document(self, doc_id: str) -> Document:
        """See `store.Readable`."""
        document = self.store.document(doc_id)
        if not self.where.matches(document.metadata):
            raise unknown(doc_id, self.path)
        return document

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """See `store.Readable`."""
        return {doc_id: self.document(doc_id) for doc_id in doc_ids}

    def file_of(self, doc_id: str) -> str | None:
        """See `store.Readable`."""
        try:
            self.document(doc_id)
        except StoreError:
            raise
        except CorpusError:
            return None
        return self.store.file_of(doc_id)
