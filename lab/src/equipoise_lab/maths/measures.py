"""Measures of one ranking or one answer. None means "could not be measured", never 0.

`hits` is one boolean per retrieved passage, best first: adversarial or not, relevant or not. What the EBI
paper calls A-Recall@k and Recall@k are shares of the top k (`share_at_k`), not recalls.
"""

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Mask, finite_vector, positive_count, same_length
from equipoise_lab.maths.rates import scipy_stats


def share_at_k(hits: ArrayLike, k: int) -> float:
    """The share (0 to 1) of hits among the first k retrieved: the paper's A-Recall@k or Recall@k.

    Of the k seats, whatever was retrieved: a seat left empty is nobody's hit.
    Worked value: hits (1, 0, 1, 0, 0, 1) at 5 give 0.4, and so do hits (1, 1).
    """
    return float(_top(hits, k).sum() / k)


def recall_at_k(hits: ArrayLike, k: int, *, total: int) -> float | None:
    """True recall (0 to 1): hits among the first k over all `total` that exist; None when none exist.

    Worked value: hits (1, 0, 1) at 3 with 4 in the corpus give 0.5.
    """
    recalled = int(_top(hits, k).sum())
    if recalled > total:
        raise ValueError(f"{recalled} hits were retrieved but total is {total}: total counts all that exist")
    return recalled / total if total else None


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Spearman's rank correlation (-1 to 1) of two samples (n,), ties with their mean rank.

    None for fewer than two pairs, or where either sample is constant.
    Worked value: (1, 2, 3, 4) and (1, 3, 2, 4) give 1 - 6 * 2 / 60 = 0.8.
    """
    left, right = finite_vector(first, "first"), finite_vector(second, "second")
    same_length(left, right, "first and second")
    if len(left) < 2 or np.ptp(left) == 0.0 or np.ptp(right) == 0.0:
        return None
    return float(scipy_stats().spearmanr(left, right).statistic)


def auc(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """The area under the ROC curve (0 to 1): how often a true one (label 1) scores above a false one (0), ties half.

    `scores` (n,) may be any numbers. None unless both labels occur (Mann-Whitney U over the number of pairs).
    Worked value: scores (1, 2, 2, 3) with labels (0, 0, 1, 1): 3.5 of 4 pairs, 0.875.
    """
    values, known = finite_vector(scores, "scores"), finite_vector(labels, "labels")
    same_length(values, known, "scores and labels")
    truth = _flags(known, "labels")
    positives, ordered = values[truth], np.sort(values[~truth])
    if not len(positives) or not len(ordered):
        return None
    below, not_above = (np.searchsorted(ordered, positives, side) for side in ("left", "right"))
    return float((below + not_above).sum() / (2 * len(positives) * len(ordered)))


def _top(hits: ArrayLike, k: int) -> Mask:
    return _flags(hits, "hits")[: positive_count(k, "k")]


def _flags(values: ArrayLike, name: str) -> Mask:
    flags = finite_vector(values, name)
    if not np.isin(flags, (0.0, 1.0)).all():
        raise ValueError(f"{name} must hold only true and false, or 1 and 0")
    return flags.astype(np.bool_)
