"""Tables in marked-up text (Markdown, reStructuredText, AsciiDoc): their rows say the names of their columns."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders.grid import Cell, grid_of, pairs, told
from equipoise.corpus.loaders.loaded import one_line

_BAR = re.compile(r"(?<!\\)\|")
_BORDER = re.compile(r"\s*+\+(?::?+[-=]++:?+\+)++\s*+")
_EDGE = re.compile(r"\+:?+[-=]|[-=]:?+\+")
_ADOC_SPEC = re.compile(
    r"(?:^|(?<=\s))(?:(\d{1,3})?(?:\.(\d{1,3}))?([+*]))?[<^>]?(?:\.[<^>])?([adehlmsv])?\Z", re.MULTILINE
)
_LONGEST_SPEC, _SPEC_ENDS = 12, frozenset("adehlmsv<^>+*")
_PLAIN = ("", 1, 1, 1)
_MOST_TIMES = 100
_COLUMNS = re.compile(r"""\bcols=(?:["']([^"']{1,500})["']|([^,\]\s]{1,9}))""")
_HEADER = re.compile(r"%\s*header|options=[\"']?[\w,]{0,40}header")
_TABLE = frozenset({BlockKind.ROW, BlockKind.ASIDE})


class Marked(NamedTuple):
    """A table: for each row its cells and the rows of the blocks that hold it; `header` rows name the columns."""

    rows: list[tuple[list[Cell], list[int]]]
    header: int


def named(text: str, blocks: Sequence[Block], *, adoc: bool = False) -> tuple[str, tuple[Block, ...]]:
    """`text` and its blocks with the rows of tables as `grid.told` says them, below the names of their columns without
    the table's rules; a row keeps its line."""
    said: dict[int, str] = {}
    dropped: set[int] = set()
    heads: set[int] = set()
    for group in _fenced(text, blocks) if adoc else _groups(text, blocks):
        table = _adoc(text, blocks, group) if adoc else _bars(text, blocks, group)
        if table is None:
            continue
        grid = grid_of([cells for cells, _ in table.rows], table.header)
        if not adoc and not any(grid.names):
            continue
        below = {row.place for row in grid.rows}
        for row in told(grid.names, grid.rows if any(grid.names) else pairs(grid.rows)):
            first = table.rows[row.place][1][0]
            said[first] = f"{said[first]}; {row.text}" if first in said else row.text
            dropped.update(table.rows[row.place][1][1:])
        top = [at for place, (_, rows) in enumerate(table.rows) if place not in below for at in rows]
        heads.update(top)
        said.update((at, " | ".join(filter(None, grid.names or grid.titles))) for at in top[:1])
        dropped.update(top[1:])
        dropped.update(at for at in group if not text[blocks[at].start : blocks[at].end].strip(" |:+-="))
    return _rebuilt(text, blocks, said, dropped - said.keys(), heads) if said else (text, tuple(blocks))


def _groups(text: str, blocks: Sequence[Block]) -> Iterator[list[int]]:
    """The rows of blocks that may be tables: rows and what stands between them, no blank line inside."""
    group: list[int] = []
    for at, block in enumerate(blocks):
        apart = bool(group) and text.count("\n", blocks[group[-1]].end, block.start) > 1
        if group and (apart or block.kind not in _TABLE):
            yield group
            group = []
        if block.kind in _TABLE:
            group.append(at)
    if group:
        yield group


def _fenced(text: str, blocks: Sequence[Block]) -> Iterator[list[int]]:
    """The rows of blocks between the fences of AsciiDoc's tables."""
    fences = [at for at, block in enumerate(blocks) if text.startswith("|===", block.start)]
    return (list(range(first + 1, last)) for first, last in zip(fences[::2], fences[1::2], strict=False))


def _bars(text: str, blocks: Sequence[Block], group: list[int]) -> Marked | None:
    """A table of Markdown or a grid of reStructuredText."""
    lines = [text[blocks[at].start : blocks[at].end] for at in group]
    if _BORDER.fullmatch(lines[0]):
        return _drawn(lines, group)
    rule = next((row for row, line in enumerate(lines) if _is_rule(line)), 0)
    if not rule or not all("|" in line for line in lines[:rule]):
        return None
    rows = [(_split(line), [at]) for line, at in zip(lines, group, strict=True) if not _is_rule(line)]
    return Marked(rows, rule)


def _is_rule(line: str) -> bool:
    """Whether a line stands below the names of Markdown's columns."""
    return "-" in line and not line.strip(" \t|:-")


def _split(line: str) -> list[Cell]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [Cell(one_line(cell.replace("\\|", "|"))) for cell in _BAR.split(bare)]


def _drawn(lines: list[str], group: list[int]) -> Marked:
    """A table whose borders are drawn with `+`, `-` and `|`; a cell that none ends spans the next row or column."""
    places = sorted(
        {place for line in lines if _EDGE.search(line) for place, mark in enumerate(line) if mark == "+"}
    )
    opened: dict[int, tuple[int, int, list[str]]] = {}  # by place: first row, columns and texts of a cell
    made: list[tuple[int, int, Cell]] = []
    held: list[list[int]] = [[]]
    header = 0
    for line, at in zip(lines, group, strict=True):
        marks = "|+" if _EDGE.search(line) is None else "+"
        inner = [place for place in places[1:-1] if line[place : place + 1] in set(marks)]
        row = len(held) - 1
        if not _BORDER.fullmatch(line):
            held[-1].append(at)
        for left, right in pairwise([places[0], *inner, places[-1]]):
            text = line[left + 1 : right].strip()
            if text and not text.strip("-=:"):
                ended = [place for place in opened if left <= place < right]
                made += [(first, place, Cell(one_line(" ".join(texts)), row - first + 1, wide))
                         for place in ended for first, wide, texts in (opened.pop(place),)]  # fmt: skip
            else:
                wide = places.index(right) - places.index(left)
                opened.setdefault(left, (row, wide, []))[2].append(text)
        if marks == "+" and held[-1]:
            held.append([])
            header = len(held) - 1 if "=" in line else header
    cells = [[cell for first, _, cell in sorted(made) if first == row] for row in range(len(held))]
    return Marked([pair for pair in zip(cells, held, strict=True) if pair[1]], header)


def _adoc(text: str, blocks: Sequence[Block], group: list[int]) -> Marked | None:
    """A table of AsciiDoc, whose cells fill as many columns as it says, or as its first line has, whatever their lines;
    its first row is an aside where it has the names."""
    said = text[blocks[group[0] - 2].start : blocks[group[0] - 2].end] if group and group[0] > 1 else ""
    cells = [] if "format=" in said else list(_adoc_cells(text, blocks, group))
    if not cells:
        return None
    first = cells[0][1][0]
    columns = _columns(said) or sum(cell.columns for cell, at, _ in cells if at[0] == first)
    header = int(blocks[first].kind is BlockKind.ASIDE or _HEADER.search(said) is not None)
    rows: list[tuple[list[Cell], list[int]]] = []
    below: list[tuple[int, int]] = []  # of cells that span rows: how many are left, and columns
    room, marked = 0, True
    for cell, at, is_name in cells:
        if room <= 0:
            header = max(header, len(rows) * marked)
            below = [(left - 1, wide) for left, wide in below if left > 1]
            room = columns - sum(wide for _, wide in below)
            rows.append(([], []))
        row, places = rows[-1]
        row.append(cell)
        places += at if places[-1:] != at else ()
        if cell.rows > 1:
            below.append((cell.rows, cell.columns))
        room -= cell.columns
        marked = marked and is_name
    return Marked(rows, header) if len(rows) > 1 and columns > 1 else None


def _adoc_cells(
    text: str, blocks: Sequence[Block], group: list[int]
) -> Iterator[tuple[Cell, list[int], bool]]:
    """The cells of a table, each with the rows of the blocks that hold it, and whether it is marked as a name. Text
    without a bar goes on with the cell above it."""
    before, spec, places = "", _PLAIN, list[int]()
    for at in group:
        line = text[blocks[at].start : blocks[at].end]
        *pieces, last = _BAR.split(line) if "\\" in line else line.split("|")
        if not pieces:
            before = f"{before} {last}"
            places += [at] if places else []
            continue
        for piece in pieces:
            bare, after = _adoc_spec(piece) if piece[-1:] in _SPEC_ENDS else (piece, _PLAIN)
            if places:
                yield from _made(before + bare, spec, places)
            before, spec, places = "", after, [at]
        before = f"{last} "
    if places:
        yield from _made(before, spec, places)


def _made(text: str, spec: tuple[str, int, int, int], at: list[int]) -> list[tuple[Cell, list[int], bool]]:
    style, rows, columns, times = spec
    return [(Cell(one_line(text.replace("\\|", "|")), rows, columns), at, style == "h")] * times


def _adoc_spec(piece: str) -> tuple[str, tuple[str, int, int, int]]:
    """What stands before a bar: the text of a cell; and the style of the cell behind the bar, how many rows and columns
    it spans, and how often it stands there."""
    spec = _ADOC_SPEC.search(piece, max(0, len(piece) - _LONGEST_SPEC))
    if spec is None:
        return piece, _PLAIN
    down, many = int(spec[2] or 1), int(spec[1] or 1)
    return piece[: spec.start()], (
        spec[4] or "",
        *((down, many, 1) if spec[3] == "+" else (1, 1, min(many, _MOST_TIMES))),
    )


def _columns(said: str) -> int:
    """How many columns the line above a table says it has, 0 where it does not."""
    found = _COLUMNS.search(said)
    parts = re.split("[,;]", found[1] or found[2]) if found else []
    return sum(
        int(part.partition("*")[0][:3]) if "*" in part and part.strip()[0].isdecimal() else 1
        for part in parts
    )


def _rebuilt(
    text: str, blocks: Sequence[Block], said: dict[int, str], dropped: set[int], heads: set[int]
) -> tuple[str, tuple[Block, ...]]:
    """The text with other words in some blocks, and its blocks; what points at a dropped one points nowhere."""
    pieces: list[str] = []
    made: list[Block] = []
    rows: dict[int, int] = {}
    length = end = 0
    for at, block in enumerate(blocks):
        if at in dropped:
            end = block.end
            continue
        words = said.get(at, text[block.start : block.end])
        pieces += [text[end : block.start], words]
        start = length + block.start - end
        length, end = start + len(words), block.end
        kind = BlockKind.ASIDE if at in heads else block.kind
        intro = -1 if at in said and at not in heads else rows.get(block.intro, -1)
        rows[at] = len(made)
        made.append(Block(kind, start, length, block.level, intro, block.line, block.under))
    return "".join([*pieces, text[end:]]), tuple(made)
