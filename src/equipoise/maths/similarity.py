"""Exact nearest neighbours by inner product, and groups of near-duplicates."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.maths.checks import square_matrix

Array = NDArray[np.float32]


def top_k(matrix: Array, vector: Array, k: int) -> tuple[NDArray[np.intp], Array]:
    """The rows of `matrix` (n, d) with the largest inner products with `vector` (d,), and these products.

    At most min(k, n) rows, best first; equal products in the order of the rows. With unit rows and a unit
    vector a product is the cosine, in [-1, 1]. Worked value: rows (1,0), (0,1), (1,0) and vector (1,0) with
    k=2 give rows 0 and 2 with products 1 and 1. Raises ValueError for shapes that do not fit, a k below 0,
    values that are not finite, and a zero vector, which is near to nothing.
    """
    if matrix.ndim != 2 or vector.shape != matrix.shape[1:]:
        raise ValueError(
            f"a matrix {matrix.shape} and a vector {vector.shape} do not fit: want (n, d) and (d,)"
        )
    if k < 0:
        raise ValueError(f"k is {k}: give 0 or more")
    if not np.isfinite(vector).all() or not vector.any():
        raise ValueError("the vector is zero or has values that are not finite")
    products = matrix @ vector
    if not np.isfinite(products).all():
        raise ValueError("the matrix has values that are not finite")
    rows = largest(products, k)
    return rows, products[rows]


def largest(values: Array, k: int) -> NDArray[np.intp]:
    """Indices of the `k` largest of `values` (n,), best first, the lower index first among equal ones; all of them
    where k > n."""
    k = min(k, len(values))
    if k == 0:
        return np.empty(0, np.intp)
    least = np.partition(values, len(values) - k)[len(values) - k]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)[: k - len(above)]
    rows = np.concatenate((above, equal))
    return rows[np.lexsort((rows, -values[rows]))]


def near_duplicates(alike: ArrayLike, least: ArrayLike) -> list[list[int]]:
    """Groups of two or more of n rows by their similarities `alike` (n, n): single linkage, with an edge between two
    rows from the similarity `least` on, one number or (n, n).

    Rows ascend within a group, groups by their first row; the diagonal says nothing. Worked value: similarities .9
    of rows 0 and 2, .8 of 2 and 3, .1 else, and .8 for `least`: one group, 0, 2, 3.
    """
    edges = square_matrix(np.asarray(alike, np.float64), len(np.asarray(alike)), "alike") >= np.asarray(
        least, np.float64
    )
    group = np.arange(len(edges))
    for row in range(len(edges)):
        joined = np.unique(group[edges[row] | (np.arange(len(edges)) == row)])
        group[np.isin(group, joined)] = joined[0]
    members = [np.flatnonzero(group == number).tolist() for number in np.unique(group)]
    return [rows for rows in members if len(rows) > 1]
