"""Reading ahead: the next files are read in worker processes while the ones before are embedded and written."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.core.errors import EquipoiseError, UnreadableFile
from equipoise.corpus import files
from equipoise.corpus.files import Original
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.places import Places, shown
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.store import Store
from equipoise.corpus.workers import Readers

_FILES = 8
_BYTES = 64_000_000  # of the files ahead together, unless one alone is larger


@dataclass(frozen=True, slots=True)
class Same:
    """A file whose content is the one in the store: its record there, and with its size and time of now."""

    old: FileRecord
    now: FileRecord


@dataclass(frozen=True, slots=True)
class Fresh:
    """New content, or old one of which other things are said: how the file was when it was read, its documents, and the
    bytes of the metadata beside it."""

    sha256: str
    size: int
    mtime_ns: int
    readings: list[ParsedDocument]
    beside: bytes = b""


@dataclass(frozen=True, slots=True)
class FileTurn:
    """A file whose turn it is: its names for people and for the store, and what the store knows of it.

    `size` is in bytes, 0 where size and time say that nothing has changed.
    """

    path: Path
    source: str
    key: str
    old: FileRecord | None
    size: int
    reading: Future[Same | Fresh]

    @property
    def whole(self) -> str:
        """Its name where another file has its `source`."""
        return self.path.as_posix()

    @property
    def original(self) -> Original:
        """The file as it lies there."""
        return Original.of(self.path)

    def outcome(self) -> Same | Fresh:
        """What was read, once it is.

        Raises UnreadableFile for what is wrong with this file, CorpusError where no worker can be started.
        """
        try:
            return self.reading.result()
        except EquipoiseError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise UnreadableFile(self.source, f"it cannot be read ({said}); leave it out") from error


@dataclass(slots=True)
class Share:
    """What is ours to do in a store that others may be indexing into: `others` are the files that they have. `metadata`
    is what the operator says of a file now; one of which something else was said is read again.

    Close it at the end: what was claimed and not done is given back.
    """

    store: Store
    places: Places
    known: Mapping[str, FileRecord]
    metadata: Callable[[Path], str]
    others: list[Path] = field(default_factory=list)
    _claimed: set[str] = field(default_factory=set)

    def begin(self, path: Path, key: str) -> tuple[FileRecord | None, int] | None:
        """What the store knows of a file, and bytes to read of it; None where another process has it.

        A file that is to be read is claimed first, then looked up: another may have read it meanwhile.
        """
        old = self.known.get(key)
        size = _size_to_read(path, old, self.metadata(path))
        if not size:
            return old, 0
        if not self.store.claim(f"file {key}"):
            self.others.append(path)
            return None
        self._claimed.add(key)
        old = self.store.file(key)
        return old, _size_to_read(path, old, self.metadata(path))

    def end(self, key: str) -> None:
        """A file is done."""
        if key in self._claimed:
            self._claimed.remove(key)
            self.store.release(f"file {key}")

    def close(self) -> None:
        """Nothing more is done."""
        for key in list(self._claimed):
            self.end(key)


def in_turn(paths: Iterable[Path], share: Share, readers: Readers) -> Iterator[FileTurn]:
    """The files in their order, each once it is its turn, but for those that other processes have; no worker is started
    for unchanged ones."""
    begun: deque[FileTurn] = deque()
    for path in paths:
        key = share.places.key(path)
        if (ours := share.begin(path, key)) is None:
            continue
        old, size = ours
        while begun and (len(begun) >= _FILES or size + sum(turn.size for turn in begun) > _BYTES):
            yield begun.popleft()
        source = shown(path)
        other = old is not None and share.metadata(path) != old.metadata
        reading = _begun(path, source, old, size, readers, is_said_otherwise=other)
        begun.append(FileTurn(path, source, key, old, size, reading))
    yield from begun


def _size_to_read(path: Path, old: FileRecord | None, metadata: str) -> int:
    """Bytes, at least 1; 0 where size, time and what the operator says are those in the store."""
    try:
        size, mtime_ns = files.size_and_time(path)
    except UnreadableFile:
        return 1  # reading it says why
    same = old is not None and (old.size, old.mtime_ns, old.metadata) == (size, mtime_ns, metadata)
    return 0 if same else max(size, 1)


def _begun(
    path: Path, source: str, old: FileRecord | None, size: int, readers: Readers, *, is_said_otherwise: bool
) -> Future[Same | Fresh]:
    if old is None or size:
        return readers.submit(lambda: _read(path, source, old, readers, is_said_otherwise=is_said_otherwise))
    done: Future[Same | Fresh] = Future()
    done.set_result(Same(old, old))
    return done


def _read(
    path: Path, source: str, old: FileRecord | None, readers: Readers, *, is_said_otherwise: bool
) -> Same | Fresh:
    content = files.read(path)
    digest = content.sha256
    if old is not None and old.sha256 == digest and not is_said_otherwise:
        return Same(old, replace(old, size=content.size, mtime_ns=content.mtime_ns))
    readings = readers.read(source, content.data)
    return Fresh(digest, content.size, content.mtime_ns, readings, content.beside)
