"""The XML inside a Word document: which text a reader sees, in which order (ECMA-376, part 1, 17).

Read as a stream of events, without a tree and without recursion, so that neither depth nor repetition costs
more than its bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol
from xml.parsers import expat

from equipoise.corpus.loaders.hidden import Look, Style, look
from equipoise.corpus.loaders.loaded import one_line

_WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_MATH = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
_DEEPEST_TABLE = 30
_REPEATED = 100  # characters of a cell over several rows that are said again in each of them
_OFF = frozenset({"0", "false", "off", "none"})
_PLAIN_TABLES = frozenset({"", "TableNormal", "TableGrid"})
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_DELETED = frozenset({"del", "moveFrom", "delText"})
_NO_TEXT = frozenset({"instrText", "delInstrText", "Fallback", "rt", "fldData"})
_UNKNOWN_PAPER = {"background-image": "unknown"}


class TooDeep(ValueError):
    """Tables are nested deeper than anybody nests them."""


class Reader(Protocol):
    """Takes the events of an XML file. Names are local; those of Word and of mathematics have no prefix."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def characters(self, text: str) -> None: ...


def read_xml(data: bytes, reader: Reader) -> None:
    """Hand the events of an XML file to `reader`. Raises expat.ExpatError for bad XML and for a DOCTYPE."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: reader.start(
        _local(name), {_local(key): value for key, value in attributes.items()}
    )
    parser.EndElementHandler = lambda name: reader.end(_local(name))
    parser.CharacterDataHandler = reader.characters
    parser.Parse(data, True)


def _refuse_doctype(*_: object) -> None:
    raise expat.ExpatError("a document type has no place in a Word file")


@lru_cache(maxsize=4096)
def _local(name: str) -> str:
    space, _, local = name.rpartition(" ")
    return f"m:{local}" if space in _MATH else local


@dataclass(slots=True)
class _StyleEntry:
    name: str = ""
    based_on: str = ""
    own: dict[str, str] = field(default_factory=dict)


class Styles:
    """Reads styles.xml: what each style says about the look of text, as CSS properties."""

    def __init__(self) -> None:
        self._styles: dict[str, _StyleEntry] = {}
        self._resolved: dict[str, Style] = {}
        self._defaults = _StyleEntry()
        self._current: _StyleEntry | None = None
        self._plain = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "style":
            self._current = self._styles[attributes.get("styleId", "")] = _StyleEntry()
            if attributes.get("type") == "paragraph" and attributes.get("default", "0") not in _OFF:
                self._plain = attributes.get("styleId", "")
        elif name == "rPrDefault":
            self._current = self._defaults
        elif name == "tblStylePr":
            self._current = None  # a part of a table only
        elif self._current is not None:
            if name == "name":
                self._current.name = value
            elif name == "basedOn":
                self._current.based_on = value
            else:
                self._current.own.update(properties(name, attributes))

    def end(self, name: str) -> None:
        if name in {"style", "rPrDefault"}:
            self._current = None

    def characters(self, text: str) -> None:
        """Styles hold no text."""

    def is_heading(self, style: str) -> bool:
        entry = self._styles.get(style)
        return entry is not None and entry.name.lower().startswith(("title", "heading"))

    def paragraph(self, style: str) -> Style:
        """What a paragraph of this style looks like; "" is the default style."""
        return {**self._defaults.own, **self.named(style or self._plain)}

    def named(self, style: str) -> Style:
        """What a style says, with what it is based on."""
        chain: dict[str, None] = {}
        while style in self._styles and style not in self._resolved and style not in chain:
            chain[style] = None
            style = self._styles[style].based_on
        found = self._resolved.get(style, {})
        for one in reversed(chain):
            found = self._resolved[one] = {**found, **self._styles[one].own}
        return found


def properties(name: str, attributes: Mapping[str, str]) -> Style:
    """A property of a run, paragraph or cell as CSS; nothing where it does not bear on what is seen."""
    value = attributes.get("val", "")
    found: Style = {}
    if name == "vanish":
        found = {"display": "inline" if value in _OFF else "none"}
    elif name == "sz" and value[:4].isdecimal():
        found = {"font-size": f"{int(value[:4]) / 2}pt"}
    elif name == "color":
        found = {"color": "canvastext" if value == "auto" else f"#{value.lower()}"}
    elif (name == "highlight" and value != "none") or (name == "shd" and value not in {"clear", "nil", ""}):
        found = _UNKNOWN_PAPER
    elif name == "shd" and (fill := attributes.get("fill", "auto").lower()) != "auto":
        found = {"background-color": f"#{fill}"}
    return found


@dataclass(slots=True)
class _Paragraph:
    look: Look
    style: Style
    direct: dict[str, str] = field(default_factory=dict)
    style_id: str = ""
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    look: Look
    row: Look
    inside: Look
    rows: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    column: int = 0
    span: int = 1
    merged: str = ""
    over: dict[int, str] = field(default_factory=dict)


class Body:
    """Reads document.xml. `hidden` counts the characters that a reader would not see."""

    def __init__(self, styles: Styles) -> None:
        self.hidden = 0
        self.heading = ""
        self._styles = styles
        self._page = Look()
        self._found: list[str] = []
        self._above: list[str] = []
        self._tables: list[_Table] = []
        self._paragraphs: list[_Paragraph] = []
        self._boxes: list[tuple[list[_Table], Look]] = []
        self._run = Look()
        self._direct: dict[str, str] = {}
        self._skipped = 0
        self._deleted = 0
        self._in_text = False

    def text(self) -> str:
        return "\n\n".join(self._found)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        parent = self._above[-1] if self._above else ""
        self._above.append(name)
        self._skipped += name in _NO_TEXT
        self._deleted += name in _DELETED
        if name in {"t", "m:t", "delText"}:
            self._in_text = True
        elif parent in {"rPr", "pPr", "tcPr", "tblPr", "trPr"}:
            self._property(parent, name, attributes)
        elif name in _BREAKS and parent == "r":
            self._take("" if attributes.get("type") in {"page", "column"} else _BREAKS[name])
        elif name == "p":
            around = self._tables[-1].inside if self._tables else self._page
            self._paragraphs.append(_Paragraph(around, self._styles.paragraph("")))
            self._set_look(self._paragraphs[-1])
        elif name in {"r", "m:r"} and self._paragraphs:
            self._direct = {}
            self._run = self._paragraphs[-1].look
        elif name == "background":
            self._page = look(self._page, _UNKNOWN_PAPER)
        else:
            self._start_block(name)

    def _start_block(self, name: str) -> None:
        if name == "tbl":
            around = self._tables[-1].inside if self._tables else self._page
            if len(self._tables) >= _DEEPEST_TABLE:
                raise TooDeep(f"its tables are nested more than {_DEEPEST_TABLE} deep")
            self._tables.append(_Table(around, around, around))
        elif name == "tr" and self._tables:
            self._tables[-1].row = self._tables[-1].look
        elif name == "tc" and self._tables:
            table = self._tables[-1]
            table.cell, table.span, table.merged, table.inside = [], 1, "", table.row
        elif name == "txbxContent":
            self._boxes.append((self._tables, self._page))
            self._tables, self._page = [], look(self._page, _UNKNOWN_PAPER)

    def end(self, name: str) -> None:
        self._above.pop()
        self._skipped -= name in _NO_TEXT
        self._deleted -= name in _DELETED
        if name in {"t", "m:t", "delText"}:
            self._in_text = False
        elif name == "rPr" and self._above and self._above[-1] in {"r", "m:r"} and self._paragraphs:
            self._run = look(self._paragraphs[-1].look, self._direct) if self._direct else self._run
        elif name == "pPr" and self._paragraphs:
            self._set_look(self._paragraphs[-1])
        elif name == "p" and self._paragraphs:
            self._end_paragraph(self._paragraphs.pop())
        elif name == "tc" and self._tables:
            self._end_cell(self._tables[-1])
        elif name == "tr" and self._tables:
            table = self._tables[-1]
            if any(table.cells):
                table.rows.append(" | ".join(table.cells))
            table.cells, table.column = [], 0
        elif name == "tbl" and self._tables:
            rows = self._tables.pop().rows
            self._emit(("; " if self._tables else "\n").join(rows))
        elif name == "txbxContent" and self._boxes:
            self._tables, self._page = self._boxes.pop()

    def characters(self, text: str) -> None:
        if self._in_text:
            self._take(text)

    def _take(self, text: str) -> None:
        """Text of a run: shown, hidden, or no text of the document."""
        if self._skipped or not self._paragraphs:
            return
        if self._deleted or not self._run.shows:
            self.hidden += len(one_line(text))
        else:
            self._paragraphs[-1].parts.append(text)

    def _property(self, parent: str, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if parent == "rPr" and self._above[-3:-2] in (["r"], ["m:r"]):
            named = self._styles.named(value) if name == "rStyle" else {}
            self._direct.update(named or properties(name, attributes))
        elif parent == "pPr" and self._paragraphs:
            paragraph = self._paragraphs[-1]
            if name == "pStyle":
                paragraph.style, paragraph.style_id = self._styles.paragraph(value), value
            elif name == "shd":
                paragraph.direct.update(properties(name, attributes))
        elif parent in {"tcPr", "tblPr", "trPr"} and self._tables:
            self._table_property(self._tables[-1], parent, name, attributes)

    def _table_property(self, table: _Table, parent: str, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "tblStyle" and value not in _PLAIN_TABLES:
            table.look = look(table.look, _UNKNOWN_PAPER)
        elif name == "shd" and parent == "tblPr":
            table.look = look(table.look, properties(name, attributes))
        elif name == "shd":
            table.inside = look(table.row, properties(name, attributes))
        elif name == "hidden" and value not in _OFF:
            table.row = look(table.row, {"display": "none"})
        elif name == "gridSpan":
            table.span = _number(value)
        elif name == "gridBefore":
            table.column += _number(value)
        elif name == "vMerge":
            table.merged = value or "continue"

    def _set_look(self, paragraph: _Paragraph) -> None:
        """The look of a paragraph's text, from its style and from around it."""
        around = self._tables[-1].inside if self._tables else self._page
        paragraph.look = look(look(around, paragraph.style), paragraph.direct)
        self._run = paragraph.look

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.parts).strip()
        if text and not self.heading and not self._tables and self._styles.is_heading(paragraph.style_id):
            self.heading = text
        self._emit(text)
        self._run = self._paragraphs[-1].look if self._paragraphs else self._page

    def _end_cell(self, table: _Table) -> None:
        text = one_line(" ".join(table.cell))
        if table.merged == "continue":
            text = text or table.over.get(table.column, "")
        else:
            table.over.pop(table.column, None)
            if table.merged and len(text) <= _REPEATED:
                table.over[table.column] = text
        table.cells.append(text)
        table.column += table.span
        table.inside = table.look

    def _emit(self, text: str) -> None:
        if text and self._tables:
            self._tables[-1].cell.append(text)
        elif text:
            self._found.append(text)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 1
