"""Vector search in one partition in Postgres: exact over all its vectors, or by its HNSW graph where there are many.

Each partition has a graph of its own (pgvector), so that no vector of another is in the way while it is searched.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.core.types import Array, Trust
from equipoise.corpus.nearest import CLOSE, EXACT_UP_TO, MORE, exactly_ranked
from equipoise.corpus.postgres import rows
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.postgres.words import kept_size
from equipoise.corpus.record_types import Ids, rows_of
from equipoise.corpus.scope import POSTGRES, DocumentScope, bounds

EF_SEARCH, EF_LEAST, EF_MOST = 4, 40, 1000
"""Candidates of a search in the graph: EF_SEARCH for each wanted passage, EF_LEAST to EF_MOST (pgvector's bound)."""
EF_STEP = 500
"""Or, if more, one for every EF_STEP passages in the graph: the larger it is, the more a narrow search misses of it."""


def index_of(trust: Trust) -> str:
    """The name of the graph of a partition."""
    return f"vectors_nearest_{trust.value}"


def within(trust: Trust) -> str:
    """The condition that a vector is of the partition, word for word that of its graph, which else is not used."""
    return "passage_id BETWEEN {} AND {}".format(*bounds(trust))


def matrix(link: Link, scope: DocumentScope) -> tuple[Ids, Array]:
    """All ids (n,), ascending, and their unit vectors (n, d), both read-only. Raises Damage."""
    inside = scope.passages("passage_id", POSTGRES)
    ask = f"SELECT passage_id, vector FROM vectors WHERE {inside.text} ORDER BY passage_id"
    ids, vectors = rows.read_vectors(link, ask, inside.values, rows.dimensions(link))
    ids.flags.writeable = vectors.flags.writeable = False
    return ids, vectors


def inside(link: Link, scope: DocumentScope, ids: Ids) -> NDArray[np.intp]:
    """The indices into `ids` (n,), which ascend, of the passages in the scope."""
    meant = scope.passages("passage_id", POSTGRES)
    ask = f"SELECT passage_id FROM passages WHERE {meant.text} ORDER BY passage_id"
    numbers = np.array([row[0] for row in link.execute(ask.encode(), meant.values)], np.int64)
    known, rows = rows_of(ids, numbers)
    return rows[known]


def nearest(
    link: Link, scope: DocumentScope, vector: Array, k: int, *, exact: bool
) -> list[tuple[int, float]]:
    """At most `k` (passage id, cosine) for a unit vector (d,), best first, ties by id. Raises Damage.

    Within a filter search is exact: what a graph finds there depends on what is outside.
    """
    if k < 1:
        return []
    size = 0 if exact or scope.where is not None else kept_size(link, scope.trust)[0]
    if size <= EXACT_UP_TO or not has_graph(link, scope.trust):
        return exactly_ranked(*_best(link, scope, vector, k), vector, k)
    return exactly_ranked(*_near(link, scope.trust, vector, k, breadth(k, size)), vector, k)


def breadth(k: int, passages: int) -> int:
    """How many candidates a graph of so many passages is searched with for the `k` nearest."""
    return max(EF_LEAST, min(EF_MOST, max(EF_SEARCH * k, passages // EF_STEP)))


def _near(link: Link, trust: Trust, vector: Array, k: int, ef: int) -> tuple[Ids, Array]:
    """The nearest that the graph finds. Sorting is off, so that the planner's statistics of all vectors together do not
    decide whether the graph of one partition is used."""
    link.execute(f"SET LOCAL hnsw.ef_search = {ef}".encode())
    link.execute("SET LOCAL enable_sort = off")
    ask = f"SELECT passage_id, vector FROM vectors WHERE {within(trust)} ORDER BY vector <#> %s LIMIT %s"
    found = rows.read_vectors(link, ask, (vector, min(k + MORE, EF_MOST)), len(vector))
    link.execute("RESET enable_sort")
    return found


def _best(link: Link, scope: DocumentScope, vector: Array, k: int) -> tuple[Ids, Array]:
    """The best `k` and some more: so many that no other one could be among the best if it were summed in another order.

    The query sorts by an expression with the product, for which Postgres uses no graph.
    """
    inside = scope.passages("passage_id", POSTGRES)
    ask = (
        f"SELECT passage_id, vector FROM vectors WHERE {inside.text}"
        " ORDER BY (vector <#> %s) + 0, passage_id LIMIT %s"
    )
    wanted = k + MORE
    while True:
        ids, vectors = rows.read_vectors(link, ask, (*inside.values, vector, wanted), len(vector))
        if len(ids) < wanted:
            return ids, vectors
        products = vectors @ vector
        if products[k - 1] - products[-1] > CLOSE:
            return ids, vectors
        wanted *= 2


def vectors(link: Link, scope: DocumentScope, passage_ids: Sequence[int]) -> tuple[NDArray[np.bool_], Array]:
    """Which of the passages (n,) have vectors, and these (m, d), in the order asked for. Raises Damage."""
    asked = [int(passage_id) for passage_id in passage_ids]
    inside = scope.passages("passage_id", POSTGRES)
    ask = f"SELECT passage_id, vector FROM vectors WHERE passage_id = ANY(%s) AND {inside.text}"
    ids, embeddings = rows.read_vectors(link, ask, (list(set(asked)), *inside.values), rows.dimensions(link))
    place = {int(passage_id): row for row, passage_id in enumerate(ids)}
    known = np.array([passage_id in place for passage_id in asked], np.bool_)
    return known, embeddings[[place[passage_id] for passage_id in asked if passage_id in place]]


def has_graph(link: Link, trust: Trust) -> bool | None:
    """Whether the graph of the partition is there; None where it is invalid, since its maker was killed."""
    ask = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
    row = link.execute(ask, (index_of(trust),)).fetchone()
    return row is not None and (bool(row[0]) or None)
