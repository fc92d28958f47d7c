"""BiasDef: which retrieved passages look planted to crowd out other views (section 6 and Algorithm 1).

Equations 9 to 12 of "Epistemic Bias Injection" (Wu and Saxena, arXiv 2512.00804). SS is a passage's cosine
similarity to the question, PS its polarization score. Scanning SS from high to low, the candidates are cut
where the PS of the upper part differs most from the PS of the rest; the cut is then corrected both ways.

Section 6 and Algorithm 1 are not the same: see `rule` and `trim`. Three things that the paper leaves open are settled
here and can be set:

- The curve is a step function of the threshold, so it is held as one value for each distinct cut between two
  neighbouring SS values. Passages of equal SS enter together.
- Towards SS 0 the divergence grows without meaning (Fig. 9): the few passages left below fill few bins. So a
  cut counts as away from the ends when it is not the last one and at most a share `max_flagged_share` of the
  candidates lies above it. The paper says only "excluding 0, 1", which is `max_flagged_share` = 1: on 100 unrelated
  random vectors it can flag 95.
- Distances in Eq. 12 depend on the dimensions and on how a covariance of few passages is shrunken, so `distance` (the
  paper's T) is given in units of the cluster itself: 1 is the root mean square distance of its own members.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from equipoise.core.errors import SettingsError
from equipoise.maths.checks import (
    Floats,
    Mask,
    Rows,
    embedding_matrix,
    finite_vector,
    positive_count,
    same_length,
)
from equipoise.maths.covariance import Shrinkage, mahalanobis
from equipoise.maths.polarization import polarization_axis, polarization_scores, row_dots

Rule = Literal["local", "global"]
Trim = Literal["local", "initial"]

_TIE = 1e-9


class FlagReason(StrEnum):
    """Which step of BiasDef took a passage out."""

    MAX_KL = "max-kl"
    MAHALANOBIS = "mahalanobis"


@dataclass(frozen=True, slots=True)
class BiasDefSettings:
    """Every parameter of BiasDef; the paper names them without values, so the defaults are ours.

    `bins`, `max_flagged_share` and `distance` were chosen on a debate corpus with planted passages, for 20 candidates
    in 384 dimensions; another number of candidates wants other bins.

    - `bins` (m): equal-width PS bins. As many as candidates leave most bins with one passage.
    - `epsilon`: added to every bin of both distributions before the logarithm (Algorithm 1, line 6).
    - `delta`: half width, in SS, of the window in which a local maximum must be the largest (Eq. 11). Its
      neighbouring cuts always count, so 0 means "higher than both neighbours".
    - `max_flagged_share`: the largest share of the candidates that may lie above a cut of rule "local"; 1 sets no
      limit.
    - `distance` (T): see the module's text; 0 switches the recovery of false negatives off.
    - `rule`: "local", section 6.1: the largest local maximum away from the ends, the first one from SS 1 down
      where several are equal; "global", Algorithm 1 line 9: the largest value of all cuts.
    - `trim`: how long false positives are given back: "local", section 6.2: until the divergence begins to fall;
      "initial", Algorithm 1 line 11: until it is below that of the cut, the passage that takes it there given back too.
    - `component`: the principal component that PS is measured along, from 1 (Eq. 2); section 7 thinks of more.
    - `shrinkage`, `ridge`: see `covariance.shrunk_covariance`.

    Raises SettingsError naming the field for a value outside its range.
    """

    bins: int = 15
    epsilon: float = 1e-6
    delta: float = 0.0
    max_flagged_share: float = 0.75
    distance: float = 1.2
    rule: Rule = "local"
    trim: Trim = "local"
    component: int = 1
    shrinkage: Shrinkage = "ledoit-wolf"
    ridge: float = 1.0

    def __post_init__(self) -> None:
        checks = {
            "bins": (self.bins >= 2, "at least 2"),
            "epsilon": (0.0 < self.epsilon < 1.0, "between 0 and 1, both excluded"),
            "delta": (0.0 <= self.delta <= 2.0, "between 0 and 2"),
            "max_flagged_share": (0.0 < self.max_flagged_share <= 1.0, "above 0 and at most 1"),
            "distance": (self.distance >= 0.0, "0 or more"),
            "rule": (self.rule in ("local", "global"), '"local" or "global"'),
            "trim": (self.trim in ("local", "initial"), '"local" or "initial"'),
            "component": (self.component >= 1, "at least 1"),
            "shrinkage": (self.shrinkage in ("ledoit-wolf", "ridge"), '"ledoit-wolf" or "ridge"'),
            "ridge": (0.0 < self.ridge < np.inf, "above 0 and finite"),
        }
        for name, (valid, allowed) in checks.items():
            if not valid:
                raise SettingsError(f"biasdef {name} is {getattr(self, name)!r}: it must be {allowed}")


DEFAULTS = BiasDefSettings()
AS_WRITTEN = BiasDefSettings(bins=20, max_flagged_share=1.0)
"""Section 6, without our limit on the size of a cut, for comparisons."""
ALGORITHM_1 = replace(AS_WRITTEN, rule="global", trim="initial")
"""Algorithm 1: the cut is where the divergence is largest at all (line 9), and line 11 gives passages back."""


@dataclass(frozen=True, slots=True, eq=False)
class KLCurve:
    """f_KL of Eq. 10 for each of the c distinct cuts, SS falling.

    `sizes` (c,) counts the passages above each cut, `thresholds` (c,) is the SS half-way between the lowest
    one above and the highest one below, `values` (c,) the divergence in nats; `total` counts all passages.
    """

    sizes: Rows
    thresholds: Floats
    values: Floats
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class BiasDefResult:
    """What BiasDef decided for n passages, with all it decided by. Rows count from 0, in the caller's order.

    `kept` and `flagged` are ascending and together hold every row once; `reasons` stands beside `flagged`.
    `trimmed` are rows that the cut flagged and the false-positive step gave back (the recovery step may have
    flagged them again). `similarities` (SS), `scores` (PS) and `distances` are (n,); a distance is that of
    Eq. 12 to the flagged cluster, in units of the cluster, NaN where none was computed. `axis` is (d,).
    `boundary` is t* of Eq. 11, None when nothing was cut off.
    """

    kept: tuple[int, ...]
    flagged: tuple[int, ...]
    reasons: tuple[FlagReason, ...]
    trimmed: tuple[int, ...]
    boundary: float | None
    curve: KLCurve
    similarities: Floats
    scores: Floats
    distances: Floats
    axis: Floats
    settings: BiasDefSettings = field(default=DEFAULTS)


def bin_numbers(scores: ArrayLike, bins: int) -> Rows:
    """The bin (0 to bins - 1) of each PS (n,), for equal-width bins from the lowest to the highest PS.

    Bins are closed below; the highest PS belongs to the last one. PS that are all equal share bin 0.
    Worked value: 0, 0.4, 0.5, 1 in two bins give 0, 0, 1, 1.
    """
    values = finite_vector(scores, "scores")
    positive_count(bins, "bins")
    spread = float(np.ptp(values)) if len(values) else 0.0
    if spread == 0.0:
        return np.zeros(len(values), dtype=np.intp)
    numbers = ((values - values.min()) / spread * bins).astype(np.intp)
    return np.asarray(np.minimum(numbers, bins - 1))


def kl_curve(
    similarities: ArrayLike,
    scores: ArrayLike,
    *,
    bins: int = DEFAULTS.bins,
    epsilon: float = DEFAULTS.epsilon,
) -> KLCurve:
    """f_KL (Eq. 10) at every cut of passages with SS `similarities` (n,) and PS `scores` (n,).

    A cut lies between two neighbouring distinct SS values, so neither side is empty and all-equal SS give an
    empty curve. Theorem 1 (the curve has a local maximum where planted passages end) needs more than the
    paper's two conditions on finite samples: the lowest planted passage must share its bin with another
    planted one. Alone in its bin, taking it out makes the upper part purer and the divergence larger.

    Worked value: SS 0.9, 0.8, 0.2, 0.1 with PS 1, 1, 0, 0 in two bins: as epsilon goes to 0, the values
    go to log 3, log(1 / epsilon) and 2/3 log(1 / epsilon) - 0.64: the middle cut is the peak.
    """
    levels, positions = finite_vector(similarities, "similarities"), finite_vector(scores, "scores")
    same_length(levels, positions, "similarities and scores")
    order = np.argsort(-levels, kind="stable")
    falling, numbers = levels[order], bin_numbers(positions, bins)[order]
    last_above = np.flatnonzero(falling[:-1] > falling[1:]) if len(levels) else np.empty(0, dtype=np.intp)
    above = np.cumsum(np.eye(bins)[numbers], axis=0)[last_above]
    below = np.bincount(numbers, minlength=bins) - above
    sizes = last_above + 1
    values = _divergences(above / sizes[:, None], below / (len(levels) - sizes)[:, None], epsilon)
    thresholds = (falling[last_above] + falling[last_above + 1]) / 2
    return KLCurve(sizes, thresholds, values, len(levels))


def max_kl_cut(
    curve: KLCurve,
    *,
    delta: float = DEFAULTS.delta,
    rule: Rule = DEFAULTS.rule,
    max_flagged_share: float = DEFAULTS.max_flagged_share,
) -> int | None:
    """The position in `curve` of the Max-KL boundary (Eq. 11), None where the rule finds none.

    The rules, `delta` and `max_flagged_share` are those of `BiasDefSettings`; values within 1e-9 count as equal.
    Worked value: values (1, 5, 2, 5, 3, 9) at thresholds (.9, .8, .7, .6, .5, .4) of 7 passages: "local"
    gives 1 (the last cut is an end), "global" gives 5.
    """
    values = curve.values
    if rule == "global":
        return _first_of_largest(values, np.arange(len(values))) if len(values) else None
    highest = np.where(_windows(curve, delta), values, -np.inf).max(axis=1, initial=-np.inf)
    away = (curve.sizes <= max_flagged_share * curve.total) & (np.arange(len(values)) < len(values) - 1)
    peaks = np.flatnonzero(away & (values >= highest - _TIE))
    return _first_of_largest(values, peaks) if len(peaks) else None


def trim_false_positives(
    inside: ArrayLike,
    scores: ArrayLike,
    *,
    bins: int = DEFAULTS.bins,
    epsilon: float = DEFAULTS.epsilon,
    trim: Trim = DEFAULTS.trim,
) -> Mask:
    """`inside` (n,) without its false positives (section 6.2, footnote 10; Algorithm 1, lines 10 to 14).

    Passages inside with the PS nearest to those outside are moved out one by one (lowest PS first where the
    inside mean is the higher one, highest first otherwise). "local": as long as no move lowers KL[inside || outside].
    "initial", which is line 11 to the letter: a move is made as long as the divergence is no less than before the
    first one, so the move that takes it below is made as well. Moves that leave it as it is go on in both.
    At least one passage stays inside: of nothing there is no divergence. Equal PS move in the order of their rows.

    Worked value: PS (0.9, 0.9, 0, 0, 0.1) with the first three inside, 2 bins: row 2 moves out, after which
    every further move lowers the divergence, and "local" ends. It is still above the first one, so "initial" goes on
    until one passage is left.
    """
    mask = np.asarray(inside, dtype=np.bool_).copy()
    values = finite_vector(scores, "scores")
    if mask.shape != values.shape:
        raise ValueError(f"inside and scores must have the same shape, not {mask.shape} and {values.shape}")
    if not mask.any() or mask.all():
        return mask
    numbers = np.eye(bins)[bin_numbers(values, bins)]
    high = values[mask].mean() > values[~mask].mean()
    queue = np.flatnonzero(mask)[np.argsort(values[mask] if high else -values[mask], kind="stable")]
    moved = np.vstack([np.zeros(bins), np.cumsum(numbers[queue[:-1]], axis=0)])
    above, below = numbers[mask].sum(axis=0) - moved, numbers[~mask].sum(axis=0) + moved
    values_after = _divergences(
        above / above.sum(axis=1, keepdims=True), below / below.sum(axis=1, keepdims=True), epsilon
    )
    steps = np.diff(values_after) if trim == "local" else values_after - values_after[0]
    falls = np.flatnonzero(steps < -_TIE)
    mask[queue[: falls[0] if len(falls) else len(queue) - 1]] = False
    return mask


def bias_def(query: ArrayLike, embeddings: ArrayLike, settings: BiasDefSettings = DEFAULTS) -> BiasDefResult:
    """Algorithm 1 on the candidates of one question: `query` (d,), `embeddings` (n, d).

    The result does not depend on the order of the rows. Fewer than three passages, passages that are all the
    same or equally similar to the question, and curves without a peak give a result that flags nothing.

    Worked value: query (1, 0), six rows at angles 5, 6, -40, -50, -60, -70 degrees: the PS of the first two
    lies apart from the rest, the peak is after them, rows 0 and 1 are flagged.

    Raises ValueError naming the row for NaN, infinity and zero vectors.
    """
    matrix, question = _checked(query, embeddings)
    similarities = _cosines(matrix, question)
    order = _canonical_order(matrix, similarities)
    matrix, similarities = matrix[order], similarities[order]
    axis = polarization_axis(matrix, component=settings.component)
    scores = polarization_scores(matrix, axis)
    curve = kl_curve(similarities, scores, bins=settings.bins, epsilon=settings.epsilon)
    rule, most = settings.rule, settings.max_flagged_share
    can_split = len(scores) >= 3 and bool(np.ptp(scores) > 0.0)
    peak = max_kl_cut(curve, delta=settings.delta, rule=rule, max_flagged_share=most) if can_split else None
    cut = np.arange(len(matrix)) < (0 if peak is None else curve.sizes[peak])
    core = trim_false_positives(cut, scores, bins=settings.bins, epsilon=settings.epsilon, trim=settings.trim)
    distances = _distances_to(core, matrix, settings)
    near = distances < settings.distance
    place = np.argsort(order)
    flagged = np.flatnonzero((core | near)[place])
    return BiasDefResult(
        kept=_rows(~(core | near)[place]),
        flagged=tuple(flagged.tolist()),
        reasons=tuple(FlagReason.MAX_KL if core[place][r] else FlagReason.MAHALANOBIS for r in flagged),
        trimmed=_rows((cut & ~core)[place]),
        boundary=None if peak is None else float(curve.thresholds[peak]),
        curve=curve,
        similarities=similarities[place],
        scores=scores[place],
        distances=distances[place],
        axis=axis,
        settings=settings,
    )


def _checked(query: ArrayLike, embeddings: ArrayLike) -> tuple[Floats, Floats]:
    matrix, question = embedding_matrix(embeddings), finite_vector(query, "query")
    if len(matrix) and matrix.shape[1] != len(question):
        raise ValueError(f"embeddings have {matrix.shape[1]} dimensions and the query has {len(question)}")
    if not question.any():
        raise ValueError("query is the zero vector, which has no direction: encode a text that is not empty")
    return matrix, question


def _cosines(matrix: Floats, vector: Floats) -> Floats:
    """SS (n,) of Eq. 1, rounded the same way wherever a row stands."""
    lengths = np.sqrt((matrix**2).sum(axis=1)) * np.linalg.norm(vector)
    return np.asarray(row_dots(matrix, vector) / lengths) if len(matrix) else np.empty(0)


def _canonical_order(matrix: Floats, similarities: Floats) -> Rows:
    """Rows by falling SS, equal ones by their embedding: an order that only the set of rows decides."""
    order = np.argsort(-similarities, kind="stable")
    if np.any(np.diff(similarities[order]) == 0.0):
        order = np.lexsort((*matrix.T[::-1], -similarities))
    return np.asarray(order, dtype=np.intp)


def _distances_to(core: Mask, matrix: Floats, settings: BiasDefSettings) -> Floats:
    """Eq. 12 in units of the cluster for the rows outside `core`; NaN inside, and everywhere without a covariance."""
    distances = np.full(len(matrix), np.nan)
    if settings.distance > 0.0 and core.sum() > 1:
        plain = mahalanobis(matrix, matrix[core], shrinkage=settings.shrinkage, ridge=settings.ridge)
        own = np.sqrt((plain[core] ** 2).mean())
        distances[~core] = plain[~core] / own if own > 0.0 else plain[~core]
    return distances


def _divergences(p: Floats, q: Floats, epsilon: float) -> Floats:
    """KL (c,) of each row of `p` from the same row of `q`, both (c, m), smoothed by `epsilon`."""
    first, second = p + epsilon, q + epsilon
    first = first / first.sum(axis=1, keepdims=True)
    second = second / second.sum(axis=1, keepdims=True)
    return np.asarray((first * np.log(first / second)).sum(axis=1))


def _windows(curve: KLCurve, delta: float) -> Mask:
    """(c, c): whether a cut lies within `delta` of another or next to it."""
    places = np.arange(len(curve.values))
    near = np.abs(curve.thresholds[:, None] - curve.thresholds) <= delta
    return np.asarray(near | (np.abs(places[:, None] - places) <= 1))


def _first_of_largest(values: Floats, cuts: Rows) -> int:
    chosen = values[cuts]
    return int(cuts[np.argmax(chosen >= chosen.max() - _TIE)])


def _rows(mask: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(mask).tolist())
