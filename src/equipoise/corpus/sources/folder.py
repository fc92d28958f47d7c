"""Files and folders as a source: size and time tell what has changed, and a walk knows what is gone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus import files, roots
from equipoise.corpus.files import LeftOut, Original, Walk
from equipoise.corpus.loaders import DOCUMENTS
from equipoise.corpus.places import Places, shown
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.roots import Roots
from equipoise.corpus.sources.source import Item, ItemPart


@dataclass(slots=True)
class Folder:
    """The files that a walk met; `roots` say whose they are."""

    walk: Walk
    places: Places
    roots: Roots
    _paths: dict[str, Path] = field(default_factory=dict)

    @property
    def nothing(self) -> str:
        if self.walk.failed or self.walk.files or self.left_out:
            return "no file could be read"
        kinds = " ".join(DOCUMENTS)
        return f"there is no file to index there: add some of the types {kinds}, or give another path"

    @property
    def expected(self) -> int:
        return len(self.walk.files)

    @property
    def failed(self) -> Sequence[UnreadableFile]:
        return self.walk.failed

    @property
    def left_out(self) -> Sequence[LeftOut]:
        return [*self.walk.left_out, *self.roots.kept()]

    def items(self, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """The files in the order of the walk."""
        for path in self.walk.files:
            try:
                size, mtime_ns = files.size_and_time(path)
            except UnreadableFile:
                size, mtime_ns = 1, -1  # reading it says why
            key = self.places.key(path)
            self._paths[key] = path
            yield Item(key, Original.of(path), "", size, mtime_ns, path.as_posix())

    def read(self, item: Item) -> Sequence[ItemPart]:
        return [ItemPart(files.read(self._paths[item.key]))]

    def gone(self, known: Mapping[str, FileRecord]) -> Sequence[str]:
        return roots.gone(known.values(), self.walk, self.places)

    def emptied(self, lost: Sequence[str]) -> Sequence[tuple[LeftOut, Sequence[str]]]:
        """A `mirroring.Spare`: the lost files of given folders in which no file is left."""
        why = "has no file to read any more; its {} indexed files stay until it is indexed with --prune"
        empty = roots.emptied(lost, self.walk, self.places)
        return [(LeftOut(shown(root), why.format(len(keys))), keys) for root, keys in empty.items()]

    def label(self, key: str, old: FileRecord | None) -> FileRecord:
        """A `mirroring.Label`: the nearest path ever given decides."""
        path = self._paths[key]
        trust, root = self.roots.decide(path)
        author = self.roots.written_by(path, root, old, self.places)
        said = self.roots.metadata_of(path)
        return FileRecord(key, "", 0, 0, trust, self.places.key(root), author, said)
