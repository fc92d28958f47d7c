"""All numbers of a run: by data set, every measure with its interval and n."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.qa.metrics import Decisions, Declining
from equipoise_lab.bench.qa.records import QaRecord
from equipoise_lab.bench.qa.reporting import battles, measures, ratings
from equipoise_lab.bench.qa.reporting.battles import Battle
from equipoise_lab.bench.qa.reporting.measures import ESTIMATOR, Counts, Relations, Spent, WorstGuess
from equipoise_lab.bench.qa.reporting.ratings import Correlation, Rating
from equipoise_lab.bench.qa.reporting.recorded import RECORDS, Run

M = TypeVar("M")
BASE = "vanilla"
"""What costs are compared with: of several models the first by name."""


@dataclass(frozen=True, slots=True)
class Section:
    """The numbers of one data set; empty where nothing could be measured."""

    JSON: ClassVar = {name: name for name in ("n", "answerable", "unanswerable")} | {
        "systems": "contenders"
    } | {
        name: name
        for name in (
            *("counts", "measures", "declining", "decisions", "relations", "worst_guesses", "cost"),
            *("ratings", "correlations", "battles"),
        )
    }  # fmt: skip

    n: int
    answerable: int
    unanswerable: int
    systems: list[str]
    counts: Mapping[str, Counts]
    measures: Mapping[str, Mapping[str, Estimate | None]]
    declining: Mapping[str, Declining]
    decisions: Mapping[str, Decisions]
    relations: Mapping[str, Relations]
    worst_guesses: Mapping[str, list[WorstGuess]]
    cost: Mapping[str, Mapping[str, Spent]]
    ratings: list[Rating]
    correlations: list[Correlation]
    battles: list[Battle]


@dataclass(frozen=True, slots=True)
class QaSummary:
    """All numbers of a run, as summary.json has them."""

    meta: Mapping[str, Any]
    level: float
    rows: Mapping[str, int]
    datasets: Mapping[str, Section]


def summarise(run: Run) -> QaSummary:
    """Every data set of a run, by name."""
    return QaSummary(
        run.meta,
        ESTIMATOR.level,
        {name: len(getattr(run, name)) for name in RECORDS},
        {name: section(run.of(name)) for name in run.datasets()},
    )


def section(run: Run) -> Section:
    """The numbers of one data set."""
    by, judged = run.by_system(run.results), run.by_system(run.judgements)
    items = {record.item_id: record.answerable for record in run.results}
    models = {record.model for record in run.results}
    return Section(
        len(items),
        sum(known is True for known in items.values()),
        sum(known is False for known in items.values()),
        list(by),
        {name: measures.counts(records) for name, records in by.items()},
        {name: measures.measures(records) for name, records in by.items()},
        _each(by, measures.declining),
        _each(by, measures.decisions),
        _each(by, measures.relations),
        _each(by, measures.worst_guesses),
        _costs(by, run),
        ratings.ratings(judged, list(by), models),
        ratings.correlations(by, judged),
        battles.battles(run.comparisons, models),
    )


def _each(
    by: Mapping[str, Sequence[QaRecord]], measure: Callable[[Sequence[QaRecord]], M | None]
) -> dict[str, M]:
    """The measure of each system that has one."""
    return {name: value for name, records in by.items() if (value := measure(records))}


def _costs(by: Mapping[str, Sequence[QaRecord]], run: Run) -> dict[str, dict[str, Spent]]:
    timed = run.by_system(run.timings)
    base = next((name for name in by if name.split(" [")[0] == BASE), None)
    compared = (by[base], timed.get(base, [])) if base else None
    return {name: measures.cost(records, timed.get(name, []), compared) for name, records in by.items()}
