"""Tables of every format: cells, what spans rows and columns, the names of columns, and the text of a row.

A row can be read by itself: each cell comes with its column's name, and one that spans rows or columns is in each.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import itemgetter
from typing import NamedTuple

from equipoise.text.sentences import LONGEST_ROW, sentence_spans

_REPEATED = 100  # characters, at most, of a cell that is repeated in every row and column that it spans
_FINE, _TIMES = 10_000, 4  # cells with repetition: for any table, and for each of its own
_LONG_VALUE, _LONGEST_FIRST = 700, 150
_LONGEST_LABEL = 60
_SHORT = 15  # characters of a label whatever it ends with
_MOST_TITLES = 10
_LOOKED_AT = 20  # rows that say which columns are filled
_LEAST_GROUPED = 3  # rows of a table with groups of columns
_LEAST_PAIRS = 3
_MOST_TIMES, _ALWAYS_FINE = 12, 100_000  # characters with names: for each without them, and for any table
_BETWEEN = "; "
_AMOUNT = re.compile(r"[^\w\s]{0,3}+\s?+\d|[-–—✓✗✔✘]?+\Z")
_NUMBER = re.compile(r"[^\w\s]{0,3}+\s?+\d[\d.,:/' ]*+[^\w\s]{0,2}+")
_CODE = re.compile(r"[_\\=]|\w\(|\w\.\w|://")
_VALUE = frozenset({"value", "values", "wert", "werte", "valeur", "valor", "waarde"})
"""What the second column is called in a table of names and values, whose rows are `name: value`."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:/\d\d)?+")


class Cell(NamedTuple):
    """A cell, one line of text, and how many rows and columns it spans."""

    text: str
    rows: int = 1
    columns: int = 1


_TEXT, _DOWN, _WIDE = map(itemgetter, range(3))


@dataclass(slots=True)
class Rows:
    """The rows of a table in the making, where a cell may go on below (vertical merging)."""

    rows: list[list[Cell]] = field(default_factory=list)
    _column: int = 0
    _open: dict[int, tuple[int, int]] = field(default_factory=dict)  # by column: the cell that may go on

    def begin(self) -> None:
        """Begin a row; drop the one before if it only continued cells above it."""
        if self.rows and not self.rows[-1]:
            self.rows.pop()
        self.rows.append([])
        self._column = 0

    def add(self, text: str, columns: int = 1, *, merged: bool = False, goes_on: bool = False) -> None:
        """Append a cell. A `merged` one may continue below; an empty one that `goes_on` continues the one above."""
        above = self._open.get(self._column) if goes_on and not text else None
        if above is None:
            self._open.pop(self._column, None)
            self.rows[-1].append(Cell(text, 1, columns))
            if merged or goes_on:
                self._open[self._column] = len(self.rows) - 1, len(self.rows[-1]) - 1
        else:
            cells = self.rows[above[0]]
            cells[above[1]] = cells[above[1]]._replace(rows=len(self.rows) - above[0])
        self._column += columns


def nested_text(rows: Sequence[Sequence[Cell]]) -> str:
    """The text of a table that stands in a cell of another one."""
    return "; ".join(" | ".join(cell.text for cell in row) for row in rows)


class Row(NamedTuple):
    """The text of each column, or one text that spans them all. `place` is the row's index from 0, or its line."""

    cells: list[str]
    place: int = 0


class TableGrid(NamedTuple):
    """A table: titles above it, the name of each column, none where nothing says them, and the rows below."""

    titles: list[str]
    names: list[str]
    rows: list[Row]


class RowText(NamedTuple):
    """The text of a row, or of a part of it. `is_plain`: without names of columns; `is_section`: a subheading."""

    text: str
    place: int
    is_plain: bool = False
    is_section: bool = False


def is_label(text: str) -> bool:
    """True for a few words without the end of a sentence: a term, a caption, a name."""
    return len(text) <= _LONGEST_LABEL and not text.rstrip().endswith((".", "!", "?", "。", "！", "？"))


def is_amount(text: str) -> bool:
    """True for a number or a mark in place of one; no year."""
    return bool(text) and _AMOUNT.match(text) is not None and _YEAR.fullmatch(text) is None


def is_number(text: str) -> bool:
    """True for a number with its signs and nothing else."""
    return _NUMBER.fullmatch(text) is not None


def grid_of(rows: Sequence[Sequence[Cell]], marked: int = 0) -> TableGrid:
    """The table of these cells. The first `marked` rows name the columns; if the file does not say how many do, it is
    0, and they are guessed.
    """
    spreaded = _spread(rows)
    titles = count_titles(spreaded, guess=not marked)
    above, below = spreaded[:titles], spreaded[titles:]
    count = sum(row.place < marked for row in below)
    first = rows[below[0].place] if below else ()
    head = [] if count else with_groups(below)
    count = count or len(head) or int(_has_names(below))
    if count == 1:
        count = _depth(first, below)
    count = count if count < len(below) else 0
    names = names_of(head or below[:count])
    if not names:
        below = _spread(rows, across=False)[titles:]
    rest = [row for row in below[count:] if not count or row.cells != below[count - 1].cells]
    return TableGrid([title_of(row) for row in above], names, rest)


def pairs(rows: Sequence[Row]) -> list[Row]:
    """The rows, each as one cell `name: value` if all of them are a name, different for each, and a value."""
    names = [row.cells[0] for row in rows]
    are_names = all(name and is_label(name) and not _AMOUNT.match(name) for name in names) and len(
        set(names)
    ) == len(names)
    if (
        len(rows) < _LEAST_PAIRS
        or not are_names
        or any(len(row.cells) != 2 or not row.cells[1] for row in rows)
    ):
        return list(rows)
    return [row._replace(cells=[f"{row.cells[0].rstrip(':')}: {row.cells[1]}"]) for row in rows]


def _spread(rows: Sequence[Sequence[Cell]], *, across: bool = True) -> list[Row]:
    """The rows that are not empty, each with the cells that span it repeated, unless these are long or too many.

    `across`: a cell that spans several columns is repeated in each of them.
    """
    left = _FINE + _TIMES * sum(map(len, rows))
    width = max((sum(map(_WIDE, row)) for row in rows), default=0)
    above: dict[
        int, tuple[str, int]
    ] = {}  # by column: what spans the row from above, and how many it still does
    spreaded = []
    for place, row in enumerate(rows):
        cells: list[str] = []
        below: dict[int, tuple[str, int]] = {}
        if not above and {*map(_DOWN, row)} == {1} == {*map(_WIDE, row)}:
            left -= len(row)
            cells = [*map(_TEXT, row)]
            spreaded += [Row(cells, place)] if any(cells) else []
            continue
        spans_all = not above and 1 < width <= sum(cell.columns for cell in row[:1])
        for cell in row[:1] if spans_all else row:
            while len(cells) in above:
                _let_down(above, below, cells)
            repeated = cell.text if len(cell.text) <= _REPEATED else ""
            columns = 1 if spans_all or not across else max(1, min(cell.columns, left))
            left -= columns * min(cell.rows, len(rows) - place)
            for column in range(columns):
                above.pop(len(cells), None)
                if cell.rows > 1 and left > 0:
                    below[len(cells)] = repeated, cell.rows - 1
                cells.append(repeated if column else cell.text)
        while above:
            if len(cells) in above:
                _let_down(above, below, cells)
            elif len(cells) > max(above):
                break
            else:
                cells.append("")
        above = below
        if any(cells):
            spreaded.append(Row(cells, place))
    return spreaded


def _let_down(above: dict[int, tuple[str, int]], below: dict[int, tuple[str, int]], cells: list[str]) -> None:
    """Append the cell that spans the row from above, and keep it in `below` while it spans more rows."""
    text, rows = above.pop(len(cells))
    if rows > 1:
        below[len(cells)] = text, rows - 1
    cells.append(text)


def count_titles(rows: Sequence[Row], *, guess: bool = True) -> int:
    """How many of the rows are titles above a wider table, with one text only, or, if it may `guess`, notes.

    Notes fill fewer columns than the names of columns below them, which fill all that most rows below them do.
    """
    count = 0
    while count < min(len(rows), _MOST_TITLES) and sum(map(bool, rows[count].cells)) == 1:
        count += 1
    wide = count < len(rows) and sum(map(bool, rows[count].cells)) > 1
    count = count if wide else 0
    return count + (_notes(rows[count:]) if guess else 0)


def _notes(rows: Sequence[Row]) -> int:
    """How many rows with several texts stand above the names of columns."""
    most = 0  # columns that a row so far fills
    for at, row in enumerate(rows[:_MOST_TITLES]):
        cells = [cell for cell in row.cells if cell]
        below = [other.cells for other in rows[at + 1 : at + 1 + _LOOKED_AT]]
        columns = [[cell for cell in column if cell] for column in zip_longest(*below, fillvalue="")]
        usual = [place for place, column in enumerate(columns) if 2 * len(column) > len(below)]
        is_full = len(usual) > 2 and all(any(row.cells[place : place + 1]) for place in usual)
        if (
            at
            and is_full
            and most < len(usual)
            and len(set(cells)) == len(cells)
            and all(map(_is_name, cells))
        ):
            amounts = any(all(map(_AMOUNT.match, columns[place])) for place in usual)
            return at if amounts or 2 * most <= len(usual) else 0
        if is_full or not (any(row.cells[:1]) or len(cells) == 1):
            return 0
        most = max(most, len(cells))
    return 0


def title_of(row: Row) -> str:
    """What a row above a table says."""
    cells = [cell for cell in row.cells if cell]
    first = cells[0] if cells else ""
    return (" " if first.endswith(":") else " | ").join(dict.fromkeys(cells))


def with_groups(rows: Sequence[Row]) -> list[Row]:
    """The first two rows, if the first names groups of columns and the second the columns; else none.

    The first column is in no group; a group's name stands above the first of its columns or above each.
    """
    if (
        len(rows) < _LEAST_GROUPED
        or rows[0].cells[0]
        or not _are_names(rows[1].cells)
        or not all(rows[1].cells)
    ):
        return []
    groups, spread = rows[0].cells, [""]
    for group in groups[1:]:
        spread.append(group or spread[-1])
    given = [group for group in spread if group]
    over_several = len(set(given)) < len(given) and all(map(_is_name, given))
    return [Row(spread, rows[0].place), rows[1]] if over_several else []


def names_of(rows: Sequence[Row]) -> list[str]:
    """The names of columns in one or several rows: the texts of each column from top to bottom, none of them twice."""
    columns = zip_longest(*(row.cells for row in rows), fillvalue="")
    return [" ".join(dict.fromkeys(filter(None, column))).rstrip(":") for column in columns]


def _has_names(rows: Sequence[Row]) -> bool:
    """Whether the first row names the columns; two columns, which may be names and values, must have amounts below."""
    if len(rows) < 2 or not _are_names(rows[0].cells):
        return False
    below = [row.cells for row in rows[1:] if len(row.cells) > 1]
    filled = [[cell for cell in column if cell] for column in zip_longest(*below, fillvalue="")]
    amounts = any(column and all(map(_AMOUNT.match, column)) for column in filled)
    return len(below) > 1 and (amounts or len(rows[0].cells) > 2)


def _depth(first: Sequence[Cell], rows: Sequence[Row]) -> int:
    """How many rows name the columns together, by what the cells of the first one span."""
    deep = max(cell.rows for cell in first)
    if deep == 1 and any(cell.columns > 1 for cell in first) and len(rows) > 1 and not all(rows[1].cells):
        deep = 2
    return (
        next((at for at in range(1, deep) if not _are_names(rows[at].cells)), deep) if deep < len(rows) else 1
    )


def _are_names(cells: Sequence[str]) -> bool:
    """Whether a row may name columns: different labels, no amounts and no code."""
    given = [cell for cell in cells if cell]
    return 2 * len(given) > len(cells) > 1 < len(set(given)) and all(map(_is_name, given))


def _is_name(cell: str) -> bool:
    is_amount = _AMOUNT.match(cell) is not None and _YEAR.fullmatch(cell) is None
    return not is_amount and _CODE.search(cell) is None and (len(cell) <= _SHORT or is_label(cell))


def told(names: Sequence[str], rows: Iterable[Row]) -> Iterator[RowText]:
    """The text of each row. A text that spans all columns is a section, repeated in every row below it, or a note.

    Without names, or if they would make the text many times as long, ` | ` stands between the cells of a row.
    """
    section, waiting, most, has_names = "", None, _ALWAYS_FINE, any(names)
    for cells, place in rows:
        if len(cells) == 1 and len(names) > 1:
            if waiting:
                yield waiting
            waiting = RowText(cells[0], place, is_plain=True)
            section = cells[0] if is_label(cells[0]) else section
            continue
        if waiting:
            yield waiting._replace(is_section=waiting.text == section)
            waiting = None
        plain = " | ".join(cells).rstrip(" |")
        texts = named(names, cells, section) if has_names else []
        most += _MOST_TIMES * len(plain) - sum(map(len, texts))
        if texts and most >= 0:
            for text in texts:
                yield RowText(text, place)
        else:
            yield RowText(plain, place, is_plain=True)
    if waiting:
        yield waiting


def named(names: Sequence[str], cells: Sequence[str], section: str = "") -> list[str]:
    """The row as text, `name: value` for each cell with something in it; a long row as several texts.

    It is cut between columns; each text begins with the first cell, which says what the row is about. The `section`
    of the row comes behind that, unless it is the name of one of the row's columns.
    """
    if len(cells) == len(names) == 2 and all(cells) and names[1].lower() in _VALUE:
        names, cells = cells[:1], cells[1:]
    said: Iterable[tuple[str, str]] = zip_longest(names[: len(cells)], cells, fillvalue="")
    if max(map(len, cells), default=0) > _LONG_VALUE:
        said = [(name, value) for name, cell in said for value in _values(cell)]
    pairs = [f"{name}: {value}" if name else value for name, value in said if value]
    is_told = any(pair.startswith(f"{section}: ") for pair in pairs)
    pairs[1:1] = [section] if section and not is_told else []
    text = _BETWEEN.join(pairs)
    if len(text) <= LONGEST_ROW:
        return [text] if text else []
    head = pairs[0] if len(pairs[0]) <= _LONGEST_FIRST else ""
    texts, text = [], pairs[0]
    for pair in pairs[1:]:
        if len(text) + len(pair) + len(_BETWEEN) > LONGEST_ROW and text != head:
            texts.append(text)
            text = head
        text = f"{text}{_BETWEEN}{pair}" if text else pair
    return [*texts, text]


def _values(cell: str) -> list[str]:
    """The parts of a value that is too long for a row, cut between sentences."""
    if len(cell) <= _LONG_VALUE:
        return [cell]
    values, start, end = [], 0, 0
    for low, high in sentence_spans(cell):
        if high - start > _LONG_VALUE and end > start:
            values.append(cell[start:end])
            start = low
        end = high
    return [*values, cell[start:end]]
