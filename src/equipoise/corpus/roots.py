"""Which of the paths ever given decides about a file: its trust, and whether it is pruned.

The nearest one does. A folder that was indexed on its own keeps its trust when a folder around it is indexed,
also for files that are new in it: only who names it, or something in it, changes that.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from equipoise.core.types import Trust
from equipoise.corpus.files import LeftOut, Walk
from equipoise.corpus.places import Places, is_address, shown
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.store import Store


class Gone(StrEnum):
    """What becomes of documents whose files are gone from a path that is indexed again.

    MIRROR takes them out, but leaves a folder that has lost every file at once as it was: a disk that is not mounted
    looks like that. DROP takes those out too; KEEP takes out nothing.
    """

    MIRROR = "mirror"
    KEEP = "keep"
    DROP = "drop"


class Author(StrEnum):
    """Who counts as one author of the files below a path: everybody who writes there, each folder in it, or each file.

    Whoever can write more than one file, or make a folder, must not count for more than one: PATH is the safe one.
    """

    PATH = "path"
    FOLDER = "folder"
    FILE = "file"


_WRITER = "key:"


def writer_of(key_id: str) -> str:
    """The author of what was handed in with a key: all of it is one source."""
    return f"{_WRITER}{key_id}"


def shown_author(author: str, source: str) -> str:
    """The author of the document `source` for people who ask: in place of a key the document is named."""
    return source if author.startswith(_WRITER) else author


@dataclass(slots=True)
class Roots:
    """The trust, author and metadata of files in one run: `author` is for all files below the `asked` paths, `trust`
    and `metadata` only where no nearer path is known to have its own. None leaves what is known as it is; what is below
    no known root is then trusted. `writer`, if any, is the author of all files, whatever their paths."""

    asked: frozenset[Path]
    trust: Trust | None = None
    author: Author | None = None
    writer: str = ""
    metadata: str | None = None
    known: dict[Path, Trust] = field(default_factory=dict)
    _authors: dict[Path, Author] = field(default_factory=dict)
    _said: dict[Path, str] = field(default_factory=dict)
    _kept: dict[Path, int] = field(default_factory=dict)

    def learn(self, records: Iterable[FileRecord], places: Places) -> None:
        """Learn the trust, authors and metadata of known roots from the store's files. A root with any file that is
        untrusted or held back is untrusted; a file whose metadata differ from its root's keeps its own."""
        for record in records:
            root = places.path(record.root)
            if self.known.get(root) is not Trust.UNTRUSTED:
                self.known[root] = Trust.TRUSTED if record.trust is Trust.TRUSTED else Trust.UNTRUSTED
            if self._said.setdefault(root, record.metadata) != record.metadata:
                self._said[places.path(record.path)] = record.metadata
            if record.author.startswith(_WRITER):
                continue
            if record.author == record.path != record.root:
                self._authors[root] = Author.FILE
            elif record.author != record.root:
                self._authors.setdefault(root, Author.FOLDER)

    def decide(self, path: Path) -> tuple[Trust, Path]:
        """The trust of the file at `path`, and the root that decides it."""
        for place in (path, *path.parents):
            if place in self.asked:
                return self._asked_for(place)
            if place in self.known:
                self._count(place)
                return self.known[place], place
        return self.trust or Trust.TRUSTED, path

    def author_of(self, path: Path, root: Path) -> Path:
        """The path that stands for the author of the file at `path`, whose root this is."""
        named = self.author if any(place in self.asked for place in (path, *path.parents)) else None
        match named or self._authors.get(root, Author.PATH):
            case Author.FILE:
                return path
            case Author.FOLDER:
                return path.parent
            case _:
                return root

    def written_by(self, path: Path, root: Path, old: FileRecord | None, places: Places) -> str:
        """The author of the file at `path`, whose root this is; who handed a file in (`old`) stays its author."""
        handed_in = old.author if old and old.author.startswith(_WRITER) and self.author is None else ""
        return self.writer or handed_in or places.key(self.author_of(path, root))

    def metadata_of(self, path: Path) -> str:
        """What the operator says of the file at `path`, as `FileRecord.metadata`."""
        for place in (path, *path.parents):
            if place in self.asked and self.metadata is not None:
                return self.metadata
            if place in self._said:
                return self._said[place]
        return "{}"

    def kept(self) -> list[LeftOut]:
        """Roots whose files have another trust than the run asked for."""
        return [
            LeftOut(
                shown(root),
                f"{count} files stay {self.known[root].value}, as this path was indexed; name it and its trust to "
                "change that",
            )
            for root, count in self._kept.items()
        ]

    def _asked_for(self, asked: Path) -> tuple[Trust, Path]:
        """The trust for the path `asked`, and its root: the nearest known root if it has that trust, else `asked`, from
        now on a root of its own."""
        nearest = next((place for place in (asked, *asked.parents) if place in self.known), None)
        if nearest is None:
            return self.trust or Trust.TRUSTED, asked
        if self.trust is None:
            self._count(nearest)
        trust = self.trust or self.known[nearest]
        return trust, nearest if self.known[nearest] is trust else asked

    def _count(self, root: Path) -> None:
        if self.known[root] is not (self.trust or Trust.TRUSTED):
            self._kept[root] = self._kept.get(root, 0) + 1


def of_files(store: Store) -> dict[str, FileRecord]:
    """The store's records of files, by name, without those of pages of sites, which lie in no folder."""
    return {key: record for key, record in store.files().items() if not is_address(key)}


def gone(records: Iterable[FileRecord], walk: Walk, places: Places) -> list[str]:
    """Files of the store, by name, that were asked for and not met: deleted, or once reached by a link.

    Asked for are files under a given path and those recorded for it. A missing folder says nothing of its files.
    """
    present = {places.key(path) for path in walk.files}

    def is_gone(path: Path, root: Path) -> bool:
        asked = path in walk.missing or _in_any(path, walk.roots) or _in_any(root, walk.roots)
        return asked and not _in_any(path, walk.unread) and not _in_any(root, walk.unread)

    return [
        record.path
        for record in records
        if record.path not in present and is_gone(places.path(record.path), places.path(record.root))
    ]


def emptied(lost: Iterable[str], walk: Walk, places: Places) -> dict[Path, list[str]]:
    """The given folders in which no file was met, each with those of the `lost` files that were under it."""
    every = list(lost)
    empty = [
        root for root in walk.roots if root.is_dir() and not any(_in_any(path, [root]) for path in walk.files)
    ]
    under = {root: [key for key in every if _in_any(places.path(key), [root])] for root in empty}
    return {root: keys for root, keys in under.items() if keys}


def _in_any(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
