"""EPUB books: the chapters in reading order, each a page of HTML (https://www.w3.org/TR/epub-33/)."""

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.cascade import Cascade
from equipoise.corpus.loaders.html import Linked, decode_page, read_page
from equipoise.corpus.loaders.loaded import LoadedDocument, words
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.package import Package, read_package, resolved
from equipoise.corpus.loaders.xml import read_xml

_TAG = re.compile(r"<([a-zA-Z][^<>\s/]*+)([^<>]*+)>")
_VOID = words("area base br col embed hr img input link meta param source track wbr")
_PAGES = frozenset({"application/xhtml+xml", "text/html"})
_MOST_TIMES, _ALWAYS_FINE = 2, 100_000  # characters of style sheets: per byte of the book, and for any book


def load_epub(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the chapters, with the headings they have. Style sheets in the book hide as in HTML."""
    return read_package(path, data, kind="EPUB", read=lambda package: _loaded(path, package, len(data)))


def _loaded(path: Path, package: Package, size: int) -> LoadedDocument:
    container = read_xml(package.part("META-INF/container.xml"))
    name = next((root.get("full-path", "") for root in container.iter("rootfile")), "")
    book, folder = read_xml(package.part(name)), posixpath.dirname(name)
    chapters = _chapters(book, folder)
    locked = package.tree("META-INF/encryption.xml").iter("CipherReference")
    if not {resolved("", unquote(part.get("URI", ""))) for part in locked}.isdisjoint(chapters):
        raise UnreadableFile(str(path), "the book is protected against copying; get it without protection")
    outline = Outline()
    sheets = _Sheets(package, _MOST_TIMES * size + _ALWAYS_FINE)
    for chapter in chapters:
        if data := package.part(chapter):
            page = _TAG.sub(_closed, decode_page(path, data))
            sheets.folder = posixpath.dirname(chapter)
            read_page(path, page, outline, sheets)
    title = next(("".join(title.itertext()) for title in book.iter("title")), "")
    return outline.loaded(title.strip() or path.stem)


def _chapters(book: Element, folder: str) -> list[str]:
    """The names of the chapters' parts in their order, each once."""
    parts = {
        item.get("id"): resolved(folder, unquote(item.get("href", "")))
        for item in book.iter("item")
        if item.get("media-type") in _PAGES
    }
    order = (item.get("idref") for item in book.iter("itemref") if item.get("linear") != "no")
    return list(dict.fromkeys(parts[name] for name in order if name in parts))


def _closed(tag: re.Match[str]) -> str:
    """`<p/>` of XML as `<p></p>`, since an HTML parser takes it for open."""
    name, rest = tag.groups()
    if not rest.endswith("/") or name.lower() in _VOID:
        return tag.group()
    return f"<{name}{rest[:-1]}></{name}>"


class _Sheets(Linked):
    """The style sheets in a book. Chapters with the same ones share their rules, so that they are read once."""

    def __init__(self, package: Package, most: int) -> None:
        super().__init__()
        self.folder = ""
        self._package = package
        self._left = most
        self._texts: dict[str, str] = {}
        self._cascades: dict[tuple[str, ...], Cascade] = {}

    def find(self, href: str) -> str | None:
        """The text of the sheet that `href` means in `folder`, None where it is not in the book."""
        name = resolved(self.folder, unquote(href.partition("#")[0]))
        if name not in self._texts:
            self._texts[name] = self._package.part(name).decode("utf-8", "replace")
        return (self._texts[name] or None) if self._left >= 0 else None

    def cascade(self, sheets: list[str]) -> Cascade:
        """The rules of these sheets."""
        key = tuple(sheets)
        if key not in self._cascades:
            self._left -= sum(map(len, sheets))
            self._cascades[key] = Cascade(sheets)
        return self._cascades[key]
