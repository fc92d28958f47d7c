"""Excel workbooks: every sheet a heading, every row a line `name: value; name: value` (ECMA-376, part 1, 18).

Values are those that were stored with the file. Formulas are not computed: one without a value is said to be one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import LoadedDocument, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.package import Package, read_package
from equipoise.corpus.loaders.xlsxstyles import Formats
from equipoise.corpus.loaders.xml import TooMuch, read_xml

_SPARSE_TIMES, _SPARSE_FINE = (
    20,
    100_000,
)  # places in rows and columns for one that is filled, and for any table
_MOST_MERGED = 100_000
_SHARED_TIMES, _SHARED_FINE = 20, 10_000_000  # characters of cells for one byte of the file, and for any file
_NOT_COMPUTED = "(a formula whose value is not stored)"
_LETTERS = 3  # of a column's name
_MOST_HIDDEN_COLUMNS = 20_000


def load_xlsx(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document. Rows between empty ones are a table; merged cells stand in each row and column of theirs.

    Hidden sheets, rows, columns and values (`hidden.py`) are left out, and comments.
    """
    return read_package(path, data, kind="Excel", read=lambda package: _loaded(path, package, len(data)))


def _loaded(path: Path, package: Package, size: int) -> LoadedDocument:
    top = package.targets("")
    main = top.get("officeDocument", "xl/workbook.xml")
    book = _Book()
    read_xml(package.part(main), book)
    targets, parts = package.targets(main), package.targets_by_id(main)
    shared = _Strings()
    if data := package.part(targets.get("sharedStrings", "")):
        read_xml(data, shared)
    formats = Formats(since_1904=book.since_1904)
    if data := package.part(targets.get("styles", "")):
        read_xml(data, formats)
    outline = Outline()
    budget = _Budget(_SHARED_TIMES * size + _SHARED_FINE)
    for name, part, shows in book.sheets:
        sheet = _Sheet(shared.texts, formats, outline, name, shows=shows, budget=budget)
        if data := package.part(parts.get(part, "")):
            read_xml(data, sheet)
            sheet.close()
    return outline.loaded(package.title(top.get("core-properties", "")) or path.stem)


@dataclass(slots=True)
class _Budget:
    """Characters that cells may still come to: many cells can share one long text."""

    left: int

    def take(self, text: str) -> str:
        self.left -= len(text)
        if self.left < 0:
            raise TooMuch("its cells say a long text too often")
        return text


class _Book:
    """Reads workbook.xml: name, relation and visibility of every sheet."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str, bool]] = []
        self.since_1904 = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "sheet":
            shows = attributes.get("state", "visible") == "visible"
            self.sheets.append((attributes.get("name", ""), attributes.get("r:id", ""), shows))
        elif name == "workbookPr":
            self.since_1904 = attributes.get("date1904", "0") in {"1", "true"}

    def end(self, name: str) -> None:
        """Nothing to do."""

    def characters(self, text: str) -> None:
        """Nothing to do."""


class _Strings:
    """Reads the texts that cells share; how their letters are pronounced is left out."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._in_text = False
        self._skipped = 0

    def start(self, name: str, _attributes: Mapping[str, str]) -> None:
        self._in_text = name == "t"
        self._skipped += name == "rPh"

    def end(self, name: str) -> None:
        self._in_text = False
        self._skipped -= name == "rPh"
        if name == "si":
            self.texts.append(one_line("".join(self._parts)))
            self._parts = []

    def characters(self, text: str) -> None:
        if self._in_text and not self._skipped:
            self._parts.append(text)


@dataclass(slots=True)
class _Cell:
    column: int = 0
    kind: str = ""
    style: int = 0
    is_formula: bool = False
    parts: list[str] = field(default_factory=list)


class _Sheet:
    """Reads a sheet into an outline."""

    def __init__(
        self,
        shared: list[str],
        formats: Formats,
        outline: Outline,
        name: str,
        *,
        shows: bool,
        budget: _Budget,
    ) -> None:
        self._shared = shared
        self._formats = formats
        self._outline = outline
        self._name = name
        self._shows = shows
        self._budget = budget
        self._rows: dict[int, dict[int, str]] = {}  # by place: the texts of a row by column
        self._merged: dict[tuple[int, int], tuple[int, int]] = {}  # row and column of first and last cell
        self._hidden_rows: set[int] = set()
        self._row_shows = True
        self._place = self._column = 0
        self._hidden_columns: set[int] = set()
        self._cell: _Cell | None = None
        self._in_value = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "row":
            self._start_row(attributes)
        elif name == "c":
            self._column = _column(attributes.get("r", "")) or self._column + 1
            style = attributes.get("s", "0")
            self._cell = _Cell(self._column, attributes.get("t", "n"), int(style) if style.isdecimal() else 0)
        elif name == "col" and attributes.get("hidden") in {"1", "true"}:
            first, last = _small(attributes.get("min", "")), _small(attributes.get("max", ""))
            if len(self._hidden_columns) < _MOST_HIDDEN_COLUMNS:
                self._hidden_columns.update(range(first, min(last, _MOST_HIDDEN_COLUMNS) + 1))
        elif name == "mergeCell" and len(self._merged) < _MOST_MERGED:
            begin, _, end = attributes.get("ref", "").partition(":")
            self._merged[_place(begin), _column(begin)] = _place(end), _column(end)
        elif name == "f" and self._cell is not None:
            self._cell.is_formula = True
        self._in_value = name in {"v", "t"} and self._cell is not None

    def _start_row(self, attributes: Mapping[str, str]) -> None:
        self._place = _small(attributes.get("r", "")) or self._place + 1
        self._column = 0
        self._row_shows = attributes.get("hidden") not in {"1", "true"}
        if not self._row_shows:
            self._hidden_rows.add(self._place)

    def end(self, name: str) -> None:
        self._in_value = False
        if name == "c" and self._cell is not None:
            self._end_cell(self._cell)
            self._cell = None

    def characters(self, text: str) -> None:
        if self._in_value and self._cell is not None:
            self._cell.parts.append(text)

    def _end_cell(self, cell: _Cell) -> None:
        value = "".join(cell.parts)
        if cell.kind == "s":
            number = int(value) if value.isdecimal() and len(value) < 10 else -1
            value = self._shared[number] if 0 <= number < len(self._shared) else ""
        elif cell.kind in {"n", ""}:
            value = self._formats.shown(value, cell.style)
        elif cell.kind == "b":
            value = {"1": "TRUE", "0": "FALSE"}.get(value, value)
        value = self._budget.take(one_line(value) or (_NOT_COMPUTED if cell.is_formula else ""))
        seen = self._shows and self._row_shows and cell.column not in self._hidden_columns
        if not value or cell.kind == "e":
            return
        if not (seen and look(Look(), self._formats.look(cell.style)).shows):
            self._outline.hidden += len(value)
            return
        self._rows.setdefault(self._place, {})[cell.column] = value

    def close(self) -> None:
        """Add the tables of the sheet, which empty rows part."""
        if self._rows:
            self._outline.add(BlockKind.HEADING, self._name, level=1)
        region: list[int] = []
        for place in sorted(self._rows):
            if region and not self._hidden_rows.issuperset(range(region[-1] + 1, place)):
                self._add(region)
                region = []
            region.append(place)
        if region:
            self._add(region)

    def _add(self, region: list[int]) -> None:
        """Add the table in some rows; one cell alone is a paragraph."""
        filled = [self._rows[place] for place in region]
        columns = sorted({column for row in filled for column in row})
        if len(region) == len(columns) == 1:
            self._outline.add(BlockKind.PARAGRAPH, filled[0][columns[0]])
        elif len(region) * len(columns) > _SPARSE_TIMES * sum(map(len, filled)) + _SPARSE_FINE:
            self._outline.table([[Cell(text) for _, text in sorted(row.items())] for row in filled])
        else:
            self._outline.table(self._cells(region, columns))

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


def _place(reference: str) -> int:
    """The row in a reference such as AB12; 0 where there is none."""
    return _small(reference.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def _column(reference: str) -> int:
    """The number of the column in a reference such as AB12, from 1; 0 where there is none."""
    number = 0
    for letter in reference[:_LETTERS]:
        if not ("A" <= letter <= "Z"):
            break
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _small(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
