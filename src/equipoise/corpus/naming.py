"""Makes the documents of a file once it is read: their names in the store, trust, author and metadata."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import count

from equipoise.core.metadata import MOST, Scalar
from equipoise.core.types import Document, Trust
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.places import Places, is_address
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.store import Store


def documents_of(
    readings: Sequence[ParsedDocument],
    place: tuple[str, str],
    record: FileRecord,
    said: Mapping[str, Scalar],
    store: Store,
) -> list[Document]:
    """The documents of a file. `place` is its source and its whole name, used where the source is taken; an untrusted
    document with a name of theirs may get another. `said` is metadata of all of them, which overrides their own."""
    source, whole = place
    if any(_is_taken(_full_source(reading, source), record, store) for reading in readings):
        source = whole
    return [_document(reading, _full_source(reading, source), record, said) for reading in readings]


def _known(own: Mapping[str, Scalar], said: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """A document's `own` metadata overridden by `said`; of its own names only as many as MOST leaves room for."""
    room = MOST - len(said)
    return {**dict([pair for pair in own.items() if pair[0] not in said][:room]), **said}


def _is_taken(source: str, record: FileRecord, store: Store) -> bool:
    """True where another file, indexed from another working folder, has this source already. The name of a trusted
    file must not depend on others: an untrusted document that has its source, or its id, is renamed."""
    doc_id = document_id(source)
    owner = store.file_of(doc_id)
    if owner == record.path or not _has(store, doc_id):
        return False
    if record.trust is not Trust.TRUSTED or store.document(doc_id).trust is Trust.TRUSTED:
        return owner is not None
    fragment = source.partition("#")[2]
    whole = f"{source} (untrusted)"
    if owner is not None:
        own = owner if is_address(owner) else Places(store.folder).path(owner).as_posix()
        whole = own + (f"#{fragment}" if fragment else "")
    names = (f"{whole} ({number})" if number else whole for number in count())
    free = next(name for name in names if not _has(store, document_id(name)))
    store.rename(doc_id, document_id(free), free)
    return False


def _has(store: Store, doc_id: str) -> bool:
    """Whether the store has a document with this id, from a file or not."""
    return store.file_of(doc_id) is not None or doc_id in store.unfiled()


def _full_source(reading: ParsedDocument, source: str) -> str:
    return f"{source}#{reading.fragment}" if reading.fragment else source


def _document(
    reading: ParsedDocument, source: str, record: FileRecord, said: Mapping[str, Scalar]
) -> Document:
    return Document(
        document_id(source),
        reading.text,
        source,
        reading.title,
        record.trust,
        reading.sentences,
        reading.pages,
        reading.blocks,
        record.author,
        _known(reading.metadata, said),
    )


def document_id(source: str) -> str:
    """A short name for a source, the same everywhere: 16 hex digits of its sha256."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]
