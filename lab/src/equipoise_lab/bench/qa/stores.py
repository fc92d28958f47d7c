"""A small store for each set of documents, shared by all questions about it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from equipoise.core.protocols import Encoder
from equipoise.core.types import Document
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise_lab.bench.qa.items import Item, Text

Documents = tuple[Text, ...]


def by_documents(items: Sequence[Item]) -> dict[Documents, list[Item]]:
    """The items by their documents, both in the order they come."""
    groups: dict[Documents, list[Item]] = {}
    for item in items:
        groups.setdefault(item.documents, []).append(item)
    return groups


@asynccontextmanager
async def store_of(documents: Documents, encoder: Encoder) -> AsyncIterator[Store]:
    """A store that holds just these documents, gone afterwards."""
    with (
        TemporaryDirectory(prefix="equipoise-") as folder,
        Store.open(Path(folder) / "index.db", create=True) as store,
    ):
        await asyncio.to_thread(_fill, store, documents, encoder)
        yield store


def _fill(store: Store, documents: Documents, encoder: Encoder) -> None:
    store.bind_encoder(encoder)
    entries = [
        Document(document.doc_id, document.text, document.doc_id, document.title) for document in documents
    ]
    store.add_documents(prepare(entries, encoder))
