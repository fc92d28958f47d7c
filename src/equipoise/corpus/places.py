"""How files are named: for people relative to the working folder, for the store relative to its own."""

import os
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.addresses import Place


def shown(path: Path) -> str:
    """`path` relative to the working folder, for sources and messages; absolute where that cannot be."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except (ValueError, OSError):  # another drive; the working folder is gone
        return path.as_posix()


def is_of_store(path: str | Path, store: Place) -> bool:
    """Whether a file is the store file, or its path begins with that one's: its log, or one that is being made."""
    return isinstance(store, Path) and os.path.realpath(path).startswith(os.path.realpath(store))


def is_folder_of_store(path: str | Path, store: Place) -> bool:
    """Whether this is the folder that the store is in."""
    return isinstance(store, Path) and Path(os.path.realpath(path)) == Path(os.path.realpath(store)).parent


def has_working_folder() -> bool:
    """False where somebody has deleted it: then no relative path leads anywhere."""
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def is_address(key: str) -> bool:
    """Whether the name of a document in a store is the address of a page: names of files never hold ://."""
    return "://" in key


def named(key: str, places: "Places") -> str:
    """The name for people of the file or page that the store calls `key`."""
    return key if is_address(key) else shown(places.path(key))


@dataclass(frozen=True, slots=True)
class Places:
    """Files as the store names them: relative to its `folder`, so that both may move together."""

    folder: Path

    def key(self, path: Path) -> str:
        """The name of a file or root in the store; absolute only on another drive."""
        try:
            return Path(os.path.relpath(path, self.folder)).as_posix()
        except ValueError:
            return path.as_posix()

    def path(self, key: str) -> Path:
        """The path of the file or root that has this name in the store."""
        return Path(os.path.normpath(self.folder / key))
