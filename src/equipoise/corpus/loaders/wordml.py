"""The XML inside a Word document: which text a reader sees, in which order (ECMA-376, part 1, 17)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell, is_label
from equipoise.corpus.loaders.hidden import Look, Style, look
from equipoise.corpus.loaders.loaded import one_line, placed
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.wordstyles import OFF, UNKNOWN_PAPER, Role, Styles, properties, small_number
from equipoise.corpus.loaders.xml import TooMuch

_DEEPEST_TABLE = 30
_PLAIN_TABLES = frozenset({"", "TableNormal", "TableGrid"})
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_DELETED = frozenset({"del", "moveFrom", "delText"})
_NO_TEXT = frozenset({"instrText", "delInstrText", "Fallback", "rt", "fldData"})
_DEEPEST_FIELD = 30
_FIRST_ROW = 0x20  # the bit of a table's look that sets its first row off
_CONTENTS = "Table of Contents"
_REFERENCES = {
    "footnoteReference": "footnote",
    "endnoteReference": "endnote",
    "commentReference": "comment",
}
_IN_CONTENTS = ["sdt", "sdtPr", "docPartObj"]


@dataclass(slots=True)
class _Paragraph:
    look: Look
    style: Style
    direct: dict[str, str] = field(default_factory=dict)
    style_id: str = ""
    role: Role = field(default_factory=Role)
    is_contents: bool = False
    is_bold: bool = True
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    look: Look
    row: Look
    inside: Look
    rows: list[list[Cell]] = field(default_factory=list)
    header: int = 0  # rows at the top that the file says are repeated on every page
    styled: bool = False
    bold: bool = True
    lead: int = -1
    cells: list[Cell] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    column: int = 0
    span: int = 1
    merged: str = ""
    over: dict[int, tuple[int, int]] = field(
        default_factory=dict
    )  # by column: the cell that rows below go on


class Body:
    """Reads document.xml into an outline. `heading` is the first one; `close` ends the last block.

    `notes` has the text of notes and comments by kind and id.
    """

    def __init__(
        self, styles: Styles, outline: Outline, notes: Mapping[tuple[str, str], str] | None = None
    ) -> None:
        self.heading = ""
        self._outline = outline
        self._notes = dict(notes or {})  # each is said once, however often it is pointed at
        self._waiting: list[str] = []  # notes of the code or table that is being read
        self._code: list[str] = []
        self._fields: list[str] = []
        self._contents_depth = 0
        self._styles = styles
        self._page = Look()
        self._above: list[str] = []
        self._tables: list[_Table] = []
        self._paragraphs: list[_Paragraph] = []
        self._boxes: list[tuple[list[_Table], Look]] = []
        self._run = Look()
        self._direct: dict[str, str] = {}
        self._bold = False
        self._skipped = 0
        self._deleted = 0
        self._in_text = False

    def close(self) -> None:
        """End the code that is being read."""
        if self._code:
            row = self._outline.add(BlockKind.CODE, "\n".join(self._code), lead=self._outline.lead_in())
            self._code = []
            self._outline.notes(row, self._waiting)
            self._waiting = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        parent = self._above[-1] if self._above else ""
        self._above.append(name)
        self._skipped += name in _NO_TEXT
        self._deleted += name in _DELETED
        if name in {"t", "m:t", "delText", "instrText"}:
            self._in_text = True
        elif name in {"fldChar", "docPartGallery"}:
            self._mark(name, attributes)
        elif parent in {"rPr", "pPr", "numPr", "tcPr", "tblPr", "trPr"}:
            self._property(parent, name, attributes)
        elif name in _BREAKS and parent == "r":
            self._take("" if attributes.get("type") in {"page", "column"} else _BREAKS[name])
        elif name == "p":
            around = self._tables[-1].inside if self._tables else self._page
            self._paragraphs.append(_Paragraph(around, self._styles.paragraph("")))
            self._paragraphs[-1].is_contents = bool(self._contents_depth) or _are_contents(self._fields)
            self._set_look(self._paragraphs[-1])
        elif name in {"r", "m:r"} and self._paragraphs:
            self._direct = {}
            self._bold = False
            self._run = self._paragraphs[-1].look
        elif name in _REFERENCES and self._paragraphs and not self._deleted and self._run.shows:
            note = self._notes.pop((_REFERENCES[name], attributes.get("id", "")), "")
            self._paragraphs[-1].notes += [note] if note else []
        elif name == "background":
            self._page = look(self._page, UNKNOWN_PAPER)
        else:
            self._start_block(name)

    def _mark(self, name: str, attributes: Mapping[str, str]) -> None:
        """A field begins or ends, or what is around is said to be a table of contents."""
        kind = attributes.get("fldCharType", "")
        if name == "docPartGallery":
            if attributes.get("val") == _CONTENTS and self._above[-4:-1] == _IN_CONTENTS:
                self._contents_depth = self._contents_depth or len(self._above) - 3
        elif kind == "begin" and len(self._fields) < _DEEPEST_FIELD:
            self._fields.append("")
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _start_block(self, name: str) -> None:
        if name == "tbl":
            around = self._tables[-1].inside if self._tables else self._page
            if len(self._tables) >= _DEEPEST_TABLE:
                raise TooMuch(f"its tables are nested more than {_DEEPEST_TABLE} deep")
            self.close()
            self._tables.append(_Table(around, around, around, lead=self._outline.announcement()))
        elif name == "tr" and self._tables:
            self._tables[-1].row = self._tables[-1].look
        elif name == "tc" and self._tables:
            table = self._tables[-1]
            table.cell, table.span, table.merged, table.inside = [], 1, "", table.row
        elif name == "txbxContent":
            self._boxes.append((self._tables, self._page))
            self._tables, self._page = [], look(self._page, UNKNOWN_PAPER)

    def end(self, name: str) -> None:
        self._above.pop()
        if len(self._above) < self._contents_depth:
            self._contents_depth = 0
        self._skipped -= name in _NO_TEXT
        self._deleted -= name in _DELETED
        if name in {"t", "m:t", "delText", "instrText"}:
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
            self._end_row(self._tables[-1])
        elif name == "tbl" and self._tables:
            self._end_table(self._tables.pop())
        elif name == "txbxContent" and self._boxes:
            self._tables, self._page = self._boxes.pop()

    def characters(self, text: str) -> None:
        if self._in_text and self._above[-1] == "instrText":
            self._instruct(text)
        elif self._in_text:
            self._take(text)

    def _instruct(self, text: str) -> None:
        """What a field does; a table of contents makes asides of its paragraphs."""
        if self._fields and len(self._fields[-1]) < 20:
            self._fields[-1] = (self._fields[-1] + text).lstrip()[:20]
            if self._paragraphs and _are_contents(self._fields[-1:]):
                self._paragraphs[-1].is_contents = True

    def _take(self, text: str) -> None:
        """Text of a run: shown, hidden, or no text of the document."""
        if self._skipped or not self._paragraphs:
            return
        if self._deleted or not self._run.shows:
            self._outline.hidden += len(one_line(text))
        else:
            parts = self._paragraphs[-1].parts
            parts.append(placed(text, parts[-1] if parts else "", self._direct.get("vertical-align", "")))
            self._paragraphs[-1].is_bold &= self._bold or not text.strip()

    def _property(self, parent: str, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if parent == "rPr" and self._above[-3:-2] in (["r"], ["m:r"]):
            named = self._styles.named(value) if name == "rStyle" else {}
            self._direct.update(named or properties(name, attributes))
            self._bold = self._bold or (name == "b" and value not in OFF)
        elif parent in {"pPr", "numPr"} and self._paragraphs:
            paragraph = self._paragraphs[-1]
            paragraph.role.read(name, value)
            if name == "pStyle":
                paragraph.style, paragraph.style_id = self._styles.paragraph(value), value
            elif name == "shd":
                paragraph.direct.update(properties(name, attributes))
        elif parent in {"tcPr", "tblPr", "trPr"} and self._tables:
            self._table_property(self._tables[-1], parent, name, attributes)

    def _table_property(self, table: _Table, parent: str, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "tblStyle" and value not in _PLAIN_TABLES:
            table.look = look(table.look, UNKNOWN_PAPER)
            table.styled = True
        elif name == "shd" and parent == "tblPr":
            table.look = look(table.look, properties(name, attributes))
        elif name == "shd":
            table.inside = look(table.row, properties(name, attributes))
        elif name == "hidden" and value not in OFF:
            table.row = look(table.row, {"display": "none"})
        elif name == "tblHeader" and value not in OFF:
            table.header += table.header == len(table.rows)
        elif name == "tblLook":
            bits = attributes.get("val", "")[:8]
            marked = attributes.get("firstRow") or (bool(int(bits, 16) & _FIRST_ROW) if _is_hex(bits) else "")
            table.styled = table.styled and bool(marked) and marked not in OFF
        elif name == "gridSpan":
            table.span = small_number(value)
        elif name == "gridBefore":
            table.column += small_number(value)
            table.cells += [Cell("")] * small_number(value)
        elif name == "vMerge":
            table.merged = value or "continue"

    def _set_look(self, paragraph: _Paragraph) -> None:
        """The look of a paragraph's text, from its style and from around it."""
        around = self._tables[-1].inside if self._tables else self._page
        paragraph.look = look(look(around, paragraph.style), paragraph.direct)
        self._run = paragraph.look

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        self._run = self._paragraphs[-1].look if self._paragraphs else self._page
        text = "".join(paragraph.parts)
        if not text.strip():
            return
        if self._tables:
            self._waiting += paragraph.notes
            self._tables[-1].cell.append(text.strip())
            self._tables[-1].bold = self._tables[-1].bold and paragraph.is_bold
            return
        kind, level = self._styles.kind(paragraph.style_id, paragraph.role)
        if paragraph.is_contents:
            kind, level = BlockKind.ASIDE, 0
        if kind is BlockKind.CODE:
            self._waiting += paragraph.notes
            self._code.append(text.rstrip())
            return
        self.close()
        text = text.strip()
        if kind is BlockKind.HEADING:
            self.heading = self.heading or one_line(text)
        is_item = kind is BlockKind.ITEM
        row = self._outline.item(text, level) if is_item else self._outline.add(kind, text, level=level)
        self._outline.notes(row, paragraph.notes)

    def _end_row(self, table: _Table) -> None:
        if table.cells:
            if not table.rows:
                labels = all(cell.text and is_label(cell.text) for cell in table.cells)
                table.header = table.header or (
                    len(table.cells) > 1 and labels and (table.styled or table.bold)
                )
            table.rows.append(table.cells)
        table.cells, table.column = [], 0

    def _end_table(self, table: _Table) -> None:
        if self._tables:
            rows = [" | ".join(cell.text for cell in row) for row in table.rows]
            self._tables[-1].cell += ["; ".join(rows)] if rows else []
        else:
            self._outline.table(table.rows, header=table.header, lead=table.lead)
            self._outline.notes(-1, self._waiting)
            self._waiting = []

    def _end_cell(self, table: _Table) -> None:
        text = one_line(" ".join(table.cell))
        above = table.over.get(table.column) if table.merged == "continue" else None
        if above is None or text:
            place = len(table.rows), len(table.cells)
            table.cells.append(Cell(text, 1, table.span))
            table.over.pop(table.column, None)
            if table.merged:
                table.over[table.column] = place
        else:
            row, column = above
            cell = table.rows[row][column]
            table.rows[row][column] = cell._replace(rows=len(table.rows) - row + 1)
        table.column += table.span
        table.inside = table.look


class Notes:
    """Reads footnotes.xml and its like: the text of each note or comment, by kind and id."""

    def __init__(self, styles: Styles, outline: Outline) -> None:
        self.texts: dict[tuple[str, str], str] = {}
        self._styles = styles
        self._around = outline
        self._inside = Outline()
        self._body: Body | None = None
        self._key = "", ""
        self._author = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _REFERENCES.values():
            self._inside = Outline()
            self._body = Body(self._styles, self._inside)
            self._key, self._author = (name, attributes.get("id", "")), attributes.get("author", "")
        elif self._body is not None:
            self._body.start(name, attributes)

    def end(self, name: str) -> None:
        if self._body is None:
            return
        if name != self._key[0]:
            self._body.end(name)
            return
        self._body.close()
        self._around.hidden += self._inside.hidden
        by = f"Comment by {self._author}: " if self._author else ""
        if text := self._inside.text().strip():
            self.texts[self._key] = one_line(by + text)
        self._body = None

    def characters(self, text: str) -> None:
        if self._body is not None:
            self._body.characters(text)


def _are_contents(fields: list[str]) -> bool:
    return any(code.upper().startswith(("TOC", "INDEX")) for code in fields)


def _is_hex(text: str) -> bool:
    return bool(text) and all(character in "0123456789abcdefABCDEF" for character in text)
