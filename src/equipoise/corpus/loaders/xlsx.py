"""Excel workbooks: every sheet a heading, every row a line `name: value; name: value` (ECMA-376, part 1, 18).

Values are those that were stored with the file. A formula without one is computed if it is arithmetic on cells of
its sheet; else a note says that there is one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.formulas import Formulas, Place, place_of
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import LoadedDocument, comment, one_line, whole
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.xlsxstyles import Formats
from equipoise.corpus.loaders.xml import is_on, read_xml

_SPARSE_TIMES, _SPARSE_FINE = 20, 100_000  # rows times columns: for each filled cell, and for any table
_MOST_MERGED = 100_000
_SHARED_TIMES, _SHARED_FINE = 20, 10_000_000  # characters of cells: per byte of the file, and for any file
_NOT_COMPUTED = "(a formula whose value is not stored)"
_MOST_NUMBERS = 1_000_000  # that formulas may need
_MOST_HIDDEN_COLUMNS = 20_000


def load_xlsx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document. Rows between empty ones are a table; merged cells stand in each row and column of theirs.

    Hidden sheets, rows, columns and values (`hidden.py`) are left out. Comments stand below the tables of their sheet.
    """
    return read_package(path, data, kind="Excel", read=lambda package: _loaded(path, package, len(data)))


def _loaded(path: Path, package: Package, size: int) -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "xl/workbook.xml")
    book = read_xml(package.part(main))
    targets, parts = package.targets(main), package.targets(main, "Id")
    shared: list[str] = []
    if data := package.part(targets.get("sharedStrings", "")):
        read_xml(data, "si", lambda node: shared.append(_text(node)))
    since_1904 = any(is_on(node, "date1904") for node in book.iter("workbookPr"))
    formats = Formats(package.tree(targets.get("styles", "")), since_1904=since_1904)
    outline = Outline()
    left = _SHARED_TIMES * size + _SHARED_FINE
    for node in book.iter("sheet"):
        if data := package.part(parts.get(node.get("r:id", ""), "")):
            shows = node.get("state", "visible") == "visible"
            sheet = _Sheet(str(path), shared, formats, outline, node.get("name", ""), shows, left)
            sheet.close(read_xml(data, "row", sheet.row))
            if shows:
                beside = package.targets(parts.get(node.get("r:id", ""), ""))
                threads = package.tree(beside.get("threadedComment", ""))
                _add_comments(package.tree(beside.get("comments", "")), outline, threads)
                _add_threads(threads, package.tree(targets.get("person", "")), outline)
            left = sheet.left
    return outline.loaded(package.title(top.get("core-properties", "")) or path.stem)


def _add_threads(root: Element, persons: Element, outline: Outline) -> None:
    """Append the comments of a sheet that have replies, each with its cell and who wrote it."""
    names = {node.get("id", ""): one_line(node.get("displayName", "")) for node in persons.iter("person")}
    for node in root.iter("threadedComment"):
        text, author = one_line(node.findtext("text", "")), names.get(node.get("personId", ""), "")
        outline.add(BlockKind.PARAGRAPH, comment(text, author, node.get("ref", "")))


def _add_comments(root: Element, outline: Outline, threads: Element) -> None:
    """Append the comments of a sheet, each with its cell and who wrote it, without the copies of `threads` that are
    there for older programs."""
    copied = {f"tc={node.get('id', '')}" for node in threads.iter("threadedComment")}
    authors = [one_line(node.text or "") for node in root.iter("author")]
    for node in root.iter("comment"):
        number = whole(node.get("authorId"))
        author = authors[number] if number < len(authors) else ""
        text = (
            one_line("".join(part.text or "" for part in node.iter("t"))).removeprefix(f"{author}:").strip()
        )
        if author not in copied:
            outline.add(BlockKind.PARAGRAPH, comment(text, author, node.get("ref", "")))


def _text(node: Element) -> str:
    """The text of a shared or inline string; how its letters are pronounced is left out."""
    return one_line("".join(part.text or "" for part in _texts(node)))


def _texts(node: Element) -> Iterator[Element]:
    for part in node:
        if part.tag == "t":
            yield part
        elif part.tag != "rPh":
            yield from _texts(part)


@dataclass(slots=True)
class _Sheet:
    """Reads a sheet into an outline. `left` limits the characters of all cells: many may share one text."""

    path: str
    shared: list[str]
    formats: Formats
    outline: Outline
    name: str
    shows: bool
    left: int
    _rows: dict[int, dict[int, str]] = field(default_factory=dict)  # by place: the texts of a row by column
    _merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # first and last cell
    _hidden_rows: set[int] = field(default_factory=set)
    _numbers: dict[Place, float] = field(default_factory=dict)
    _formulas: dict[Place, tuple[str, int]] = field(default_factory=dict)  # without a value, and their style
    _styles: dict[int, bool] = field(default_factory=dict)  # whether cells of a style show
    _place: int = 0

    def row(self, node: Element) -> None:
        """Take a row."""
        self._place = whole(node.get("r")) or self._place + 1
        if hidden := is_on(node, "hidden"):
            self._hidden_rows.add(self._place)
        column = 0
        for cell in node.iter("c"):
            column = place_of(cell.get("r", ""))[1] or column + 1
            if value := self._value(cell):
                style = whole(cell.get("s"))
                self._compute(cell, (self._place, column), style)
                if style not in self._styles:
                    self._styles[style] = look(Look(), self.formats.look(style)).shows
                if self.shows and not hidden and self._styles[style]:
                    self._rows.setdefault(self._place, {})[column] = value
                else:
                    self.outline.hidden += len(value)

    def _compute(self, cell: Element, place: Place, style: int) -> None:
        """Keep what formulas without a stored value need: numbers, and the formulas themselves."""
        value, formula = cell.findtext("v"), cell.findtext("f")
        if not value and formula:
            self._formulas[place] = formula, style
        elif value and cell.get("t", "n") in {"n", ""} and len(self._numbers) < _MOST_NUMBERS:
            with suppress(ValueError):
                self._numbers[place] = float(value)

    def _value(self, cell: Element) -> str:
        """The text of a cell as it is shown. Raises UnreadableFile."""
        kind = cell.get("t", "n")
        value = "".join(node.text or "" for node in cell.iterfind("v")) or _text(cell)
        if kind == "s":
            number = int(value) if value.isdecimal() and len(value) < 10 else -1
            value = self.shared[number] if 0 <= number < len(self.shared) else ""
        elif kind in {"n", ""}:
            value = self.formats.shown(value, whole(cell.get("s")))
        elif kind == "b":
            value = {"1": "TRUE", "0": "FALSE"}.get(value, value)
        value = one_line(value) or (_NOT_COMPUTED if cell.find("f") is not None else "")
        self.left -= len(value)
        if self.left < 0:
            raise UnreadableFile(self.path, "its cells say a long text too often; save it as text")
        return value

    def close(self, root: Element) -> None:
        """Add the tables of the sheet, which empty rows separate; `root` says what is hidden and merged."""
        sheet = Formulas(self._numbers, {cell: formula for cell, (formula, _) in self._formulas.items()})
        for (row, column), (_, style) in self._formulas.items():
            number = sheet.value((row, column)) if column in self._rows.get(row, {}) else None
            if number is not None:
                self._rows[row][column] = self.formats.shown(f"{number:.15g}", style)
        self._hide(root)
        for node in [*root.iter("mergeCell")][:_MOST_MERGED]:
            begin, _, end = node.get("ref", "").partition(":")
            self._merged[place_of(begin)] = place_of(end)
        if self._rows:
            self.outline.add(BlockKind.HEADING, self.name, level=1)
        region: list[int] = []
        for place in sorted(self._rows):
            if region and not self._hidden_rows.issuperset(range(region[-1] + 1, place)):
                self._add(region)
                region = []
            region.append(place)
        if region:
            self._add(region)

    def _hide(self, root: Element) -> None:
        """Take out the cells of hidden columns."""
        hidden: set[int] = set()
        for node in root.iter("col"):
            if is_on(node, "hidden") and len(hidden) < _MOST_HIDDEN_COLUMNS:
                last = min(whole(node.get("max")), _MOST_HIDDEN_COLUMNS)
                hidden.update(range(whole(node.get("min")), last + 1))
        for place, row in [*self._rows.items()] if hidden else ():
            self.outline.hidden += sum(len(row.pop(column)) for column in hidden & row.keys())
            if not row:
                del self._rows[place]

    def _add(self, region: list[int]) -> None:
        """Add the table in some rows; one cell alone is a paragraph."""
        filled = [self._rows[place] for place in region]
        columns = sorted({column for row in filled for column in row})
        if len(region) == len(columns) == 1:
            self.outline.add(BlockKind.PARAGRAPH, filled[0][columns[0]])
        elif len(region) * len(columns) > _SPARSE_TIMES * sum(map(len, filled)) + _SPARSE_FINE:
            self.outline.table([[Cell(text) for _, text in sorted(row.items())] for row in filled])
        else:
            self.outline.table(self._cells(region, columns))

    def _cells(self, region: list[int], columns: list[int]) -> list[list[Cell]]:
        """The cells of some rows with what they span of these columns."""
        covered = dict.fromkeys(columns, 0)  # by column: the last row that the cells so far span
        rows: list[list[Cell]] = []
        for number, place in enumerate(region):
            rows.append([])
            for column in columns:
                if covered[column] < place:
                    bottom, right = self._merged.get((place, column), (place, column))
                    spanned = columns[bisect_left(columns, column) : bisect_right(columns, right)]
                    covered.update(dict.fromkeys(spanned, max(bottom, place)))
                    deep = bisect_right(region, bottom) - number
                    rows[-1].append(Cell(self._rows[place].get(column, ""), max(deep, 1), len(spanned)))
        return rows
