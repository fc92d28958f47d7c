"""reStructuredText: where its comments stand, which are not in the rendered page, and its tables without borders."""

import csv
import re
from contextlib import suppress

from equipoise.corpus.loaders.loaded import one_line

_MARKUP = re.compile(r"\s*+\.\.(?:\s++(?P<first>\S++)(?P<rest>[^\n]*+)|\s*+\Z)")
_BORDER = re.compile(r"\s*+=++(?:\s++=++)++\s*+")
_DIRECTIVE = re.compile(r"\s*+\.\. (list|csv)-table::([^\n]*+)")
_OPTION = re.compile(r"\s++:([\w-]++):([^\n]*+)")
_LIST_ROW = re.compile(r"\s*+\* -(?=\s|\Z)")
_LEAST_COLUMNS, _DIGITS = 2, 3
_BORDERS = 3  # above the names, below them, and below the rows
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


def with_bars(text: str) -> str:
    """`text` with its simple tables (`====` above and below their columns), `list-table`s and `csv-table`s as tables of
    Markdown, line by line.

    A line without a first cell goes on in the row above, and is empty itself. Literal blocks stay as they are.
    """
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if "::" in line and _opens_literal(line):
            at = _end_of_block(lines, at)
        elif "=" in line and _BORDER.fullmatch(line):
            at = _simple(lines, at)
        elif "::" in line and (directive := _DIRECTIVE.fullmatch(line)):
            at = _listed(lines, at, directive)
        else:
            at += 1
    return "\n".join(lines)


def _end_of_block(lines: list[str], at: int) -> int:
    """The first line behind `at` that is not indented deeper."""
    indent = _indent(lines[at])
    below = range(at + 1, len(lines))
    return next((row for row in below if lines[row].strip() and _indent(lines[row]) <= indent), len(lines))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _simple(lines: list[str], at: int) -> int:
    """Write a simple table anew; the line behind it."""
    end = next((row for row in range(at, len(lines)) if not lines[row].strip()), len(lines))
    borders = [row for row in range(at, end) if _BORDER.fullmatch(lines[row])]
    if len(borders) == _BORDERS and borders[-1] == end - 1:
        places = [match.start() for match in re.finditer("=+", lines[at])]
        rows = {row: _cells(lines[row], places) for row in range(at, end) if row not in borders}
        _join(rows, borders[1])
        lines[at:end] = [_bar(rows[row]) if row in rows else "" for row in range(at, end)]
        lines[borders[1]] = _rule(len(places))
    return end


def _listed(lines: list[str], at: int, directive: re.Match[str]) -> int:
    """Write the table of a directive anew, its title above it; the line behind it."""
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
    elif directive[1] == "csv" and header == 1 and rows:
        top = next(iter(rows))
        rows = {top - 1: rows.pop(top), **rows}  # to the blank line above, to have one for the rule
    width = max(map(len, rows.values()), default=0)
    if width < _LEAST_COLUMNS:
        return end
    lines[at:first] = [directive[2].strip(), *[""] * (first - at - 1)]
    places = list(rows)
    for row in range(places[0], places[-1] + 1):
        lines[row] = _bar(rows.get(row, [""] * width))
    lines[places[-1] + 1 : end] = [""] * (end - places[-1] - 1)
    if 0 < header < len(places) and places[header] - 1 > places[header - 1]:
        lines[places[header] - 1] = _rule(width)
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


def _rule(width: int) -> str:
    return "|---" * width + "|"


def _cells(line: str, places: list[int]) -> list[str]:
    return [line[start:end].strip() for start, end in zip(places, [*places[1:], None], strict=True)]


def _join(rows: dict[int, list[str]], middle: int) -> None:
    """Put lines that go on with the row above into it."""
    whole = next(iter(rows))
    for row, cells in rows.items():
        if row > whole and (not cells[0] or row < middle):
            rows[whole] = [
                f"{above} {below}".strip() for above, below in zip(rows[whole], cells, strict=True)
            ]
            rows[row] = [""] * len(cells)
        else:
            whole = row


def _bar(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
