"""How good probabilities are, and what declining by them costs and saves. None means "cannot be measured".

`labels` are 1 (true) for what the probability is of, such as "answerable", and 0 for the rest; `errors` are 1
where an answer was wrong. Equal scores are never told apart by their place in the array.
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Mask, finite_vector


def auc(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """The area under the ROC curve (0 to 1): how often a true one scores above a false one, ties half.

    `scores` (n,) may be any numbers. None unless both labels occur (Mann-Whitney U over the number of pairs).
    Worked value: scores (1, 2, 2, 3) with labels (0, 0, 1, 1): 3.5 of 4 pairs, 0.875.
    """
    values, truth = finite_vector(scores, "scores"), _truth(scores, labels)
    positives, negatives = values[truth], values[~truth]
    if not len(positives) or not len(negatives):
        return None
    ordered = np.sort(negatives)
    below = np.searchsorted(ordered, positives, side="left")
    not_above = np.searchsorted(ordered, positives, side="right")
    return float((below + not_above).sum() / (2 * len(positives) * len(negatives)))


def _truth(beside: ArrayLike, flags: ArrayLike, name: str = "labels") -> Mask:
    """`flags` as a mask as long as `beside`."""
    labels, other = finite_vector(flags, name), np.asarray(beside)
    if len(labels) != len(other):
        raise ValueError(f"{name} must have as many rows as what they label, {len(other)}, not {len(labels)}")
    if not np.isin(labels, (0.0, 1.0)).all():
        raise ValueError(f"{name} must hold only true and false, or 1 and 0")
    return labels.astype(np.bool_)
