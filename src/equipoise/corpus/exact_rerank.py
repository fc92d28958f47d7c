"""The last step of exact search in every kind of store: the same order, whatever multiplied the vectors before.

A sum of float32 products depends on the order of its terms, and that on the library and the number of rows: passages
whose cosines differ by 1e-8 would change places from store to store. Products of float32 numbers are exact in
float64, and each row is summed by itself.
"""

from collections.abc import Sequence

import numpy as np

from equipoise.core.types import Array
from equipoise.corpus.record_types import Ids

MORE = 16
"""Rows beyond those wanted that are ranked exactly with them."""
CLOSE = 1e-5
"""Sums of float32 products that differ by more are in their order already."""


def exactly_ranked(ids: Ids | Sequence[int], rows: Array, vector: Array, k: int) -> list[tuple[int, float]]:
    """The best `k` of the passages `ids` (n,) with vectors `rows` (n, d): (passage_id, cosine), ties by id.

    Worked value: rows (1,0), (0,1), (1,0) of passages 7, 5, 3 and vector (1,0) with k=2 give (3, 1.0), (7, 1.0).
    """
    products = (rows.astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
    order = np.lexsort((np.asarray(ids, np.int64), -products))[:k]
    return [(int(ids[row]), float(np.float32(products[row]))) for row in order]
