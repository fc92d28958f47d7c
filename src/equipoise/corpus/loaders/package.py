"""Documents that are zip files of parts (Word, OpenDocument, EPUB, ...), opened within limits of size.

Their parts are read by loaders of our own: python-docx, python-pptx and openpyxl do not say which text is white, too
small or deleted, nor how a number is shown.
"""

import io
import posixpath
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument, parsing
from equipoise.corpus.loaders.xml import read_xml

_MOST_UNPACKED = 300_000_000  # bytes of all parts that are read
_MOST_TIMES, _ALWAYS_FINE = 100, 10_000_000  # bytes of parts for one of the file, and for any file
_MOST_ENTRIES = 100_000


class Package:
    """The parts of a zip file by name, together within a limit that depends on the size of the file."""

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

    def tree(self, name: str) -> Element:
        """The XML of a part, an empty element for a missing one."""
        data = self.part(name)
        return read_xml(data) if data else Element("")

    def targets(self, source: str, by: str = "Type") -> dict[str, str]:
        """The parts that a part points at, by the kind of relation or its `Id`; "" stands for the package itself."""
        folder, name = posixpath.split(source)
        targets: dict[str, str] = {}
        for relation in self.tree(posixpath.join(folder, "_rels", f"{name}.rels")).iter("Relationship"):
            if relation.get("TargetMode") != "External":
                part = resolved(folder, relation.get("Target", ""))
                targets.setdefault(relation.get(by, "").rpartition("/")[2], part)
        return targets

    def title(self, name: str) -> str:
        """The title in a part of properties, empty without one."""
        return next(("".join(title.itertext()).strip() for title in self.tree(name).iter("title")), "")


def read_package(
    path: Path, data: bytes, *, kind: str, read: Callable[[Package], LoadedDocument]
) -> list[LoadedDocument]:
    """One document, made by `read` from the parts of the file; `kind` names the format. Raises UnreadableFile."""
    with parsing(path, f"{kind} file"):
        return [read(Package(path, data))]


def resolved(folder: str, target: str) -> str:
    """The name of the part that `target` means, seen from `folder`."""
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
