"""Documents that words find already and that have no vectors yet: `data` is empty in their row of `vectors`.

Nothing here begins or ends a transaction; `sqlite.SqliteStore` does.
"""

import sqlite3
from dataclasses import dataclass

from equipoise.core.types import Document
from equipoise.corpus import record_types
from equipoise.corpus.offsets import Offsets, check_spans
from equipoise.corpus.scope import SQLITE, DocumentScope

_WAITING = "FROM vectors WHERE length(data) = 0 AND count > 0"
_PLACES = "SELECT start, end FROM passages WHERE document = ? ORDER BY passage_id"


@dataclass(frozen=True, slots=True)
class Pending:
    """Document number `number` of the store, with its passages; `path` as in `FileRecord`, None where it came from
    no file."""

    number: int
    path: str | None
    document: Document
    spans: tuple[Offsets, ...]

    def is_like(self, other: "Pending | None") -> bool:
        """Whether vectors of one are those of the other: both have the same text, cut alike."""
        return other is not None and _seen(self) == _seen(other)


def count(connection: sqlite3.Connection, scope: DocumentScope) -> int:
    """Passages of a scope without vectors."""
    inside = scope.documents("document", SQLITE)
    ask = f"SELECT CAST(total(count) AS INTEGER) {_WAITING} AND {inside.text}"
    return int(connection.execute(ask, inside.values).fetchone()[0])


def waiting(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """(number, passages) of every document without vectors, in the order of the store."""
    return connection.execute(f"SELECT document, count {_WAITING} ORDER BY document").fetchall()


def read(connection: sqlite3.Connection, number: int) -> Pending | None:
    """The document, None where it has its vectors or is gone. Raises Damage."""
    if connection.execute(f"SELECT 1 {_WAITING} AND document = ?", (number,)).fetchone() is None:
        return None
    row = connection.execute(f"{record_types.DOCUMENT} WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise record_types.Damage(f"vectors of a document {number} that is not there")
    (path,) = connection.execute("SELECT path FROM documents WHERE number = ?", (number,)).fetchone()
    document, spans = (
        record_types.read_document(row),
        tuple(connection.execute(_PLACES, (number,)).fetchall()),
    )
    try:
        check_spans(spans, len(document.text))
    except (TypeError, ValueError) as error:
        raise record_types.Damage(f"the passages of document {document.doc_id!r}: {error}") from error
    return Pending(number, None if path is None else record_types.text(path), document, spans)


def _seen(pending: Pending) -> tuple[object, ...]:
    document = pending.document
    return pending.path, document.doc_id, document.title, document.text, document.blocks, pending.spans
