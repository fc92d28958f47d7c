"""Polarization: the axis along which passages on one question differ most, and where each lies on it.

Equations 2 to 5 of "Epistemic Bias Injection" (Wu and Saxena, arXiv 2512.00804).
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, embedding_matrix, finite_vector, rounding_floor

_SIGN_TIE = 1e-9


def polarization_axis(anchors: ArrayLike, *, towards: ArrayLike | None = None, component: int = 1) -> Floats:
    """The unit vector (d,) along which `anchors` (n, d) vary most: their first principal component (Eq. 2).

    `component` 2 is the second one, and so on (section 7).

    The sign of a principal component is arbitrary. It is fixed so: with `towards` (d,), the axis has a
    positive dot product with it; without (or with one orthogonal to the axis), the component of largest
    absolute value is positive, the first one among equals.

    Anchors that are all the same, or not more than `component`, have no such direction: the zero vector is
    returned, on which every passage scores 0.

    Worked value: anchors (0, 1), (2, 1), (4, 1) vary along x only, so the axis is (1, 0).

    Raises ValueError naming the row for NaN, infinity and zero vectors.
    """
    matrix = embedding_matrix(anchors, "anchors")
    some = len(matrix) > component
    axis = _direction(matrix - matrix.mean(axis=0), component) if some else np.zeros(matrix.shape[1])
    return axis * _sign(axis, towards)


def polarization_scores(embeddings: ArrayLike, axis: ArrayLike) -> Floats:
    """PS (n,) of each row of `embeddings` (n, d): its dot product with `axis` (d,) (Eq. 3, not centred).

    Between -1 and 1 for unit embeddings. Worked value: (0.6, 0.8) on the axis (1, 0) scores 0.6.
    """
    matrix = embedding_matrix(embeddings)
    direction = finite_vector(axis, "axis")
    if len(matrix) == 0:
        return np.empty(0)
    if matrix.shape[1] != len(direction):
        raise ValueError(f"embeddings have {matrix.shape[1]} dimensions and the axis has {len(direction)}")
    return row_dots(matrix, direction)


def row_dots(matrix: Floats, vector: Floats) -> Floats:
    """(n,) dot products of each row with `vector`, each computed the same way wherever its row stands.

    A matrix product may round a row differently by its position; results that must not depend on the
    order of the rows cannot use it. Worked value: rows (1, 2), (3, 4) with (1, 1) give (3, 7).
    """
    return np.asarray((matrix * vector).sum(axis=1))


def _direction(centred: Floats, component: int) -> Floats:
    """Right singular vector number `component` (d,) of `centred` (n, d), by the smaller of its two Gram matrices."""
    rows, columns = centred.shape
    wide = rows <= columns
    values, vectors = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    if component > len(values) or values[-component] <= rounding_floor(centred):
        return np.zeros(columns)
    direction = centred.T @ vectors[:, -component] if wide else vectors[:, -component]
    return np.asarray(direction / np.linalg.norm(direction))


def _sign(axis: Floats, towards: ArrayLike | None) -> float:
    if towards is not None:
        along = float(finite_vector(towards, "towards") @ axis)
        if along != 0.0:
            return float(np.sign(along))
    sizes = np.abs(axis)
    if not sizes.any():
        return 1.0
    first = int(np.argmax(sizes >= sizes.max() * (1.0 - _SIGN_TIE)))
    return float(np.sign(axis[first]))
