"""Which files there are to index under the paths a user gave."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import LOADERS


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with its links resolved, and the path given by the user that led to it."""

    path: Path
    root: Path


@dataclass(slots=True)
class Found:
    """What a walk met. `skipped` counts hidden files and unknown types inside folders.

    `roots` are the given paths that were read, `missing` those that do not exist, `unread` the folders that
    could not be listed; all with links resolved.
    """

    files: list[FoundFile] = field(default_factory=list)
    failed: list[UnreadableFile] = field(default_factory=list)
    skipped: int = 0
    roots: list[Path] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    unread: list[Path] = field(default_factory=list)


def shown(path: Path) -> str:
    """`path` relative to the working folder, for sources and messages; absolute only on another drive."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:
        return path.as_posix()


def find_files(paths: Iterable[Path]) -> Found:
    """The files at `paths`, folders with everything below them; sorted in each folder, every file once."""
    found = Found()
    seen: set[Path] = set()
    for given in paths:
        root = Path(os.path.realpath(given))
        if root.is_dir():
            found.roots.append(root)
            _walk(root, root, found, seen)
        elif root.exists():
            found.roots.append(root)
            _take(root, root, found, seen)
        else:
            found.missing.append(root)
            found.failed.append(
                UnreadableFile(shown(root), "there is no such file or folder; check the path")
            )
    return found


def _walk(folder: Path, root: Path, found: Found, seen: set[Path]) -> None:
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        try:
            entries = sorted(here.iterdir())
            os.stat(os.path.join(here, "."))  # noqa: PTH116, PTH118  may its entries be looked at?
        except OSError as error:
            found.unread.append(here)
            reason = f"the folder cannot be listed ({error.strerror}); check its permissions"
            found.failed.append(UnreadableFile(shown(here), reason))
            continue
        waiting += reversed(_sort_out(entries, root, found, seen))


def _sort_out(entries: list[Path], root: Path, found: Found, seen: set[Path]) -> list[Path]:
    """Takes the readable files among `entries`, counts the others, returns the folders."""
    folders = []
    for entry in entries:
        if entry.name.startswith("."):
            found.skipped += 1
        elif os.path.isdir(entry):  # noqa: PTH112  unlike Path.is_dir, never raises
            folders.append(Path(os.path.realpath(entry)))
        elif entry.suffix.lower() in LOADERS and os.path.isfile(entry):  # noqa: PTH113
            _take(Path(os.path.realpath(entry)), root, found, seen)
        else:
            found.skipped += 1
    return folders


def _take(path: Path, root: Path, found: Found, seen: set[Path]) -> None:
    if path in seen:
        return
    seen.add(path)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        name = str(path).encode("utf-8", "replace").decode()
        found.failed.append(UnreadableFile(name, "the file's name is not valid UTF-8; rename it"))
    else:
        found.files.append(FoundFile(path, root))
