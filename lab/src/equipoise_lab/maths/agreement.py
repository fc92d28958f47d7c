"""How far raters agree beyond chance: Cohen's kappa for two, Krippendorff's alpha for any number.

1 is full agreement, 0 what chance gives, below 0 worse than chance. Both are 1 minus observed over expected
disagreement; they are None where nothing was expected to differ, since all ratings are the same.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, finite_vector, same_length

Weights = Literal["equal", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(first: ArrayLike, second: ArrayLike, *, weights: Weights = "equal") -> float | None:
    """Cohen's kappa (1960) of two raters of the same n items (n,); weighted (1968) for ratings on a scale.

    A disagreement weighs 1 ("equal"), its distance ("linear") or the square of that ("quadratic"). None for
    no items, and where both raters gave one and the same value throughout.
    Worked value: yes/yes 20, yes/no 5, no/yes 10, no/no 15 give (0.7 - 0.5) / (1 - 0.5) = 0.4.
    """
    left, right = finite_vector(first, "first"), finite_vector(second, "second")
    same_length(left, right, "first and second")
    if not len(left):
        return None
    values, codes = np.unique(np.concatenate([left, right]), return_inverse=True)
    rows, columns = codes[: len(left)], codes[len(left) :]
    table = np.bincount(rows * len(values) + columns, minlength=len(values) ** 2)
    table = table.reshape(len(values), len(values))
    distances = _weighted(values, weights)
    expected = float((np.outer(table.sum(axis=1), table.sum(axis=0)) * distances).sum())
    return 1.0 - len(left) * float((table * distances).sum()) / expected if expected else None


def krippendorff_alpha(ratings: ArrayLike, *, level: Level = "nominal") -> float | None:
    """Krippendorff's alpha of ratings (raters, n), NaN or None where a rater left an item out.

    Equations of Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): coincidences over items
    with at least two ratings, and the difference function of the level. None where no item has two ratings, or
    all ratings are the same. Worked value: raters (1, 2, 3) and (2, 3, 4): nominal -2/13, interval 6/11.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise ValueError("ratings must be (raters, items) and finite, NaN for a rating that is missing")
    values = np.unique(table[~np.isnan(table)])
    counts = (table[:, :, None] == values).sum(axis=0)
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 1], sizes[sizes > 1]
    shares = counts / (sizes - 1.0)[:, None]
    coincidences = shares.T @ counts - np.diag(shares.sum(axis=0))
    totals = coincidences.sum(axis=1)
    distances = _differences(values, totals, level)
    expected = float((np.outer(totals, totals) * distances).sum())
    if not expected:
        return None
    return 1.0 - (float(totals.sum()) - 1.0) * float((coincidences * distances).sum()) / expected


def _weighted(values: Floats, weights: Weights) -> Floats:
    """(v, v) disagreement weights between values (v,)."""
    if weights == "equal":
        return 1.0 - np.eye(len(values))
    distances = np.abs(values[:, None] - values)
    return distances if weights == "linear" else np.asarray(distances**2)


def _differences(values: Floats, totals: Floats, level: Level) -> Floats:
    """(v, v) squared differences; ordinal ones count the ratings between two values, half at the ends."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    places = values if level == "interval" else np.cumsum(totals) - totals / 2
    return np.asarray((places[:, None] - places) ** 2)
