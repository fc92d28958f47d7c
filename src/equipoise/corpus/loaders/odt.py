"""OpenDocument texts and sheets: headings, paragraphs, lists and tables (OASIS OpenDocument 1.3, part 3)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell, nested_text
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import LoadedDocument, comment, one_line, whole, words
from equipoise.corpus.loaders.numbering import OUTLINE, Numbering
from equipoise.corpus.loaders.outline import Outline, Runs
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.styles import Styles
from equipoise.corpus.loaders.xml import outermost, read_xml

_SPACES = re.compile(r"[ \t\r\n]++")
_MOST_SPACES = 100
_MOST_REPEATED = 20  # cells, at most, that a repeated one stands for
_MOST, _MOST_HIDDEN_COLUMNS = 999, 20_000  # that a number in the file may say
_NOT_READ = words(
    "annotation-end desc note-citation ruby-text script title tracked-changes forms meta-field-data"
)
_INDEXES = words("""
    alphabetical-index bibliography illustration-index object-index table-index table-of-content user-index
""")
_HIDDEN = (("display", "none"), ("visibility", "collapse"), ("is-hidden", "true"))
_MARKS = {"tab": "\t", "line-break": "\n"}


def load_odt(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: blocks separated by blank lines, a table row a line; every sheet a heading, its tables parted where
    rows are empty.

    Notes and comments stand below the paragraph that they belong to, headers and footers at the end. Hidden text
    (`hidden.py`) and deleted text are left out.
    """
    return read_package(path, data, kind="OpenDocument", read=lambda package: _loaded(path, package))


def _loaded(path: Path, package: Package) -> LoadedDocument:
    if b"encryption-data" in package.part("META-INF/manifest.xml"):
        raise UnreadableFile(str(path), "the file has a password; save it without one")
    content, styles = read_xml(package.part("content.xml")), Styles()
    styles.read_odf(package.tree("styles.xml"))
    styles.read_odf(content)
    outline = Outline()
    body = _Body(styles, outline)
    for part in (package.tree("styles.xml"), content):
        body.numbering.read_odf(part)
    for node in content.iter("body"):
        body.read(node, _Around(look(Look(), styles.paper)))
    _add_margins(package.tree("styles.xml"), styles, outline)
    return outline.loaded(package.title("meta.xml") or body.heading or path.stem)


def _add_margins(root: Element, styles: Styles, outline: Outline) -> None:
    """Append headers and footers, each text once, without mere page numbers."""
    for name in ("header", "footer"):
        for node in root.iterfind(f".//{name}"):
            margin = Outline()
            _Body(styles, margin).read(node, _Around(Look()))
            outline.margins(margin)


class _Around(NamedTuple):
    """The context inside an element: the look of text and its place on the line, and what the element is in.

    `texts` are those of the cell or note; `depth` is that of the list.
    """

    look: Look
    place: str = ""
    runs: Runs | None = None
    texts: list[str] | None = None
    depth: int = 0
    listed: str = ""  # how the list is numbered
    in_index: bool = False
    in_sheets: bool = False


@dataclass(slots=True)
class _Body:
    """Reads elements into an outline. `heading` is the first one."""

    styles: Styles
    outline: Outline
    heading: str = ""
    numbering: Numbering = field(default_factory=Numbering)
    _counts: bool = False  # the item that has begun is one of those that are numbered
    _new_item: bool = False

    def read(self, parent: Element, at: _Around) -> None:
        """Read everything in an element: its text if it is in a paragraph, and its elements."""
        self._take(parent.text, at)
        for node in parent:
            if node.tag not in _NOT_READ:
                self._element(node, self._inside(node, at))
            self._take(node.tail, at)

    def _element(self, node: Element, at: _Around) -> None:
        name = node.tag
        if name in {"p", "h"}:
            self._paragraph(node, at)
        elif name == "s":
            self._mark(" " * min(_number(node, "c"), _MOST_SPACES), at)
        elif name in _MARKS:
            self._mark(_MARKS[name], at)
        elif name == "annotation":
            notes = self.outline.held
            said = len(notes)
            self.read(node, at._replace(texts=notes, runs=None))
            author = next((one_line(part.text or "") for part in node.iter("creator")), "")
            notes[said:] = filter(None, [comment(" ".join(notes[said:]), author)])
        elif name == "note":
            self.read(node, at._replace(texts=self.outline.held, runs=None))
        elif name == "table":
            self._table(node, at)
        else:
            sheets, in_index = at.in_sheets or name == "spreadsheet", at.in_index or name in _INDEXES
            self.read(node, self._listed(node, at)._replace(in_sheets=sheets, in_index=in_index))

    def _listed(self, node: Element, at: _Around) -> _Around:
        """The context inside an element, which may be a list or an item of one."""
        if node.tag == "list":
            name = node.get("style-name") or at.listed
            if (
                not at.depth
                and node.get("continue-numbering") != "true"
                and "continue-list" not in node.attrib
            ):
                self.numbering.begin(name)
            return at._replace(depth=at.depth + 1, listed=name)
        if node.tag in {"list-item", "list-header"}:
            self._new_item, self._counts = True, node.tag == "list-item"
            self.numbering.begin(at.listed, at.depth - 1, node.get("start-value", ""))
        return at

    def _label(self, node: Element, at: _Around) -> str:
        """The number of a heading or of an item that begins, and the space behind it."""
        label = ""
        if at.depth and self._counts:
            label = self.numbering.label(at.listed, str(at.depth - 1))
        elif node.tag == "h" and not at.depth and node.get("is-list-header") != "true":
            label = self.numbering.label(OUTLINE, str(_number(node, "outline-level") - 1))
        self._counts = False
        return label and f"{label} "

    def _inside(self, node: Element, at: _Around) -> _Around:
        """The context inside an element, by its style."""
        if not node.attrib and node.tag not in {"p", "h"}:
            return at
        style = node.get("style-name", "")
        own = dict(self.styles.paragraph(style) if node.tag in {"p", "h"} else self.styles.named(style))
        if any(node.get(name) == value for name, value in _HIDDEN) or _is_hidden_by_field(node):
            own["display"] = "none"
        return at._replace(look=look(at.look, own), place=own.get("vertical-align", at.place)) if own else at

    def _take(self, text: str | None, at: _Around) -> None:
        if at.runs is not None and text:
            at.runs.add(_SPACES.sub(" ", text), shows=at.look.shows, place=at.place)

    def _mark(self, text: str, at: _Around) -> None:
        if at.runs is not None:
            at.runs.add(text, shows=at.look.shows, place=at.place)

    def _paragraph(self, node: Element, at: _Around) -> None:
        runs, label = Runs(self.outline), self._label(node, at)
        self.read(node, at._replace(runs=runs))
        text = runs.text()
        if not text.strip():
            return
        self.heading = self.heading or (one_line(text) if node.tag == "h" else "")
        text = label + text.strip() if label else text
        if at.texts is not None:
            at.texts.append(one_line(text) if at.texts is self.outline.held else text.strip())
            return
        kind, level = self.styles.kind(node.get("style-name", ""), {})
        if node.tag == "h":
            kind, level = BlockKind.HEADING, _number(node, "outline-level")
        if at.in_index:
            kind = BlockKind.ASIDE
        elif kind is BlockKind.HEADING:
            self.heading = self.heading or one_line(text)
        elif at.depth:
            kind, level = BlockKind.ITEM, at.depth
        elif kind is not BlockKind.CODE:
            kind = BlockKind.PARAGRAPH
        self.outline.put(kind, text, level, more=not self._new_item)
        self._new_item = False

    def _table(self, node: Element, at: _Around) -> None:
        """A table, or a sheet, whose tables are parted by empty rows."""
        inner = at.texts is not None
        is_sheet = at.in_sheets and not inner
        name = node.get("name", "") if is_sheet else ""
        intro = -1 if inner else self.outline.announcement()
        hidden = _hidden_columns(node)
        rows: list[list[Cell]] = []
        header = 0
        for tr, is_header, around in self._rows(node, at):
            cells = list(self._cells(tr, around, hidden))
            while is_sheet and cells and not cells[-1].text:
                cells.pop()
            if cells:
                header += is_header
                rows.append(cells)
            elif is_sheet and rows:
                name, rows, header = self._add_table(name, rows, header, intro, at), [], 0
        if at.texts is not None:
            at.texts.extend([nested_text(rows)] if rows else [])
        else:
            self._add_table(name, rows, header, intro, at)

    def _rows(
        self, parent: Element, at: _Around, *, is_header: bool = False
    ) -> Iterator[tuple[Element, bool, _Around]]:
        """The rows of a table, whether they are its header, and what holds in them."""
        for node in parent:
            inside = self._inside(node, at)
            if node.tag == "table-row":
                yield node, is_header, inside
            else:
                in_header = is_header or node.tag == "table-header-rows"
                yield from self._rows(node, inside, is_header=in_header)

    def _cells(self, row: Element, at: _Around, hidden: set[int]) -> Iterator[Cell]:
        column = 0
        for node in outermost(row, "table-cell", "covered-table-cell"):
            times = _number(node, "number-columns-repeated")
            if node.tag == "table-cell":
                times = min(times, _MOST_REPEATED)
                texts: list[str] = []
                self.read(node, self._inside(node, at)._replace(texts=texts, runs=None))
                text = one_line(" ".join(texts))
                if column in hidden:
                    self.outline.hidden += len(text)
                else:
                    span = _number(node, "number-rows-spanned"), _number(node, "number-columns-spanned")
                    yield from [Cell(text, *span)] * times
            column += times

    def _add_table(self, name: str, rows: list[list[Cell]], header: int, intro: int, at: _Around) -> str:
        """Append the rows, below the name of their sheet; returns the name if it is still to be added."""
        if name and rows:
            self.outline.add(BlockKind.HEADING, name, level=1)
            name = ""
        self.outline.table(
            rows, header=header, intro=intro, kind=BlockKind.ASIDE if at.in_index else BlockKind.ROW
        )
        return name


def _is_hidden_by_field(node: Element) -> bool:
    """Whether this is a paragraph that a field in it hides; those in its frames and notes have fields of their own."""
    inside = outermost(node, "hidden-paragraph", "p", "h") if node.tag in {"p", "h"} else ()
    return any(field.tag == "hidden-paragraph" and field.get("is-hidden") == "true" for field in inside)


def _hidden_columns(table: Element) -> set[int]:
    hidden: set[int] = set()
    column = 0
    for node in outermost(table, "table-column", "table-row"):
        times = _number(node, "number-columns-repeated") if node.tag == "table-column" else 0
        if times and node.get("visibility", "visible") != "visible" and len(hidden) < _MOST_HIDDEN_COLUMNS:
            hidden.update(range(column, column + times))
        column += times
    return hidden


def _number(node: Element, name: str) -> int:
    return min(whole(node.get(name), 1, 1), _MOST)
