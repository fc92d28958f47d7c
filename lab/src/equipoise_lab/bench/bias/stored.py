"""A store as background: the product's retrievers over the same passages and vectors as in memory.

What is planted is in the store for one search and out of it again, whatever happens.
"""

from dataclasses import dataclass

from equipoise.core.protocols import Encoder, Retriever
from equipoise.core.types import Array, Candidates, Document, Query
from equipoise.corpus.records import Entry
from equipoise.corpus.store import Store
from equipoise.text import visible
from equipoise.text.sentences import sentence_spans
from equipoise_lab.bench.bias.background import EmbeddedPassages


@dataclass(frozen=True, slots=True)
class Stored:
    """The corpus in a store, one passage a document, searched by `retriever`, which reads the same store."""

    store: Store
    retriever: Retriever

    def search(self, question: str, vector: Array, planted: EmbeddedPassages, *, k: int) -> Candidates:
        """See Background; the retriever encodes the question itself. Raises StoreError or CorpusError."""
        doc_ids = [passage.doc_id for passage in planted.passages]
        if not doc_ids:
            return self.retriever.retrieve(Query(question), k=k)
        self.store.add_documents(entries(planted))
        try:
            return self.retriever.retrieve(Query(question), k=k)
        finally:
            self.store.remove_documents(doc_ids)


def fill(store: Store, embedded: EmbeddedPassages, encoder: Encoder) -> None:
    """Put the passages into `store`, unless it is there; what an interrupted run had planted is taken out.

    Raises StoreError where the store holds another encoder's vectors.
    """
    store.bind_encoder(encoder)
    wanted = {passage.doc_id for passage in embedded.passages}
    present = set(store.doc_ids())
    if left := sorted(present - wanted):
        store.remove_documents(left)
    missing = [row for row, passage in enumerate(embedded.passages) if passage.doc_id not in present]
    if missing:
        passages = tuple(embedded.passages[row] for row in missing)
        store.add_documents(entries(EmbeddedPassages(passages, embedded.vectors[missing])))


def entries(embedded: EmbeddedPassages) -> list[Entry]:
    """Each passage as a document of its own, in one piece; its title stands in for an empty text."""
    documents = []
    for passage, vector in zip(embedded.passages, embedded.vectors, strict=True):
        text, name = passage.text or passage.title, passage.doc_id
        document = Document(name, text, name, visible.title(passage.title), sentences=sentence_spans(text))
        documents.append(Entry(document, ((0, len(text)),), vector[None]))
    return documents
