"""reStructuredText: where its comments stand, which are not in the rendered page, and its tables without borders."""

import csv
import re
from contextlib import suppress

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.loaded import one_line, placed
from equipoise.corpus.loaders.outline import Outline

_MARKUP = re.compile(r"\s*+\.\.(?:\s++(?P<first>\S++)(?P<rest>[^\n]*+)|\s*+\Z)")
_BORDER = re.compile(r"\s*+=++(?:\s++=++)++\s*+")
_DIRECTIVE = re.compile(r"\s*+\.\. (list|csv)-table::([^\n]*+)")
_OPTION = re.compile(r"\s++:([\w-]++):([^\n]*+)")
_LIST_ROW = re.compile(r"\s*+\* -(?=\s|\Z)")
_LEAST_COLUMNS, _DIGITS = 2, 3
_BORDERS = 3  # above the names, below them, and below the rows
_PLACE = re.compile(r"(?:\\ )?+:(sup|sub):`([\w.+-]{1,20})`(?:\\ )?+")
_PLACES = {"sup": "super", "sub": "sub"}
_LITERAL = re.compile(
    r"\s*+\.\. (?:code-block|code|sourcecode|parsed-literal|prompt|doctest|testcode|raw|math)::"
)


def rst_hidden(text: str) -> list[tuple[int, int]]:
    """(start, end) of every line of a comment.

    A comment is `..` that begins no directive, target, footnote or substitution, with the lines after it that
    are indented deeper; literal blocks hold none.
    """
    comments: list[tuple[int, int]] = []
    place = 0
    comment = literal = -1  # how far the block is indented, -1 outside of one
    before = ""
    for line in text.split("\n"):
        end = place + len(line)
        bare = line.strip()
        indent = _indent(line)
        if not bare:
            comment = -1 if before == ".." else comment
        elif 0 <= comment < indent:
            comments.append((place, end))
        elif not 0 <= literal < indent:
            starts = bare.startswith("..") and (not before or before.startswith(".."))
            comment = indent if starts and _is_comment(line) else -1
            literal = indent if comment < 0 and "::" in bare and _opens_literal(line) else -1
            if comment >= 0:
                comments.append((place, end))
        place = end + 1
        before = bare
    return comments


def _is_comment(line: str) -> bool:
    markup = _MARKUP.match(line)
    if markup is None:
        return False
    first, rest = markup["first"], markup["rest"] or ""
    if first is None:
        return True
    return not (first.startswith(("_", "[", "|")) or "::" in first or rest.lstrip().startswith("::"))


def _opens_literal(line: str) -> bool:
    if line.lstrip().startswith(".. "):
        return _LITERAL.match(line) is not None
    return line.rstrip().endswith("::")


def with_places(text: str) -> str:
    """`text` with the roles `sup` and `sub` written as superscript and subscript (`placed`)."""

    def written(found: re.Match[str]) -> str:
        before = found.string[max(found.start() - 1, 0) : found.start()]
        return placed(found[2], before, _PLACES[found[1]])

    return _PLACE.sub(written, text) if ":su" in text else text


def without_tables(text: str) -> tuple[str, list[tuple[int, Outline]]]:
    """`text` with empty lines in place of its simple tables (`====` above and below their columns), `list-table`s and
    `csv-table`s; and those, each with the line that it begins on. Literal blocks stay as they are."""
    lines = text.split("\n")
    tables: list[tuple[int, Outline]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if "::" in line and _opens_literal(line):
            at = _end_of_block(lines, at)
        elif "=" in line and _BORDER.fullmatch(line):
            at = _simple(lines, at, tables)
        elif "::" in line and (directive := _DIRECTIVE.fullmatch(line)):
            at = _listed(lines, at, directive, tables)
        else:
            at += 1
    return "\n".join(lines), tables


def _end_of_block(lines: list[str], at: int) -> int:
    """The first line behind `at` that is not indented deeper."""
    indent = _indent(lines[at])
    below = range(at + 1, len(lines))
    return next((row for row in below if lines[row].strip() and _indent(lines[row]) <= indent), len(lines))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _simple(lines: list[str], at: int, tables: list[tuple[int, Outline]]) -> int:
    """Take a simple table out; returns the line behind it. A line without a first cell continues the row above."""
    end = next((row for row in range(at, len(lines)) if not lines[row].strip()), len(lines))
    borders = [row for row in range(at, end) if _BORDER.fullmatch(lines[row])]
    if len(borders) == _BORDERS and borders[-1] == end - 1:
        places = [match.start() for match in re.finditer("=+", lines[at])]
        rows: dict[int, list[str]] = {}
        whole = at
        for row in (row for row in range(at, end) if row not in borders):
            cells = [lines[row][a:b].strip() for a, b in zip(places, [*places[1:], None], strict=True)]
            if rows and (not cells[0] or row < borders[1]):
                rows[whole] = [
                    f"{above} {below}".strip() for above, below in zip(rows[whole], cells, strict=True)
                ]
            else:
                whole, rows[row] = row, cells
        _take(lines, (at, end), rows, tables, header=1)
    return end


def _take(
    lines: list[str],
    place: tuple[int, int],
    rows: dict[int, list[str]],
    tables: list[tuple[int, Outline]],
    *,
    header: int,
    caption: str = "",
) -> None:
    """Take lines out that are a table; `rows` are the cells by line."""
    outline, (first, end) = Outline(), place
    cells = [[Cell(with_places(cell)) for cell in row] for row in rows.values()]
    title = outline.add(BlockKind.PARAGRAPH, caption, line=first + 1)
    outline.table(cells, header=header, intro=title, lines=[row + 1 for row in rows])
    tables.append((first + 1, outline))
    lines[first:end] = [""] * (end - first)


def _listed(lines: list[str], at: int, directive: re.Match[str], tables: list[tuple[int, Outline]]) -> int:
    """Take the table of a directive out; returns the line behind it."""
    end = _end_of_block(lines, at)
    first = at + 1
    options: dict[str, tuple[int, str]] = {}
    while first < end and (option := _OPTION.fullmatch(lines[first])):
        options[option[1]] = first, option[2].strip()
        first += 1
    read = _list_rows if directive[1] == "list" else _csv_rows
    rows = read(lines, first, end)
    names = options.get("header-rows", (0, ""))[1]
    header = int(names) if names.isdecimal() and len(names) < _DIGITS else 0
    if directive[1] == "csv" and "header" in options:
        place, said = options["header"]
        rows, header = {place: next(csv.reader([said], skipinitialspace=True), []), **rows}, 1
    if max(map(len, rows.values()), default=0) >= _LEAST_COLUMNS:
        _take(lines, (at, end), rows, tables, header=header, caption=directive[2].strip())
    return end


def _list_rows(lines: list[str], first: int, end: int) -> dict[int, list[str]]:
    """By line, the cells of the rows of a list of lists."""
    rows: dict[int, list[str]] = {}
    cells: list[str] = []
    left = 0  # where the marks of cells stand
    for row in range(first, end):
        begun = _LIST_ROW.match(lines[row])
        bare = lines[row].strip()
        if begun:
            cells = rows[row] = [lines[row][begun.end() :].strip()]
            left = begun.end() - 1
        elif cells and _indent(lines[row]) == left and (bare == "-" or bare.startswith("- ")):
            cells.append(bare[1:].strip())
        elif cells and bare:
            cells[-1] = f"{cells[-1]} {bare}".strip()
    return rows


def _csv_rows(lines: list[str], first: int, end: int) -> dict[int, list[str]]:
    """By line, the cells of rows of CSV; none where it is not valid."""
    while first < end and not lines[first].strip():
        first += 1
    rows: dict[int, list[str]] = {}
    row = first
    reader = csv.reader((line.strip() for line in lines[first:end]), skipinitialspace=True)
    with suppress(csv.Error):
        for cells in reader:
            if cells:
                rows[row] = list(map(one_line, cells))
            row = first + reader.line_num
    return rows
