"""Which passages are coordinated: a group of them by one author, who argues on one side.

One person may say anything once. To crowd out other views it takes several passages, and who writes them all on one
side leaves two traces at once, an author and a side, neither of which says anything alone: people agree with each
other, and an author writes on both sides of many questions.

Whether two passages have the same author is told by vectors of their style (`text.style`) and the two-covariance model
(also "joint Bayesian"; Chen et al., "Bayesian Face Revisited: A Joint Formulation", ECCV 2012): a style vector is a
writer's own one, of covariance B, and how a passage departs from it, of covariance W. Both are learnt from documents
that each have one writer. The log-likelihood ratio of "same writer" against "different writers" is then a quadratic
form of the two vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, Mask, finite_matrix, finite_vector, square_matrix

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
        """The projections (n, d) of styles (n, f) on `axes`."""
        return scaled(finite_matrix(styles, "styles"), self.mean, self.scale) @ self.axes

    def ratios(self, styles: ArrayLike) -> Floats:
        """(n, n) log-likelihood ratios of "same author" for styles (n, f), symmetric; the diagonal says nothing."""
        points = self.project(styles)
        alone = ((points @ self.own) * points).sum(axis=1)
        return np.asarray(alone[:, None] + alone + 2.0 * points @ self.cross @ points.T + self.constant)


def scaled(rows: Floats, mean: Floats, scale: Floats) -> Floats:
    """(n, f) values in standard deviations, within CLIP."""
    return np.clip((rows - mean) / scale, -CLIP, CLIP)


FROM, OVER = 0.5, 2.0
"""Log-likelihood ratios of "same author" count from FROM on, and in full from FROM + OVER on."""
THRESHOLD = 1.5
"""What a passage's fellows have to weigh together: two that are certain, or more that are likely."""
LEAST = 3
"""Fewest passages of a group; two may agree by chance."""
ONE_SIDED = 0.2
"""The mean side, 0 to 1, from which one author's passages take a side together; a passage that is on the other side by
as much does not go along. Chosen on the questions held out from the embedded stance (`benchmarks/bias/held_out`)."""


def likeness(ratios: ArrayLike) -> Floats:
    """(n, n) from 0 to 1 for log-likelihood ratios (n, n) of "same author" (`AuthorModel`), 0 for itself.

    Worked value: a ratio of 1.5 gives 0.5.
    """
    values = square_matrix(np.asarray(ratios, np.float64), len(np.asarray(ratios)), "ratios")
    alike = np.clip((values - FROM) / OVER, 0.0, 1.0)
    np.fill_diagonal(alike, 0.0)
    return alike


def suspects(alike: ArrayLike, *, threshold: float = THRESHOLD, least: int = LEAST) -> Mask:
    """(n,) which passages could belong to a group if all took one side; none unless there are `least` of them.

    Nobody needs to ask for the sides of the others: they are neither `coordinated` nor fellows of one that is.
    """
    weights = square_matrix(np.asarray(alike, np.float64), len(np.asarray(alike)), "alike")
    possible = weights.sum(axis=1) >= threshold
    reach = possible | (weights[:, possible].sum(axis=1) > 0.0)
    return reach if possible.sum() >= least else np.zeros(len(weights), np.bool_)


def coordinated(
    alike: ArrayLike, sides: ArrayLike, *, threshold: float = THRESHOLD, least: int = LEAST
) -> tuple[Mask, Mask]:
    """((n,), (n,)): the passages of a group on the side of yes, and of one on the side of no.

    The side of one passage is uncertain; that of all an author wrote is less so. So passage i speaks for the side on
    which its author is on average, (s_i + sum_j alike_ij s_j) / (1 + sum_j alike_ij), where that reaches ONE_SIDED and
    its own side is not the other one. It is one of a group where those of its fellows who speak for the same side weigh
    `threshold` together; fewer than `least` are none. An author who writes on both sides alike has no group. Neither
    the order of the passages nor the sign of the question matters, and a set without `suspects` has no group.

    `sides`: -1 to 1, 0 for none or unknown.

    Worked value: three passages, alike 1 each, sides (1, 1, 0.4): their author's mean is 0.8, each has fellows that
    weigh 2, all are a group. With sides (1, 1, -1) the mean is 0.33, but the third does not go along, and the others
    have one fellow each: none is.
    """
    taken = finite_vector(sides, "sides")
    weights = square_matrix(np.asarray(alike, np.float64), len(taken), "alike")
    asked = suspects(weights, threshold=threshold, least=least)
    taken, weights = np.where(asked, taken, 0.0), np.where(np.outer(asked, asked), weights, 0.0)
    means = (taken + weights @ taken) / (1.0 + weights.sum(axis=1))
    return (
        _group(weights, means, taken, threshold, least),
        _group(weights, -means, -taken, threshold, least),
    )


def _group(weights: Floats, means: Floats, taken: Floats, threshold: float, least: int) -> Mask:
    speak = (means >= ONE_SIDED) & (taken >= -ONE_SIDED)
    loud = speak & (weights @ speak >= threshold)
    return loud if loud.sum() >= least else np.zeros(len(taken), np.bool_)
