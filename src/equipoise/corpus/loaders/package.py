"""Documents that are zip files of parts (Word, OpenDocument, EPUB, ...), opened within limits of size."""

import io
import posixpath
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument
from equipoise.corpus.loaders.xml import TooMuch, read_xml

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_MOST_UNPACKED = 300_000_000  # bytes of all parts that are read
_MOST_TIMES, _ALWAYS_FINE = 100, 10_000_000  # bytes of parts for one of the file, and for any file
_MOST_ENTRIES = 100_000


class Package:
    """The parts of a zip file by name, together no larger than the file is worth."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self._left = min(_MOST_UNPACKED, _MOST_TIMES * len(data) + _ALWAYS_FINE)
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        if len(self._archive.namelist()) > _MOST_ENTRIES:
            raise UnreadableFile(str(path), f"it holds more than {_MOST_ENTRIES:,} parts; save it anew")

    def names(self) -> list[str]:
        """The names of all parts, in their order."""
        return self._archive.namelist()

    def part(self, name: str) -> bytes:
        """The bytes of a part, none for a missing one. Raises UnreadableFile for one that is too large."""
        if name not in self._archive.NameToInfo:
            return b""
        with self._archive.open(name) as opened:
            data = opened.read(self._left + 1)
        if len(data) > self._left:
            reason = (
                f"its part {Path(name).name} unpacks to more than {self._left:,} bytes; split the document"
            )
            raise UnreadableFile(str(self._path), reason)
        self._left -= len(data)
        return data

    def targets(self, source: str) -> dict[str, str]:
        """The parts that a part points at, by the kind of relation; "" stands for the package itself."""
        return self._relations(source).targets

    def targets_by_id(self, source: str) -> dict[str, str]:
        """The parts that a part points at, by the relation's id."""
        return self._relations(source).by_id

    def _relations(self, source: str) -> "_Relations":
        folder, name = posixpath.split(source)
        data = self.part(posixpath.join(folder, "_rels", f"{name}.rels"))
        relations = _Relations(folder)
        if data:
            read_xml(data, relations)
        return relations

    def title(self, name: str) -> str:
        """The title in a part of properties, empty without one."""
        properties = _Title()
        if data := self.part(name):
            read_xml(data, properties)
        return properties.title


def read_package(
    path: Path, data: bytes, *, kind: str, read: Callable[[Package], LoadedDocument]
) -> list[LoadedDocument]:
    """One document, made by `read` from the parts of the file. `kind` names the format in errors.

    Raises UnreadableFile, whatever `read` stumbles over.
    """
    if data.startswith(_OLE):
        reason = (
            f"this is an old format or has a password; save it as {path.suffix.lower()} without a password"
        )
        raise UnreadableFile(str(path), reason)
    try:
        return [read(Package(path, data))]
    except TooMuch as error:
        raise UnreadableFile(str(path), f"{error}; save it as text") from error
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:  # the parsers read hostile bytes and may stumble in any way
        reason = (
            f"the {kind} file is broken ({type(error).__name__}); open it in its program and save it again"
        )
        raise UnreadableFile(str(path), reason) from error


def resolved(folder: str, target: str) -> str:
    """The name of the part that `target` means, seen from `folder`."""
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


class _Relations:
    """Reads a part's list of relations."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.targets: dict[str, str] = {}
        self.by_id: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            target = resolved(self._folder, attributes.get("Target", ""))
            self.targets.setdefault(attributes.get("Type", "").rpartition("/")[2], target)
            self.by_id.setdefault(attributes.get("Id", ""), target)

    def end(self, name: str) -> None:
        """Nothing to do."""

    def characters(self, text: str) -> None:
        """Nothing to do."""


class _Title:
    """Reads the title among a document's properties."""

    def __init__(self) -> None:
        self.title = ""
        self._inside = False

    def start(self, name: str, _attributes: Mapping[str, str]) -> None:
        self._inside = name == "title" and not self.title

    def end(self, _name: str) -> None:
        self._inside = False

    def characters(self, text: str) -> None:
        if self._inside:
            self.title = text.strip()
