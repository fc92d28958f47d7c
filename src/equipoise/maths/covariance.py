"""Distances to a small cluster in many dimensions, where the plain covariance matrix has no inverse.

A cluster of n passages in d dimensions has a sample covariance of rank below n, so the inverse in Eq. 12 of
the EBI paper does not exist for n <= d. It is replaced by a shrunken one, V = a I + b S (S the sample
covariance, 1/n convention), and solved in the span of the samples: O(n^2 d), no d x d matrix is made.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, finite_matrix, rounding_floor

Shrinkage = Literal["ledoit-wolf", "ridge"]


@dataclass(frozen=True, slots=True)
class ShrunkCovariance:
    """V = `identity` * I + `weight` * S, S held as its nonzero eigenvalues (r,) and directions (r, d)."""

    identity: float
    weight: float
    eigenvalues: Floats
    directions: Floats


def shrunk_covariance(
    samples: ArrayLike, *, shrinkage: Shrinkage = "ledoit-wolf", ridge: float = 1.0
) -> ShrunkCovariance:
    """The shrunken covariance of `samples` (n, d), n of at least 1, with m = trace(S) / d:

    - "ledoit-wolf": (1 - p) S + p m I, p the Ledoit-Wolf intensity but at least 1/n. The floor is ours: two
      samples always give intensity 0, which would leave V without an inverse.
    - "ridge": S + `ridge` m I.

    Worked value: rows (2, 0), (-2, 0), (0, 1), (0, -1) with ridge 1 give diag(2, 0.5) + 1.25 I.
    """
    rows = finite_matrix(samples, "samples")
    if not len(rows):
        raise ValueError("a covariance needs at least one sample")
    centred = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T / len(rows))
    solid = values > max(float(values[-1]) * 1e-10, rounding_floor(rows) / len(rows))
    mean_variance = max(float(values[solid].sum()), 0.0) / max(rows.shape[1], 1)
    kept = vectors[:, solid].T @ centred
    directions = kept / np.linalg.norm(kept, axis=1, keepdims=True) if solid.any() else kept
    if shrinkage == "ridge":
        return ShrunkCovariance(ridge * mean_variance, 1.0, values[solid], directions)
    intensity = max(_intensity(centred), 1.0 / len(rows))
    return ShrunkCovariance(intensity * mean_variance, 1.0 - intensity, values[solid], directions)


def mahalanobis(
    points: ArrayLike, samples: ArrayLike, *, shrinkage: Shrinkage = "ledoit-wolf", ridge: float = 1.0
) -> Floats:
    """Distances (k,) of `points` (k, d) to the cluster of `samples` (n, d) (Eq. 12).

    sqrt((x - mu) V^-1 (x - mu)'), mu the mean of the samples, V their `shrunk_covariance`. Samples that are
    all the same (also a single one) have V = 0: their distance is 0 to a point equal to them and infinite to
    every other.

    Worked value: samples (2, 0), (-2, 0), (0, 1), (0, -1), ridge 1, point (1, 0): V = diag(3.25, 1.75), so
    sqrt(1 / 3.25) = 0.5547.
    """
    rows, others = finite_matrix(samples, "samples"), finite_matrix(points, "points")
    if not len(others):
        return np.empty(0)
    covariance = shrunk_covariance(rows, shrinkage=shrinkage, ridge=ridge)
    offsets = others - rows.mean(axis=0)
    along = offsets @ covariance.directions.T
    beside = np.maximum(np.sum(offsets**2, axis=1) - np.sum(along**2, axis=1), 0.0)
    beside[beside <= 1e-12 * np.sum(others**2, axis=1)] = 0.0
    variances = covariance.identity + covariance.weight * covariance.eigenvalues
    inside = np.sum(along**2 / variances, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        outside = np.where(beside == 0.0, 0.0, beside / covariance.identity)
    return np.asarray(np.sqrt(inside + outside))


def _intensity(centred: Floats) -> float:
    """Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices" (2004).

    With centred rows x_k, S = sum x_k x_k' / n and m = trace(S) / d it is min(b2, d2) / d2, where
    d2 = |S - m I|^2 and b2 = sum |x_k x_k' - S|^2 / n^2 (Frobenius norms); 0 where d2 is 0.
    Worked value: rows (2, 0), (-2, 0), (0, 1), (0, -1): d2 = 1.125, b2 = 1.0625, so 0.9444.
    """
    count, width = centred.shape
    gram = centred @ centred.T
    trace, squared = float(np.trace(gram)) / count, float(np.sum(gram**2)) / count**2
    away = squared - trace**2 / width
    if away <= 1e-12 * squared:
        return 0.0
    noise = (float(np.sum(np.diag(gram) ** 2)) / count - squared) / count
    return float(min(max(noise, 0.0), away) / away)
