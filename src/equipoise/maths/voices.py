"""Which passages are one voice: several of them, written by the same hand, on the same side.

One person may say anything once. To crowd out other views it takes several passages, and who writes them all on one
side leaves two traces at once, a hand and a side, neither of which says anything alone: people agree with each other,
and an author writes on both sides of many questions.
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, Mask, finite_vector, square_matrix

FROM, OVER = 0.5, 2.0
"""Log-likelihood ratios of "same hand" count from FROM on, and in full from FROM + OVER on."""
THRESHOLD = 1.5
"""What a passage's fellows have to weigh together: two that are certain, or more that are likely."""
LEAST = 3
"""Passages of a voice; two may agree by chance."""


def likeness(ratios: ArrayLike) -> Floats:
    """(n, n) from 0 to 1 for log-likelihood ratios (n, n) of "same hand" (`maths.hands`); no passage is like itself.

    Worked value: a ratio of 1.5 gives 0.5.
    """
    values = square_matrix(np.asarray(ratios, np.float64), len(np.asarray(ratios)), "ratios")
    alike = np.clip((values - FROM) / OVER, 0.0, 1.0)
    np.fill_diagonal(alike, 0.0)
    return alike


def suspects(alike: ArrayLike, *, threshold: float = THRESHOLD, least: int = LEAST) -> Mask:
    """(n,) which passages could belong to a voice if all took one side; none unless there are `least` of them.

    What is not among them needs not be asked for its side: it cannot be in `voices`, nor add to one of them.
    """
    weights = square_matrix(np.asarray(alike, np.float64), len(np.asarray(alike)), "alike")
    possible = weights.sum(axis=1) >= threshold
    reach = possible | (weights[:, possible].sum(axis=1) > 0.0)
    return reach if possible.sum() >= least else np.zeros(len(weights), np.bool_)


def voices(
    alike: ArrayLike, sides: ArrayLike, *, threshold: float = THRESHOLD, least: int = LEAST
) -> tuple[Mask, Mask]:
    """((n,), (n,)): the passages of a voice on the side of yes, and of one on the side of no.

    Passage i, on side s_i (-1 to 1, 0 for none or unknown), is one of a voice where s_i * sum_j alike_ij s_j reaches
    `threshold`; fewer than `least` on a side are none. Neither the order of the passages nor the sign of the question
    matters, and a set without `suspects` has no voice.

    Worked value: three passages, alike 1 each, sides (1, 1, 1): each weighs 2, all are a voice; with sides (1, 1, -1)
    they weigh 0, 0 and -2: none is.
    """
    taken = finite_vector(sides, "sides")
    weights = square_matrix(np.asarray(alike, np.float64), len(taken), "alike")
    loud = taken * (weights @ taken) >= threshold
    both = (loud & (taken > 0.0), loud & (taken < 0.0))
    none = np.zeros(len(taken), np.bool_)
    return tuple(side if side.sum() >= least else none for side in both)  # type: ignore[return-value]
