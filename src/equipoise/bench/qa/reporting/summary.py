"""All numbers of a run as one JSON object: by data set, every measure with its interval and n."""

from typing import Any

from equipoise.bench.qa.reporting import abstention, agreement, battles, measures, paired, ratings
from equipoise.bench.qa.reporting.intervals import LEVEL
from equipoise.bench.qa.reporting.measures import Rows, by_system
from equipoise.bench.qa.reporting.recorded import KEYS, Run

Summary = dict[str, Any]


def summarise(run: Run) -> Summary:
    """{"meta", "level", "rows" by file, "datasets" by name}; None and [] where nothing could be measured."""
    return {
        "meta": run.meta,
        "level": LEVEL,
        "rows": {name: len(getattr(run, name)) for name in KEYS},
        "datasets": {name: section(run.of(name)) for name in run.datasets()},
    }


def section(run: Run) -> Summary:
    """The numbers of one data set."""
    by = by_system(run.results)
    items = {row["item_id"]: row["answerable"] for row in run.results}
    return {
        "n": len(items),
        "answerable": sum(known is True for known in items.values()),
        "unanswerable": sum(known is False for known in items.values()),
        "contenders": list(by),
        "counts": {name: measures.counts(rows) for name, rows in by.items()},
        "measures": {name: measures.measures(rows) for name, rows in by.items()},
        "declining": _each(by, measures.declining),
        "decisions": _each(by, measures.decisions),
        "relations": _each(by, measures.relations),
        "worst_guesses": _each(by, measures.worst_guesses),
        "cost": _costs(by, run.timings),
        "ratings": ratings.ratings(run.judgements, run.results),
        "correlations": ratings.correlations(run.results, run.judgements),
        "battles": battles.battles(run.comparisons, run.results),
        "agreement": agreement.agreement(run.judgements, run.comparisons),
        "tests": paired.paired_tests(run.results, run.judgements),
        "abstention": abstention.abstention(run.results),
    }


def _each(by: dict[str, Any], measure: Any) -> Summary:  # noqa: ANN401
    """The measure of each system that has one."""
    return {name: found for name, rows in by.items() if (found := measure(rows))}


def _costs(by: dict[str, Any], timings: Rows) -> Summary:
    timed = by_system(timings)
    base = paired.base_of(by)
    compared = (by[base], timed.get(base, [])) if base else None
    return {name: measures.cost(rows, timed.get(name, []), compared) for name, rows in by.items()}
