"""Word documents: headings, paragraphs, lists, tables and text boxes, in the order of the document."""

from pathlib import Path

from equipoise.corpus.loaders.loaded import LoadedDocument
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.wordml import Body
from equipoise.corpus.loaders.wordstyles import Styles
from equipoise.corpus.loaders.xml import read_xml


def load_docx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: blocks separated by blank lines, a table row a line.

    Hidden text (`hidden.py`), deleted text, notes, headers and comments are left out.
    """
    return read_package(path, data, kind="Word", read=lambda package: _loaded(path, package))


def _loaded(path: Path, package: Package) -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "word/document.xml")
    styles = Styles()
    if data := package.part(package.targets(main).get("styles", "")):
        read_xml(data, styles)
    outline = Outline()
    body = Body(styles, outline)
    read_xml(package.part(main), body)
    body.close()
    return outline.loaded(package.title(top.get("core-properties", "")) or body.heading or path.stem)
