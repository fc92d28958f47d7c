"""Files into the store: only what has changed is read, cut, embedded and written, one file at a time."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from equipoise.core.errors import CorpusError, ModelReplyError, UnreadableFile
from equipoise.core.protocols import Encoder
from equipoise.core.types import Array, Document, Trust
from equipoise.corpus.chunks import passages
from equipoise.corpus.files import Found, FoundFile, find_files, shown
from equipoise.corpus.loaders import LOADERS, LoadedDocument, load, loader_for
from equipoise.corpus.records import Entry, FileRecord, search_text
from equipoise.corpus.store import Store
from equipoise.text.sentences import sentence_spans

_BATCH = 64
_LARGEST = 500_000_000  # bytes; SQLite keeps at most 10^9 in one value
_NAMED = 5
_OPTIMIZE_FROM = 0.1  # share of new passages from which a rewrite of the search index pays


@dataclass(frozen=True, slots=True)
class Step:
    """How far `index` is: file number `file` of `files`, `embedded` of its `passages`."""

    source: str
    file: int
    files: int
    embedded: int = 0
    passages: int = 0


Progress = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What `index` did, in files, and what the store holds after it, in documents and passages.

    `relabelled` files only changed their trust; `skipped` are hidden files and unknown types in folders.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    relabelled: int = 0
    removed: int = 0
    skipped: int = 0
    failed: tuple[UnreadableFile, ...] = ()
    documents: int = 0
    passages: int = 0
    seconds: float = 0.0


def index(
    paths: str | Path | Iterable[str | Path],
    store: Store,
    encoder: Encoder,
    *,
    trust: Trust = Trust.TRUSTED,
    prune: bool = False,
    progress: Progress | None = None,
) -> IndexReport:
    """Bring `store` up to date with the files at `paths`; with `prune` drop files that are gone from there.

    A file that cannot be read is in `failed` and keeps its old content in the store. The encoder is asked for
    vectors only where something is new. Raises CorpusError where nothing at all could be read, StoreError
    where the store cannot be written or was built with another encoder.
    """
    began = time.monotonic()
    store.bind_encoder(encoder)
    before = store.counts().passages
    given = [paths] if isinstance(paths, str | Path) else paths
    found = find_files(Path(path) for path in given)
    work = _Work(store, encoder, trust, progress or _silent)
    for number, file in enumerate(found.files, 1):
        work.take(file, number, len(found.files))
    removed = _prune(store, found) if prune else 0
    failed = (*found.failed, *work.failed)
    if not (removed or any(work.done.values())):
        raise CorpusError(_nothing_read(failed))
    if work.embedded > _OPTIMIZE_FROM * before:
        store.optimize()
    counts = store.counts()
    return IndexReport(
        **work.done,
        removed=removed,
        skipped=found.skipped,
        failed=failed,
        documents=counts.documents,
        passages=counts.passages,
        seconds=time.monotonic() - began,
    )


def prepare(documents: Sequence[Document], encoder: Encoder) -> list[Entry]:
    """Documents ready for `Store.add_documents`: sentences found, cut into passages, embedded."""
    return list(_entries([_with_sentences(d) for d in documents], encoder, lambda _done, _of: None))


def document_id(source: str) -> str:
    """A short name for a source, the same everywhere: 16 hex digits of its sha256."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _silent(step: Step) -> None:
    """No progress wanted."""


def _nothing_done() -> dict[str, int]:
    return {"added": 0, "changed": 0, "unchanged": 0, "relabelled": 0}


@dataclass(slots=True)
class _Work:
    """One run of `index`: what it needs, and what it has done so far."""

    store: Store
    encoder: Encoder
    trust: Trust
    progress: Progress
    failed: list[UnreadableFile] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=_nothing_done)
    embedded: int = 0
    known: dict[str, FileRecord] = field(init=False)

    def __post_init__(self) -> None:
        self.known = self.store.files()

    def take(self, file: FoundFile, number: int, files: int) -> None:
        """Index one file, or note why it could not be read."""
        step = Step(shown(file.path), number, files)
        self.progress(step)
        try:
            self.done[self._one(file, step)] += 1
        except UnreadableFile as error:
            self.failed.append(error)

    def _one(self, file: FoundFile, step: Step) -> str:
        key = _key(self.store, file.path)
        old = self.known.get(key)
        stat = _stat(file.path)
        same = old is not None and (old.size, old.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
        if old is not None and same:
            return self._same_content(old, replace(old, trust=self.trust))
        data = _read(file.path)
        digest = hashlib.sha256(data).hexdigest()
        root = _key(self.store, file.root)
        record = FileRecord(key, digest, stat.st_size, stat.st_mtime_ns, self.trust, root)
        if old is not None and old.sha256 == digest:
            return self._same_content(old, record)
        documents = self._documents(load(Path(step.source), data), key, step.source)
        entries = list(_entries(documents, self.encoder, lambda done, of: self._report(step, done, of)))
        self.store.replace_file(record, entries)
        self.embedded += sum(len(entry.spans) for entry in entries)
        return "changed" if old is not None else "added"

    def _same_content(self, old: FileRecord, record: FileRecord) -> str:
        if old != record:
            self.store.update_file(record)
        return "unchanged" if old.trust == record.trust else "relabelled"

    def _documents(self, loaded: list[LoadedDocument], key: str, source: str) -> list[Document]:
        if self._is_taken(loaded[0], key, source):
            source = (self.store.path.absolute().parent / key).resolve().as_posix()
        return [self._document(one, source) for one in loaded]

    def _is_taken(self, first: LoadedDocument, key: str, source: str) -> bool:
        """True where another file, indexed from another working folder, has this source already."""
        owner = self.store.file_of(document_id(_full_source(first, source)))
        return owner is not None and owner != key

    def _document(self, one: LoadedDocument, source: str) -> Document:
        full = _full_source(one, source)
        made = Document(document_id(full), one.text, full, one.title, self.trust, pages=one.pages)
        return _with_sentences(made)

    def _report(self, step: Step, done: int, of: int) -> None:
        self.progress(replace(step, embedded=done, passages=of))


def _full_source(one: LoadedDocument, source: str) -> str:
    return f"{source}#{one.fragment}" if one.fragment else source


def _with_sentences(document: Document) -> Document:
    return replace(document, sentences=document.sentences or sentence_spans(document.text))


def _entries(
    documents: Sequence[Document], encoder: Encoder, report: Callable[[int, int], None]
) -> Iterator[Entry]:
    cut = [tuple(passages(document)) for document in documents]
    texts = [
        search_text(document.title, document.text[start:end])
        for document, spans in zip(documents, cut, strict=True)
        for start, end in spans
    ]
    vectors = _embedded(texts, encoder, report)
    row = 0
    for document, spans in zip(documents, cut, strict=True):
        yield Entry(document, spans, vectors[row : row + len(spans)])
        row += len(spans)


def _embedded(texts: list[str], encoder: Encoder, report: Callable[[int, int], None]) -> Array:
    vectors = np.empty((len(texts), encoder.dimensions), np.float32)
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        rows = encoder.encode(batch)
        if rows.shape != (len(batch), encoder.dimensions):
            raise ModelReplyError(
                f"the encoder {encoder.name} gave vectors of shape {rows.shape} for {len(batch)} texts, "
                f"{encoder.dimensions} dimensions were promised: check its settings"
            )
        vectors[start : start + len(batch)] = rows
        report(start + len(batch), len(texts))
    return vectors


def _key(store: Store, path: Path) -> str:
    """`path` relative to the store's folder: the same from every working folder, also after a move."""
    try:
        return Path(os.path.relpath(path, os.path.realpath(store.path.parent))).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise UnreadableFile(shown(path), _cannot_read(error)) from error


def _read(path: Path) -> bytes:
    loader_for(Path(shown(path)))
    if not path.is_file():
        raise UnreadableFile(shown(path), "this is not a regular file; give a file or a folder")
    try:
        if path.stat().st_size > _LARGEST:
            raise UnreadableFile(shown(path), f"the file is larger than {_LARGEST:,} bytes; split it")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableFile(shown(path), _cannot_read(error)) from error


def _cannot_read(error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    return f"the file cannot be read ({reason}); check it and its permissions"


def _prune(store: Store, found: Found) -> int:
    """Drop stored files that were not found under the given paths. A missing folder drops nothing."""
    present = {_key(store, file.path) for file in found.files}
    folder = Path(os.path.realpath(store.path.parent))
    gone = 0
    for key in store.files():
        path = Path(os.path.normpath(folder / key))
        under = path in found.missing or any(path.is_relative_to(root) for root in found.roots)
        hidden = any(path.is_relative_to(unread) for unread in found.unread)
        if under and key not in present and not hidden:
            store.drop_file(key)
            gone += 1
    return gone


def _nothing_read(failed: Sequence[UnreadableFile]) -> str:
    kinds = " ".join(LOADERS)
    if not failed:
        return f"there is no file to index there: add some of the types {kinds}, or give another path"
    named = "; ".join(str(error) for error in failed[:_NAMED])
    more = f"; and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return f"no file could be read: {named}{more}"
