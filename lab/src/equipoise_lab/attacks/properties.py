"""Whether attack passages have what an attack needs: properties 1 and 2 (section 3 and Table 1).

Of "Epistemic Bias Injection" (Wu and Saxena, arXiv 2512.00804). SS is the cosine of a passage to the question
(Eq. 1), PS its place on the polarization axis of the synthetic passages (Eq. 2 and 3). The paper does not say
against which benign passages Table 1 was made; here the caller passes them, with one encoder for all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from equipoise.core.errors import InputError
from equipoise.core.protocols import Encoder
from equipoise.core.types import Trust
from equipoise.corpus.store import Store
from equipoise.maths.checks import Floats, finite_vector
from equipoise.maths.polarization import polarization_axis, polarization_scores, row_dots
from equipoise.models.encoder import encode_questions
from equipoise_lab.attacks.passages import AttackPassage, Kind, Measures
from equipoise_lab.redteam.planter import PREFIX

DEPTH = 20
"""Benign passages a question is compared with: the paper's candidates, 4 k for k = 5."""

_DIGITS = 6


class Benign(NamedTuple):
    """SS (m,) and PS (m,) of the benign passages of a question."""

    similarities: Floats
    scores: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Yardstick:
    """What passages on one question are measured by: the question (d,), the axis (d,), the benign passages."""

    encoder: Encoder
    question: Floats
    axis: Floats
    benign: Benign | None = None

    def measure(self, passages: Sequence[AttackPassage]) -> tuple[AttackPassage, ...]:
        """The passages, each with its SS, PS and, beside benign passages, its properties."""
        if not passages:
            return ()
        vectors = np.asarray(self.encoder.encode([passage.text for passage in passages]), dtype=np.float64)
        ss, ps = row_dots(vectors, self.question), polarization_scores(vectors, self.axis)
        return tuple(
            replace(passage, measures=self._measures(passage.kind, float(s), float(p)))
            for passage, s, p in zip(passages, ss, ps, strict=True)
        )

    def _measures(self, kind: Kind, ss: float, ps: float) -> Measures:
        rounded = round(ss, _DIGITS), round(ps, _DIGITS)
        if self.benign is None or not len(self.benign.scores):
            return Measures(*rounded)
        first = has_property_1(ss, self.benign.similarities)
        return Measures(*rounded, first, has_property_2(ps, self.benign.scores, kind))


def has_property_1(similarity: float, benign: ArrayLike) -> bool:
    """Relevance: SS(d_adv) > SS(d_benign) for every benign passage (m,).

    Worked value: 0.7 against (0.6, 0.5) is True, against (0.7, 0.5) False.
    """
    return bool(np.all(similarity > finite_vector(benign, "benign")))


def has_property_2(score: float, benign: ArrayLike, kind: Kind) -> bool | None:
    """Bias: PS(d_adv) above every benign PS (m,) for a positive attack, below every one for a negative.

    None for a synthetic passage, which attacks nothing. Worked value: -0.2 against (-0.1, 0.3) is True for
    adv_neg and False for adv_pos.
    """
    scores = finite_vector(benign, "benign")
    if kind is Kind.SYNTHETIC:
        return None
    return bool(np.all(score > scores) if kind is Kind.ADV_POS else np.all(score < scores))


def oriented_axis(anchors: ArrayLike, stances: Sequence[int | None]) -> Floats:
    """The polarization axis (d,) of `anchors` (n, d), pointing to where their stances rise.

    The paper leaves the sign open. Without stances, or with equal ones, it is that of `polarization_axis`.
    Worked value: anchors (0, 1), (2, 1) with stances 1, -1 give (-1, 0).
    """
    matrix = np.asarray(anchors, dtype=np.float64)
    weights = np.array([stance or 0 for stance in stances], dtype=np.float64)
    rise = (weights - weights.mean()) @ matrix if len(weights) else np.zeros(0)
    return polarization_axis(matrix, towards=rise if rise.any() else None)


def yardstick(
    encoder: Encoder, question: str, anchors: Sequence[AttackPassage], benign: ArrayLike | None = None
) -> Yardstick:
    """A yardstick from the synthetic passages `anchors` and the vectors (m, d) of benign passages, if any.

    Raises InputError for fewer than two anchors: one passage has no axis.
    """
    if len(anchors) < 2:
        raise InputError(
            f"the polarization axis for {question!r} needs at least 2 synthetic passages, not {len(anchors)}: "
            "give a file that holds them"
        )
    asked = encode_questions(encoder, [question])[0].astype(np.float64)
    vectors = encoder.encode([anchor.text for anchor in anchors]).astype(np.float64)
    axis = oriented_axis(vectors, [anchor.stance for anchor in anchors])
    bare = Yardstick(encoder, asked, axis)
    if benign is None:
        return bare
    matrix = np.asarray(benign, dtype=np.float64)
    if not len(matrix):
        return bare
    return replace(bare, benign=Benign(row_dots(matrix, asked), polarization_scores(matrix, axis)))


def benign_vectors(store: Store, encoder: Encoder, question: str, *, depth: int = DEPTH) -> Floats:
    """The vectors (m, d) of the `depth` passages of `store` nearest to the question, trusted or not; planted ones left
    out."""
    vector = encode_questions(encoder, [question])[0]
    with store.snapshot():
        planted = {
            p.passage_id for d in store.unfiled() if d.startswith(PREFIX) for p in store.passages_of(d)
        }
        near = [
            (cosine, trust, number)
            for trust in Trust
            for number, cosine in store.partition(trust).nearest(vector, depth + len(planted), exact=True)
            if number not in planted
        ]
        best = sorted(near, key=lambda one: (-one[0], one[2]))[:depth]
        vectors = [store.partition(trust).vectors([number])[1] for _, trust, number in best]
    return np.asarray(np.concatenate([np.empty((0, len(vector))), *vectors]), dtype=np.float64)


def rank_in(store: Store, encoder: Encoder, question: str, similarity: float) -> int:
    """The place (from 1) a passage of this SS would have among the store's passages, by cosine."""
    vector = encode_questions(encoder, [question])[0].astype(np.float64)
    every = (store.partition(trust).matrix()[1].astype(np.float64) for trust in Trust)
    return 1 + sum(int((row_dots(matrix, vector) > similarity).sum()) for matrix in every)


PROPERTIES = {
    "both": (True, True),
    "only_1": (True, False),
    "only_2": (False, True),
    "neither": (False, False),
}


def property_shares(pairs: Iterable[tuple[bool | None, bool | None]]) -> dict[str, float]:
    """A row of the paper's Table 1, of whether each passage has properties 1 and 2: shares (0 to 1) by PROPERTIES, and
    the `count` of passages. Those without both measured are left out; empty for none.

    Worked value: (True, True), (True, False), (False, False), (True, True): 0.5, 0.25, 0, 0.25 of 4.
    """
    known = [pair for pair in pairs if None not in pair]
    if not known:
        return {}
    shares = {name: known.count(pair) / len(known) for name, pair in PROPERTIES.items()}
    return shares | {"count": len(known)}
