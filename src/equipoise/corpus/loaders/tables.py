"""CSV and TSV: every row a paragraph `header: value; header: value`."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line

_SNIFFED = 65_536
_DELIMITERS = ",;\t|"
_MOST_TIMES, _ALWAYS_FINE = 30, 1_000_000  # characters of text for one of the file, and for any file


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
    headers = [one_line(name) for name in next(rows, [])]
    most = _MOST_TIMES * len(text) + _ALWAYS_FINE
    paragraphs: list[str] = []
    for row in rows:
        rendered = _rendered(headers, row)
        most -= len(rendered)
        if most < 0:
            reason = f"with its column names in every row it would be {_MOST_TIMES} times as long; shorten the names"
            raise UnreadableFile(str(path), reason)
        if rendered:
            paragraphs.append(rendered)
    if not paragraphs:
        raise UnreadableFile(
            str(path), "there is a header line and no row below it; add rows or leave it out"
        )
    return [LoadedDocument("\n\n".join(paragraphs), path.stem)]


def _rows(path: Path, text: str, delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from (row for row in reader if any(value.strip() for value in row))
    except csv.Error as error:
        reason = f"line {reader.line_num} is not valid CSV ({error}); check its quotes"
        raise UnreadableFile(str(path), reason) from error


def _rendered(headers: list[str], row: list[str]) -> str:
    """`name: value` for every cell with something in it; work and memory go by the cells, not by the headers."""
    pairs = []
    for place, cell in enumerate(row):
        if value := one_line(cell):
            name = headers[place] if place < len(headers) else f"column {place + 1}"
            pairs.append(f"{name}: {value}" if name else value)
    return "; ".join(pairs)
