"""Brings an index up to date with one source that is no folder; spares its documents if nearly all seem gone."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from equipoise.core.errors import CorpusError
from equipoise.core.metadata import READ, Scalar, checked, packed, unpacked
from equipoise.core.protocols import Encoder
from equipoise.core.types import Trust
from equipoise.corpus import telling
from equipoise.corpus.files import LeftOut
from equipoise.corpus.mirroring import Mirror
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Gone
from equipoise.corpus.sources.source import COMMENTS, DocumentSource, of_source
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers
from equipoise.corpus.writing import Incoming, IndexWriter, Judge, Progress

_LEAST, _LEFT = 10, 0.1
"""Of _LEAST pages or more, at least this share (_LEFT) must still be there; else none is taken out."""


class Taken(CorpusError):
    """Another process reads the source."""


@contextmanager
def claimed(store: Store, address: str) -> Iterator[None]:
    """Keeps other processes from reading the source at an address into the store. Raises Taken where one does."""
    name = f"source {address}"
    if not store.claim(name):
        raise Taken(f"{address} is being read by another process: wait for it")
    try:
        yield
    finally:
        store.release(name)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the index holds of a source, and under which label its documents are written."""

    address: str
    files: Mapping[str, FileRecord]
    trust: Trust
    said: str

    def label(self, key: str, old: FileRecord | None) -> FileRecord:
        """A `mirroring.Label`."""
        return FileRecord(key, "", 0, 0, self.trust, self.address, self.address, self.said)

    def spared(self, lost: Sequence[str]) -> Sequence[tuple[LeftOut, Sequence[str]]]:
        """A `mirroring.Spare`: all, where nearly nothing would be left."""
        pages = {key.removesuffix(COMMENTS) for key in self.files}
        left = pages - {key.removesuffix(COMMENTS) for key in lost}
        if left and (len(pages) < _LEAST or len(left) >= _LEFT * len(pages)):
            return []
        why = f"{len(pages) - len(left):,} of {len(pages):,} pages seem gone at once; they stay until --prune"
        return [(LeftOut(self.address, why), lost)]


def sync(
    source: DocumentSource,
    address: str,
    store: Store,
    encoder: Encoder,
    readers: Readers,
    *,
    trust: Trust = Trust.UNTRUSTED,
    metadata: Mapping[str, Scalar] | None = None,
    gone: Gone = Gone.MIRROR,
    progress: Progress | None = None,
    judge: Judge | None = None,
) -> IndexReport:
    """Bring `store` up to date with the `source` at an address; `metadata` None leaves what was said of its documents
    before.

    What its readers wrote is untrusted whatever `trust` says. Raises CorpusError where nothing can be listed, Taken
    where another process reads the same source, StoreError, ModelError.
    """
    store.bind_encoder(encoder)
    with claimed(store, address):
        files = of_source(store.files(), address)
        said = _metadata(files, metadata)
        known = _Known(address, files, trust, said)
        writer = IndexWriter(store, encoder, _said, progress or (lambda step: None), judge)
        there = {key: one if one.metadata == said else replace(one, sha256="") for key, one in files.items()}
        report = Mirror(source, writer, readers, known.label, there).run(gone, known.spared)
    return replace(report, strangers=tuple(one for one in report.strangers if trust is not Trust.TRUSTED))


def _said(turn: Incoming, record: FileRecord, beside: bytes) -> Mapping[str, Scalar]:
    said = telling.of_page(turn.key, record.root, record.metadata)
    return {READ: datetime.now(UTC).date(), **said}


def _metadata(known: Mapping[str, FileRecord], given: Mapping[str, Scalar] | None) -> str:
    """What the operator says of the documents now."""
    if given is not None:
        return packed(checked(given))
    return packed(checked(unpacked(next(iter(known.values())).metadata))) if known else "{}"
