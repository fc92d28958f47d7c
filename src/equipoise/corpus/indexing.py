"""Files into the store: only what has changed is read, cut, written and embedded (`corpus.mirroring`).

A file that fails in any way is named with its reason; only a failing store or encoder ends the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from equipoise.core.metadata import Scalar, checked, packed
from equipoise.core.protocols import Encoder
from equipoise.core.types import Document, Trust
from equipoise.corpus import telling
from equipoise.corpus.chunks import passages
from equipoise.corpus.embedding import vectors_of
from equipoise.corpus.files import find_files
from equipoise.corpus.limits import PASSAGES
from equipoise.corpus.mirroring import Mirror
from equipoise.corpus.places import Places
from equipoise.corpus.record_types import FileRecord, IndexEntry
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Author, Gone, Roots, of_files
from equipoise.corpus.sources.folder import Folder
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers
from equipoise.corpus.writing import Incoming, IndexProgress, IndexWriter, Judge, Progress
from equipoise.text import visible
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.sentences import units

__all__ = ["IndexOptions", "IndexProgress", "Judge", "Progress", "SyncOptions", "cut", "index", "prepare"]


class SyncOptions(TypedDict, total=False):
    """Options of a run for everything that it reads; see `index`."""

    metadata: Mapping[str, Scalar] | None
    gone: Gone
    progress: Progress | None
    judge: Judge | None


class IndexOptions(SyncOptions, total=False):
    """Options of a run over files; see `index`."""

    trust: Trust | None
    author: Author | None


def index(
    paths: str | Path | Iterable[str | Path],
    store: Store,
    encoder: Encoder,
    *,
    trust: Trust | None = None,
    author: Author | None = None,
    writer: str = "",
    metadata: Mapping[str, Scalar] | None = None,
    gone: Gone = Gone.KEEP,
    progress: Progress | None = None,
    judge: Judge | None = None,
    most: int = PASSAGES,
) -> IndexReport:
    """Bring `store` up to date with the files at `paths`; `gone` is for documents whose files are gone from there.
    `trust` None leaves known files and folders as they are, and makes others trusted. `writer`, if given, is the author
    of all files (`roots.writer_of`), in place of a path; `metadata` is what the operator says of them
    (`corpus.telling`), None: as before. `judge` decides the trust under which new files, and files that get another
    trust, are written, so nothing is found before it was judged.

    A file that cannot be read, that has more than `most` passages, or on whose text the encoder fails is in `failed`,
    and its old content is no longer searched. A folder that was indexed on its own keeps its trust when one around it
    is. The encoder makes all missing vectors, also those of an earlier run. Raises InputError for an empty path,
    CorpusError where nothing at all could be read, StoreError where the store cannot be written or was built with
    another encoder, ModelError where the encoder cannot be used: what was read by then stays, and words find it.
    """
    walk = find_files([paths] if isinstance(paths, str | Path) else paths)
    store.bind_encoder(encoder)
    said = None if metadata is None else packed(checked(metadata))
    places, known = Places(store.folder), of_files(store)
    whose = Roots(frozenset(walk.roots), trust, author, writer, said)
    whose.learn(known.values(), places)
    folder = Folder(walk, places, whose)

    def known_of(turn: Incoming, record: FileRecord, beside: bytes) -> Mapping[str, Scalar]:
        return telling.of_file(places.path(turn.key), places.path(record.root), beside, record.metadata)

    by = IndexWriter(store, encoder, known_of, progress or (lambda step: None), judge, most)
    with Readers() as readers:
        report = Mirror(folder, by, readers, folder.label, known).run(gone, folder.emptied)
    return replace(report, skipped=tuple(walk.skipped))


def prepare(documents: Sequence[Document], encoder: Encoder) -> list[IndexEntry]:
    """Documents ready for `Store.add_documents`: title cleaned, blocks and sentences found, cut into
    passages, embedded."""
    made = list(map(cut, documents))
    return [replace(entry, vectors=some) for entry, some in zip(made, vectors_of(made, encoder), strict=True)]


def cut(document: Document) -> IndexEntry:
    """The document with its title cleaned, its blocks and sentences found, and its passages."""
    structure = document.blocks or outlined(blocks(document.text))
    sentences = document.sentences or units(document.text, structure)
    title = visible.title(document.title)
    clean = replace(document, title=title, sentences=sentences, blocks=structure)
    return IndexEntry(clean, tuple(passages(clean)))
