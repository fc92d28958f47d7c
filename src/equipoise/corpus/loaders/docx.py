"""Word documents: headings, paragraphs, lists, tables, text boxes, notes and comments, in the order of the document
(ECMA-376, part 1, 17)."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.charts import add_chart
from equipoise.corpus.loaders.css import declarations
from equipoise.corpus.loaders.equations import equation
from equipoise.corpus.loaders.grid import Rows, is_label, nested_text
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import LoadedDocument, comment, one_line, whole
from equipoise.corpus.loaders.numbering import Numbering
from equipoise.corpus.loaders.outline import Outline, Runs
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.styles import OFF, UNKNOWN_PAPER, Styles, word_style
from equipoise.corpus.loaders.xml import is_on, outermost, read_xml

_MARGIN = re.compile(r"(?:header|footer)\d*+\.xml\Z")
_MOST_MARGINS = 100
_PLAIN_TABLES = frozenset({"", "TableNormal", "TableGrid"})
_FIRST_ROW = 0x20  # the bit of a table's look that sets its first row off
_HEX = re.compile(r"[0-9a-fA-F]{1,8}")
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_SHAPE_PROPERTIES = frozenset({"anchor", "docPr", "cNvPr"})
_DELETED = frozenset({"del", "moveFrom"})
_NOT_READ = frozenset({"pPr", "rPr", "tblPr", "trPr", "tcPr", "delInstrText", "Fallback", "rt", "fldData"})
_DEEPEST_FIELD, _LONGEST_FIELD = 30, 20  # fields in fields; characters of the instruction of one
_CONTENTS = "sdtPr/docPartObj/docPartGallery[@val='Table of Contents']"
_NOTES = ("footnote", "endnote", "comment")


def load_docx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: blocks separated by blank lines, a table row a line.

    Notes and comments stand below the paragraph that they belong to, headers and footers at the end. Hidden text
    (`hidden.py`) and deleted text are left out.
    """
    return read_package(path, data, kind="Word", read=lambda package: _loaded(path, package))


def _loaded(path: Path, package: Package) -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "word/document.xml")
    targets = package.targets(main)
    styles = Styles()
    styles.read_word(package.tree(targets.get("styles", "")))
    outline = Outline()
    body = _Body(styles, outline, chart=lambda name: package.tree(package.targets(main, "Id").get(name, "")))
    body.numbering.read(package.tree(targets.get("numbering", "")))
    for kind in _NOTES:
        for note in package.tree(targets.get(f"{kind}s", "")).iter(kind):
            body.notes[kind, note.get("id", "")] = _note(note, styles, outline)
    document = read_xml(package.part(main))
    page = Look() if document.find("background") is None else look(Look(), UNKNOWN_PAPER)
    body.read(document, _Around(page, page))
    _add_margins(package, main, styles, outline)
    return outline.loaded(package.title(top.get("core-properties", "")) or body.heading or path.stem)


def _note(node: Element, styles: Styles, outline: Outline) -> str:
    """The text of a note or comment as a line, and who wrote it."""
    inside = Outline()
    _Body(styles, inside).read(node, _Around())
    text = inside.text().strip()
    outline.hidden += inside.hidden
    author = node.get("author", "")
    return one_line(comment(text, author) if author else text)


def _add_margins(package: Package, main: str, styles: Styles, outline: Outline) -> None:
    """Append headers and footers, each text once, without mere page numbers."""
    parts = [part for part in package.targets(main, "Id").values() if _MARGIN.search(part)]
    for part in parts[:_MOST_MARGINS]:
        margin = Outline()
        _Body(styles, margin).read(package.tree(part), _Around())
        outline.margins(margin)


@dataclass(slots=True)
class _Paragraph:
    runs: Runs
    is_contents: bool
    is_bold: bool = True


@dataclass(slots=True)
class _Cell:
    texts: list[str] = field(default_factory=list)
    bold: bool = True


class _Around(NamedTuple):
    """The context inside an element: the look of the page, the paragraph and the run, and what the element is in."""

    page: Look = Look()
    look: Look = Look()
    run: Look = Look()
    place: str = ""
    bold: bool = False
    deleted: bool = False  # or in a hidden shape
    contents: bool = False
    cell: _Cell | None = None
    paragraph: _Paragraph | None = None


@dataclass(slots=True)
class _Body:
    """Reads elements into an outline. `heading` is the first one, `notes` has the text of notes by kind and id."""

    styles: Styles
    outline: Outline
    notes: dict[tuple[str, str], str] = field(default_factory=dict)  # each is said once
    heading: str = ""
    chart: Callable[[str], Element] = lambda _: Element("")
    numbering: Numbering = field(default_factory=Numbering)
    _charts: list[Element] = field(default_factory=list)  # of the paragraph or table that is being read
    _fields: list[str] = field(default_factory=list)

    def read(self, parent: Iterable[Element], at: _Around) -> None:
        """Everything in an element."""
        for node in parent:
            name = node.tag
            if name in {"p", "tbl"}:
                (self._paragraph if name == "p" else self._table)(node, at)
                self._add_charts(at)
            elif name == "txbxContent":
                page = look(at.page, UNKNOWN_PAPER)
                self.read(node, at._replace(page=page, look=page, cell=None, paragraph=None))
            elif name == "sdt":
                self.read(node, at._replace(contents=at.contents or node.find(_CONTENTS) is not None))
            elif name in _DELETED:
                self.read(node, at._replace(deleted=True))
            elif at.paragraph is None:
                if name not in _NOT_READ:
                    self.read(node, at)
            else:
                self._inline(node, at, at.paragraph)

    def _inline(self, node: Element, at: _Around, paragraph: _Paragraph) -> None:
        """An element inside a paragraph."""
        name = node.tag
        if name in {"r", "m:r"}:
            self.read(node, self._run(node, at))
        elif name == "chart":
            self._charts += [self.chart(node.get("r:id", ""))] if at.run.shows and not at.deleted else []
        elif name == "m:oMath":
            paragraph.runs.add(equation(node, lambda run: self._said(run, at, paragraph)))
        elif name in {"t", "m:t", "delText"} or name in _BREAKS:
            self._take(node, at, paragraph)
        elif name == "instrText":
            self._instruct(node.text or "", paragraph)
        elif name == "fldChar":
            self._mark(node.get("fldCharType", ""))
        elif (kind := name.removesuffix("Reference")) in _NOTES and name != kind:
            if not at.deleted and at.run.shows and (note := self.notes.pop((kind, node.get("id", "")), "")):
                self.outline.held.append(note)
        elif name not in _NOT_READ:
            self.read(node, at._replace(deleted=at.deleted or _is_hidden(node)))

    def _add_charts(self, at: _Around) -> None:
        """The charts of a paragraph stand below it, those of a table below the table."""
        if at.cell is None:
            charts, self._charts = self._charts, []
            for chart in charts:
                add_chart(chart, self.outline)

    def _said(self, node: Element, at: _Around, paragraph: _Paragraph) -> str:
        """The text that shows of a run in a formula."""
        inside = _Paragraph(Runs(self.outline), is_contents=False)
        self.read([node], at._replace(paragraph=inside))
        paragraph.is_bold &= inside.is_bold
        return inside.runs.text()

    def _run(self, node: Element, at: _Around) -> _Around:
        direct: dict[str, str] = {}
        bold = False
        for properties in node.iterfind("rPr"):
            for style in properties.iterfind("rStyle"):
                direct |= self.styles.named(style.get("val", ""))
            direct |= word_style(properties)
            bold = any(mark.get("val", "") not in OFF for mark in properties.iterfind("b"))
        return at._replace(run=look(at.look, direct), place=direct.get("vertical-align", ""), bold=bold)

    def _take(self, node: Element, at: _Around, paragraph: _Paragraph) -> None:
        """Text of a run: shown or hidden."""
        text = _BREAKS.get(node.tag, node.text or "")
        if node.tag in _BREAKS and node.get("type") in {"page", "column"}:
            return
        shows = at.run.shows and not at.deleted and node.tag != "delText"
        paragraph.runs.add(text, shows=shows, place=at.place)
        paragraph.is_bold &= not shows or at.bold or not text.strip()

    def _mark(self, kind: str) -> None:
        """A field begins or ends."""
        if kind == "begin" and len(self._fields) < _DEEPEST_FIELD:
            self._fields.append("")
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _instruct(self, text: str, paragraph: _Paragraph) -> None:
        """Take (part of) a field's instruction; paragraphs of a table of contents or an index are asides."""
        if self._fields and len(self._fields[-1]) < _LONGEST_FIELD:
            self._fields[-1] = (self._fields[-1] + text).lstrip()[:_LONGEST_FIELD]
            paragraph.is_contents |= _are_contents(self._fields[-1:])

    def _paragraph(self, node: Element, at: _Around) -> None:
        said: dict[str, str] = {}
        style = ""
        for properties in node.iterfind("pPr"):
            said |= word_style(properties)
            style = next((name.get("val", "") for name in properties.iterfind("pStyle")), "")
        shading = {key: value for key, value in said.items() if key.startswith("background")}
        inside = look(look(at.look, self.styles.paragraph(style)), shading)
        paragraph = _Paragraph(Runs(self.outline), at.contents or _are_contents(self._fields))
        self.read(node, at._replace(look=inside, run=inside, place="", paragraph=paragraph))
        text = paragraph.runs.text()
        if not text.strip():
            return
        kind, level = self.styles.kind(style, said)
        listed = {**self.styles.named(style), **said}
        label = self.numbering.label(listed.get("numId", ""), listed.get("ilvl", "0"))
        text = f"{label} {text.lstrip()}" if label and not paragraph.is_contents else text
        if at.cell is not None:
            at.cell.texts.append(text.strip())
            at.cell.bold &= paragraph.is_bold
        elif paragraph.is_contents:
            self.outline.add(BlockKind.ASIDE, text.strip())
        else:
            title = one_line(text).removeprefix(label).strip()
            self.heading = self.heading or (title if kind is BlockKind.HEADING else "")
            self.outline.put(kind, text, level)

    def _table(self, node: Element, at: _Around) -> None:
        intro = -1 if at.cell is not None else self.outline.announcement()
        around, styled = at.look, False
        for properties in node.iterfind("tblPr"):
            if properties.find("tblStyle") is not None:
                styled = all(
                    each.get("val", "") not in _PLAIN_TABLES for each in properties.iterfind("tblStyle")
                )
                around = look(around, UNKNOWN_PAPER) if styled else around
                styled &= all(map(_marks_first_row, properties.iterfind("tblLook")))
            around = look(around, word_style(properties))
        rows, header = Rows(), 0
        for tr in outermost(node, "tr", "tbl"):
            if tr.tag == "tr":
                first = not any(rows.rows)
                bold, is_header = self._row(tr, at._replace(look=around, paragraph=None), rows)
                header += is_header and header == len(rows.rows) - 1
                if first and rows.rows[-1]:
                    labels = all(cell.text and is_label(cell.text) for cell in rows.rows[-1])
                    header = header or (len(rows.rows[-1]) > 1 and labels and (styled or bold))
        if at.cell is not None:
            at.cell.texts.extend([nested_text(rows.rows)] if rows.rows else [])
        else:
            self.outline.table(rows.rows, header=int(header), intro=intro)

    def _row(self, node: Element, at: _Around, rows: Rows) -> tuple[bool, bool]:
        """Append a row; returns whether all its text is bold, and whether it is repeated at the top of pages."""
        said = {part.tag: part.get("val", "") for properties in node.iterfind("trPr") for part in properties}
        around = look(at.look, {"display": "none"}) if said.get("hidden", "0") not in OFF else at.look
        rows.begin()
        if "gridBefore" in said:
            rows.add("", whole(said["gridBefore"], 1))
        bold = True
        for tc in outermost(node, "tc", "tbl"):
            cell = _Cell()
            merged, span, inside = "", 1, around
            for properties in tc.iterfind("tcPr"):
                inside = look(around, word_style(properties))
                for part in properties:
                    merged = part.get("val") or "continue" if part.tag == "vMerge" else merged
                    span = whole(part.get("val"), 1) if part.tag == "gridSpan" else span
            self.read(tc, at._replace(look=inside, cell=cell))
            text = one_line(" ".join(cell.texts))
            rows.add(text, span, merged=bool(merged), goes_on=merged == "continue")
            bold &= cell.bold
        return bold, said.get("tblHeader", "0") not in OFF


def _is_hidden(node: Element) -> bool:
    """Whether a shape is hidden: by its style (VML), or by its own properties (DrawingML)."""
    if any(is_on(part, "hidden") for part in (node, *node) if part.tag in _SHAPE_PROPERTIES):
        return True
    style = declarations(node.get("style", "")) if "style" in node.attrib else {}
    return style.get("visibility", (False, ""))[1] == "hidden"


def _are_contents(fields: list[str]) -> bool:
    return any(code.upper().startswith(("TOC", "INDEX")) for code in fields)


def _marks_first_row(node: Element) -> bool:
    """Whether the look of a table sets its first row off."""
    bits = _HEX.match(node.get("val", ""))
    return (node.get("firstRow") or str(bool(bits and int(bits[0], 16) & _FIRST_ROW)).lower()) not in OFF
