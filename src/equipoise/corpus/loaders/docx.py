"""Word documents: headings, paragraphs, tables and text boxes, in the order of the document.

The package is opened here: a zip file whose parts point at each other. `wordml.py` reads the parts.
"""

import io
import posixpath
import zipfile
from collections.abc import Mapping
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, one_line
from equipoise.corpus.loaders.wordml import Body, Styles, TooDeep, read_xml

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_MOST_UNPACKED = 300_000_000  # bytes of one part
_MOST_TIMES, _ALWAYS_FINE = 100, 10_000_000  # bytes of a part for one of the file, and for any file
_MOST_ENTRIES = 100_000


def load_docx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: paragraphs separated by blank lines, a table row a line with ` | ` between cells.

    Hidden text (`hidden.py`), deleted text, notes, headers and comments are left out.
    """
    if data.startswith(_OLE):
        reason = "this is an old .doc or has a password; save it as .docx without a password"
        raise UnreadableFile(str(path), reason)
    try:
        return [_loaded(path, _Package(path, data))]
    except TooDeep as error:
        raise UnreadableFile(str(path), f"{error}; save it as text") from error
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:  # the parsers read hostile bytes and may stumble in any way
        reason = f"the Word file is broken ({type(error).__name__}); open it in Word and save it again"
        raise UnreadableFile(str(path), reason) from error


def _loaded(path: Path, package: "_Package") -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "word/document.xml")
    styles = Styles()
    if found := package.part(package.targets(main).get("styles", "")):
        read_xml(found, styles)
    body = Body(styles)
    read_xml(package.part(main), body)
    properties = _Title()
    if found := package.part(top.get("core-properties", "")):
        read_xml(found, properties)
    title = one_line(clean(properties.title or body.heading))
    return LoadedDocument(clean(body.text()), title or path.stem, hidden=body.hidden)


class _Package:
    """The parts of a zip file by name, none larger than its file is worth."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self._most = min(_MOST_UNPACKED, _MOST_TIMES * len(data) + _ALWAYS_FINE)
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        if len(self._archive.namelist()) > _MOST_ENTRIES:
            raise UnreadableFile(str(path), f"it holds more than {_MOST_ENTRIES:,} parts; save it anew")

    def part(self, name: str) -> bytes:
        """The bytes of a part, none for a missing one. Raises UnreadableFile for one that is too large."""
        if name not in self._archive.NameToInfo:
            return b""
        with self._archive.open(name) as opened:
            found = opened.read(self._most + 1)
        if len(found) > self._most:
            reason = (
                f"its part {Path(name).name} unpacks to more than {self._most:,} bytes; split the document"
            )
            raise UnreadableFile(str(self._path), reason)
        return found

    def targets(self, source: str) -> dict[str, str]:
        """The parts that a part points at, by the kind of relation; "" stands for the package itself."""
        folder, name = posixpath.split(source)
        found = self.part(posixpath.join(folder, "_rels", f"{name}.rels"))
        relations = _Relations(folder)
        if found:
            read_xml(found, relations)
        return relations.targets


class _Relations:
    """Reads a part's list of relations."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", self._folder, attributes.get("Target", "")))
            self.targets.setdefault(attributes.get("Type", "").rpartition("/")[2], target.lstrip("/"))

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
