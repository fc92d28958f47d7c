"""CSV and TSV: every row a block with the names of its columns; a long row becomes several blocks."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Row, count_titles, is_label, names_of, title_of, with_groups
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line
from equipoise.corpus.loaders.outline import APART, TIGHT, Outline

_SNIFFED = 65_536
_LOOKED_AT = 20  # rows: titles may stand above the names of the columns
_DELIMITERS = ",;\t|"


def load_csv(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document. The delimiter is found out; the first row, below titles, holds the names of the columns."""
    text = decode(path, data)
    return _load(path, text, _delimiter(text))


def load_tsv(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document. The first row, below titles, holds the names of the columns."""
    return _load(path, decode(path, data), "\t")


def _delimiter(text: str) -> str:
    """The character that most of the first lines have equally often, outside quotes; comma without one."""
    bare = "".join(text[:_SNIFFED].split('"')[::2])
    lines = [line for line in bare.split("\n") if line.strip()][:_LOOKED_AT]
    counts = {mark: Counter(filter(None, (line.count(mark) for line in lines))) for mark in _DELIMITERS}
    usual = {
        mark: max(((many, most) for most, many in counts[mark].items()), default=(0, 0)) for mark in counts
    }
    return max(_DELIMITERS, key=lambda mark: (usual[mark], -_DELIMITERS.index(mark)))


def _load(path: Path, text: str, delimiter: str) -> list[LoadedDocument]:
    rows = _rows(path, text, delimiter)
    first = list(islice(rows, _LOOKED_AT))
    titles = count_titles(first)
    head = with_groups(first[titles:]) or first[titles : titles + 1]
    names = names_of(head)
    outline = Outline()
    for row in first[:titles]:
        outline.add(BlockKind.PARAGRAPH, title_of(row), line=row.place)
    below = chain(first[titles + len(head) :], rows)
    whole = (_whole(row, len(names)) for row in below)
    outline.rows(
        names,
        whole,
        intro=outline.introducing(),
        gap=TIGHT if titles else APART,
        line=head[0].place if head else 1,
    )
    if all(block.kind is not BlockKind.ROW for block in outline.blocks):
        reason = "there is a header line and no row below it; add rows or leave it out"
        raise UnreadableFile(str(path), reason)
    return [outline.loaded(path.stem)]


def _whole(row: Row, width: int) -> Row:
    """The row; a note, which is a sentence in the first cell and nothing else, as that cell alone."""
    is_note = width > 1 and not any(row.cells[1:]) and not is_label(row.cells[0])
    return Row([row.cells[0]] if is_note else [*row.cells, ""], row.place)


def _rows(path: Path, text: str, delimiter: str) -> Iterator[Row]:
    """Every row with something in it, and the line of the file that it begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    try:
        for row in reader:
            cells = list(map(one_line, row))
            if any(cells):
                yield Row(cells, line)
            line = reader.line_num + 1
    except csv.Error as error:
        reason = f"line {reader.line_num} is not valid CSV ({error}); check its quotes"
        raise UnreadableFile(str(path), reason) from error
