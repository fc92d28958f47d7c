"""The lines of a PDF's page, made of runs of letters.

Pdfium tells where lines and words end. What it parts on one line, such as a raised number, is put together again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.loaded import SUPERSCRIPT, clean, one_line

_RAISED, _LEVEL = 0.6, 0.1  # of the larger size: how far apart in height the parts of one line may be
_SMALL = 0.85  # of it: smaller letters may be raised
_NEAR = 1.5  # of it: between the parts of a line
_LEAST_STEP = 0.5  # points
_PIECE = 0.6  # of the size: a gap between two pieces of a line
_LONGEST_GAP = 200
_MOST_RAISED = 8  # runs
_PLAIN = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
    | {"\u00ad": None, "\x02": "-", "\ufffe": "-", "\u00a0": " "}
    | dict.fromkeys("\uf0b7\uf0a7\uf0d8\uf076\uf06e", "•")  # of Symbol and Wingdings
)
_ACCENTS = {"¨": "\u0308", "´": "\u0301", "˜": "\u0303", "ˇ": "\u030c", "¸": "\u0327", "˚": "\u030a"}
_ACCENTED = re.compile(f"[{''.join(_ACCENTS)}][a-zA-Zı]")


class Type(NamedTuple):
    """The type of letters: their size in points, and what the name and flags of their font say."""

    size: float
    bold: bool
    mono: bool


class TextRun(NamedTuple):
    """Letters of one text object on a baseline `base` points above the page's foot; `places` of each if `mono`."""

    text: str
    left: float
    right: float
    base: float
    type: Type
    places: tuple[float, ...] = ()


class Piece(NamedTuple):
    """The text between two wide gaps in a line."""

    left: float
    right: float
    base: float
    text: str


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of text on a page; `page` counts from 0, places and size are in points.

    `size` is that of most letters, `bold` and `mono` hold where all are. A row of a table has `row`, and `table` tells
    the tables of a page apart.
    """

    text: str
    page: int
    left: float
    right: float
    base: float
    size: float
    bold: bool
    mono: bool
    pieces: tuple[Piece, ...] = ()
    row: tuple[Cell, ...] = ()
    table: int = 0


def filled(text: str) -> int:
    """How many of its characters are not white space."""
    return len("".join(text.split()))


def whole(lines: Iterator[list[TextRun]]) -> Iterator[list[TextRun]]:
    """The lines, cut where the height changes, and put together where they stand side by side and nearly touch."""
    before: list[TextRun] = []
    for runs in (part for line in lines for part in _levels(line)):
        if before and _goes_on(before, runs):
            before += runs
            continue
        if before:
            yield before
        before = runs
    if before:
        yield before


def _levels(runs: list[TextRun]) -> Iterator[list[TextRun]]:
    """The parts of a line on one height each: pdfium takes cells that were drawn one after the other for a line."""
    part = runs[:1]
    for before, run in pairwise(runs):
        if abs(run.base - before.base) > _RAISED * max(run.type.size, before.type.size):
            yield part
            part = []
        part.append(run)
    yield part


def _goes_on(before: list[TextRun], runs: list[TextRun]) -> bool:
    last, first = before[-1], runs[0]
    large, small = max(last.type.size, first.type.size), min(last.type.size, first.type.size)
    apart = _RAISED if small < _SMALL * large else _LEVEL
    return (
        abs(last.base - first.base) < apart * large and -large / 4 < first.left - last.right < _NEAR * large
    )


def by_height(runs: Sequence[TextRun]) -> Iterator[list[TextRun]]:
    """The lines that these runs stand in, from the top."""
    lines: dict[int, list[TextRun]] = {}
    for run in runs:
        lines.setdefault(round(run.base), []).append(run)
    return (sorted(lines[base], key=lambda run: run.left) for base in sorted(lines, reverse=True))


def line_of(runs: list[TextRun], number: int) -> PageLine:
    sizes: dict[tuple[float, float], int] = {}
    for run in runs:
        key = (round(run.type.size, 1), run.base)
        sizes[key] = sizes.get(key, 0) + filled(run.text)
    size, base = max(sizes, key=lambda key: (sizes[key], key))
    shown = [run for run in runs if run.text.strip()]
    mono = bool(shown) and all(run.type.mono for run in shown)
    pieces = _pieces(runs, size, base)
    text = _in_columns(runs) if mono else one_line(" ".join(piece.text for piece in pieces))
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    bold = bool(shown) and all(run.type.bold for run in shown)
    return PageLine(text, number, left, right, base, size, bold, mono, pieces)


def line_of_pieces(line: PageLine, pieces: Sequence[Piece]) -> PageLine:
    """The line with these pieces in place of its own."""
    text = one_line(" ".join(piece.text for piece in pieces))
    return replace(line, text=text, left=pieces[0].left, right=pieces[-1].right, pieces=tuple(pieces))


def _pieces(runs: list[TextRun], size: float, base: float) -> tuple[Piece, ...]:
    """The texts between gaps, where they begin and end."""
    groups: list[tuple[list[TextRun], list[str]]] = []
    before: TextRun | None = None
    for row, run in enumerate(runs):
        gap = run.left - before.right if before else 0.0
        if before is None or gap > _PIECE * size:
            groups.append(([], []))
        elif gap > size / 5 or run.left < before.left:
            groups[-1][1].append(" ")
        groups[-1][0].append(run)
        groups[-1][1].append(_written(run, _stem(runs, row), size, base))
        before = run
    pieces = (
        Piece(inside[0].left, max(run.right for run in inside), inside[0].base, one_line("".join(texts)))
        for inside, texts in groups
    )
    return tuple(piece for piece in pieces if piece.text)


def _stem(runs: Sequence[TextRun], row: int) -> TextRun | None:
    """What a run is raised or lowered from: the last run before it with letters or on another height."""
    base = runs[row].base
    near = reversed(runs[max(row - _MOST_RAISED, 0) : row])
    return next((run for run in near if run.base != base or any(map(str.isalpha, run.text))), None)


def _written(run: TextRun, stem: TextRun | None, size: float, base: float) -> str:
    """The text of a run without ligatures; digits that are raised, also from their stem, are written as such."""
    text = clean(run.text.translate(_PLAIN))
    if not run.type.mono:
        text = _ACCENTED.sub(_composed, text)
    raised = run.type.size < _SMALL * size and run.base > base + size / 6
    raised = raised and (stem is None or stem.base < run.base)
    if raised and text.strip().isdecimal() and text.isascii():
        return text.translate(SUPERSCRIPT)
    return text


def _composed(match: re.Match[str]) -> str:
    """An accent and the letter behind it, as TeX's old fonts have them, as one letter if there is one."""
    letter = normalize("NFC", match.group()[1] + _ACCENTS[match.group()[0]])
    return letter if len(letter) == 1 else match.group()


def _in_columns(runs: list[TextRun]) -> str:
    """Monospaced text, with as many spaces between letters as there is room for."""
    letters = [(place, letter) for run in runs for place, letter in zip(run.places, run.text, strict=False)]
    filled = [(place, letter) for place, letter in letters if not letter.isspace()]
    steps = sorted(b - a for (a, _), (b, _) in pairwise(filled) if b - a > _LEAST_STEP)
    pitch = steps[len(steps) // 4] if steps else 1.0
    pieces: list[str] = []
    column, parted = 0, False
    for place, letter in letters:
        if letter.isspace():
            parted = bool(pieces)
            continue
        spaces = round((place - filled[0][0]) / pitch) - column if pieces else 0
        spaces = min(max(spaces, int(parted)), _LONGEST_GAP)
        pieces.append(" " * spaces + letter)
        column, parted = column + spaces + 1, False
    return clean("".join(pieces).translate(_PLAIN)).strip()
