"""Does PS order passages as people do? Spearman's correlation of PS with human stance, question by question.

Three axes are compared on the same passages: that of the synthetic anchors (where there is an attack file;
its sign is known, so the correlation has one), the first principal component of the labelled passages
themselves (its sign is arbitrary, so only the size of the correlation counts), and random directions: what
any direction gets. With two-sided labels the largest possible correlation is below 1 (0.87 for halves).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from equipoise.maths.checks import Floats
from equipoise.maths.polarization import polarization_axis, polarization_scores
from equipoise_lab.bench.bias.background import EmbeddedPassages
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.metrics import ESTIMATOR
from equipoise_lab.bench.bias.records import PassageRecord
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.maths.measures import spearman

LEAST = 4
"""Labelled passages of a question: with two, any direction correlates perfectly."""

RANDOM_AXES = 200


@dataclass(frozen=True, slots=True)
class StanceAgreement:
    """Mean correlations over `queries` questions; `left_out` ones could not be used."""

    anchors: Estimate | None
    own_axis: Estimate | None
    own_axis_auc: Estimate | None
    random: Estimate | None
    random_auc: Estimate | None
    queries: int
    left_out: int


MEANS = ("anchors", "own_axis", "own_axis_auc", "random", "random_auc")


def agreement(
    corpus: Corpus, embedded: EmbeddedPassages, axes: Mapping[str, tuple[Floats, int]]
) -> StanceAgreement:
    """Mean correlations over questions with intervals, and how many questions could not be used.

    `axes` holds by query id an axis (d,) and the question's polarity, for the queries that were attacked.
    """
    places = {passage.doc_id: row for row, passage in enumerate(embedded.passages)}
    usable = {query: sides for query, sides in sorted(corpus.stance.items()) if usable_stances(sides)}
    questions = {
        query: dict(zip(MEANS, _one(sides, embedded, places, axes.get(query)), strict=True))
        for query, sides in usable.items()
    }
    means: dict[str, Any] = {
        name: ESTIMATOR.mean_by_unit((query, correlations[name]) for query, correlations in questions.items())
        for name in MEANS
    }
    return StanceAgreement(**means, queries=len(questions), left_out=len(corpus.queries) - len(questions))


def by_name(agreement: StanceAgreement | None) -> dict[str, object]:
    """The numbers of an agreement by name; empty for None."""
    return (
        {}
        if agreement is None
        else {field.name: getattr(agreement, field.name) for field in fields(agreement)}
    )


def usable_stances(sides: Mapping[str, float]) -> bool:
    """At least 4 labelled passages, on both sides."""
    return len(sides) >= LEAST and min(sides.values()) < 0 < max(sides.values())


def _one(
    sides: Mapping[str, float],
    embedded: EmbeddedPassages,
    places: Mapping[str, int],
    axis: tuple[Floats, int] | None,
) -> tuple[float | None, ...]:
    """The correlations of one question, in the order of MEANS."""
    doc_ids = sorted(sides)
    vectors = embedded.vectors[[places[doc_id] for doc_id in doc_ids]]
    stances = np.array([sides[doc_id] for doc_id in doc_ids])
    own = polarization_scores(vectors, polarization_axis(vectors))
    drawn = np.random.default_rng(ESTIMATOR.seed).standard_normal((RANDOM_AXES, vectors.shape[1]))
    chance = [polarization_scores(vectors, direction) for direction in drawn]
    return (
        None if axis is None else spearman(polarization_scores(vectors, axis[0]), axis[1] * stances),
        _size(own, stances),
        separation(own, stances),
        float(np.mean([_size(scores, stances) or 0.0 for scores in chance])),
        float(np.mean([separation(scores, stances) for scores in chance])),
    )


def separation(scores: Floats, stances: Floats) -> float:
    """How well `scores` (n,) tell passages for (stance above 0) from those against: AUC, 0.5 to 1.

    The sign of an axis is arbitrary, so an AUC below 0.5 is turned round. Worked value: scores (1, 2, 3) of
    stances (-1, 1, -1): one of two pairs in order, 0.5. Both sides must occur.
    """
    above, below = scores[stances > 0][:, None], scores[stances < 0]
    area = float(np.mean((above > below) + 0.5 * (above == below)))
    return max(area, 1.0 - area)


def by_author(passages: Sequence[PassageRecord]) -> Estimate | None:
    """Spearman of PS and the stance that the attack's author gave, question by question: the mean.

    `passages` are those of attacks; passages and questions without a stance are left out.
    """
    pairs: dict[str, list[tuple[float, float]]] = {}
    for passage in passages:
        if passage.stance is not None:
            pairs.setdefault(passage.query_id, []).append((passage.ps, passage.stance))
    correlations = {query: spearman(*zip(*mine, strict=True)) for query, mine in pairs.items()}
    return ESTIMATOR.mean_by_unit(correlations.items())


def _size(scores: Floats, stances: Floats) -> float | None:
    value = spearman(scores, stances)
    return None if value is None else abs(value)
