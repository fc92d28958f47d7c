"""Input checks shared by the package `maths`: an array that cannot be used is a ValueError that names its row."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

_ROUNDING = float(np.finfo(np.float64).eps)


def finite_vector(values: ArrayLike, name: str) -> Floats:
    """`values` as float64 (n,); ValueError for another shape, NaN or infinity."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {vector.shape}")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(f"{name} holds NaN or infinity at row {bad[0]}: remove or repair that row")
    return vector


def finite_matrix(values: ArrayLike, name: str) -> Floats:
    """`values` as float64 (n, d); an empty list is (0, 0). ValueError for NaN, infinity, another shape."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim == 1 and matrix.size == 0:
        return np.empty((0, 0))
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, one row per passage, not of shape {matrix.shape}")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise ValueError(f"{name} holds NaN or infinity in row {bad[0]}: remove or repair that row")
    return matrix


def embedding_matrix(values: ArrayLike, name: str = "embeddings") -> Floats:
    """`values` as float64 (n, d) without zero rows, which have no direction; ValueError otherwise."""
    matrix = finite_matrix(values, name)
    if matrix.shape[1] == 0 < matrix.shape[0]:
        raise ValueError(f"{name} has {matrix.shape[0]} rows of width 0: pass (n, d) with d of at least 1")
    zero = np.flatnonzero(~matrix.any(axis=1))
    if zero.size:
        raise ValueError(f"{name} row {zero[0]} is the zero vector, which has no direction: remove that row")
    return matrix


def square_matrix(values: ArrayLike, size: int, name: str) -> Floats:
    """`values` as float64 (size, size); ValueError for NaN, infinity or another shape."""
    matrix = finite_matrix(values, name)
    if matrix.shape != (size, size) and not (size == 0 and matrix.size == 0):
        raise ValueError(f"{name} must be of shape ({size}, {size}), not {matrix.shape}")
    return matrix.reshape(size, size)


def same_length(first: Floats, second: Floats, names: str) -> None:
    """ValueError unless both have the same number of rows; `names` says which two arrays these are."""
    if len(first) != len(second):
        raise ValueError(f"{names} must have the same number of rows, not {len(first)} and {len(second)}")


def positive_count(value: int, name: str) -> int:
    """`value` itself; ValueError when it is below 1."""
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}")
    return value


def rounding_floor(matrix: Floats) -> float:
    """A sum of squares that rounding alone can leave after centring the rows of `matrix` (n, d).

    Worked value: 2 unit rows of width 2 give 4 * (8 * 2.2e-16)^2 = 1.3e-29.
    """
    return float(matrix.size * (8 * _ROUNDING * float(np.abs(matrix).max(initial=0.0))) ** 2)
