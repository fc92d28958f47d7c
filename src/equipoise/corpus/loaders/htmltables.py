"""Tables of HTML: which of them lay out a page, and the cells of those that hold data."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.loaded import whole

_MOST_ROWS, _MOST_COLUMNS = 65_534, 1_000  # that browsers let a cell span
_IN_LAYOUT = "table table, table h1, table h2, table h3, table h4, table h5, table h6"
_IN_CELLS = "p, pre, ul, ol, dl, div"
_NO_ROW = f"table, br, h1, h2, h3, h4, h5, h6, {_IN_CELLS}"
_LONGEST = 200  # characters of a cell of a row of data in a table for layout
_PARTS = frozenset({"tbody", "thead", "tfoot"})


@dataclass(slots=True)
class OpenTable:
    """A data table that is being read; `around` is the table that it is nested in, with the text of its cell so far."""

    rows: list[list[Cell]] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    span: tuple[int, int] = (1, 1)  # rows and columns of the open cell
    tags: set[str] = field(default_factory=set)  # of the cells of the open row
    caption: str = ""
    header: int = 0  # rows at the top with nothing but names
    only_links: bool = True
    around: "tuple[OpenTable, str] | None" = None

    def open_cell(self, node: LexborNode) -> None:
        """A cell begins."""
        self.span = _span(node, "rowspan", _MOST_ROWS), _span(node, "colspan", _MOST_COLUMNS)

    def add(self, text: str, tag: str) -> None:
        """Append the open cell."""
        self.cells.append(Cell(text, *self.span))
        self.tags |= {tag} if text else set()
        self.span = 1, 1

    def end_row(self) -> None:
        """A row ends."""
        if self.cells:
            self.header += len(self.rows) == self.header and self.tags == {"th"}
            self.rows.append(self.cells)
        self.cells, self.tags = [], set()


def _span(node: LexborNode, name: str, most: int) -> int:
    """How many rows or columns a cell spans; 0 rows are all that follow."""
    return min(whole(node.attributes.get(name), 1), most) or (most if name == "rowspan" else 1)


def layout_of(tree: LexborHTMLParser) -> tuple[set[int], dict[int, bool]]:
    """The tables that only lay out a page, whose content is read as blocks: with tables or headings inside and no names
    of columns, or of one row with paragraphs, lists or code. And the rows of data beside nested tables in them, each
    with whether the row below is data, too."""
    tables: set[int] = set()
    rows: dict[int, bool] = {}
    seen: set[int] = set()
    for node in tree.css(_IN_LAYOUT):
        above = node.parent
        while above is not None and above.mem_id not in seen:
            seen.add(above.mem_id)
            if above.tag == "table":
                if not _has_names(above):
                    tables.add(above.mem_id)
                    rows |= _data(above) if above.css_first("table table") else {}
                break
            above = above.parent
    for table in tree.css("table"):
        if table.mem_id not in tables and table.css_first(_IN_CELLS) and len(table.css("tr")) == 1:
            tables.add(table.mem_id)
    return tables, rows


def _has_names(table: LexborNode) -> bool:
    """Whether the first of several rows has nothing but names of columns."""
    rows = list(_rows(table))
    cells = [cell.tag for cell in rows[0].iter()] if len(rows) > 1 else []
    return len(cells) > 1 and set(cells) == {"th"}


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    """The rows of a table, without those of nested ones."""
    for node in table.iter():
        yield from _rows(node) if node.tag in _PARTS else (node,) if node.tag == "tr" else ()


def _data(table: LexborNode) -> dict[int, bool]:
    """The rows with several short texts and nothing else in their cells, and whether the row below is one, too."""
    plain = [(row.mem_id, _is_data(row)) for row in _rows(table)]
    below = [is_data for _, is_data in plain[1:]] + [False]
    return {row: more for (row, is_data), more in zip(plain, below, strict=True) if is_data}


def _is_data(row: LexborNode) -> bool:
    texts = [] if row.css_first(_NO_ROW) else [cell.text().strip() for cell in row.iter()]
    return sum(map(bool, texts)) > 1 and max(map(len, texts)) <= _LONGEST
