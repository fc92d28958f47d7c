"""The rows of a store file: how they are written, moved, removed and read on an open connection.

Nothing here begins or ends a transaction; `sqlite.SqliteStore` does.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from equipoise.corpus.fulltext import words_of
from equipoise.corpus.pieces import passage_at, word_text
from equipoise.corpus.record_types import (
    DOCUMENT,
    PLACE,
    Damage,
    IndexEntry,
    Numbered,
    integer,
    read_document,
    read_passage,
    read_place,
    text,
    vectors_in,
    width_of,
)
from equipoise.corpus.scope import SQLITE, DocumentScope, trust_of

NUMBERED = "SELECT number, path, first, count, data FROM documents JOIN vectors ON document = number"


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """The encoder's name and dimensions, empty before one is bound. Raises Damage."""
    rows = connection.execute("SELECT key, value FROM meta").fetchall()
    return {text(key): text(value) for key, value in rows}


def file_size(connection: sqlite3.Connection) -> int:
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def dimensions(connection: sqlite3.Connection) -> int:
    """The length of the store's vectors, 0 before an encoder is bound. Raises Damage."""
    return width_of(read_meta(connection))


def passages_in(connection: sqlite3.Connection, scope: DocumentScope) -> int:
    """How many passages the documents of a scope have."""
    inside = scope.passages("passage_id", SQLITE)
    return int(
        connection.execute(f"SELECT count(*) FROM passages WHERE {inside.text}", inside.values).fetchone()[0]
    )


def remove(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Delete documents with everything that belongs to them. Raises Damage."""
    for number in numbers:
        document = read_document(connection.execute(f"{DOCUMENT} WHERE number = ?", (number,)).fetchone())
        places = [read_place(row) for row in connection.execute(f"{PLACE} WHERE p.document = ?", (number,))]
        words = words_of(trust_of(number))
        connection.executemany(
            f"INSERT INTO {words}({words}, rowid, text) VALUES ('delete', ?, ?)",
            [(i, word_text(read_passage(i, place, document))) for i, place in places],
        )
        for table, column in (("vectors", "document"), ("passages", "document"), ("documents", "number")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))


def numbered(connection: sqlite3.Connection) -> Iterator[Numbered]:
    """Every document, in its order. Raises Damage."""
    for row in connection.execute(f"{NUMBERED} ORDER BY number"):
        yield read_numbered(connection, row)


def numbered_at(connection: sqlite3.Connection, number: int) -> Numbered:
    """The document with this number. Raises Damage."""
    row = connection.execute(f"{NUMBERED} WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise Damage(f"there is no document {number}")
    return read_numbered(connection, row)


def read_numbered(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Numbered:
    """The document in a row of NUMBERED. Raises Damage."""
    number, path, first_passage, count, data = row
    document = read_document(connection.execute(f"{DOCUMENT} WHERE number = ?", (number,)).fetchone())
    places = connection.execute(f"{PLACE} WHERE p.document = ? ORDER BY p.passage_id", (number,))
    spans = tuple((place.start, place.end) for _, place in map(read_place, places))
    vectors = vectors_in(data, integer(count), dimensions(connection)) if data else None
    return Numbered(number, path, first_passage, IndexEntry(document, spans, vectors))


def insert(connection: sqlite3.Connection, numbered: Numbered) -> None:
    """Put a document in under its number with its passages."""
    number, first, entry = numbered.number, numbered.first, numbered.entry
    document, spans = entry.document, list(enumerate(entry.spans, first))
    connection.execute("INSERT INTO documents VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", numbered.row)
    connection.executemany(
        "INSERT INTO passages VALUES (?,?,?,?)", [(i, number, start, end) for i, (start, end) in spans]
    )
    connection.executemany(
        f"INSERT INTO {words_of(document.trust)}(rowid, text) VALUES (?,?)",
        [(i, word_text(passage_at(i, start, end, document))) for i, (start, end) in spans],
    )
    data = b"" if entry.vectors is None else np.ascontiguousarray(entry.vectors, "<f4").tobytes()
    connection.execute("INSERT INTO vectors VALUES (?,?,?,?)", (number, first, len(spans), data))
