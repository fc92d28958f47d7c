"""CSV and TSV: every row a paragraph `header: value; header: value`, a long one several."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import Block, BlockKind
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.text.sentences import LONGEST_ROW, sentence_spans

_SNIFFED = 65_536
_DELIMITERS = ",;\t|"
_MOST_TIMES, _ALWAYS_FINE = 30, 1_000_000  # characters of text for one of the file, and for any file
_TOO_MUCH = f"with its column names in every row it would be {_MOST_TIMES} times as long; shorten the names"
_BETWEEN, _PAIRS = "\n\n", "; "
_LONG_VALUE, _LONGEST_NAME = 700, 150


def load_csv(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document. The delimiter is found out; the first row holds the headers."""
    text = decode(path, data)
    return _load(path, text, _delimiter(text))


def load_tsv(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document. The first row holds the headers."""
    return _load(path, decode(path, data), "\t")


def _delimiter(text: str) -> str:
    """The character that stands most often in the header line, outside quotes; comma without one."""
    header = next((line for line in text[:_SNIFFED].split("\n") if line.strip()), "")
    bare = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=lambda mark: (bare.count(mark), -_DELIMITERS.index(mark)))


def _load(path: Path, text: str, delimiter: str) -> list[LoadedDocument]:
    rows = _rows(path, text, delimiter)
    headers = [one_line(name) for name in next(rows, (1, []))[1]]
    most = _MOST_TIMES * len(text) + _ALWAYS_FINE
    paragraphs: list[str] = []
    blocks: list[Block] = []
    place = 0
    for line, row in rows:
        for piece in _pieces(list(_cells(headers, row))):
            blocks.append(Block(BlockKind.ROW, place, place + len(piece), line=line))
            paragraphs.append(piece)
            place += len(piece) + len(_BETWEEN)
            if place > most:
                raise UnreadableFile(str(path), _TOO_MUCH)
    if not paragraphs:
        raise UnreadableFile(
            str(path), "there is a header line and no row below it; add rows or leave it out"
        )
    return [LoadedDocument(_BETWEEN.join(paragraphs), path.stem, blocks=tuple(blocks))]


def _rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Every row with something in it, and the line of the file that it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    try:
        for row in reader:
            if any(value.strip() for value in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        reason = f"line {reader.line_num} is not valid CSV ({error}); check its quotes"
        raise UnreadableFile(str(path), reason) from error


def _cells(headers: list[str], row: list[str]) -> Iterator[str]:
    """`name: value` for every cell with something in it; work and memory go by the cells, not by the headers.

    A long value is several such pairs.
    """
    for place, cell in enumerate(row):
        name = headers[place] if place < len(headers) else f"column {place + 1}"
        for value in _parts(one_line(cell)):
            yield f"{name}: {value}" if name else value


def _parts(value: str) -> Iterator[str]:
    """A value whole, or cut between sentences where it is too long for a row; nothing for an empty one."""
    if len(value) <= _LONG_VALUE:
        yield from [value] if value else []
        return
    start = end = 0
    for low, high in sentence_spans(value):
        if high - start > _LONG_VALUE and end > start:
            yield value[start:end]
            start = low
        end = high
    yield value[start:end]


def _pieces(cells: list[str]) -> Iterator[str]:
    """A row as one paragraph, or several where it is long: cut between columns, each with the first cell in front,
    which says what the row is about."""
    if not cells:
        return
    head = cells[0] if len(cells[0]) <= _LONGEST_NAME else ""
    piece = cells[0]
    for cell in cells[1:]:
        if len(piece) + len(cell) + len(_PAIRS) > LONGEST_ROW and piece != head:
            yield piece
            piece = head
        piece = f"{piece}{_PAIRS}{cell}" if piece else cell
    yield piece
