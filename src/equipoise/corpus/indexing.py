"""Files into the store: only what has changed is read, cut, written and embedded.

First all files are read and written, one at a time in the order of the walk, while worker processes read and cut the
next ones: from then on words find them. Then the vectors are made (`corpus.vectors`), which takes most of the time.
A file that fails in any way is named with its reason; only a failing store or encoder ends the run.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.core.errors import CorpusError, StoreError, UnreadableFile
from equipoise.core.metadata import Scalar, checked, packed
from equipoise.core.protocols import Encoder
from equipoise.core.types import Document, Trust
from equipoise.corpus import roots, telling, vectors
from equipoise.corpus.blocks import packed_blocks
from equipoise.corpus.chunks import passages
from equipoise.corpus.embedding import Cut, entries
from equipoise.corpus.files import LeftOut, Walk, find_files
from equipoise.corpus.limits import PASSAGES
from equipoise.corpus.loaders import DOCUMENTS
from equipoise.corpus.naming import documents_of
from equipoise.corpus.offsets import packed as packed_offsets
from equipoise.corpus.places import Places, shown
from equipoise.corpus.prefetch import FileTurn, Same, Share, in_turn
from equipoise.corpus.record_types import FileRecord, IndexEntry
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Author, Gone, Roots, known_authors, known_metadata, known_roots
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers
from equipoise.models.encoder import is_multilingual
from equipoise.text import visible
from equipoise.text.blocks import blocks
from equipoise.text.outline import outlined
from equipoise.text.scripts import script_of
from equipoise.text.sentences import units

_NAMED = 5
_OPTIMIZE_FROM = 0.1  # share of new passages from which a rewrite of the search index pays


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far `index` is: file number `file` of `files` is read or, once there are `passages`, all are, and vectors
    made for `embedded` of them."""

    source: str
    file: int
    files: int
    embedded: int = 0
    passages: int = 0


Progress = Callable[[IndexProgress], None]
Judge = Callable[[Path, Sequence[Document], Trust], Trust]
"""Says under which trust the documents of a file are written, to which the run gives that trust."""


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
    work = _Work.begun(store, encoder, (trust, author, writer, said), walk.roots, progress or _silent)
    work.judge, work.most = judge, most
    work.take(walk.files)
    lost, spared = _lost(store, walk, work.places, gone)
    for key in lost:
        store.drop_file(key)
    if work.written > _OPTIMIZE_FROM * before:
        store.optimize()
    work.embed(len(walk.files))
    failed, left_out = (*walk.failed, *work.failed), (*walk.left_out, *work.roots.kept(), *spared)
    if not (lost or work.taken):
        raise CorpusError(_nothing_read([*failed, *left_out]))
    return replace(
        work.report(),
        removed=len(lost) + list(work.taken.values()).count("lost"),
        skipped=tuple(walk.skipped),
        failed=failed,
        seconds=time.monotonic() - began,
        left_out=left_out,
    )


def _lost(store: Store, walk: Walk, places: Places, gone: Gone) -> tuple[list[str], list[LeftOut]]:
    """The files to drop, and the folders whose files stay though none is there any more."""
    if gone is Gone.KEEP:
        return [], []
    lost = roots.gone(store.files().values(), walk, places)
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


@dataclass(frozen=True, slots=True)
class _Unseen:
    """What a reader of a new document does not see: characters, its encoding if guessed, its script if no encoder
    reads it. `key` is its file's."""

    key: str
    doc_id: str
    source: str
    trusted: bool
    hidden: int
    invisible: int
    encoding: str
    script: str


@dataclass(slots=True)
class _Work:
    """One run of `index`: what it needs, and what it has done so far."""

    store: Store
    encoder: Encoder
    progress: Progress
    places: Places
    roots: Roots
    known: dict[str, FileRecord]
    failed: list[UnreadableFile] = field(default_factory=list)
    unseen: list[_Unseen] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)
    """By the keys of files: the field of the report that counts it."""
    written: int = 0
    judge: Judge | None = None
    most: int = PASSAGES
    _by_file: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def begun(
        cls,
        store: Store,
        encoder: Encoder,
        label: tuple[Trust, Author | None, str, str | None],
        asked: Iterable[Path],
        progress: Progress,
    ) -> "_Work":
        places = Places(store.folder)
        known = store.files()
        every = known.values()
        trust, author, writer, said = label
        roots = Roots(
            frozenset(asked),
            trust,
            known_roots(every, places),
            author,
            known_authors(every, places),
            writer,
            said,
            known_metadata(every, places),
        )
        return cls(store, encoder, progress, places, roots, known)

    def take(self, files: Sequence[Path]) -> None:
        """Index the files in their order, or note why one could not be read; those that another process has at last."""
        left, number = list(files), 0
        with Readers() as readers:
            while left:
                with closing(Share(self.store, self.places, self.known, self.roots.metadata_of)) as share:
                    for turn in in_turn(left, share, readers):
                        number += 1
                        self.progress(IndexProgress(turn.source, number, len(files)))
                        self._take(turn)
                        share.end(turn.key)
                left = share.others
                if left:
                    time.sleep(vectors.PAUSE_S)

    def _take(self, turn: FileTurn) -> None:
        trust, root = self.roots.decide(turn.path)
        label = FileRecord(
            turn.key,
            "",
            0,
            0,
            trust,
            self.places.key(root),
            self.roots.written_by(turn.path, root, turn.old, self.places),
            self.roots.metadata_of(turn.path),
        )
        try:
            self.taken[turn.key] = self._one(turn, label)
        except UnreadableFile as error:
            if turn.old is not None:
                self.store.drop_file(turn.key)
                self.taken[turn.key] = "lost"
                error = UnreadableFile(error.path, f"{error.reason}; its old text is no longer searched")
            self.failed.append(error)

    def _one(self, turn: FileTurn, label: FileRecord) -> str:
        """Bring the store up to date with one file, whose trust and author stand in `label`; the field of the report
        that counts it."""
        fresh = turn.outcome()
        if isinstance(fresh, Same):
            trust = self._trust_of_same(turn, fresh.old, label.trust)
            now = replace(
                fresh.now, trust=trust, root=label.root, author=label.author, metadata=label.metadata
            )
            return self._same_content(fresh.old, now)
        many = sum(len(reading.passages) for reading in fresh.readings)
        if many > self.most:
            raise UnreadableFile(turn.source, f"it has {many:,} passages, more than {self.most:,}: split it")
        record = replace(label, sha256=fresh.sha256, size=fresh.size, mtime_ns=fresh.mtime_ns)
        said = telling.of_file(turn.path, self.places.path(record.root), fresh.beside, record.metadata)
        documents = documents_of(fresh.readings, (turn.source, turn.path), record, said, self.store)
        if turn.old and (known := self._only_said_otherwise(turn, documents)):
            trust = self._trust_of_same(turn, turn.old, label.trust)
            self.store.update_file(replace(record, trust=trust), known)
            return "relabelled"
        record = replace(record, trust=self._judged(turn, documents, record.trust))
        documents = [replace(document, trust=record.trust) for document in documents]
        pairs = list(zip(documents, fresh.readings, strict=True))
        with _this_file(turn.source):
            self.store.replace_file(
                record, [IndexEntry(document, reading.passages) for document, reading in pairs]
            )
        self.written += many
        self.unseen += [
            _Unseen(
                turn.key,
                document.doc_id,
                document.source,
                document.trust is Trust.TRUSTED,
                reading.hidden,
                reading.invisible,
                reading.encoding,
                "" if is_multilingual(self.encoder) else script_of(document.text),
            )
            for document, reading in pairs
        ]
        return "added" if turn.old is None else "changed"

    def report(self) -> IndexReport:
        """What was done to the files that are there, and what the store holds now."""
        count, counts = list(self.taken.values()).count, self.store.counts()
        return IndexReport(
            added=count("added"),
            changed=count("changed"),
            unchanged=count("unchanged"),
            relabelled=count("relabelled"),
            documents=counts.documents,
            passages=counts.passages,
            hidden=tuple((one.source, one.hidden) for one in self.unseen if one.hidden),
            invisible=tuple((one.source, one.invisible) for one in self.unseen if one.invisible),
            guessed=tuple((one.source, one.encoding) for one in self.unseen if one.encoding),
            unread=tuple((one.source, one.script) for one in self.unseen if one.script),
            strangers=tuple(one.doc_id for one in self.unseen if not one.trusted),
        )

    def embed(self, files: int) -> None:
        """Make the vectors that are missing; a file on whose text the encoder fails is a failed one."""

        def tell(step: vectors.VectorProgress) -> None:
            self.progress(IndexProgress(step.source, files, files, step.done, step.passages))

        for refusal in vectors.make(self.store, self.encoder, tell):
            self.taken.pop(refusal.path, None)
            self.unseen = [other for other in self.unseen if other.key != refusal.path]
            self.failed.append(UnreadableFile(shown(self.places.path(refusal.path)), refusal.reason))

    def _judged(self, turn: FileTurn, documents: Sequence[Document], trust: Trust) -> Trust:
        return self.judge(turn.path, documents, trust) if self.judge else trust

    def _trust_of_same(self, turn: FileTurn, old: FileRecord, trust: Trust) -> Trust:
        """Of a file whose content is the same: what is held back stays so, unless it is trusted now; another trust
        than before is judged."""
        if old.trust is trust or (old.trust is Trust.HELD and trust is Trust.UNTRUSTED):
            return old.trust
        documents = list(self.store.documents(self._ids_of(turn.key)).values()) if self.judge else []
        return self._judged(turn, documents, trust)

    def _same_content(self, old: FileRecord, record: FileRecord) -> str:
        if old != record:
            self.store.update_file(record)
        return "unchanged" if old.trust == record.trust else "relabelled"

    def _only_said_otherwise(
        self, turn: FileTurn, documents: Sequence[Document]
    ) -> dict[str, Mapping[str, Scalar]]:
        """The metadata of all documents of a file by their ids, where they have changed and nothing else has; else
        empty."""
        before = self.store.documents(self._ids_of(turn.key)).values() if turn.old else ()
        said = {one.doc_id: one.metadata for one in documents}
        same = {one.doc_id: _content(one) for one in before} == {
            one.doc_id: _content(one) for one in documents
        }
        return said if same and said != {one.doc_id: one.metadata for one in before} else {}

    def _ids_of(self, key: str) -> Sequence[str]:
        """The documents that a file had before this run."""
        if not self._by_file:
            for listed in self.store.listing():
                self._by_file.setdefault(listed.path, []).append(listed.doc_id)
        return self._by_file.get(key, ())


@contextmanager
def _this_file(source: str) -> Iterator[None]:
    """What the store or the encoder has against a file is the file's; a store that fails is not."""
    try:
        yield
    except (StoreError, UnreadableFile):
        raise
    except CorpusError as error:
        raise UnreadableFile(source, str(error)) from error


def _content(document: Document) -> tuple[object, ...]:
    """All that is searched and quoted."""
    offsets = (
        packed_offsets(document.sentences),
        packed_offsets(document.pages),
        packed_blocks(document.blocks),
    )
    return document.text, document.title, *offsets


def _nothing_read(reasons: Sequence[UnreadableFile | LeftOut]) -> str:
    kinds = " ".join(DOCUMENTS)
    if not reasons:
        return f"there is no file to index there: add some of the types {kinds}, or give another path"
    named = "; ".join(str(reason) for reason in reasons[:_NAMED])
    more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
    return f"no file could be read: {named}{more}"
