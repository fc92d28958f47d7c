"""Writes files and pages into the store once they are read: new, changed, the same, or with other metadata only.

Whatever lists and reads them (a walk through folders, a crawl of a site) hands them to an `IndexWriter` one at a time;
words find them from then on. `embed` makes the vectors at the end (`corpus.vectors`), which takes most of the time.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from equipoise.core.errors import CorpusError, EquipoiseError, StoreError, UnreadableFile
from equipoise.core.metadata import Scalar
from equipoise.core.protocols import Encoder
from equipoise.core.types import Document, Trust
from equipoise.corpus import vectors
from equipoise.corpus.files import BESIDE, Original
from equipoise.corpus.limits import PASSAGES
from equipoise.corpus.naming import documents_of
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.places import Places, named
from equipoise.corpus.record_types import FileRecord, IndexEntry
from equipoise.corpus.report import IndexReport
from equipoise.corpus.sources.source import COMMENTS
from equipoise.corpus.store import Store
from equipoise.models.encoder import is_multilingual
from equipoise.text.tokens import script_of

OPTIMIZE_FROM = 0.1
"""Share of new passages from which a rewrite of the search index pays."""


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far a run is: number `file` of `files` is read or, once `passages` is above 0, all files are read and
    `embedded` of the passages have vectors."""

    source: str
    file: int
    files: int
    embedded: int = 0
    passages: int = 0


Progress = Callable[[IndexProgress], None]
Judge = Callable[[Original, Sequence[Document], Trust], Trust]
"""Decides the trust under which the documents of a file or page are written, given the trust that the run gives it. A
CorpusError that it raises ends the run, and nothing of the file is written."""


@dataclass(frozen=True, slots=True)
class Same:
    """A file or page whose content has not changed: its record in the store, and that with its new size and time."""

    old: FileRecord
    now: FileRecord


@dataclass(frozen=True, slots=True)
class Fresh:
    """Content that is new, or of which other metadata may be known: its digest, size and time when it was read, its
    documents, and the bytes of the metadata file beside it."""

    sha256: str
    size: int
    mtime_ns: int
    readings: list[ParsedDocument]
    beside: bytes = b""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file or page whose turn it is: `key` is its name in the store, `whole` the one for people where that of
    `original` is taken, `old` the store's record of it, and `read` what was read, or the error."""

    key: str
    whole: str
    old: FileRecord | None
    original: Original
    read: Same | Fresh | EquipoiseError

    @property
    def source(self) -> str:
        """Its name for people."""
        return self.original.source


Said = Callable[[Incoming, FileRecord, bytes], Mapping[str, Scalar]]
"""Makes the metadata of an incoming file's documents, besides their own, from its record and the bytes of the metadata
file beside it."""


@dataclass(frozen=True, slots=True)
class _Unseen:
    """What a reader of a new document does not see: characters, running headers and footers, its encoding if guessed,
    its script if no encoder reads it. `key` is its file's."""

    key: str
    doc_id: str
    source: str
    trusted: bool
    hidden: int
    invisible: int
    running: int
    encoding: str
    script: str


@dataclass(slots=True)
class IndexWriter:
    """One run over a store: what it needs, and what it has done so far."""

    store: Store
    encoder: Encoder
    said: Said
    progress: Progress
    judge: Judge | None = None
    most: int = PASSAGES
    """Most passages of a file."""
    failed: list[UnreadableFile] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)
    """For the key of each file that was taken, the field of the report that counts it."""
    written: int = 0
    """Passages written so far."""
    _unseen: list[_Unseen] = field(default_factory=list)
    _by_file: dict[str, list[str]] = field(default_factory=dict)

    def write(self, turn: Incoming, label: FileRecord) -> None:
        """Bring the store up to date with one file, whose key, trust, root, author and metadata stand in `label`, or
        note why it could not be read. Raises CorpusError where the store or no worker can be used."""
        try:
            self.taken[turn.key] = self._one(turn, label)
        except UnreadableFile as error:
            said = ""
            if turn.old is not None and error.path.endswith(BESIDE):  # others may have laid it there
                said, self.taken[turn.key] = "; the document stays as it was", "unchanged"
            elif turn.old is not None:
                self.store.drop_file(turn.key)
                said, self.taken[turn.key] = "; its old text is no longer searched", "removed"
            self.failed.append(UnreadableFile(error.path, error.reason + said))

    def _one(self, turn: Incoming, label: FileRecord) -> str:
        """The field of the report that counts the file."""
        fresh = turn.read
        if isinstance(fresh, EquipoiseError):
            raise fresh
        if isinstance(fresh, Same):
            trust = self._trust_of_same(turn, fresh.old, label.trust)
            now = replace(
                fresh.now, trust=trust, root=label.root, author=label.author, metadata=label.metadata
            )
            if fresh.old != now:
                self.store.update_file(now)
            return "unchanged" if fresh.old.trust is trust else "relabelled"
        many = sum(len(reading.passages) for reading in fresh.readings)
        if many > self.most:
            raise UnreadableFile(turn.source, f"it has {many:,} passages, more than {self.most:,}: split it")
        record = replace(label, sha256=fresh.sha256, size=fresh.size, mtime_ns=fresh.mtime_ns)
        said = self.said(turn, record, fresh.beside)
        documents = documents_of(fresh.readings, (turn.source, turn.whole), record, said, self.store)
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
        self._unseen += [
            _Unseen(
                turn.key,
                document.doc_id,
                document.source,
                document.trust is Trust.TRUSTED,
                reading.hidden,
                reading.invisible,
                reading.running,
                reading.encoding,
                "" if is_multilingual(self.encoder) else script_of(document.text),
            )
            for document, reading in pairs
        ]
        return "added" if turn.old is None else "changed"

    def embed(self, files: int) -> None:
        """Make the vectors that are missing; a file on whose text the encoder fails is a failed one."""

        def tell(step: vectors.VectorProgress) -> None:
            self.progress(IndexProgress(step.source, files, files, step.done, step.passages))

        places = Places(self.store.folder)
        for refusal in vectors.make(self.store, self.encoder, tell):
            self.taken.pop(refusal.path, None)
            self._unseen = [other for other in self._unseen if other.key != refusal.path]
            self.failed.append(UnreadableFile(named(refusal.path, places), refusal.reason))

    def report(self) -> IndexReport:
        """What was done so far, and what the store holds now."""
        count, counts = list(self.taken.values()).count, self.store.counts()
        return IndexReport(
            added=count("added"),
            changed=count("changed"),
            unchanged=count("unchanged"),
            relabelled=count("relabelled"),
            removed=count("removed"),
            documents=counts.documents,
            passages=counts.passages,
            failed=tuple(self.failed),
            hidden=tuple((one.source, one.hidden) for one in self._unseen if one.hidden),
            invisible=tuple((one.source, one.invisible) for one in self._unseen if one.invisible),
            running=tuple((one.source, one.running) for one in self._unseen if one.running),
            guessed=tuple((one.source, one.encoding) for one in self._unseen if one.encoding),
            unread=tuple((one.source, one.script) for one in self._unseen if one.script),
            strangers=tuple(one.doc_id for one in self._unseen if not one.trusted),
            comments=tuple(Counter(how for key, how in self.taken.items() if key.endswith(COMMENTS)).items()),
        )

    def _judged(self, turn: Incoming, documents: Sequence[Document], trust: Trust) -> Trust:
        return self.judge(turn.original, documents, trust) if self.judge else trust

    def _trust_of_same(self, turn: Incoming, old: FileRecord, trust: Trust) -> Trust:
        """The trust of a file whose content is the same: a held one stays held unless it is to be trusted; any other
        change of trust is left to the judge."""
        if old.trust is trust or (old.trust is Trust.HELD and trust is Trust.UNTRUSTED):
            return old.trust
        documents = list(self.store.documents(self._ids_of(turn.key)).values()) if self.judge else []
        return self._judged(turn, documents, trust)

    def _only_said_otherwise(
        self, turn: Incoming, documents: Sequence[Document]
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
    """Turns a CorpusError about one file into an UnreadableFile; that the store itself fails (StoreError) passes."""
    try:
        yield
    except (StoreError, UnreadableFile):
        raise
    except CorpusError as error:
        raise UnreadableFile(source, str(error)) from error


def _content(document: Document) -> tuple[object, ...]:
    """Everything of a document that is searched and quoted."""
    return document.text, document.title, document.sentences, document.pages, tuple(document.blocks)
