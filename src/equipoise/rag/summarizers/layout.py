"""How a quote is laid out: prose flows; items, rows, code, and lines of a setting each have lines of their own."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import dedent

from equipoise.core.types import BlockKind
from equipoise.text.blocks import blocks
from equipoise.text.lines import is_loaded_row, looks_like_code
from equipoise.text.visible import flowing

NARROWEST = 45
"""Width of the narrowest column that a page or a mail wraps its lines to."""
CODE = "    "
"""What indents the lines of code, at least."""
_STEP = "  "
"""What indents an item of a list within another, for each."""
_SETTING = re.compile(r"\s*+[\w.\"'/-]++\s*+[:=](?:\s|\Z)")
_BESIDE = re.compile(r"\s*+(?:[#;\[]|-\s|…\Z|\Z)|\s{2}")


@dataclass(frozen=True, slots=True)
class Row:
    """text[start:end] that is shown as one line, or flows; `is_code` keeps its blanks, and what is `alone` has nothing
    else on its line. `margin` stands before it: that of an item of a list within another."""

    start: int
    end: int
    is_code: bool
    alone: bool
    margin: str = ""


def rows(text: str, *, verses: bool = False) -> Iterator[Row]:
    """The text in rows, which tile it but for white space. With `verses` all short lines are kept, else those of code
    and settings alone."""
    if _is_of_settings(text):
        yield from _lines(text, 0, len(text))
        return
    for block in blocks(text):
        said = text[block.start : block.end]
        if block.kind is BlockKind.CODE or _keeps_lines(block.kind, said, verses=verses):
            yield from _lines(text, text.rfind("\n", 0, block.start) + 1, block.end)
            continue
        margin = _STEP * (block.level - 1) if block.kind is BlockKind.ITEM else ""
        alone = block.kind is not BlockKind.PARAGRAPH
        begin = at = block.start
        for line in said.splitlines(keepends=True):
            row = is_loaded_row(line)
            if row and begin < at:
                yield _row(text, begin, at, alone=alone, margin=margin)
                begin = at
            at += len(line)
            if row or at == block.end:
                yield _row(text, begin, at, alone=alone or row, margin=margin)
                begin = at


def joined_rows(texts: Iterable[str]) -> str:
    """Quotes one after the other: prose flows from one to the next, what is `alone` has its own lines."""
    written, alone = "", True
    for text in texts:
        for words, apart in _said(text):
            between = "" if not written else "\n" if alone or apart else " "
            written, alone = written + between + words, apart
    return written


def laid_out(text: str) -> str:
    """One quote as it stands in an answer that is made of quotes."""
    return joined_rows([text])


def _said(text: str) -> Iterator[tuple[str, bool]]:
    """The words of each row, code without the margin that all its lines have, and whether it is `alone`."""
    code: list[str] = []
    for row in rows(text):
        if row.is_code:
            code.append(text[row.start : row.end])
            continue
        yield from _without_margin(code)
        code = []
        yield row.margin + flowing(text[row.start : row.end]), row.alone
    yield from _without_margin(code)


def _without_margin(code: list[str]) -> Iterator[tuple[str, bool]]:
    for line in dedent("\n".join(code)).splitlines():
        if line.strip():
            yield line.rstrip(), True


def _lines(text: str, start: int, end: int) -> Iterator[Row]:
    for line in text[start:end].splitlines(keepends=True):
        yield _row(text, start, start + len(line), is_code=True)
        start += len(line)


def _row(
    text: str, start: int, end: int, *, is_code: bool = False, alone: bool = True, margin: str = ""
) -> Row:
    return Row(start, start + len(text[start:end].rstrip()), is_code, alone, margin)


def _is_of_settings(text: str) -> bool:
    """Whether all its lines are keys with values, as in YAML and INI, or stand beside some: notes, names of sections,
    items, and what is indented."""
    lines = text.splitlines()
    keys = [_SETTING.match(line) is not None for line in lines]
    return len(lines) > 1 and any(keys) and all(map(_is_setting, keys, lines))


def _is_setting(is_key: bool, line: str) -> bool:
    return is_key or _BESIDE.match(line) is not None


def _keeps_lines(kind: BlockKind, text: str, *, verses: bool) -> bool:
    """Whether a paragraph is no prose that is wrapped."""
    if kind is not BlockKind.PARAGRAPH:
        return False
    bare = [line.lstrip("> \t").rstrip() for line in text.splitlines()]
    told = verses or 2 * sum(map(looks_like_code, bare)) >= len(bare)
    return (told and _has_short_lines(text)) or _is_of_code(text)


def _has_short_lines(text: str) -> bool:
    """Whether it has several lines, none of them a row, all too short for the line breaks of a page or a mail."""
    lines = text.splitlines()
    return len(lines) > 1 and max(map(len, lines)) < NARROWEST and not any(map(is_loaded_row, lines))


def _is_of_code(text: str) -> bool:
    """Whether it is code that begins within a line: all other lines are indented as code, and one looks like code."""
    first, *rest = text.splitlines()
    indented = bool(rest) and all(line.startswith((CODE, "\t")) for line in rest)
    return indented and any(looks_like_code(line.strip()) for line in (first, *rest))
