"""Rows of a store in Postgres: how they are written, removed and read on an open connection.

Nothing here begins or ends a transaction; `store.PostgresStore` does.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from equipoise.core.errors import CorpusError
from equipoise.core.types import Array, Document, Trust
from equipoise.corpus import record_types
from equipoise.corpus.contents import Row, of_documents
from equipoise.corpus.keywords import Stems
from equipoise.corpus.pieces import passage_at, word_text
from equipoise.corpus.postgres import words
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.record_types import DOCUMENT, FILE, Damage, Ids, IndexEntry, Numbered
from equipoise.corpus.scope import trust_of

NUMBERED = DOCUMENT.replace("SELECT", "SELECT number, path, first, embedded,")
_AT_A_TIME = 200  # documents that are read together
FEW = 100
"""Passages up to which any query plan is good enough."""


def insert(link: Link, stems: Stems, numbered: Numbered) -> None:
    """Insert a document under its number with its passages."""
    number, first, entry = numbered.number, numbered.first, numbered.entry
    document, count = entry.document, len(entry.spans)
    link.execute(
        "INSERT INTO documents (number, doc_id, path, source, title, trust, author, metadata, sentences, pages, blocks,"
        " text, first, count, embedded) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (*numbered.row, first, count, entry.vectors is not None),
    )
    postings = list(words.placed(stems, texts_of(document, entry.spans)))
    with (
        link.cursor() as cursor,
        cursor.copy('COPY passages (passage_id, document, start, "end", length) FROM STDIN') as copy,
    ):
        for passage_id, (start, end), (_, length) in zip(
            range(first, first + count), entry.spans, postings, strict=True
        ):
            copy.write_row((passage_id, number, start, end, length))
    placed = [(passage_id, terms) for passage_id, (terms, _) in enumerate(postings, first)]
    words.write(link, document.trust, placed)
    _note(link, document.trust, count, sum(length for _, length in postings))
    if entry.vectors is not None:
        write_vectors(link, first, entry.vectors)


def write_vectors(link: Link, first: int, vectors: Array) -> None:
    """Insert the vectors (n, d) of passages whose ids begin with `first`."""
    with (
        link.cursor() as cursor,
        cursor.copy("COPY vectors (passage_id, vector) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.set_types(["int8", "vector"])
        for passage_id, vector in enumerate(np.ascontiguousarray(vectors, np.float32), first):
            copy.write_row((passage_id, vector))


def remove(link: Link, stems: Stems, numbers: Sequence[int]) -> None:
    """Delete documents with everything that belongs to them. Raises Damage."""
    for number in numbers:
        document = document_at(link, number)
        places = link.execute(
            f"{record_types.PLACE} WHERE p.document = %s ORDER BY p.passage_id".encode(), (number,)
        )
        spans = [(i, (place.start, place.end)) for i, place in map(record_types.read_place, places)]
        postings = list(words.placed(stems, texts_of(document, [span for _, span in spans])))
        ids = [passage_id for passage_id, _ in spans]
        trust = trust_of(number)
        words.remove(link, trust, [(i, terms) for i, (terms, _) in zip(ids, postings, strict=True)])
        _note(link, trust, -len(ids), -sum(length for _, length in postings))
        link.execute("DELETE FROM vectors WHERE passage_id = ANY(%s)", (ids,))
        link.execute("DELETE FROM passages WHERE document = %s", (number,))
        link.execute("DELETE FROM documents WHERE number = %s", (number,))


def document_at(link: Link, number: int) -> Document:
    """The document with this number. Raises Damage."""
    row = link.execute(f"{DOCUMENT} WHERE number = %s".encode(), (number,)).fetchone()
    if row is None:
        raise Damage(f"there is no document {number}")
    return record_types.read_document(row)


def read_vectors(link: Link, ask: str, values: Sequence[object], width: int) -> tuple[Ids, Array]:
    """The ids (n,) and vectors (n, d) that a statement finds, in its order. Raises Damage."""
    rows = link.execute(ask.encode(), values, binary=True).fetchall()
    ids = np.array([row[0] for row in rows], np.int64)
    vectors = np.empty((len(rows), width), np.float32)
    for place, (_, vector) in enumerate(rows):
        vectors[place] = vector.to_numpy()
    if not record_types.are_unit(vectors):
        raise Damage("the vectors are not of length 1")
    return ids, vectors


def meta(link: Link) -> dict[str, str]:
    """The encoder's name and dimensions, empty before one is bound."""
    return dict(link.execute("SELECT key, value FROM meta ORDER BY key").fetchall())


def dimensions(link: Link) -> int:
    """The length of the store's vectors, 0 before an encoder is bound. Raises Damage."""
    return record_types.width_of(meta(link))


def texts_of(document: Document, spans: Iterable[tuple[int, int]]) -> list[str]:
    """What full text search sees of the passages."""
    return [word_text(passage_at(0, start, end, document)) for start, end in spans]


def numbered(link: Link) -> Iterator[Numbered]:
    """Every document, in its order. Raises Damage."""
    width, last = dimensions(link), 0
    ask = f"{NUMBERED} WHERE number > %s ORDER BY number LIMIT %s"
    while rows := link.execute(ask.encode(), (last, _AT_A_TIME)).fetchall():
        for row in rows:
            yield _read_numbered(link, row, width)
            last = row[0]


def numbered_at(link: Link, number: int) -> Numbered:
    """The document with this number. Raises Damage."""
    row = link.execute(f"{NUMBERED} WHERE number = %s".encode(), (number,)).fetchone()
    if row is None:
        raise Damage(f"there is no document {number}")
    return _read_numbered(link, row, dimensions(link))


def _read_numbered(link: Link, row: tuple[Any, ...], width: int) -> Numbered:
    """The document in a row of NUMBERED. Raises Damage."""
    number, path, first, embedded, *fields = row
    places = 'SELECT start, "end" FROM passages WHERE document = %s ORDER BY passage_id'
    spans = tuple(link.execute(places, (number,)).fetchall())
    vectors = None
    if embedded:
        ask = "SELECT passage_id, vector FROM vectors WHERE passage_id BETWEEN %s AND %s ORDER BY 1"
        _, vectors = read_vectors(link, ask, (first, first + len(spans) - 1), width)
    return Numbered(
        number, path, first, IndexEntry(record_types.read_document(tuple(fields)), spans, vectors)
    )


def contents(link: Link) -> Iterator[Row]:
    files = map(record_types.read_file, link.execute(f"{FILE} ORDER BY path".encode()).fetchall())
    yield from of_documents(meta(link), files, numbered(link))


def scalar(link: Link, ask: str, *values: object) -> Any:  # noqa: ANN401
    """The first value that a statement finds. Raises CorpusError where it finds nothing."""
    row = link.execute(ask.encode(), values).fetchone()
    if row is None:
        raise CorpusError("the store holds no such row")
    return row[0]


def state(link: Link) -> object:
    """A mark of the state of the store that this connection sees."""
    return scalar(link, "SELECT token FROM state")


def plan_anew(link: Link) -> None:
    """Renew the planner's statistics (ANALYZE) where the passages have doubled since the last time. Where it takes
    1,500 documents for one, it evaluates a filter for each pair of rows, and a question takes 9 seconds (else 20 ms);
    by itself the database looks only once a minute."""
    ask = (
        "SELECT (SELECT sum(passages) FROM partitions) > 2 * greatest(reltuples, %s) FROM pg_class"
        " WHERE oid = 'passages'::regclass"
    )
    if scalar(link, ask, FEW):
        link.execute("ANALYZE documents, passages, vectors")


def _note(link: Link, trust: Trust, passages: int, tokens: int) -> None:
    ask = "UPDATE partitions SET passages = passages + %s, tokens = tokens + %s WHERE trust = %s"
    link.execute(ask, (passages, tokens, trust.value))
