"""Planting: passages into a store as an outsider would get them in, and every one of them out again.

For measuring a defence on your own store. Planted documents are marked as untrusted and their ids begin with
`equipoise_lab.redteam.planter.PREFIX`, so that `uproot` finds them in another process, after any crash.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from equipoise.core.errors import CorpusError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Document, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.loaders.loaded import clean
from equipoise.corpus.store import Store
from equipoise_lab.attacks.passages import AttackPassage
from equipoise_lab.redteam.planter import PREFIX, uproot


def planted_id(passage: AttackPassage) -> str:
    """The id of the document that carries the passage."""
    return f"{PREFIX}{passage.passage_id}"


def as_document(passage: AttackPassage) -> Document:
    """The passage as a document from anybody, without a title."""
    name = clean(planted_id(passage))
    return Document(name, clean(passage.text), source=name, trust=Trust.UNTRUSTED)


def plant(store: Store, passages: Sequence[AttackPassage], encoder: Encoder) -> tuple[str, ...]:
    """Add the passages in one transaction; their document ids, in order. `uproot` takes them out.

    Raises CorpusError for an empty store and for a passage that is planted already, StoreError where the store
    was built with another encoder; nothing is added then.
    """
    if not store.counts().documents:
        raise CorpusError(
            f"the store {store.path} is empty, so there is nothing to attack: index files first"
        )
    store.check_encoder(encoder)
    documents = [as_document(passage) for passage in passages]
    store.add_documents(prepare(documents, encoder))
    return tuple(document.doc_id for document in documents)


@contextmanager
def planted(store: Store, passages: Sequence[AttackPassage], encoder: Encoder) -> Iterator[tuple[str, ...]]:
    """The passages are in the store inside the block and out of it after, whatever happens inside.

    The store's content (`Store.digest`) is then what it was, unless somebody else changed it meanwhile.
    """
    doc_ids = plant(store, passages, encoder)
    try:
        yield doc_ids
    finally:
        uproot(store, doc_ids)
