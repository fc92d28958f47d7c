"""Whether two passages were written by the same author, by vectors of their style (`text.style`).

The two-covariance model (also "joint Bayesian"; Chen et al., "Bayesian Face Revisited: A Joint Formulation", ECCV
2012): a style vector is a writer's own one, of covariance B, and how a passage departs from it, of covariance W. Both
are learnt from documents that each have one writer; no labels and no text by machines are needed. The log-likelihood
ratio of "same writer" against "different writers" is then a quadratic form of the two vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, finite_matrix

CLIP = 3.0
"""Standard deviations beyond which a value counts as this many."""


@dataclass(frozen=True, slots=True, eq=False)
class AuthorModel:
    """What was learnt: `mean`, `scale` (f,) of the values, `axes` (f, d) they are projected on, and the quadratic form
    ratio(x, y) = x'Qx + y'Qy + 2 x'Py + `constant` with `own` Q and `cross` P, both (d, d)."""

    mean: Floats
    scale: Floats
    axes: Floats
    own: Floats
    cross: Floats
    constant: float

    def project(self, styles: ArrayLike) -> Floats:
        """(n, d) for styles (n, f)."""
        return scaled(finite_matrix(styles, "styles"), self.mean, self.scale) @ self.axes

    def ratios(self, styles: ArrayLike) -> Floats:
        """(n, n) log-likelihood ratios of "same author" for styles (n, f), symmetric; the diagonal says nothing."""
        points = self.project(styles)
        alone = ((points @ self.own) * points).sum(axis=1)
        return np.asarray(alone[:, None] + alone + 2.0 * points @ self.cross @ points.T + self.constant)


def scaled(rows: Floats, mean: Floats, scale: Floats) -> Floats:
    """(n, f) values in standard deviations, within CLIP."""
    return np.clip((rows - mean) / scale, -CLIP, CLIP)
