"""Files into the store: only what has changed is read, cut, written and embedded.

First all files are read and written, one at a time in the order of the walk, while worker processes read and cut the
next ones: from then on words find them. Then the vectors are made (`corpus.vectors`), which takes most of the time.
A file that fails in any way is named with its reason; only a failing store or encoder ends the run.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from equipoise.core.errors import CorpusError, UnreadableFile
from equipoise.core.metadata import Scalar, checked, packed
from equipoise.core.protocols import Encoder
from equipoise.core.types import Document, Trust
from equipoise.corpus import roots, telling, vectors
from equipoise.corpus.chunks import passages
from equipoise.corpus.embedding import Cut, entries
from equipoise.corpus.files import LeftOut, Walk, find_files
from equipoise.corpus.limits import PASSAGES
from equipoise.corpus.loaders import DOCUMENTS
from equipoise.corpus.places import Places, shown
from equipoise.corpus.prefetch import FileTurn, Share, in_turn
from equipoise.corpus.record_types import FileRecord, IndexEntry
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Author, Gone, Roots, known_authors, known_metadata, known_roots, of_files
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers
from equipoise.corpus.writing import (
    OPTIMIZE_FROM,
    Incoming,
    IndexProgress,
    IndexWriter,
    Judge,
    Progress,
    Said,
)
from equipoise.text import visible
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units

__all__ = ["IndexOptions", "IndexProgress", "Judge", "Progress", "SyncOptions", "cut", "index", "prepare"]

_NAMED = 5


class SyncOptions(TypedDict, total=False):
    """What a run says of all that it reads; see `index`."""

    metadata: Mapping[str, Scalar] | None
    gone: Gone
    progress: Progress | None
    judge: Judge | None


class IndexOptions(SyncOptions, total=False):
    """The same of files."""

    trust: Trust
    author: Author | None


def index(
    paths: str | Path | Iterable[str | Path],
    store: Store,
    encoder: Encoder,
    *,
    trust: Trust = Trust.TRUSTED,
    author: Author | None = None,
    writer: str = "",
    metadata: Mapping[str, Scalar] | None = None,
    gone: Gone = Gone.KEEP,
    progress: Progress | None = None,
    judge: Judge | None = None,
    most: int = PASSAGES,
) -> IndexReport:
    """Bring `store` up to date with the files at `paths`; `gone` is for documents whose files are gone from there.
    `writer` is the author of all of them (`roots.writer_of`), where no path is; `metadata` is what the operator says of
    them (`corpus.telling`), None: as before. What is new or gets another trust is written as `judge` says, so nothing
    is found before it was judged.

    A file that cannot be read, that has more than `most` passages, or on whose text the encoder fails is in `failed`,
    and its old content is no longer searched. A folder that was indexed on its own keeps its trust when one around it
    is. The encoder makes the vectors that are not there, also of an earlier run. Raises InputError for an empty path,
    CorpusError where nothing at all could be read, StoreError where the store cannot be written or was built with
    another encoder, ModelError where that cannot be used: what was read till then stays, found by its words.
    """
    began = time.monotonic()
    walk = find_files([paths] if isinstance(paths, str | Path) else paths)
    store.bind_encoder(encoder)
    before = store.counts().passages
    said = None if metadata is None else packed(checked(metadata))
    by = IndexWriter(store, encoder, _said(Places(store.folder)), progress or _silent, judge, most)
    work = _Work.begun(by, (trust, author, writer, said), walk.roots)
    work.take(walk.files)
    lost, spared = _lost(store, walk, work.places, gone)
    for key in lost:
        store.drop_file(key)
    if by.written > OPTIMIZE_FROM * before:
        store.optimize()
    by.embed(len(walk.files))
    failed, left_out = (*walk.failed, *by.failed), (*walk.left_out, *work.roots.kept(), *spared)
    if not (lost or by.taken):
        raise CorpusError(_nothing_read([*failed, *left_out]))
    return replace(
        report := by.report(),
        removed=len(lost) + report.removed,
        skipped=tuple(walk.skipped),
        failed=failed,
        seconds=time.monotonic() - began,
        left_out=left_out,
    )


def _lost(store: Store, walk: Walk, places: Places, gone: Gone) -> tuple[list[str], list[LeftOut]]:
    """The files to drop, and the folders whose files stay though none is there any more."""
    if gone is Gone.KEEP:
        return [], []
    lost = roots.gone(of_files(store).values(), walk, places)
    empty = roots.emptied(lost, walk, places) if gone is Gone.MIRROR else {}
    stays = {key for keys in empty.values() for key in keys}
    why = "has no file to read any more; its {} indexed files stay until it is indexed with --prune"
    spared = [LeftOut(shown(root), why.format(len(keys))) for root, keys in empty.items()]
    return [key for key in lost if key not in stays], spared


def prepare(documents: Sequence[Document], encoder: Encoder) -> list[IndexEntry]:
    """Documents ready for `Store.add_documents`: title cleaned, blocks and sentences found, cut into
    passages, embedded."""
    return list(entries([cut(document) for document in documents], encoder))


def cut(document: Document) -> Cut:
    """The document with its title cleaned, its blocks and sentences found, and its passages."""
    structure = document.blocks or outlined(blocks(document.text))
    sentences = document.sentences or units(document.text, structure)
    title = visible.title(document.title)
    clean = replace(document, title=title, sentences=sentences, blocks=structure)
    return clean, tuple(passages(clean))


def _silent(step: IndexProgress) -> None:
    """No progress wanted."""


@dataclass(slots=True)
class _Work:
    """One run of `index`: whose the files are, and who writes them."""

    writer: IndexWriter
    places: Places
    roots: Roots
    known: dict[str, FileRecord]

    @classmethod
    def begun(
        cls,
        writer: IndexWriter,
        label: tuple[Trust, Author | None, str, str | None],
        asked: Iterable[Path],
    ) -> "_Work":
        places = Places(writer.store.folder)
        known = of_files(writer.store)
        every = known.values()
        trust, author, by, said = label
        roots = Roots(
            frozenset(asked),
            trust,
            known_roots(every, places),
            author,
            known_authors(every, places),
            by,
            said,
            known_metadata(every, places),
        )
        return cls(writer, places, roots, known)

    def take(self, files: Sequence[Path]) -> None:
        """Index the files in their order, or note why one could not be read; those that another process has at last."""
        left, number, store = list(files), 0, self.writer.store
        with Readers() as readers:
            while left:
                with closing(Share(store, self.places, self.known, self.roots.metadata_of)) as share:
                    for turn in in_turn(left, share, readers):
                        number += 1
                        self.writer.progress(IndexProgress(turn.source, number, len(files)))
                        self.writer.write(turn, self._label(turn))
                        share.end(turn.key)
                left = share.others
                if left:
                    time.sleep(vectors.PAUSE_S)

    def _label(self, turn: FileTurn) -> FileRecord:
        trust, root = self.roots.decide(turn.path)
        return FileRecord(
            turn.key,
            "",
            0,
            0,
            trust,
            self.places.key(root),
            self.roots.written_by(turn.path, root, turn.old, self.places),
            self.roots.metadata_of(turn.path),
        )


def _said(places: Places) -> Said:
    """What is known of files by their place, their folder and what stands beside them."""

    def said(turn: Incoming, record: FileRecord, beside: bytes) -> Mapping[str, Scalar]:
        return telling.of_file(places.path(turn.key), places.path(record.root), beside, record.metadata)

    return said


def _nothing_read(reasons: Sequence[UnreadableFile | LeftOut]) -> str:
    kinds = " ".join(DOCUMENTS)
    if not reasons:
        return f"there is no file to index there: add some of the types {kinds}, or give another path"
    named = "; ".join(str(reason) for reason in reasons[:_NAMED])
    more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
    return f"no file could be read: {named}{more}"
