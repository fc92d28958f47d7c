"""Vector search in one scope of a store file: exact, or by sign bits first where there are many vectors.

Up to EXACT_UP_TO passages every search is exact. Beyond, the signs of all vectors (48 bytes for 384 dimensions) choose
a shortlist, and exact products with their vectors decide. Up to IN_MEMORY passages these are in memory. Beyond they
are read from the file, which takes long: there codes of four bits a value (192 bytes) shorten the list first. Signs
and codes are not stored: they are taken from the same vectors, with the same checks.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.core.types import Array
from equipoise.corpus import record_types
from equipoise.corpus.record_types import Damage, Ids, rows_of
from equipoise.corpus.rows import dimensions, file_size, passages_in
from equipoise.corpus.scope import SQLITE, DocumentScope
from equipoise.maths.codes import Codes, coded, products
from equipoise.maths.signs import Bits, differing, fewest, sign_bits
from equipoise.maths.similarity import largest, top_k

EXACT_UP_TO = 20_000
"""Most passages that are always searched exactly: it takes less time than anything else that a question needs."""
IN_MEMORY = 150_000
"""Most passages whose vectors are held in memory: 230 MB with 384 dimensions."""
SHORTLIST, SHARE, LEAST = 30_000, 30, 10
"""Of n passages signs choose n / SHARE, at most SHORTLIST, but at least LEAST times as many as are wanted."""
SETTLED = 4
"""Codes choose SETTLED times as many passages as are wanted; their vectors are read from the file. Recall of the exact
best 20 by the best 50 is at least .99 (benchmarks/speed)."""
MORE = 16
"""Rows beyond those wanted that are ranked exactly with them."""
CLOSE = 1e-5
"""Inner products summed in float32 that differ by more than this are in the right order already."""

_MOST_IDS = 1 << 62
_ROWS = 1 << 14  # vectors whose signs are taken at a time
_LARGE = 1 << 12  # bytes of a document's vectors from which on they are not read as a whole
_ASKED = 500  # documents in one statement

Rows = NDArray[np.intp]


class Signs(NamedTuple):
    """The sign bits (w, n) of all vectors, whose passages have the `ids` (n,), ascending."""

    ids: Ids
    bits: Bits
    filed: "Filed | None" = None


class Filed(NamedTuple):
    """What locates vectors that stay in the file: their `codes` (n, b), the numbers of their `documents` (m,) in the
    store, and `starts` (m + 1,), the row of each document's first vector and the end."""

    codes: Codes
    documents: Ids
    starts: Ids


class Nearest:
    """The vectors of one scope, or their signs and codes, held in memory as long as the store does not change. Call its
    methods inside a snapshot."""

    def __init__(self, connection: sqlite3.Connection, scope: DocumentScope) -> None:
        self._connection, self._scope = connection, scope
        self._matrix: tuple[Ids, Array] | None = None
        self._signs: Signs | None = None
        self._count: int | None = None

    def matrix(self) -> tuple[Ids, Array]:
        """All ids (n,), ascending, and their unit vectors (n, d), both read-only. Raises Damage."""
        if self._matrix is None:
            self._matrix = read_matrix(self._connection, self._scope)
        return self._matrix

    def search(self, vector: Array, k: int, *, exact: bool) -> list[tuple[int, float]]:
        """At most `k` (passage id, cosine) for a unit vector (d,), best first, ties by id. Raises Damage."""
        if exact or self._holds_at_most(EXACT_UP_TO):
            ids, matrix = self.matrix()
        else:
            signs = self.signs()
            rows = shortlist(signs, vector, k)
            ids, matrix = signs.ids[rows], self.at(rows)
        if not len(ids):
            return []
        best, scores = top_k(matrix, vector, k)
        return [(int(ids[row]), float(score)) for row, score in zip(best, scores, strict=True)]

    def vectors(self, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
        """Which of the passages (n,) have vectors, and these (m, d), in the order asked for. Raises Damage."""
        known, rows = rows_of(self.ids(), np.array(passage_ids, np.int64))
        wanted, places = np.unique(rows[known], return_inverse=True)
        return known, self.at(wanted)[places]

    def ids(self) -> Ids:
        """The passages (n,) that have vectors, ascending, a row each. Raises Damage."""
        return self.matrix()[0] if self._holds_at_most(IN_MEMORY) else self.signs().ids

    def at(self, rows: Rows) -> Array:
        """(n, d) vectors of the rows (n,), ascending. Raises Damage."""
        filed = None if self._holds_at_most(IN_MEMORY) else self.signs().filed
        if filed is None:
            return self.matrix()[1][rows]
        return read_rows(self._connection, filed, rows)

    def signs(self) -> Signs:
        """The signs of all vectors. Raises Damage."""
        if self._signs is None:
            held = self.matrix() if self._holds_at_most(IN_MEMORY) else None
            self._signs = (
                Signs(held[0], sign_bits(held[1])) if held else read_signs(self._connection, self._scope)
            )
        return self._signs

    def _holds_at_most(self, passages: int) -> bool:
        if self._count is None:
            self._count = passages_in(self._connection, self._scope)
        return self._count <= passages


class FilteredNearest(Nearest):
    """The vectors of the passages that a filter matches: it keeps only which rows of the `whole` partition these are.
    Vectors, signs and codes are those of the whole, so that many filters need little memory; only these rows count."""

    def __init__(
        self, connection: sqlite3.Connection, scope: DocumentScope, whole: Callable[[], Nearest]
    ) -> None:
        super().__init__(connection, scope)
        self._whole = whole
        self._rows: Rows | None = None

    def matrix(self) -> tuple[Ids, Array]:
        """See Nearest; made anew each time, and kept only if it is small and the vectors of the whole stay on file."""
        if self._matrix is not None:
            return self._matrix
        made = self.ids(), self._whole().at(self._inside())
        for array in made:
            array.flags.writeable = False
        if self._holds_at_most(EXACT_UP_TO) and not self._whole()._holds_at_most(IN_MEMORY):
            self._matrix = made
        return made

    def ids(self) -> Ids:
        return self._whole().ids()[self._inside()]

    def at(self, rows: Rows) -> Array:
        return self._whole().at(self._inside()[rows])

    def signs(self) -> Signs:
        """See Nearest; with codes only if the scope by itself would have them, however large the whole is."""
        ids, bits, filed = self._whole().signs()
        rows = self._inside()
        if filed is None or self._holds_at_most(IN_MEMORY):
            return Signs(ids[rows], bits[:, rows])
        return Signs(ids[rows], bits[:, rows], filed._replace(codes=filed.codes[rows]))

    def _inside(self) -> Rows:
        """The rows of the whole that are in this scope, ascending."""
        if self._rows is None:
            inside = self._scope.passages("passage_id", SQLITE)
            ask = f"SELECT passage_id FROM passages WHERE {inside.text} ORDER BY passage_id"
            numbers = (row[0] for row in self._connection.execute(ask, inside.values))
            known, rows = rows_of(self._whole().ids(), np.fromiter(numbers, np.int64))
            self._rows = rows[known]
        return self._rows


def shortlist(signs: Signs, vector: Array, k: int) -> Rows:
    """The rows (m,), ascending, among which exact products find the `k` nearest to `vector` (d,)."""
    chosen = max(LEAST * k, min(SHORTLIST, len(signs.ids) // SHARE))
    rows = fewest(differing(signs.bits, vector), chosen)
    if signs.filed is None:
        return rows
    return np.sort(rows[largest(products(signs.filed.codes[rows], vector), SETTLED * k)])


def read_matrix(connection: sqlite3.Connection, scope: DocumentScope) -> tuple[Ids, Array]:
    """The ids (n,), ascending, of all passages of a scope that have vectors, and these unit vectors (n, d); both are
    read-only. Raises Damage.

    Memory is that of the vectors in the file, whatever number of them it claims.
    """
    total, width = _size(connection, scope)
    ids, matrix = np.empty(total, np.int64), np.empty((total, width), np.float32)
    for stored in _each(connection, scope, total, width):
        stop = stored.row + len(stored.vectors)
        ids[stored.row : stop], matrix[stored.row : stop] = stored.ids, stored.vectors
    ids.flags.writeable = matrix.flags.writeable = False
    return ids, matrix


def read_signs(connection: sqlite3.Connection, scope: DocumentScope) -> Signs:
    """The sign bits and codes of all vectors of a scope. Needs memory for these and the ids, not for all the vectors.

    Raises Damage.
    """
    total, width = _size(connection, scope)
    nothing = np.zeros((1, width), np.float32)
    ids = np.empty(total, np.int64)
    bits = np.empty((len(sign_bits(nothing)), total), np.uint64)
    codes = np.empty((total, coded(nothing).shape[1]), np.uint8)
    documents, starts = [], [0]
    waiting: list[Array] = []
    done = held = 0
    for stored in _each(connection, scope, total, width):
        ids[stored.row : stored.row + len(stored.vectors)] = stored.ids
        documents.append(stored.document)
        starts.append(stored.row + len(stored.vectors))
        waiting.append(stored.vectors)
        held += len(stored.vectors)
        if held >= _ROWS or done + held == total:
            vectors = np.concatenate(waiting)
            bits[:, done : done + held] = sign_bits(vectors)
            codes[done : done + held] = coded(vectors)
            done, held, waiting = done + held, 0, []
    return Signs(ids, bits, Filed(codes, np.array(documents, np.int64), np.array(starts, np.int64)))


def read_rows(connection: sqlite3.Connection, filed: Filed, rows: Rows) -> Array:
    """(n, d) vectors of the rows (n,), ascending, from the file. Raises Damage."""
    width = dimensions(connection)
    vectors = np.empty((len(rows), width), np.float32)
    owners = np.searchsorted(filed.starts, rows, side="right") - 1
    inner = rows - filed.starts[owners]
    borders = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(rows)]
    few: dict[int, slice] = {}
    for start, stop in pairwise(borders):
        if start == stop:
            continue
        owner = owners[start]
        here, size = slice(start, stop), int(filed.starts[owner + 1] - filed.starts[owner]) * width * 4
        if size > _LARGE:
            vectors[here] = _pieces(connection, int(filed.documents[owner]), inner[here], width)
        else:
            few[int(filed.documents[owner])] = here
    for document, data in _datas(connection, list(few)):
        here = few[document]
        vectors[here] = record_types.vectors_in(data, len(data) // (width * 4), width)[inner[here]]
    return vectors


class _Stored(NamedTuple):
    """The vectors (n, d) of a document, the ids (n,) of their passages, and the row of the first of them."""

    document: int
    row: int
    ids: Ids
    vectors: Array


def _size(connection: sqlite3.Connection, scope: DocumentScope) -> tuple[int, int]:
    """How many vectors there are, and of how many dimensions. Raises Damage where the file cannot hold them."""
    width = dimensions(connection)
    inside = scope.documents("document", SQLITE)
    size = (
        "SELECT coalesce(sum(length(data)), 0), CAST(total(iif(length(data) = 0, 0, count)) AS INTEGER),"
        f" CAST(total(count) AS INTEGER) FROM vectors WHERE {inside.text}"
    )
    stored, total, passages = connection.execute(size, inside.values).fetchone()
    if (
        passages != passages_in(connection, scope)
        or stored != total * width * 4
        or stored > file_size(connection)
    ):
        raise Damage(f"{stored} bytes of vectors for {total} passages of {width} dimensions")
    return total, width


def _each(connection: sqlite3.Connection, scope: DocumentScope, total: int, width: int) -> Iterator[_Stored]:
    """Every document of a scope that has vectors, in its order, each checked. Raises Damage."""
    inside = scope.documents("document", SQLITE)
    ask = (
        "SELECT document, first, count, data FROM vectors"
        f" WHERE length(data) > 0 AND {inside.text} ORDER BY document"
    )
    row, last = 0, 0
    for document, first, count, data in connection.execute(ask, inside.values):
        vectors = record_types.vectors_in(data, record_types.integer(count), width)
        if not last < record_types.integer(first) < _MOST_IDS or row + count > total:
            raise Damage("the vectors are not those of the passages")
        if not record_types.are_unit(vectors):
            raise Damage("the vectors are not of length 1, or not in the order of their passages")
        yield _Stored(record_types.integer(document), row, np.arange(first, first + count), vectors)
        row, last = row + count, first + count - 1


def _pieces(connection: sqlite3.Connection, document: int, rows: Rows, width: int) -> Array:
    """The vectors (n, d) of some `rows` (n,) of a document that has many."""
    data = bytearray()
    with connection.blobopen("vectors", "data", document, readonly=True) as blob:
        for row in rows.tolist():
            blob.seek(row * width * 4)
            data += blob.read(width * 4)
    return record_types.vectors_in(bytes(data), len(rows), width)


def _datas(connection: sqlite3.Connection, documents: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    for start in range(0, len(documents), _ASKED):
        some = documents[start : start + _ASKED]
        ask = f"SELECT document, data FROM vectors WHERE document IN ({','.join('?' * len(some))})"
        yield from connection.execute(ask, some)


def exactly_ranked(ids: Ids | Sequence[int], rows: Array, vector: Array, k: int) -> list[tuple[int, float]]:
    """The best `k` of the passages `ids` (n,) with vectors `rows` (n, d): (passage_id, cosine), ties by id.

    The same order in every kind of store, whatever multiplied the vectors before: a sum of float32 products depends on
    the order of its terms, and that on the library and the number of rows, so passages whose cosines differ by 1e-8
    would change places from store to store. Products of float32 numbers are exact in float64, and each row is summed by
    itself.

    Worked value: rows (1,0), (0,1), (1,0) of passages 7, 5, 3 and vector (1,0) with k=2 give (3, 1.0), (7, 1.0).
    """
    products = (rows.astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
    order = np.lexsort((np.asarray(ids, np.int64), -products))[:k]
    return [(int(ids[row]), float(np.float32(products[row]))) for row in order]
