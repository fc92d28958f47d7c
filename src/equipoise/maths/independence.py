"""The most rows of a small graph no two of which are joined: a maximum independent set, exactly.

An edge says that two sources are not independent: near copies, or by one author. How many independent ones there are is
then the independence number. Counting connected components instead would let one planted text, a near copy of two
honest ones, make one source of them. Here a further row never lowers the number, and raises it by at most 1: every
independent set of the smaller graph is one of the larger graph, and of a set of the larger graph what is left without
the new row is one of the smaller.

The search removes rows of degree 0 and 1, which some maximum set always holds, solves what has degree 2 at most
(cycles) without branching, and else branches on a row of the greatest degree, at least 3: without the row, or without
it and its neighbours. So a search of n rows has at most L(n) leaves, L(n) = 1 for n <= 3 and
L(n) = L(n - 1) + L(n - 4) above, about 1.38^n: 1,252 for 24 rows, 16,493 for MOST. (Tarjan and Trojanowski, "Finding a
maximum independent set", 1977, have more rules and 1.26^n.)
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Mask

MOST = 32
"""Rows of a graph at most. The bound is proven, so nobody who plants texts can make a search longer; for 64 rows
it would allow 5 * 10^8 leaves."""


def independent(edges: ArrayLike) -> tuple[int, ...]:
    """The rows, ascending, of a maximum independent set of the graph with `edges` (n, n), of all such sets the first
    in lexicographic order. The diagonal is not read. One search, of at most L(n) leaves, for each row and one more.

    Raises ValueError where `edges` is not square and symmetric, or has more than MOST rows.

    Worked value: a path of three rows, 0-1-2, gives (0, 2); a triangle gives (0,).
    """
    neighbours = _neighbours(symmetric_mask(edges, "edges"))
    left = (1 << len(neighbours)) - 1
    wanted = _size(neighbours, left)
    rows: list[int] = []
    for row in range(len(neighbours)):
        without = left & ~(neighbours[row] | 1 << row)
        if left >> row & 1 and 1 + _size(neighbours, without) == wanted:
            rows.append(row)
            left, wanted = without, wanted - 1
        else:
            left &= ~(1 << row)
    return tuple(rows)


def independence_number(edges: ArrayLike) -> int:
    """How many rows a maximum independent set of the graph with `edges` (n, n) has, 0 to n; at most L(n) leaves of
    search. The diagonal is not read.

    Raises ValueError as `independent` does.
    """
    neighbours = _neighbours(symmetric_mask(edges, "edges"))
    return _size(neighbours, (1 << len(neighbours)) - 1)


def symmetric_mask(values: ArrayLike, name: str) -> Mask:
    """`values` as booleans (n, n); ValueError where it is not square and symmetric, or has more than MOST rows."""
    mask = np.asarray(values, np.bool_)
    mask = mask.reshape(0, 0) if mask.size == 0 else mask
    if mask.ndim != 2 or mask.shape[0] != mask.shape[1]:
        raise ValueError(f"{name} must be square, one row and one column a source, not of shape {mask.shape}")
    if len(mask) > MOST:
        raise ValueError(
            f"{name} has {len(mask)} rows, and at most {MOST} are searched: pass the first {MOST}"
        )
    if not np.array_equal(mask, mask.T):
        raise ValueError(f"{name} must be symmetric: one of two rows cannot be joined with the other alone")
    return mask


def _neighbours(mask: Mask) -> list[int]:
    """The neighbours of each row as the bits of an integer."""
    bits = [sum(1 << int(other) for other in np.flatnonzero(row)) for row in mask]
    return [own & ~(1 << row) for row, own in enumerate(bits)]


def _size(neighbours: list[int], left: int) -> int:
    """The independence number of the rows in the bits of `left`."""
    taken = 0
    while left:
        row, degree = _next_row(neighbours, left)
        without = left & ~(neighbours[row] | 1 << row)
        if degree >= 3:
            return taken + max(_size(neighbours, left & ~(1 << row)), 1 + _size(neighbours, without))
        taken += 1
        left = without
    return taken


def _next_row(neighbours: list[int], left: int) -> tuple[int, int]:
    """A row of `left` and its degree: one of degree 0 or 1 where there is one, else one of the greatest degree.

    Where the greatest is 2 only cycles are left, and each row of a cycle is in a maximum set.
    """
    best, most = 0, -1
    rest = left
    while rest:
        row = (rest & -rest).bit_length() - 1
        rest &= rest - 1
        degree = (neighbours[row] & left).bit_count()
        if degree <= 1:
            return row, degree
        if degree > most:
            best, most = row, degree
    return best, most
