"""Word documents: headings, paragraphs, lists, tables, text boxes, notes and comments, in the order of the document."""

import re
from pathlib import Path

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.loaded import LoadedDocument
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.wordml import Body, Notes
from equipoise.corpus.loaders.wordstyles import Styles
from equipoise.corpus.loaders.xml import read_xml

_MARGIN = re.compile(r"(?:header|footer)\d*+\.xml\Z")
_NUMBERED = re.compile(r"[\W\d_]*+(?:\w++[\W\d_]++){0,2}")  # "Page 3 of 12"
_MOST_MARGINS = 100


def load_docx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: blocks separated by blank lines, a table row a line.

    Notes and comments stand below the paragraph that they belong to, headers and footers at the end. Hidden text
    (`hidden.py`) and deleted text are left out.
    """
    return read_package(path, data, kind="Word", read=lambda package: _loaded(path, package))


def _loaded(path: Path, package: Package) -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "word/document.xml")
    styles = Styles()
    if data := package.part(package.targets(main).get("styles", "")):
        read_xml(data, styles)
    outline = Outline()
    notes = Notes(styles, outline)
    targets = package.targets(main)
    for kind in ("footnotes", "endnotes", "comments"):
        if data := package.part(targets.get(kind, "")):
            read_xml(data, notes)
    body = Body(styles, outline, notes.texts)
    read_xml(package.part(main), body)
    body.close()
    _add_margins(package, main, styles, outline)
    return outline.loaded(package.title(top.get("core-properties", "")) or body.heading or path.stem)


def _add_margins(package: Package, main: str, styles: Styles, outline: Outline) -> None:
    """Append what stands above and below pages, once, without what only numbers them."""
    parts = [part for part in package.targets_by_id(main).values() if _MARGIN.search(part)]
    said: set[str] = set()
    for part in parts[:_MOST_MARGINS]:
        margin = Outline()
        body = Body(styles, margin)
        read_xml(package.part(part), body)
        body.close()
        outline.hidden += margin.hidden
        texts = [margin.text_of(row) for row in range(len(margin.blocks))]
        for text in texts:
            if text not in said and not _NUMBERED.fullmatch(text):
                outline.add(BlockKind.PARAGRAPH, text)
            said.add(text)
