"""Which files there are to index under the paths a user gave, and their bytes.

Only regular files inside a given folder are found: a link that leads out of it is left out and named. A path
that is given may itself be a link.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from equipoise.core.errors import InputError, UnreadableFile
from equipoise.corpus.limits import LARGEST_FILE
from equipoise.corpus.loaders import check_type, kind_of
from equipoise.corpus.places import has_working_folder, shown

_FLAGS = sum(
    getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)
BESIDE, LARGEST_BESIDE = ".meta.json", 100_000
"""The ending of the name of a metadata file, and its largest size in bytes."""
HIDDEN = "hidden"
UNKNOWN = "of a type that is not read"
OF_A_PAGE = "belongs to web pages in the same folder"
_PAGES = frozenset({".html", ".htm"})
_PARTS = frozenset({".js", ".mjs", ".cjs", ".ts"})
"""Suffixes that in a folder with web pages are those of their scripts, not of something to read."""
_SEARCH_INDEX = re.compile(
    r"(?:search(?:[_-]?(?:data|docs?|content))?|(?:\w[\w-]*[_-]|search)?index)\.json", re.IGNORECASE
)
"""Names of the indexes in which the pages' own search looks: they repeat the text of all pages."""
_SOURCES = "_sources"
_NO_NAME = "the file's name is not valid UTF-8; rename it"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that was deliberately not read or not done, and why."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(slots=True)
class Walk:
    """What a walk met. `skipped` are hidden files, unknown types and parts of web pages inside folders.

    `files` have their links resolved. `roots` are the given paths that were read, `missing` those that do not
    exist, `unread` the folders that could not be listed; all with links resolved.
    """

    files: list[Path] = field(default_factory=list)
    failed: list[UnreadableFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)
    roots: list[Path] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    unread: list[Path] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes and those of the file of metadata beside it, and the size and time both had when they began to be
    read."""

    data: bytes
    size: int
    mtime_ns: int
    beside: bytes = b""

    @property
    def sha256(self) -> str:
        """The sha256 (hex) of the file and its metadata file: where it is the same, neither has changed."""
        digest = hashlib.sha256(self.data)
        if self.beside:
            digest.update(hashlib.sha256(self.beside).digest())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Original:
    """A file or page as it came: `source` is its name for people, `name` one whose suffix says its type, `data` reads
    its bytes and may raise UnreadableFile, and `dated` is its day according to its server."""

    source: str
    name: str
    data: Callable[[], bytes]
    dated: date | None = None

    @classmethod
    def of(cls, path: Path) -> "Original":
        """The file at `path`."""
        return cls(shown(path), path.name, lambda: read(path).data)


def find_files(paths: Iterable[str | Path]) -> Walk:
    """The files at `paths`, folders with everything below them; sorted in each folder, every file once.

    Raises InputError for an empty path.
    """
    walk = Walk()
    seen: set[Path] = set()
    for given in paths:
        if not str(given):
            raise InputError("an empty path was given: name a file or a folder, or . for the current folder")
        try:
            root = Path(os.path.realpath(given))
            mode = root.stat().st_mode
        except (OSError, ValueError) as error:
            _miss(given, error, walk)
            continue
        walk.roots.append(root)
        if stat.S_ISDIR(mode):
            _walk(root, walk, seen)
        else:
            _take(root, walk, seen)
    return walk


def _miss(given: str | Path, error: OSError | ValueError, walk: Walk) -> None:
    """Note a given path that cannot be used; it counts as `missing`, thus deleted, only if it surely does not exist."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        reason = "there is no such file or folder; check the path"
        if not os.path.isabs(given) and not has_working_folder():  # noqa: PTH117
            reason = "the current folder is gone; change to another one, or give a whole path"
        else:
            walk.missing.append(Path(os.path.realpath(given)))
    elif isinstance(error, OSError):
        reason = f"the path cannot be followed ({error.strerror or type(error).__name__}); check it"
    else:
        reason = "a path cannot hold a zero character; check it"
    walk.failed.append(UnreadableFile(_decodable(str(given)), reason))


def _walk(root: Path, walk: Walk, seen: set[Path]) -> None:
    before, waiting = len(walk.files), [root]
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        try:
            entries = sorted(here.iterdir())
            os.stat(os.path.join(here, "."))  # noqa: PTH116, PTH118  may its entries be looked at?
        except OSError as error:
            walk.unread.append(here)
            reason = f"the folder cannot be listed ({error.strerror}); check its permissions"
            walk.failed.append(UnreadableFile(_decodable(shown(here)), reason))
            continue
        waiting += reversed(_sort_out(entries, root, walk, seen))
    _leave_parts_of_pages(before, walk)


def _leave_parts_of_pages(before: int, walk: Walk) -> None:
    """Take the scripts and search indexes of web pages, and what Sphinx made pages from, out of the files from number
    `before` on."""
    here = walk.files[before:]
    pages = {path for path in here if path.suffix.lower() in _PAGES}
    parts = {path for path in here if _is_part(path) or _page_of(path) in pages} if pages else ()
    walk.files[before:] = [path for path in here if path not in parts]
    walk.skipped += [LeftOut(_decodable(shown(path)), OF_A_PAGE) for path in here if path in parts]


def _is_part(path: Path) -> bool:
    """Whether a file beside web pages is a script of theirs or their search index."""
    return path.suffix.lower() in _PARTS or _SEARCH_INDEX.fullmatch(path.name) is not None


def _page_of(path: Path) -> Path | None:
    """The page that Sphinx made of a source that it laid beside it: `list.html` of `_sources/list.rst.txt`."""
    if _SOURCES not in path.parts:
        return None
    at = path.parts.index(_SOURCES)
    return Path(*path.parts[:at], *path.parts[at + 1 : -1], f"{Path(path.stem).stem}.html")


def _sort_out(entries: list[Path], root: Path, walk: Walk, seen: set[Path]) -> list[Path]:
    """Takes the readable files among `entries`, notes why others are not read, returns the folders."""
    folders = []
    known_files = set(entries)
    for entry in entries:
        place = Path(os.path.realpath(entry)) if entry.is_symlink() else entry
        is_folder = os.path.isdir(place)  # noqa: PTH112  unlike Path.is_dir, never raises
        known = is_folder or kind_of(entry)
        if entry.name.startswith(".") or not known:
            why = HIDDEN if entry.name.startswith(".") else UNKNOWN
            walk.skipped.append(LeftOut(_decodable(shown(entry)), why))
        elif entry.name.endswith(BESIDE) and entry.with_name(entry.name.removesuffix(BESIDE)) in known_files:
            continue
        elif reason := _not_taken(place, root):
            walk.left_out.append(LeftOut(_decodable(shown(entry)), reason))
        elif is_folder:
            folders.append(place)
        else:
            _take(place, walk, seen)
    return folders


def _not_taken(place: Path, root: Path) -> str:
    """Why the `place` that an entry leads to is not read; empty where it is read."""
    if not os.path.exists(place):  # noqa: PTH110  unlike Path.exists, never raises
        return "the link leads nowhere"
    if not place.is_relative_to(root):
        return f"the link leads out of the folder, to {_decodable(str(place))}; give that path to index it"
    if os.path.isdir(place) or os.path.isfile(place):  # noqa: PTH112, PTH113
        return ""
    return "this is not a regular file"


def _take(path: Path, walk: Walk, seen: set[Path]) -> None:
    if path in seen:
        return
    seen.add(path)
    if _decodable(str(path)) == str(path):
        walk.files.append(path)
    else:
        walk.failed.append(UnreadableFile(_decodable(str(path)), _NO_NAME))


def _decodable(name: str) -> str:
    """`name` with what is not UTF-8 in it replaced."""
    return name.encode("utf-8", "replace").decode()


def beside(path: Path) -> Path:
    """Where the metadata of a file may stand: a JSON object in a file of its name with `.meta.json` behind it."""
    return path.with_name(path.name + BESIDE)


def size_and_time(path: Path) -> tuple[int, int]:
    """The size in bytes of the file and its metadata file together, and when one of them last changed, in nanoseconds;
    nobody can set that time back (but see `_changed`). Raises UnreadableFile."""
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        other = beside(path).lstat()
    except (OSError, ValueError):
        return status.st_size, _changed(status)
    return status.st_size + other.st_size, max(_changed(status), _changed(other))


def _changed(status: os.stat_result) -> int:
    """When a file was changed in any way; Windows knows only when it was written, as its owner says."""
    return status.st_mtime_ns if os.name == "nt" else status.st_ctime_ns


def read(path: Path, *, most: int = LARGEST_FILE) -> Content:
    """The bytes of a regular file of a known type, `path` without links, and of its metadata. Raises UnreadableFile.

    Never waits for a pipe or a device, and never reads more than `most` bytes and one, however it grows.
    """
    check_type(Path(shown(path)))
    other = Content(b"", 0, 0)
    if os.path.lexists(place := beside(path)):
        other = _read(place, LARGEST_BESIDE)
    own = _read(path, most)
    return Content(own.data, own.size + other.size, max(own.mtime_ns, other.mtime_ns), other.data)


def _read(path: Path, most: int) -> Content:
    try:
        with open(os.open(path, _FLAGS), "rb") as file:  # noqa: PTH123
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableFile(shown(path), "this is not a regular file; give a file or a folder")
            data = b"" if status.st_size > most else file.read(most + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if max(status.st_size, len(data)) > most:
        raise UnreadableFile(shown(path), f"the file is larger than {most:,} bytes; split it")
    return Content(data, status.st_size, _changed(status))


def _unreadable(path: Path, error: OSError) -> UnreadableFile:
    reason = error.strerror or type(error).__name__
    return UnreadableFile(shown(path), f"the file cannot be read ({reason}); check it and its permissions")
