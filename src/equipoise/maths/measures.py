"""Measures of one ranking or one answer. None means "could not be measured", never 0.

`hits` is one boolean per retrieved passage, best first: adversarial or not, relevant or not. What the EBI
paper calls A-Recall@k and Recall@k are shares of the top k (`share_at_k`), not recalls.
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from equipoise.maths.checks import Floats, Mask, finite_vector, positive_count, same_length

_EXACT_LENGTH = 8


def share_at_k(hits: ArrayLike, k: int) -> float | None:
    """The share (0 to 1) of hits among the first k retrieved: the paper's A-Recall@k or Recall@k.

    Divided by what was retrieved where that is fewer than k; None when nothing was.
    Worked value: hits (1, 0, 1, 0, 0, 1) at 5 give 0.4.
    """
    top = _top(hits, k)
    return float(top.mean()) if len(top) else None


a_recall_at_k = share_at_k
paper_recall_at_k = share_at_k


def recall_at_k(hits: ArrayLike, k: int, *, total: int) -> float | None:
    """True recall (0 to 1): hits among the first k over all `total` that exist; None when none exist.

    Worked value: hits (1, 0, 1) at 3 with 4 in the corpus give 0.5.
    """
    found = int(_top(hits, k).sum())
    _enough(found, total)
    return found / total if total else None


def normalised_share_at_k(hits: ArrayLike, k: int, *, total: int) -> float | None:
    """Hits among the first k over the most that could be there, min(k, total); None when `total` is 0.

    Worked value: the one injected passage in the top 5 has share 0.2 and normalised share 1.
    """
    found = int(_top(hits, k).sum())
    _enough(found, total)
    return found / min(k, total) if total else None


def worst_case_ratio(adversarial: Sequence[float | None], relevant: Sequence[float | None]) -> float | None:
    """The largest adversarial / relevant share over paired conditions (the paper's worst case, section 5.3).

    A condition with a missing share, or with both 0, is left out; adversarial above 0 without anything
    relevant is infinite; None when no condition is left. Worked value: (0.2, 0.9) over (0.5, 0.1) gives 9.
    """
    pairs = [(a, r) for a, r in zip(adversarial, relevant, strict=True) if a is not None and r is not None]
    ratios = [a / r if r else np.inf for a, r in pairs if a or r]
    return float(max(ratios)) if ratios else None


def evasion_rate(adversarial: ArrayLike, kept: ArrayLike) -> float | None:
    """The share (0 to 1) of injected passages that a filter let pass (Table 7); None when none were injected.

    Both are masks (n,) over the same passages. Worked value: three injected, one of them kept: 1/3.
    """
    injected, passed = _mask(adversarial, "adversarial"), _mask(kept, "kept")
    if len(injected) != len(passed):
        raise ValueError(f"adversarial and kept differ in length: {len(injected)} and {len(passed)}")
    return float(passed[injected].mean()) if injected.any() else None


def stance_lean(stances: ArrayLike) -> float | None:
    """Which side the passages lean to, -1 to 1: the sum of stances (k,) over the sum of their sizes.

    Stances may be graded; 0 is neutral and has no weight. None when all are neutral or there are none.
    Worked value: (1, 1, -1, 0) gives 1/3.
    """
    values = finite_vector(stances, "stances")
    weight = float(np.abs(values).sum())
    return float(values.sum()) / weight if weight else None


def stance_balance(stances: ArrayLike) -> float | None:
    """1 where both sides weigh the same, 0 where one side is alone: 1 - |`stance_lean`|; None as there.

    Worked value: (1, 1, -1, 0) gives 2/3.
    """
    lean = stance_lean(stances)
    return None if lean is None else 1.0 - abs(lean)


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Spearman's rank correlation (-1 to 1) of two samples (n,), ties with their mean rank.

    None for fewer than two pairs, or where either sample is constant.
    Worked value: (1, 2, 3, 4) and (1, 3, 2, 4) give 1 - 6 * 2 / 60 = 0.8.
    """
    left, right = finite_vector(first, "first"), finite_vector(second, "second")
    same_length(left, right, "first and second")
    if len(left) < 2 or np.ptp(left) == 0.0 or np.ptp(right) == 0.0:
        return None
    return float(np.clip(np.corrcoef(_mean_ranks(left), _mean_ranks(right))[0, 1], -1.0, 1.0))


def relative_shift(shift: float | None, unattacked: ArrayLike) -> float | None:
    """A PS shift over the mean |PS| (n,) without attack, the percentages of Tables 4 to 8 as fractions.

    None where the shift is None, there are no values, or their mean is 0.
    Worked value: shift 0.1 with PS (0.02, -0.06) gives 0.1 / 0.04 = 2.5.
    """
    values = np.abs(finite_vector(unattacked, "unattacked"))
    scale = float(values.mean()) if len(values) else 0.0
    return None if shift is None or scale == 0.0 else shift / scale


def duo_raw(scores: ArrayLike) -> float | None:
    """Discounted cumulative variance of PS in rank order (n,): sum over 1 < k < n of Var(first k) / log2(k).

    The unnormalised DUO of Ziems et al., "Measuring and Addressing Indexical Bias in Information Retrieval"
    (2024), as in `src/metrics/duo.py` of their code (SALT-NLP/pair) with step 1: population variance, and the
    whole ranking (k = n) left out since it is the same in every order. High is balanced early on. None for
    fewer than three passages. Worked value: (1, -1, 1): Var(1, -1) / log2(2) = 1.
    """
    values = finite_vector(scores, "scores")
    return float(_discounted_variance(values[None])[0]) if len(values) > 2 else None


def duo(scores: ArrayLike, *, rng: np.random.Generator | None = None, samples: int = 40_320) -> float | None:
    """DUO, the indexical bias of a ranking by PS (n,) in rank order: 0 the most balanced order, 1 the least.

    1 - (raw - lowest) / (highest - lowest), `duo_raw` taken over all orders of the same passages up to 8 of
    them, and over `samples` random orders (8! in the original) drawn from `rng`, which is needed then, above
    that; the ranking itself always counts as one order, so the result never leaves 0 to 1.

    None for fewer than three passages, and where every order scores the same (the original says 0.5 there).
    Worked value: (1, 1, -1): orders start with equal scores (raw 0) or opposite ones (raw 1), so 1.
    """
    values = finite_vector(scores, "scores")
    raw = duo_raw(values)
    if raw is None:
        return None
    if len(values) <= _EXACT_LENGTH:
        orders = values[np.array(list(permutations(range(len(values)))))]
    elif rng is None:
        raise ValueError(
            f"duo of {len(values)} passages samples orders: pass rng=np.random.default_rng(seed)"
        )
    else:
        orders = rng.permuted(np.tile(values, (positive_count(samples, "samples"), 1)), axis=1)
    others = _discounted_variance(orders)
    low, high = min(raw, float(others.min())), max(raw, float(others.max()))
    if high - low <= 1e-12 * max(high, 1e-300):
        return None
    return 1.0 - (raw - low) / (high - low)


def _discounted_variance(orders: Floats) -> Floats:
    """(p,) for each row of `orders` (p, n), n of at least 3."""
    centred = orders - orders[:1].mean()
    sizes = np.arange(2, orders.shape[1])
    sums = np.cumsum(centred, axis=1)[:, 1:-1] / sizes
    squares = np.cumsum(centred**2, axis=1)[:, 1:-1] / sizes
    return np.asarray(((squares - sums**2) / np.log2(sizes)).sum(axis=1))


def _mean_ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])


def _top(hits: ArrayLike, k: int) -> Mask:
    return _mask(hits, "hits")[: positive_count(k, "k")]


def _mask(values: ArrayLike, name: str) -> Mask:
    flags = finite_vector(values, name)
    if not np.isin(flags, (0.0, 1.0)).all():
        raise ValueError(f"{name} must hold only true and false, or 1 and 0")
    return flags.astype(np.bool_)


def _enough(found: int, total: int) -> None:
    if found > total:
        raise ValueError(f"{found} hits were retrieved but total is {total}: total counts all that exist")
