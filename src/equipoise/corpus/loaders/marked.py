"""Text with markup (Markdown, reStructuredText, plain text) as blocks, its tables as those of every other format."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders.grid import Cell, grid_of
from equipoise.corpus.loaders.loaded import one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.text.lines import is_border

_BAR = re.compile(r"(?<!\\)\|")
_EDGE = re.compile(r"\+:?+[-=]|[-=]:?+\+")
_WITHIN = re.compile(r"\A(\s*+)\|(-++(?:\+-++)++)\|\s*+")
_TABLE = frozenset({BlockKind.ROW, BlockKind.ASIDE})


class Marked(NamedTuple):
    """A table: the cells of its rows, the line of the file that each begins on, and how many name the columns."""

    rows: list[list[Cell]]
    lines: list[int]
    header: int


def add_blocks(
    outline: Outline, text: str, blocks: Sequence[Block], apart: Sequence[tuple[int, Outline]] = ()
) -> None:
    """Append the blocks of a text, tables with the names of their columns in each row; and each of the outlines
    `apart`, in order, before the first block behind its line."""
    tables = {
        group[0]: (group[-1], table)
        for group in _groups(text, blocks)
        if (table := _bars(text, blocks, group))
    }
    rows = {-1: -1}
    waiting, behind, last = list(apart), 0, -1
    for at, block in enumerate(blocks):
        while waiting and waiting[0][0] < block.line:
            line, inner = waiting.pop(0)
            outline.append(inner, line)
            behind = len(outline.blocks)
        intro = rows.get(block.intro, -1)
        intro = intro if intro >= behind or block.kind is BlockKind.PARAGRAPH else -1  # that is a note
        if at in tables:
            last, table = tables[at]
            top = len(outline.blocks)
            outline.table(table.rows, header=table.header, intro=intro, lines=table.lines)
            by_line = {one.line: top + row for row, one in enumerate(outline.blocks[top:])}
            rows |= {row: by_line.get(blocks[row].line, -1) for row in range(at, last + 1)}
        elif at > last:
            gap = text[blocks[at - 1].end : block.start] if at else ""
            words = text[block.start : block.end]
            rows[at] = outline.add(
                block.kind, words, level=block.level, intro=intro, gap=gap, line=block.line
            )
    for line, inner in waiting:
        outline.append(inner, line)


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


def _bars(text: str, blocks: Sequence[Block], group: list[int]) -> Marked | None:
    """A table of Markdown or a grid of reStructuredText that names its columns."""
    lines = [text[blocks[at].start : blocks[at].end] for at in group]
    if is_border(lines[0]):
        lines = [_WITHIN.sub(r"\1+\2+", line) for line in lines]
        table = _drawn(*_parted(lines, [blocks[at].line for at in group]))
        return table if any(grid_of(table.rows, table.header).names) else None
    rule = next((row for row, line in enumerate(lines) if _is_rule(line)), 0)
    if not rule or not all("|" in line for line in lines[:rule]):
        return None
    rows = [
        (_split(line), blocks[at].line) for line, at in zip(lines, group, strict=True) if not _is_rule(line)
    ]
    if len(rows) <= rule:
        return None
    return Marked([cells for cells, _ in rows], [line for _, line in rows], rule)


def _is_rule(line: str) -> bool:
    """Whether a line stands below the names of Markdown's columns."""
    return "-" in line and not line.strip(" \t|:-")


def _split(line: str) -> list[Cell]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [Cell(one_line(cell.replace("\\|", "|"))) for cell in _BAR.split(bare)]


def _parted(lines: list[str], numbers: list[int]) -> tuple[list[str], list[int]]:
    """The lines of a table, with borders between all rows if the only one inside is the one below the names."""
    borders = [row for row, line in enumerate(lines) if is_border(line)]
    whole = all(_split(line)[0].text for line in lines if not is_border(line))
    if borders != [0, 2, len(lines) - 1] or "=" in lines[2] or not whole:
        return lines, numbers
    rows = list(zip(lines, numbers, strict=True))
    below = [line for row in rows[3:-1] for line in (row, rows[2])]
    parted = [*rows[:2], (lines[2].replace("-", "="), numbers[2]), *below]
    return [line for line, _ in parted], [number for _, number in parted]


def _drawn(lines: list[str], numbers: list[int]) -> Marked:
    """A table whose borders are drawn with `+`, `-` and `|`; a cell without its end border spans what follows."""
    places = sorted(
        {place for line in lines if _EDGE.search(line) for place, mark in enumerate(line) if mark == "+"}
    )
    opened: dict[int, tuple[int, int, list[str]]] = {}  # by place: first row, columns and texts of a cell
    made: list[tuple[int, int, Cell]] = []
    begun = [0]  # by row: the line of the file that it begins on
    header = 0
    for line, number in zip(lines, numbers, strict=True):
        is_edge = _EDGE.search(line) is not None
        inner = [
            place
            for place in places[1:-1]
            if (mark := line[place : place + 1]) == "+" or (mark == "|" and (not is_edge or place in opened))
        ]
        row = len(begun) - 1
        if not is_border(line):
            begun[-1] = begun[-1] or number
        for left, right in pairwise([places[0], *inner, places[-1]]):
            text = line[left + 1 : right].strip()
            if text and not text.strip("-=:"):
                ended = [place for place in opened if left <= place < right]
                made += [(first, place, Cell(one_line(" ".join(texts)), row - first + 1, wide))
                         for place in ended for first, wide, texts in (opened.pop(place),)]  # fmt: skip
            else:
                wide = places.index(right) - places.index(left)
                opened.setdefault(left, (row, wide, []))[2].append(text)
        if is_edge and begun[-1]:
            begun.append(0)
            header = len(begun) - 1 if "=" in line else header
    begun = begun if begun[-1] else begun[:-1]
    cells = [[cell for first, _, cell in sorted(made) if first == row] for row in range(len(begun))]
    return Marked(cells, begun, header)
