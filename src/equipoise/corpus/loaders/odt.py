"""OpenDocument texts and sheets: headings, paragraphs, lists and tables (OASIS OpenDocument 1.3, part 3)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import LoadedDocument, one_line, placed
from equipoise.corpus.loaders.odfstyles import Styles
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.xml import TooMuch, read_xml

_SPACES = re.compile(r"[ \t\r\n]++")
_DEEPEST_TABLE = 30
_MOST_SPACES = 100
_MOST_REPEATED = 20  # empty cells that one stands for
_MOST_HIDDEN_COLUMNS = 20_000
_MOST_LOOKS = 512  # looks inside one another
_NOT_READ = frozenset(
    {
        "annotation",
        "desc",
        "note-citation",
        "ruby-text",
        "script",
        "title",
        "tracked-changes",
        "forms",
        "meta-field-data",
    }
)
_INDEXES = frozenset(
    {
        "alphabetical-index", "bibliography", "illustration-index", "object-index", "table-index",
        "table-of-content", "user-index",
    }
)  # fmt: skip
_STYLED = frozenset(
    {
        "a",
        "custom-shape",
        "frame",
        "h",
        "hidden-paragraph",
        "hidden-text",
        "p",
        "section",
        "span",
        "table-cell",
        "table",
        "table-row",
        "text-box",
    }
)


def load_odt(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: blocks separated by blank lines, a table row a line; every sheet a heading, its tables parted where
    rows are empty.

    Notes stand below the paragraph that they belong to. Hidden text (`hidden.py`), deleted text, headers and comments
    are left out.
    """
    return read_package(path, data, kind="OpenDocument", read=lambda package: _loaded(path, package))


def _loaded(path: Path, package: Package) -> LoadedDocument:
    if b"encryption-data" in package.part("META-INF/manifest.xml"):
        raise UnreadableFile(str(path), "the file has a password; save it without one")
    styles = Styles()
    for name in ("styles.xml", "content.xml"):
        if data := package.part(name):
            read_xml(data, styles)
    outline = Outline()
    body = _Body(styles, outline)
    read_xml(package.part("content.xml"), body)
    body.close()
    return outline.loaded(package.title("meta.xml") or body.heading or path.stem)


@dataclass(slots=True)
class _Paragraph:
    level: int
    style: str
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    lead: int
    rows: list[list[Cell]] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    repeated: int = 1
    span: tuple[int, int] = (1, 1)
    header: int = 0
    in_header: bool = False
    name: str = ""  # of a sheet that has said nothing yet
    column: int = 0
    hidden: set[int] = field(default_factory=set)  # columns of a sheet


class _Body:
    """Reads content.xml into an outline. `heading` is the first one; `close` ends the last block."""

    def __init__(self, styles: Styles, outline: Outline) -> None:
        self.heading = ""
        self._styles = styles
        self._outline = outline
        self._looks = [look(Look(), styles.paper)]
        self._shows = [True]
        self._places = [""]  # by open element: whether its text is superscript or subscript
        self._paragraphs: list[_Paragraph] = []
        self._tables: list[_Table] = []
        self._code: list[str] = []
        self._in_body = self._in_sheets = False
        self._skipped = 0
        self._indexes = 0
        self._in_note = 0
        self._notes: list[str] = []  # of what is being read
        self._depth = 0
        self._new_item = False

    def close(self) -> None:
        """End the code that is being read."""
        if self._code:
            self._outline.add(BlockKind.CODE, "\n".join(self._code), lead=self._outline.lead_in())
            self._code = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._in_body = self._in_body or name == "body"
        if not self._in_body:
            return
        self._skipped += name in _NOT_READ
        self._indexes += name in _INDEXES
        self._in_note += name == "note"
        if name in _STYLED:
            self._open_look(name, attributes)
        if name in {"p", "h"}:
            level = _number(attributes.get("outline-level", "1")) if name == "h" else 0
            self._paragraphs.append(_Paragraph(level, attributes.get("style-name", "")))
        elif name == "s":
            self._take(" " * min(_number(attributes.get("c", "1")), _MOST_SPACES))
        elif name in {"tab", "line-break"}:
            self._take("\t" if name == "tab" else "\n")
        else:
            self._start_block(name, attributes)

    def _start_block(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "list":
            self._depth += 1
        elif name in {"list-item", "list-header"}:
            self._new_item = True
        elif name == "table":
            if len(self._tables) >= _DEEPEST_TABLE:
                raise TooMuch(f"its tables are nested more than {_DEEPEST_TABLE} deep")
            self.close()
            sheet = attributes.get("name", "") if self._in_sheets and not self._tables else ""
            self._tables.append(_Table(self._outline.announcement(), name=sheet))
        elif name == "spreadsheet":
            self._in_sheets = True
        elif name == "table-column" and self._tables:
            self._start_column(self._tables[-1], attributes)
        elif name == "table-row" and self._tables:
            self._tables[-1].column = 0
        elif name == "covered-table-cell" and self._tables:
            self._tables[-1].column += _number(attributes.get("number-columns-repeated", "1"))
        elif name == "table-header-rows" and self._tables:
            self._tables[-1].in_header = True
        elif name == "table-cell" and self._tables:
            table, times = self._tables[-1], attributes.get("number-columns-repeated", "1")
            table.cell, table.repeated = [], min(_number(times), _MOST_REPEATED)
            rows, columns = (attributes.get(f"number-{what}-spanned", "1") for what in ("rows", "columns"))
            table.span = _number(rows), _number(columns)

    def _start_column(self, table: _Table, attributes: Mapping[str, str]) -> None:
        times = _number(attributes.get("number-columns-repeated", "1"))
        if attributes.get("visibility", "visible") != "visible" and len(table.hidden) < _MOST_HIDDEN_COLUMNS:
            table.hidden.update(range(table.column, table.column + times))
        table.column += times

    def end(self, name: str) -> None:
        if not self._in_body:
            return
        if name in {"p", "h"} and self._paragraphs:
            self._end_paragraph(self._paragraphs.pop())
        elif name == "list":
            self._depth -= 1
        elif name == "table-cell" and self._tables:
            self._end_cell(self._tables[-1])
        elif name == "table-row" and self._tables:
            self._end_row(self._tables[-1])
        elif name == "table-header-rows" and self._tables:
            self._tables[-1].in_header = False
        elif name == "table" and self._tables:
            self._end_table(self._tables.pop())
        if name in _STYLED and len(self._looks) > 1:
            self._looks.pop()
            self._shows.pop()
            self._places.pop()
        self._skipped -= name in _NOT_READ
        self._indexes -= name in _INDEXES
        self._in_note -= name == "note"

    def characters(self, text: str) -> None:
        if self._in_body:
            self._take(_SPACES.sub(" ", text))

    def _open_look(self, name: str, attributes: Mapping[str, str]) -> None:
        """How text looks inside an element of a style."""
        if len(self._looks) > _MOST_LOOKS:
            raise TooMuch(f"its text is nested more than {_MOST_LOOKS} deep")
        above = self._looks[-1]
        own = dict(self._styles.style(attributes.get("style-name", ""), is_paragraph=name in {"p", "h"}))
        if (
            attributes.get("display") == "none"
            or attributes.get("visibility") == "collapse"
            or attributes.get("is-hidden") == "true"
        ):
            own["display"] = "none"
        inner = look(above, own)
        self._looks.append(inner)
        self._shows.append(self._shows[-1] if inner is above else inner.shows)
        self._places.append(own.get("vertical-align", self._places[-1]))

    def _take(self, text: str) -> None:
        if self._skipped or not self._paragraphs:
            return
        if self._shows[-1]:
            parts = self._paragraphs[-1].parts
            parts.append(placed(text, parts[-1] if parts else "", self._places[-1]))
        else:
            self._outline.hidden += len(one_line(text))

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.parts)
        if not text.strip():
            return
        if self._in_note:
            self._notes.append(one_line(text))
            return
        if self._tables:
            self._tables[-1].cell.append(text.strip())
            return
        is_code = self._styles.is_code(paragraph.style) and not paragraph.level
        if is_code and not self._depth and not self._indexes:
            self._code.append(text.rstrip())
            return
        self.close()
        self._add(paragraph, text.strip())
        self._add_notes()

    def _add_notes(self) -> None:
        """Append the notes of the last block; those of a table belong to no row of it."""
        notes, self._notes = self._notes, []
        row = len(self._outline.blocks) - 1
        is_row = row >= 0 and self._outline.blocks[row].kind is BlockKind.ROW
        self._outline.notes(-1 if is_row else row, notes)

    def _add(self, paragraph: _Paragraph, text: str) -> None:
        level = paragraph.level or self._styles.heading(paragraph.style)
        if self._indexes:
            self._outline.add(BlockKind.ASIDE, text)
        elif level:
            self.heading = self.heading or one_line(text)
            self._outline.add(BlockKind.HEADING, text, level=level)
        elif self._depth and self._new_item:
            self._outline.item(text, self._depth)
        elif self._depth:
            self._outline.more_of_item(text)
        else:
            self._outline.add(BlockKind.PARAGRAPH, text)
        self._new_item = False

    def _end_cell(self, table: _Table) -> None:
        text = one_line(" ".join(table.cell))
        if table.column in table.hidden:
            self._outline.hidden += len(text)
        else:
            table.cells += [Cell(text, *table.span)] * table.repeated
        table.column += table.repeated
        table.cell, table.repeated = [], 1

    def _end_row(self, table: _Table) -> None:
        while self._in_sheets and table.cells and not table.cells[-1].text:
            table.cells.pop()
        if table.cells:
            table.header += table.in_header
            table.rows.append(table.cells)
        elif self._in_sheets and len(self._tables) == 1:
            self._add_table(table)
        table.cells = []

    def _end_table(self, table: _Table) -> None:
        if self._tables:
            rows = [" | ".join(cell.text for cell in row) for row in table.rows]
            self._tables[-1].cell += ["; ".join(rows)] if rows else []
        else:
            self._add_table(table)

    def _add_table(self, table: _Table) -> None:
        """Append the rows so far, below the name of their sheet."""
        if table.name and table.rows:
            self._outline.add(BlockKind.HEADING, table.name, level=1)
            table.name = ""
        kind = BlockKind.ASIDE if self._indexes else BlockKind.ROW
        self._outline.table(table.rows, header=table.header, lead=table.lead, kind=kind)
        table.rows, table.header = [], 0
        self._add_notes()


def _number(text: str) -> int:
    return max(1, int(text)) if text.isdecimal() and len(text) < 4 else 1
