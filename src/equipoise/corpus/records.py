"""What the store keeps, as rows: how they are written, removed and read on an open connection.

Nothing here begins or ends a transaction; `store.Store` does.
"""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.core.errors import CorpusError
from equipoise.core.types import Array, Document, Trust
from equipoise.corpus.offsets import Offsets

Ids = NDArray[np.int64]

PASSAGE = (
    "SELECT p.passage_id, d.doc_id, p.start, p.end, substr(d.text, p.start + 1, p.end - p.start), d.title"
    " FROM passages p JOIN documents d ON d.number = p.document"
)
PLACE = (
    "SELECT p.passage_id, d.doc_id, p.start, p.end FROM passages p JOIN documents d ON d.number = p.document"
)
DOCUMENT = "SELECT doc_id, text, source, title, trust, sentences, pages FROM documents"
_UNKEEPABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FileRecord:
    """How a file looked when it was read. `path` and `root` are relative to the store's folder."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    trust: Trust
    root: str


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A document with its passages' offsets and their unit vectors (n, d)."""

    document: Document
    spans: tuple[tuple[int, int], ...]
    vectors: Array


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a store holds."""

    files: int
    documents: int
    passages: int


def search_text(title: str, text: str) -> str:
    """What vectors and full text search see of a passage: its document's title, then its text."""
    return f"{title}\n{text}" if title else text


def read_document(row: tuple[Any, ...]) -> Document:
    """The document in a row of DOCUMENT."""
    doc_id, text, source, title, trust, sentences, pages = row
    numbers = tuple(np.frombuffer(pages, "<i4").tolist())
    return Document(doc_id, text, source, title, Trust(trust), Offsets(sentences), numbers)


def read_matrix(connection: sqlite3.Connection) -> tuple[Ids, Array]:
    """All passage ids (n,) ascending and their vectors (n, d); both cannot be written to."""
    total = connection.execute("SELECT coalesce(sum(count), 0) FROM vectors").fetchone()[0]
    ids = np.empty(total, np.int64)
    matrix = np.empty((total, dimensions(connection)), np.float32)
    row = 0
    for first, count, data in connection.execute("SELECT first, count, data FROM vectors ORDER BY document"):
        ids[row : row + count] = np.arange(first, first + count)
        matrix[row : row + count] = np.frombuffer(data, "<f4").reshape(count, matrix.shape[1])
        row += count
    ids.flags.writeable = matrix.flags.writeable = False
    return ids, matrix


def dimensions(connection: sqlite3.Connection) -> int:
    """The length of the store's vectors, 0 before an encoder is bound."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'dimensions'").fetchone()
    return int(row[0]) if row else 0


def write_file(connection: sqlite3.Connection, record: FileRecord) -> None:
    """Insert the record, or put it in the place of the one with its path."""
    connection.execute(
        "INSERT INTO files(path, sha256, size, mtime_ns, trust, root) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(path) DO UPDATE SET sha256 = excluded.sha256, size = excluded.size,"
        " mtime_ns = excluded.mtime_ns, trust = excluded.trust, root = excluded.root",
        (record.path, record.sha256, record.size, record.mtime_ns, record.trust.value, record.root),
    )


def numbers_of_file(connection: sqlite3.Connection, path: str) -> list[int]:
    """The numbers of the documents that came from a file."""
    rows = connection.execute("SELECT number FROM documents WHERE path = ? ORDER BY number", (path,))
    return [row[0] for row in rows]


def remove(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Delete documents with everything that belongs to them."""
    for number in numbers:
        title = connection.execute("SELECT title FROM documents WHERE number = ?", (number,)).fetchone()[0]
        passages = connection.execute(f"{PASSAGE} WHERE p.document = ?", (number,)).fetchall()
        connection.executemany(
            "INSERT INTO words(words, rowid, text) VALUES ('delete', ?, ?)",
            [(row[0], search_text(title, row[4])) for row in passages],
        )
        for table, column in (("vectors", "document"), ("passages", "document"), ("documents", "number")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))


def add(connection: sqlite3.Connection, entries: Sequence[Entry], path: str | None) -> None:
    """Insert documents after all others. Raises CorpusError for one that cannot be kept as it is."""
    number = connection.execute("SELECT coalesce(max(number), 0) FROM documents").fetchone()[0]
    last = connection.execute("SELECT coalesce(max(passage_id), 0) FROM passages").fetchone()[0]
    width = dimensions(connection)
    for entry in entries:
        _check(connection, entry, width)
        number += 1
        _add_one(connection, entry, path, number, last + 1)
        last += len(entry.spans)


def _add_one(connection: sqlite3.Connection, entry: Entry, path: str | None, number: int, first: int) -> None:
    document, spans = entry.document, list(enumerate(entry.spans, first))
    offsets = (np.asarray(x, "<i4").tobytes() for x in (document.sentences, document.pages))
    row = (number, document.doc_id, path, document.source, document.title, document.trust.value)
    connection.execute("INSERT INTO documents VALUES (?,?,?,?,?,?,?,?,?)", (*row, *offsets, document.text))
    connection.executemany(
        "INSERT INTO passages VALUES (?,?,?,?)", [(i, number, start, end) for i, (start, end) in spans]
    )
    connection.executemany(
        "INSERT INTO words(rowid, text) VALUES (?,?)",
        [(i, search_text(document.title, document.text[start:end])) for i, (start, end) in spans],
    )
    data = np.ascontiguousarray(entry.vectors, "<f4").tobytes()
    connection.execute("INSERT INTO vectors VALUES (?,?,?,?)", (number, first, len(spans), data))


def _check(connection: sqlite3.Connection, entry: Entry, width: int) -> None:
    document = entry.document
    name = f"document {document.doc_id!r} ({document.source!r})"
    fields = (document.doc_id, document.source, document.title, document.text)
    if any(_UNKEEPABLE.search(field) for field in fields):
        raise CorpusError(f"{name} holds a zero character or half a surrogate pair: clean its text")
    if connection.execute("SELECT 1 FROM documents WHERE doc_id = ?", (document.doc_id,)).fetchone():
        raise CorpusError(f"{name} is in the store already: give it another id, or remove the other first")
    if any(not 0 <= start < end <= len(document.text) for start, end in entry.spans):
        raise CorpusError(f"{name} has a passage outside its text: make passages with chunks.passages")
    shape = (len(entry.spans), width)
    if entry.vectors.shape != shape or not np.isfinite(entry.vectors).all():
        raise CorpusError(
            f"{name} has vectors of shape {entry.vectors.shape}, finite ones of {shape} are wanted: "
            "bind the encoder first and encode every passage with it"
        )
