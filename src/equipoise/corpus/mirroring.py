"""An index brought up to date with a source, whatever kind it is: only what has changed is read, written and embedded.

Every item is written by itself, so a run that ends half way has changed nothing that it did not see; the next ones are
read in worker processes while the ones before are written. What is gone is taken out at the end, and not at all where
nearly everything seems gone at once: a disk that is not mounted and a site in repair look like that.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace

from equipoise.core.errors import CorpusError, EquipoiseError, UnreadableFile
from equipoise.core.metadata import DATE
from equipoise.core.types import Trust
from equipoise.corpus.files import LeftOut
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.report import IndexReport
from equipoise.corpus.roots import Gone
from equipoise.corpus.sources.source import COMMENTS, DocumentSource, Item, ItemPart, Unanswered
from equipoise.corpus.vectors import PAUSE_S
from equipoise.corpus.workers import Readers
from equipoise.corpus.writing import OPTIMIZE_FROM, Fresh, Incoming, IndexProgress, IndexWriter, Same

_AHEAD = 8
_BYTES = 64_000_000  # of the items ahead together, unless one alone is larger
_NAMED = 5

Label = Callable[[str, FileRecord | None], FileRecord]
"""Makes the record of a document from its key and the store's old record: trust, root, author and metadata."""
Spare = Callable[[Sequence[str]], Sequence[tuple[LeftOut, Sequence[str]]]]
"""Of keys that seem gone, chooses those that stay since too many are gone at once: pairs of why, and which."""
_Outcome = Same | list[tuple[ItemPart, Fresh]]


@dataclass(slots=True)
class _Begun:
    """An item that this process has claimed: `olds` are the store's records of it by the endings of their keys."""

    item: Item
    label: FileRecord
    olds: dict[str, FileRecord]
    reading: "Future[_Outcome]"
    size: int = 0
    """In bytes, 0 where nothing has changed."""


@dataclass(slots=True)
class Mirror:
    """One run: the source, what writes and reads, the label of each document, and the index's `known` records."""

    source: DocumentSource
    writer: IndexWriter
    readers: Readers
    label: Label
    known: Mapping[str, FileRecord]
    _others: list[Item] = field(default_factory=list)
    _claimed: set[str] = field(default_factory=set)

    def run(self, gone: Gone, spare: Spare) -> IndexReport:
        """Bring the index up to date. Raises CorpusError where nothing at all could be read, StoreError, ModelError."""
        began, store, writer = time.monotonic(), self.writer.store, self.writer
        before = store.counts().passages
        taken = self._take()
        lost = [] if gone is Gone.KEEP else list(self.source.gone(self.known))
        spared = spare(lost) if gone is Gone.MIRROR and lost else ()
        stays = {key for _, keys in spared for key in keys}
        lost = [key for key in lost if key not in stays]
        for key in lost:
            store.drop_file(key)
            writer.taken[key] = "removed"
        if writer.written > OPTIMIZE_FROM * before:
            store.optimize()
        writer.embed(taken)
        failed = (*self.source.failed, *writer.failed)
        left_out = (*self.source.left_out, *(why for why, _ in spared))
        if not writer.taken:
            raise CorpusError(_nothing(self.source.nothing, [*failed, *left_out]))
        seconds = time.monotonic() - began
        return replace(writer.report(), failed=failed, left_out=left_out, seconds=seconds)

    def _take(self) -> int:
        """Write every item in turn, those that another process has claimed last; returns how many there were."""
        number, left = 0, self.source.items(self.known)
        while True:
            with closing(self._in_turn(left)) as turns:
                for begun in turns:
                    number += 1
                    total = max(self.source.expected, number)
                    self.writer.progress(IndexProgress(begun.item.original.source, number, total))
                    self._write(begun)
                    self._end(begun.item.key)
            if not self._others:
                return number
            left, self._others = iter(self._others), []
            time.sleep(PAUSE_S)

    def _in_turn(self, items: Iterable[Item]) -> Generator[_Begun, None, None]:
        """The items in order, a few being read ahead; those that other processes have claimed go into `_others`. No
        worker is started for unchanged items."""
        waiting: deque[_Begun] = deque()
        try:
            for item in items:
                if not self.writer.store.claim(f"file {item.key}"):
                    self._others.append(item)
                    continue
                self._claimed.add(item.key)
                begun = self._begin(item)
                while waiting and (
                    len(waiting) >= _AHEAD or begun.size + sum(one.size for one in waiting) > _BYTES
                ):
                    yield waiting.popleft()
                waiting.append(begun)
            yield from waiting
        finally:  # what was claimed and not done is given back
            for key in list(self._claimed):
                self._end(key)

    def _end(self, key: str) -> None:
        self._claimed.discard(key)
        self.writer.store.release(f"file {key}")

    def _begin(self, item: Item) -> _Begun:
        olds = {"": self.writer.store.file(item.key), COMMENTS: self.known.get(item.key + COMMENTS)}
        there = {ending: old for ending, old in olds.items() if old is not None}
        label = self.label(item.key, there.get(""))
        label = replace(label, trust=Trust.UNTRUSTED) if item.is_anybodys else label
        is_said_otherwise = any(old.metadata != label.metadata for old in there.values())
        old = next(iter(there.values()), None)
        if old is not None and item.is_as(old) and not is_said_otherwise:
            done: Future[_Outcome] = Future()
            done.set_result(Same(old, old))
            return _Begun(item, label, there, done)
        same = None if is_said_otherwise else there.get("")
        reading = self.readers.submit(lambda: self._read(item, same))
        return _Begun(item, label, there, reading, max(item.size, 1))

    def _read(self, item: Item, old: FileRecord | None) -> _Outcome:
        """Read the item; content that is the same as in `old` is not parsed again."""
        made = []
        for part in self.source.read(item):
            content = part.content
            if part.readings is not None:
                readings = list(part.readings)
            elif old is not None and content.sha256 == old.sha256:
                return Same(old, replace(old, size=content.size, mtime_ns=content.mtime_ns))
            else:
                readings = self.readers.read(item.original.source, content.data)
            if (day := item.original.dated) and part.ending != COMMENTS:  # what it says of itself comes first
                readings = [replace(one, metadata={DATE: day, **one.metadata}) for one in readings]
            sha256 = item.sha256 or content.sha256
            made.append((part, Fresh(sha256, content.size, content.mtime_ns, readings, content.beside)))
        return made

    def _write(self, begun: _Begun) -> None:
        try:
            outcome = begun.reading.result()
        except Unanswered as error:
            self.writer.failed.append(UnreadableFile(begun.item.original.source, str(error)))
            return
        except EquipoiseError as error:
            self._part(begun, "", error)
            return
        except Exception as error:  # noqa: BLE001 - whatever a source's library raises is this item's
            said = f"it cannot be read ({type(error).__name__}: {error}); leave it out"
            self._part(begun, "", UnreadableFile(begun.item.original.source, said))
            return
        if isinstance(outcome, Same):
            for ending, old in begun.olds.items():
                now = outcome.now if old == outcome.old else old
                self._part(begun, ending, Same(old, now))
            return
        for part, fresh in outcome:
            self._part(begun, part.ending, fresh)
        for ending in begun.olds.keys() - {part.ending for part, _ in outcome}:
            self.writer.store.drop_file(begun.item.key + ending)
            self.writer.taken[begun.item.key + ending] = "removed"

    def _part(self, begun: _Begun, ending: str, read: Same | Fresh | EquipoiseError) -> None:
        item, key = begun.item, begun.item.key + ending
        label = replace(begun.label, path=key)
        if ending == COMMENTS:
            label = replace(label, trust=Trust.UNTRUSTED, author=key)
        original = replace(item.original, source=item.original.source + ending)
        whole = item.whole + ending if item.whole else original.source
        self.writer.write(Incoming(key, whole, begun.olds.get(ending), original, read), label)


def _nothing(what: str, reasons: Sequence[object]) -> str:
    named = "; ".join(map(str, reasons[:_NAMED]))
    more = f"; and {len(reasons) - _NAMED} more" if len(reasons) > _NAMED else ""
    return f"{what}: {named}{more}" if reasons else what
