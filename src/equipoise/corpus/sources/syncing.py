"""An index brought up to date with a source, whatever kind it is: only what has changed is written and embedded.

Every item is written by itself, so a run that ends half way has changed nothing that it did not see. What is gone is
taken out at the end, and not at all where nearly everything seems gone at once: a site in repair looks like that.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from equipoise.core.errors import CorpusError
from equipoise.core.metadata import Scalar, checked, packed, unpacked
from equipoise.core.protocols import Encoder
from equipoise.core.types import Trust
from equipoise.corpus import telling
from equipoise.corpus.files import LeftOut, Original
from equipoise.corpus.prefetch import Fresh, Same
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Gone
from equipoise.corpus.sources.source import COMMENTS, DocumentSource, Item, of_source
from equipoise.corpus.store import Store
from equipoise.corpus.writing import OPTIMIZE_FROM, Incoming, IndexProgress, IndexWriter, Judge, Progress

_LEAST, _LEFT = 10, 0.1
"""Of so many items, or more, at least this share must still be there; else nothing is taken out."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """A part of an item whose turn it is."""

    key: str
    old: FileRecord | None
    original: Original
    read: Same | Fresh

    @property
    def source(self) -> str:
        """Its address."""
        return self.key

    @property
    def whole(self) -> str:
        """Its address: no other has it."""
        return self.key

    def outcome(self) -> Same | Fresh:
        """What was read."""
        return self.read


@dataclass(slots=True)
class _Sync:
    """One run: what the index knows of the source, under which label its documents are written, and by whom."""

    source: DocumentSource
    writer: IndexWriter
    known: dict[str, FileRecord]
    label: FileRecord

    def take(self, item: Item, fingerprint: str | None) -> None:
        """Bring the index up to date with an item, whose fingerprint in the index this is."""
        address = item.address
        if fingerprint == item.fingerprint:
            for key in (address, address + COMMENTS):
                if (old := self.known.get(key)) is not None:
                    self.writer.write(_Turn(key, old, _NOTHING, Same(old, old)), self._label(key))
            return
        parts = self.source.read(item)
        for part in parts:
            key = address + part.ending
            fresh = Fresh(item.fingerprint, part.size, 0, list(part.readings))
            self.writer.write(_Turn(key, self.known.get(key), part.original, fresh), self._label(key))
        for key in {address, address + COMMENTS} - {address + part.ending for part in parts}:
            if key in self.known:
                self.writer.store.drop_file(key)
                self.writer.taken[key] = "lost"

    def _label(self, key: str) -> FileRecord:
        if key.endswith(COMMENTS):
            return replace(self.label, path=key, trust=Trust.UNTRUSTED, author=key)
        return replace(self.label, path=key)


_NOTHING = Original("", "", lambda: b"")


def sync(
    source: DocumentSource,
    store: Store,
    encoder: Encoder,
    *,
    trust: Trust = Trust.TRUSTED,
    metadata: Mapping[str, Scalar] | None = None,
    gone: Gone = Gone.MIRROR,
    progress: Progress | None = None,
    judge: Judge | None = None,
) -> IndexReport:
    """Bring `store` up to date with `source`; `metadata` None leaves what was said of its documents before.

    What its readers wrote is untrusted whatever `trust` says. Raises CorpusError where nothing can be listed or another
    process reads the same source, StoreError, ModelError.
    """
    began = time.monotonic()
    store.bind_encoder(encoder)
    known = of_source(store.files(), source.address)
    before = store.counts().passages
    claimed = f"source {source.address}"
    if not store.claim(claimed):
        raise CorpusError(f"{source.address} is being read by another process: wait for it")
    try:
        writer = IndexWriter(store, encoder, _said, progress or (lambda step: None), judge)
        said = _metadata(known, metadata)
        label = FileRecord("", "", 0, 0, trust, source.address, source.address, said)
        run = _Sync(source, writer, known, label)
        ended = _all(run, {key: one.sha256 for key, one in known.items() if one.metadata == said})
    finally:
        store.release(claimed)
    lost, spared = _lost(source, ended, known, gone)
    for key in lost:
        store.drop_file(key)
    if writer.written > OPTIMIZE_FROM * before:
        store.optimize()
    writer.embed(len(writer.taken))
    if not (lost or writer.taken or known):
        raise CorpusError(_nothing(source))
    report = writer.report()
    return replace(
        report,
        removed=len(lost) + report.removed,
        failed=(*source.failed, *report.failed),
        left_out=(*source.left_out, *spared),
        strangers=tuple(one for one in report.strangers if trust is not Trust.TRUSTED),
        seconds=time.monotonic() - began,
    )


def _all(run: _Sync, marks: Mapping[str, str]) -> Sequence[str]:
    """Take every item; what has other metadata now counts as not known."""
    every = dict.fromkeys(run.known, "") | dict(marks)
    total = len({key.removesuffix(COMMENTS) for key in run.known})
    for number, item in enumerate(run.source.items(every), 1):
        run.writer.progress(IndexProgress(item.address, number, max(total, number)))
        run.take(item, every.get(item.address) or every.get(item.address + COMMENTS))
    return run.source.gone(every)


def _said(turn: Incoming, record: FileRecord, beside: bytes) -> Mapping[str, Scalar]:
    return telling.of_page(turn.key, record.root, record.metadata)


def _metadata(known: Mapping[str, FileRecord], given: Mapping[str, Scalar] | None) -> str:
    """What the operator says of the documents now."""
    if given is not None:
        return packed(checked(given))
    return packed(checked(unpacked(next(iter(known.values())).metadata))) if known else "{}"


def _lost(
    source: DocumentSource, ended: Sequence[str], known: Mapping[str, FileRecord], gone: Gone
) -> tuple[Sequence[str], list[LeftOut]]:
    """What is taken out, and why it is not where it is not."""
    if gone is Gone.KEEP or not ended:
        return [], []
    pages = {key.removesuffix(COMMENTS) for key in known}
    left = pages - {key.removesuffix(COMMENTS) for key in ended}
    if gone is Gone.MIRROR and (not left or (len(pages) >= _LEAST and len(left) < _LEFT * len(pages))):
        why = f"{len(pages) - len(left):,} of {len(pages):,} pages seem gone at once; they stay until --prune"
        return [], [LeftOut(source.address, why)]
    return ended, []


def _nothing(source: DocumentSource) -> str:
    reasons: Sequence[object] = [*source.failed, *source.left_out]
    named = "; ".join(map(str, reasons[:5]))
    return f"nothing could be read at {source.address}" + (f": {named}" if named else "")
