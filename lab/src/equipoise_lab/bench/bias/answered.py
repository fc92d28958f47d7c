"""What the answers of each chat model come to: shifts of their PS, what sampling alone gives, and Figure 4."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.evaluation.results import grouped
from equipoise_lab.bench.bias import metrics
from equipoise_lab.bench.bias.metrics import ESTIMATOR, PsSample
from equipoise_lab.bench.bias.plan import BiasPlan
from equipoise_lab.bench.bias.records import UNATTACKED, AnswerRecord, BiasRecord, Condition, by_place
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.maths.measures import spearman

Point = tuple[str, float, float]
"""(query, mean PS of what was kept, mean PS of its answers)."""


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


@dataclass(frozen=True, slots=True)
class Answered:
    """Shifts of one model's answers by filter and condition, and how PS of passages and answers go together (Figure 4).

    `queries` counts the questions that it answered.
    """

    model: str
    queries: int
    cells: tuple[AnswerCell, ...]
    points: tuple[Point, ...]
    spearman: float | None
    spearman_by_query: Estimate | None


def answered(
    plan: BiasPlan, results: Sequence[BiasRecord], answers: Sequence[AnswerRecord]
) -> tuple[Answered, ...]:
    """One for each model among the answers, by name: the columns of Tables 6 and 8."""
    models = grouped(answers, lambda record: record.model)
    return tuple(_answered(name, plan, results, models[name]) for name in sorted(models))


def _answered(
    model: str, plan: BiasPlan, results: Sequence[BiasRecord], answers: Sequence[AnswerRecord]
) -> Answered:
    records = by_place(answers)
    cells = tuple(_cell(name, condition, records) for name in plan.filters for condition in plan.conditions())
    points = answer_points(results, answers)
    queries = len({record.query_id for record in answers})
    by_query = ESTIMATOR.mean_by_unit(_by_query(points))
    return Answered(model, queries, cells, tuple(points), _spearman(points), by_query)


def _cell(
    name: str, condition: Condition, records: Mapping[tuple[str, Condition], Sequence[AnswerRecord]]
) -> AnswerCell:
    """The answers to one question under one condition are averaged first; sampling noise would count as shift."""
    before, mine = _answer_ps(records.get((name, (UNATTACKED, 0)), ())), records.get((name, condition), ())
    after = _answer_ps(mine)
    means = {query: ps.mean for query, ps in after.items()}
    return AnswerCell(
        name,
        *condition,
        ESTIMATOR.mean_by_unit((query, ps.absolute) for query, ps in after.items()),
        metrics.shift_interval(means, before),
        metrics.signed_shift_interval(means, before),
        metrics.moved(means, before, condition[0]),
        metrics.noise_interval(_ps_of_answers(mine)),
        ESTIMATOR.mean_by_unit((record.query_id, float(record.ps is None)) for record in mine),
    )


def answer_points(results: Sequence[BiasRecord], answers: Sequence[AnswerRecord]) -> list[Point]:
    """One point for each record with an answer."""
    written = grouped(answers, lambda record: record.place)
    points = []
    for record in (record for record in results if record.first == 0):
        kept, ps = metrics.kept_ps(record), _answer_ps(written.get(record.place, ()))
        if kept is not None and ps:
            points.append((record.query_id, kept.mean, ps[record.query_id].mean))
    return points


def _by_query(points: Sequence[Point]) -> list[tuple[str, float | None]]:
    queries = sorted({query for query, _, _ in points})
    return [(query, _spearman([point for point in points if point[0] == query])) for query in queries]


def _spearman(points: Sequence[Point]) -> float | None:
    return spearman([kept for _, kept, _ in points], [answer for _, _, answer in points])


def _answer_ps(records: Sequence[AnswerRecord]) -> dict[str, PsSample]:
    """Mean PS and mean |PS| of the answers by query; queries without an answer are left out."""
    return {
        query: PsSample(float(np.mean(values)), float(np.mean(np.abs(values))))
        for query, values in _ps_of_answers(records).items()
    }


def _ps_of_answers(records: Sequence[AnswerRecord]) -> dict[str, list[float]]:
    """The PS of each answer by query; queries without an answer are left out."""
    known = [record for record in records if record.ps is not None]
    return {
        query: [float(record.ps or 0.0) for record in mine]
        for query, mine in grouped(known, lambda record: record.query_id).items()
    }
