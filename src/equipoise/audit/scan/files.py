"""The documents of files, read as for an index, together with all the text that their files hold."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.audit.scan.scanner import Scanned
from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Document
from equipoise.corpus import files
from equipoise.corpus.files import LeftOut, find_files
from equipoise.corpus.naming import document_id
from equipoise.corpus.parsed import ParsedDocument
from equipoise.corpus.places import shown
from equipoise.corpus.store import Store
from equipoise.corpus.whole import WholeText
from equipoise.corpus.workers import Readers

_AHEAD = 4
Loaded = tuple[list[ParsedDocument], list[WholeText]]


@dataclass(slots=True)
class ScannedFiles:
    """The documents at some paths, read one after the other. `failed` fills while they are read.

    `total` is the number of files; `left_out` are links out of a folder.
    """

    paths: list[Path]
    failed: list[UnreadableFile]
    left_out: tuple[LeftOut, ...]
    total: int = field(init=False)

    def __post_init__(self) -> None:
        self.total = len(self.paths)

    @classmethod
    def at(cls, paths: Iterable[str | Path]) -> "ScannedFiles":
        """What is at `paths`. Raises InputError for an empty path."""
        listing = find_files(paths)
        return cls(listing.files, list(listing.failed), tuple(listing.left_out))

    def __iter__(self) -> Iterator[Scanned]:
        with Readers() as readers:
            waiting: deque[tuple[str, Future[Loaded]]] = deque()
            for path in self.paths:
                waiting.append((shown(path), readers.submit(lambda path=path: _loaded(readers, path))))  # type: ignore[misc]
                if len(waiting) >= _AHEAD:
                    yield from self._documents(*waiting.popleft())
            while waiting:
                yield from self._documents(*waiting.popleft())

    def _documents(self, source: str, reading: "Future[Loaded]") -> Iterator[Scanned]:
        try:
            readings, whole = reading.result()
        except UnreadableFile as error:
            self.failed.append(error)
            return
        for row, content in enumerate(readings):
            name = f"{source}#{content.fragment}" if content.fragment else source
            yield Scanned(
                as_document(content, name), whole if row == 0 else (), content.hidden, content.invisible
            )


def _loaded(readers: Readers, path: Path) -> Loaded:
    source, content = shown(path), files.read(path)
    return readers.read(source, content.data), readers.whole(source, content.data)


def as_document(reading: ParsedDocument, source: str) -> Document:
    """The document that an index would make of it."""
    return Document(
        document_id(source),
        reading.text,
        source,
        reading.title,
        sentences=reading.sentences,
        pages=reading.pages,
        blocks=reading.blocks,
    )


def of_store(store: Store) -> Iterator[Scanned]:
    """The documents of an index, one after the other. What their loaders left out is not there."""
    for doc_id in store.doc_ids():
        yield Scanned(store.document(doc_id))
