"""Files of another machine as a source, by a file system of fsspec: a bucket, a server of SFTP or WebDAV.

A listing gives the files and their versions; one that fails half way counts for nothing.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from equipoise.core.errors import CorpusError, EquipoiseError, UnreadableFile
from equipoise.corpus.files import BESIDE, HIDDEN, UNKNOWN, Content, Original
from equipoise.corpus.limits import LARGEST_FILE
from equipoise.corpus.loaders import kind_of
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.sources.addresses import is_chosen
from equipoise.corpus.sources.source import Item, ItemPart, Listed, Unanswered

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

    from equipoise.corpus.sources.git import Repository

MOST_FOLDERS = 100_000
_VERSIONS = ("e_tag", "ETag", "etag", "md5Hash", "content_md5", "version", "generation")
_JUST_NOW_S = 2.0
_TIMES = ("last_modified", "LastModified", "modified", "mtime", "updated", "created")


@dataclass(slots=True)
class RemoteFiles(Listed):
    """The files in `folder` of a file system, which is at `address`; those whose paths match the patterns, at most
    `most`. No error message contains any of the `secrets`."""

    system: "AbstractFileSystem | Repository"
    folder: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    def items(self, known: Mapping[str, FileRecord]) -> Iterator[Item]:
        """See DocumentSource: all of it is listed before the first is given."""
        for info in self._listed():
            path = info["name"].strip("/").removeprefix(self.folder.strip("/")).lstrip("/")
            key = self.address + quote(path)
            if why := self._why_not(path):
                self._leave(key, why)
            else:
                self._there[key] = info
        for key, info in self._first("files"):
            yield Item(key, self._original(key, info), "", int(info.get("size") or 0), _version(info))

    def read(self, item: Item) -> Sequence[ItemPart]:
        data = self._bytes(item.key)
        return [ItemPart(Content(data, item.size, max(item.mtime_ns, 0)))]

    def _listed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        with failing(CorpusError, f"{self.address} cannot be listed", self.secrets):
            # fsspec's own walk passes over folders within that cannot be listed, as if all in them were gone
            waiting, seen = [self.folder], {self.folder.strip("/")}
            while waiting:
                for info in self.system.ls(waiting.pop(), detail=True):
                    name, kind = str(info["name"]), info.get("type")
                    if kind == "directory" and name.strip("/") not in seen:
                        seen.add(name.strip("/"))
                        waiting.append(name)
                    found += [info] if kind == "file" else []
                if len(seen) > MOST_FOLDERS:
                    raise CorpusError(f"there are more than {MOST_FOLDERS:,} folders: narrow the address")
        return found

    def _why_not(self, path: str) -> str:
        """Why a file is not read, empty where it is."""
        if any(part.startswith(".") for part in path.split("/")):
            return HIDDEN
        if path.endswith(BESIDE) or not kind_of(Path(path)):
            return UNKNOWN
        return "" if is_chosen(f"/{path}", self.include, self.exclude) else "excluded"

    def _original(self, key: str, info: dict[str, Any]) -> Original:
        changed = _changed(info)
        return Original(
            key, Path(info["name"]).name, lambda: self._bytes(key), changed.date() if changed else None
        )

    def _bytes(self, key: str) -> bytes:
        with (
            failing(Unanswered, "it cannot be read", self.secrets),
            self.system.open(self._there[key]["name"], "rb") as file,
        ):
            data = bytes(file.read(LARGEST_FILE + 1))
        if len(data) > LARGEST_FILE:
            raise UnreadableFile(key, f"the file is larger than {LARGEST_FILE:,} bytes; split it")
        return data


@contextmanager
def failing(kind: type[CorpusError], what: str, secrets: Sequence[str]) -> Iterator[None]:
    """What the library of a file system raises becomes an error of a `kind`, in one line and without a secret."""
    try:
        yield
    except (EquipoiseError, ImportError):
        raise
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {error}"
        for secret in secrets:
            text = text.replace(secret, "***")
        raise kind(f"{what}: {' '.join(text.split())[:300]}") from None


def _version(info: Mapping[str, Any]) -> int:
    """A number for a version, made of its ETag, time and the like; -1, which no file in an index has, if there is none,
    or it was changed just now: another change within the same second might look the same."""
    marks = [str(info[name]) for name in (*_VERSIONS, *_TIMES) if info.get(name)]
    changed = _changed(info)
    if not marks or (changed and abs((datetime.now(UTC) - changed).total_seconds()) < _JUST_NOW_S):
        return -1
    return int(hashlib.sha256("\n".join(marks).encode()).hexdigest()[:15], 16)


def _changed(info: Mapping[str, Any]) -> datetime | None:
    """When it was changed last, where that is said in a way that can be read."""
    said = next((info[name] for name in _TIMES if info.get(name)), None)
    try:
        if isinstance(said, int | float):
            return datetime.fromtimestamp(said, UTC)
        made = said if isinstance(said, datetime) else datetime.fromisoformat(str(said))
    except (ValueError, OverflowError, OSError):
        return None
    return made if made.tzinfo else made.replace(tzinfo=UTC)
