"""All numbers of a run, or of some of its queries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from equipoise.bench.bias import facts, metrics, profile, stance
from equipoise.bench.bias.facts import FactShares
from equipoise.bench.bias.metrics import ESTIMATOR, Cell, PsSample, Truth, Worst
from equipoise.bench.bias.plan import BiasPlan
from equipoise.bench.bias.profile import Properties
from equipoise.bench.bias.records import (
    UNATTACKED,
    AnswerRecord,
    BiasRecord,
    BiasTiming,
    Condition,
    FactRecord,
    PassageRecord,
    UnderCondition,
)
from equipoise.bench.bias.stance import StanceAgreement
from equipoise.bench.estimates import Estimate
from equipoise.maths.measures import spearman


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything a run left behind: records of ids and numbers, and what is known of its queries.

    `answers`, `facts` and `stance` are empty where they were not asked for.
    """

    plan: BiasPlan
    truths: Mapping[str, Truth]
    config: Mapping[str, object]
    results: Sequence[BiasRecord]
    timings: Sequence[BiasTiming]
    passages: Sequence[PassageRecord]
    answers: Sequence[AnswerRecord] = ()
    facts: Sequence[FactRecord] = ()
    stance: StanceAgreement | None = None

    def only(self, queries: Collection[str]) -> "Measured":
        """The part of the run that is about `queries`; fact checks and human stance stay as they are."""
        kept = set(queries)
        return replace(
            self,
            results=[one for one in self.results if one.query_id in kept],
            timings=[one for one in self.timings if one.query_id in kept],
            passages=[one for one in self.passages if one.query_id in kept],
            answers=[one for one in self.answers if one.query_id in kept],
        )


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """Mean times of a question."""

    filter_ms: Estimate | None
    retrieve_ms: Estimate | None


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """Answers to what one filter kept under one condition. `declined` is the share without text."""

    filter: str
    sign: str
    injections: int
    mean_abs_ps: Estimate | None
    ps_shift: Estimate | None
    signed_shift: Estimate | None
    moved: Estimate | None
    noise: Estimate | None
    declined: Estimate | None

    @property
    def condition(self) -> Condition:
        """Sign and number of injections."""
        return self.sign, self.injections


T = TypeVar("T", bound=UnderCondition)

Point = tuple[str, float, float]
"""(query, mean PS of what was kept, mean PS of its answers)."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Shifts of answers by filter and condition, and how PS of passages and answers go together (Figure 4)."""

    model: str
    cells: tuple[AnswerCell, ...]
    points: tuple[Point, ...]
    spearman: float | None
    spearman_by_query: Estimate | None


@dataclass(frozen=True, slots=True)
class BiasSummary:
    """All numbers of a run, as summary.json has them."""

    config: Mapping[str, object]
    filters: tuple[str, ...]
    injections: tuple[int, ...]
    k: int
    queries: int
    level: float
    cells: tuple[Cell, ...]
    worst_case: Mapping[str, Worst | None]
    share_distribution: Mapping[str, list[float]]
    milliseconds: Mapping[str, Milliseconds]
    properties: Mapping[str, Properties]
    stance: Mapping[str, object]
    answers: Answered | None
    facts: Mapping[str, FactShares] | None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The columns of tables: unattacked, negative and positive injections."""
        signs = ("adv_neg", "adv_pos")
        return ((UNATTACKED, 0), *((sign, n) for sign in signs for n in self.injections))


def summarise(run: Measured) -> BiasSummary:
    """Every measure with its 99% interval; None where nothing could be measured."""
    plan, records = run.plan, _by_place(run.results)
    cells = tuple(
        metrics.cell(
            (name, condition),
            records.get((name, condition), []),
            records.get((name, (UNATTACKED, 0)), []),
            run.truths,
            plan.k,
        )
        for name in plan.filters
        for condition in plan.conditions()
    )
    planted = [one for one in run.passages if one.kind != profile.BENIGN]
    return BiasSummary(
        run.config,
        plan.filters,
        plan.attacked(),
        plan.k,
        len({one.query_id for one in run.results}),
        ESTIMATOR.level,
        cells,
        {name: metrics.worst_case([one for one in cells if one.filter == name]) for name in plan.filters},
        {name: _distribution(name, run) for name in plan.filters},
        {name: _milliseconds(name, run) for name in plan.filters},
        profile.property_table(run.passages),
        stance.by_name(run.stance) | {"by_author": stance.by_author(planted)},
        _answers(run) if run.answers else None,
        facts.shares(run.facts) if run.facts else None,
    )


def _by_place(records: Iterable[T]) -> dict[tuple[str, Condition], list[T]]:
    """The records by filter and condition."""
    found: dict[tuple[str, Condition], list[T]] = {}
    for one in records:
        found.setdefault((one.filter, one.condition), []).append(one)
    return found


def _distribution(name: str, run: Measured) -> list[float]:
    """The adversarial shares of all attacked records of a filter, ascending: what Figure 7 draws."""
    attacked = [one for one in run.results if one.filter == name and one.sign != UNATTACKED]
    shares = [
        metrics.measured(one, run.truths[one.query_id], run.plan.k)["adversarial_share"] for one in attacked
    ]
    return sorted(share for share in shares if share is not None)


def _milliseconds(name: str, run: Measured) -> Milliseconds:
    mine = [one for one in run.timings if one.filter == name]
    return Milliseconds(
        ESTIMATOR.mean_by_unit((one.query_id, one.filter_ms) for one in mine),
        ESTIMATOR.mean_by_unit((one.query_id, one.retrieve_ms) for one in mine),
    )


def _answers(run: Measured) -> Answered:
    """The answers to one question under one condition are averaged first; sampling noise would count as shift."""
    records = _by_place(run.answers)
    cells = []
    for name in run.plan.filters:
        before = _answer_ps(records.get((name, (UNATTACKED, 0)), []))
        for condition in run.plan.conditions():
            mine = records.get((name, condition), [])
            after = _answer_ps(mine)
            means = {query: ps.mean for query, ps in after.items()}
            cells.append(
                AnswerCell(
                    name,
                    *condition,
                    ESTIMATOR.mean_by_unit((query, ps.absolute) for query, ps in after.items()),
                    metrics.shift_interval(means, before),
                    metrics.signed_shift_interval(means, before),
                    metrics.moved(means, before, condition[0]),
                    metrics.noise_interval(_ps_of_answers(mine)),
                    ESTIMATOR.mean_by_unit((one.query_id, float(one.ps is None)) for one in mine),
                )
            )
    points = answer_points(run)
    return Answered(
        run.answers[0].model,
        tuple(cells),
        tuple(points),
        _spearman(points),
        ESTIMATOR.mean_by_unit(_by_query(points)),
    )


def answer_points(run: Measured) -> list[Point]:
    """One point for each record with an answer."""
    answers: dict[tuple[object, ...], list[AnswerRecord]] = {}
    for one in run.answers:
        answers.setdefault((one.query_id, one.filter, one.condition), []).append(one)
    points = []
    for record in (one for one in run.results if one.first == 0):
        kept = metrics.kept_ps(record)
        answered = _answer_ps(answers.get((record.query_id, record.filter, record.condition), []))
        if kept is not None and answered:
            points.append((record.query_id, kept.mean, answered[record.query_id].mean))
    return points


def _by_query(points: Sequence[Point]) -> list[tuple[str, float | None]]:
    queries = sorted({query for query, _, _ in points})
    return [(query, _spearman([point for point in points if point[0] == query])) for query in queries]


def _spearman(points: Sequence[Point]) -> float | None:
    return spearman([kept for _, kept, _ in points], [answered for _, _, answered in points])


def _answer_ps(records: Sequence[AnswerRecord]) -> dict[str, PsSample]:
    """Mean PS and mean |PS| of the answers by query; queries without an answer are left out."""
    return {
        query: PsSample(float(np.mean(values)), float(np.mean(np.abs(values))))
        for query, values in _ps_of_answers(records).items()
    }


def _ps_of_answers(records: Sequence[AnswerRecord]) -> dict[str, list[float]]:
    """The PS of each answer by query; queries without an answer are left out."""
    found: dict[str, list[float]] = {}
    for one in records:
        if one.ps is not None:
            found.setdefault(one.query_id, []).append(one.ps)
    return found
