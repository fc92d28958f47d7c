"""Paired tests: each system against one of them, on the questions that both have a value for."""

from collections.abc import Iterable, Mapping, Sequence

from equipoise_lab.bench.paired import Tested, against
from equipoise_lab.bench.qa.records import Judgement, QaRecord
from equipoise_lab.bench.qa.reporting.measures import ESTIMATOR

SCORES = ("answer_recall", "answer_hit", "evidence_hit", "decision_correct")
RIGHT = "right to answer or decline"
BASE = "vanilla"


def paired_tests(
    by: Mapping[str, Sequence[QaRecord]], judged: Mapping[str, Sequence[Judgement]]
) -> list[Tested]:
    """Differences to the base, their intervals and p-values, Holm-corrected over all tests of a data set.

    The base of a measure is vanilla RAG; where that has no values of it, the first system that has, by name.
    """
    measures: dict[str, dict[str, dict[str, float]]] = {}

    def keep(measure: str, system: str, item: str, value: float | None) -> None:
        if value is not None:
            measures.setdefault(measure, {}).setdefault(system, {})[item] = value

    for system, records in by.items():
        for record in records:
            for name in SCORES:
                keep(name, system, record.item_id, record.score(name))
            if record.answerable is not None and not record.failed:
                keep(RIGHT, system, record.item_id, float(record.answered == record.answerable))
    for system, judgements in judged.items():
        for judgement in judgements:
            keep(judgement.rater, system, judgement.item_id, judgement.value)
    return against(
        measures,
        lambda systems: base_of(systems) or min(systems),
        seed=ESTIMATOR.seed,
        level=ESTIMATOR.level,
        resamples=ESTIMATOR.resamples,
    )


def base_of(systems: Iterable[str]) -> str | None:
    """Vanilla RAG, the first of several models by name; None where it was not run."""
    return next((name for name in systems if name.split(" [")[0] == BASE), None)
