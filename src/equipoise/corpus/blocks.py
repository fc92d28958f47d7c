"""Blocks of documents as bytes and back: seven little-endian int32 each, checked against the text they lie in."""

from collections.abc import Iterable, Sequence

import numpy as np

from equipoise.core.types import DEEPEST, Block, BlockKind
from equipoise.corpus.offsets import Ints, Rows, check_spans

WIDTH = 7
_KINDS = tuple(BlockKind)
_CODES = {kind: code for code, kind in enumerate(_KINDS)}
_HEADING = _CODES[BlockKind.HEADING]
_MOST_LINES = np.iinfo(np.int32).max


def packed_blocks(blocks: Sequence[Block]) -> bytes:
    """The blocks one after the other, 4 * WIDTH bytes each."""
    rows = [(_CODES[b.kind], b.start, b.end, b.level, b.intro, b.line, b.under) for b in blocks]
    return np.asarray(rows, "<i4").tobytes()


def blocks_in(numbers: Ints, length: int) -> "Blocks":
    """The blocks in `numbers` for a text of `length` characters. Raises ValueError as `check_blocks`."""
    if len(numbers) % WIDTH:
        raise ValueError("a block is cut off")
    rows = numbers.reshape(-1, WIDTH)
    if len(rows):
        _check(rows, length)
    return Blocks(rows)


def check_blocks(blocks: Iterable[Block], length: int) -> None:
    """Raises ValueError unless the blocks are in order, not empty, not overlapping, inside 0..length, their intros
    earlier blocks, and `under` the heading that `text.outline.outlined` finds."""
    if isinstance(blocks, Blocks):
        return
    data = packed_blocks(list(blocks))
    _check(np.frombuffer(data, "<i4").astype(np.int64).reshape(-1, WIDTH), length)


def _check(rows: Ints, length: int) -> None:
    kinds, levels, intros, lines, under = (rows[:, column] for column in (0, 3, 4, 5, 6))
    check_spans(rows[:, 1:3], length)
    own = np.arange(len(rows))
    if ((kinds < 0) | (kinds >= len(_KINDS)) | (levels < 0) | (levels > DEEPEST)).any():
        raise ValueError("a block is of no known kind, or too deep")
    if ((intros < -1) | (intros >= own) | (lines < 0) | (lines > _MOST_LINES)).any():
        raise ValueError("a block is read with a later one, or has no line")
    heads = np.where(kinds == _HEADING, own, -1)
    nearest = np.maximum.accumulate(np.concatenate([[-1], heads[:-1]])) if len(rows) else heads
    inner = kinds != _HEADING
    if (under[inner] != nearest[inner]).any():
        raise ValueError("a block is not under the heading before it")
    _check_outline(rows[~inner], own[~inner])


def _check_outline(headings: Ints, own: Ints) -> None:
    """Raises ValueError unless each heading is under the one that encloses it."""
    levels = dict(zip(own.tolist(), headings[:, 3].tolist(), strict=True))
    open_: list[int] = []
    for row, level, under in zip(own.tolist(), levels.values(), headings[:, 6].tolist(), strict=True):
        while open_ and levels[open_[-1]] >= level:
            open_.pop()
        if under != (open_[-1] if open_ else -1):
            raise ValueError("a heading is not under the one that encloses it")
        open_.append(row)


class Blocks(Rows[Block]):
    """The blocks of a document, made from rows of WIDTH numbers when asked for."""

    __slots__ = ()

    @staticmethod
    def made(row: list[int]) -> Block:
        return Block(_KINDS[row[0]], *row[1:])
