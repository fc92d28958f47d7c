"""A view of a store through a filter: only the documents that it matches can be had from the view.

What a key may see, a collection, and the filter of one question are all such views.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from equipoise.core.addresses import Place
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document, Trust
from equipoise.core.where import Where
from equipoise.corpus.partition import Partition
from equipoise.corpus.readable import Readable
from equipoise.corpus.record_types import Counts, ListedDocument, unknown


@dataclass(frozen=True, slots=True)
class Within:
    """The methods of `readable.Readable` that pipelines and readers use, over the documents that `where` matches; one
    outside counts as unknown. Keep it while the same filter is used again: partitions remember what they have read."""

    store: Readable
    where: Where
    _partitions: dict[Trust, Partition] = field(default_factory=dict)

    @property
    def path(self) -> Place:
        return self.store.path

    def snapshot(self) -> AbstractContextManager[None]:
        return self.store.snapshot()

    def partition(self, trust: Trust) -> Partition:
        if trust not in self._partitions:
            self._partitions[trust] = self.store.partition(trust, self.where)
        return self._partitions[trust]

    def counts(self) -> Counts:
        with self.snapshot():
            files = {document.path for document in self.listing()} - {""}
            return Counts.of(len(files), {trust: self.partition(trust).counts() for trust in Trust})

    def subjects(self, most: int) -> tuple[str, ...]:
        return self.store.subjects(most, self.where)

    def listing(self) -> tuple[ListedDocument, ...]:
        return tuple(document for document in self.store.listing() if self.where.matches(document.metadata))

    def document(self, doc_id: str) -> Document:
        document = self.store.document(doc_id)
        if not self.where.matches(document.metadata):
            raise unknown(doc_id, self.path)
        return document

    def documents(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        return {doc_id: self.document(doc_id) for doc_id in doc_ids}

    def file_of(self, doc_id: str) -> str | None:
        try:
            self.document(doc_id)
        except StoreError:
            raise
        except CorpusError:
            return None
        return self.store.file_of(doc_id)
