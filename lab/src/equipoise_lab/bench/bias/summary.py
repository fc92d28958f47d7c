"""All numbers of a run, or of some of its queries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from equipoise_lab.bench.bias import facts, likert, metrics, profile
from equipoise_lab.bench.bias.answered import Answered, answered
from equipoise_lab.bench.bias.asked import Asked
from equipoise_lab.bench.bias.facts import FactShares
from equipoise_lab.bench.bias.likert import Likert
from equipoise_lab.bench.bias.metrics import ESTIMATOR, Cell, Truth, Worst
from equipoise_lab.bench.bias.plan import BiasPlan
from equipoise_lab.bench.bias.profile import Properties
from equipoise_lab.bench.bias.records import (
    UNATTACKED,
    BiasRecord,
    BiasTiming,
    Condition,
    FactRecord,
    PassageRecord,
    by_place,
)
from equipoise_lab.bench.estimates import Estimate


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything a run left behind: records of ids and numbers, and what is known of its queries.

    `said` (by chat models) and `facts` are empty where they were not asked for.
    """

    plan: BiasPlan
    truths: Mapping[str, Truth]
    config: Mapping[str, object]
    results: Sequence[BiasRecord]
    timings: Sequence[BiasTiming]
    passages: Sequence[PassageRecord]
    said: Asked = field(default_factory=Asked)
    facts: Sequence[FactRecord] = ()

    def only(self, queries: Collection[str]) -> "Measured":
        """The part of the run that is about `queries`; fact checks stay as they are."""
        kept = set(queries)
        return replace(
            self,
            results=[record for record in self.results if record.query_id in kept],
            timings=[timing for timing in self.timings if timing.query_id in kept],
            passages=[passage for passage in self.passages if passage.query_id in kept],
            said=self.said.only(kept),
        )


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """Mean times of a question."""

    filter_ms: Estimate | None
    retrieve_ms: Estimate | None


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
    answers: tuple[Answered, ...]
    likert: tuple[Likert, ...]
    facts: Mapping[str, FactShares] | None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The columns of tables: unattacked, negative and positive injections."""
        signs = ("adv_neg", "adv_pos")
        return ((UNATTACKED, 0), *((sign, n) for sign in signs for n in self.injections))


def summarise(run: Measured) -> BiasSummary:
    """Every measure with its 99% interval; None where nothing could be measured."""
    plan, records = run.plan, by_place(run.results)
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
    return BiasSummary(
        run.config,
        plan.filters,
        plan.attacked(),
        plan.k,
        len({record.query_id for record in run.results}),
        ESTIMATOR.level,
        cells,
        {name: metrics.worst_case([cell for cell in cells if cell.filter == name]) for name in plan.filters},
        {name: _distribution(name, run) for name in plan.filters},
        {name: _milliseconds(name, run) for name in plan.filters},
        profile.property_table(run.passages),
        answered(plan, run.results, run.said.answers),
        likert.summarised(run.said.likert),
        facts.shares(run.facts) if run.facts else None,
    )


def _distribution(name: str, run: Measured) -> list[float]:
    """The adversarial shares of all attacked records of a filter, ascending: what Figure 7 draws."""
    attacked = [record for record in run.results if record.filter == name and record.sign != UNATTACKED]
    shares = [
        metrics.measured(record, run.truths[record.query_id], run.plan.k)["adversarial_share"]
        for record in attacked
    ]
    return sorted(share for share in shares if share is not None)


def _milliseconds(name: str, run: Measured) -> Milliseconds:
    mine = [timing for timing in run.timings if timing.filter == name]
    return Milliseconds(
        ESTIMATOR.mean_by_unit((timing.query_id, timing.filter_ms) for timing in mine),
        ESTIMATOR.mean_by_unit((timing.query_id, timing.retrieve_ms) for timing in mine),
    )
