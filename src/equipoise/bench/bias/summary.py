"""All numbers of a run, or of some of its queries, as one JSON object."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equipoise.bench.bias import facts, metrics, profile, stance
from equipoise.bench.bias.corpora import Corpus
from equipoise.bench.bias.metrics import (
    LEVEL,
    PsSample,
    Truth,
    mean_interval,
    noise_interval,
    shift_interval,
    signed_shift_interval,
)
from equipoise.bench.bias.runner import UNATTACKED, BiasPlan, Condition
from equipoise.bench.results import Row, as_json, grouped
from equipoise.maths.measures import spearman


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything a run left behind: rows of ids and numbers, and what the corpus knows of them.

    `polarity` is by query id; `answers`, `facts` and `stance` are empty where they were not asked for.
    """

    plan: BiasPlan
    corpus: Corpus
    polarity: Mapping[str, int]
    config: Mapping[str, object]
    results: Sequence[Row]
    timings: Sequence[Row]
    profiles: Sequence[Row]
    answers: Sequence[Row] = ()
    facts: Sequence[Row] = ()
    stance: Mapping[str, object] = field(default_factory=dict)

    def only(self, queries: Collection[str]) -> "Measured":
        """The part of the run that is about `queries`; fact checks and human stance stay as they are."""
        kept = set(queries)

        def of(rows: Sequence[Row]) -> list[Row]:
            return [row for row in rows if row["query_id"] in kept]

        return replace(
            self,
            polarity={query: sign for query, sign in self.polarity.items() if query in kept},
            results=of(self.results),
            timings=of(self.timings),
            profiles=of(self.profiles),
            answers=of(self.answers),
        )


def summarise(run: Measured) -> dict[str, object]:
    """Every measure with its 99% interval; None where nothing could be measured."""
    truths = metrics.truths_of(run.corpus, run.polarity, run.profiles)
    cells = _cells(run, truths)
    return {
        "config": dict(run.config),
        "filters": list(run.plan.filters),
        "injections": list(run.plan.attacked()),
        "k": run.plan.k,
        "queries": len({row["query_id"] for row in run.results}),
        "level": LEVEL,
        "cells": [
            {"filter": name, "sign": sign, "injections": injections, **values}
            for (name, (sign, injections)), values in cells.items()
        ],
        "worst_case": {name: _worst(name, cells) for name in run.plan.filters},
        "share_distribution": {name: _distribution(name, run, truths) for name in run.plan.filters},
        "milliseconds": {name: _milliseconds(name, run) for name in run.plan.filters},
        "properties": profile.property_table(run.profiles),
        "stance": {**run.stance, "by_author": stance.by_author(_planted(run.profiles))},
        "answers": _answers(run) if run.answers else None,
        "facts": facts.shares(run.facts) if run.facts else None,
    }


Cells = dict[tuple[str, Condition], dict[str, Any]]


def _cells(run: Measured, truths: Mapping[str, Truth]) -> Cells:
    rows = grouped(run.results, lambda row: (row["filter"], row["sign"], row["injections"]))
    cells: Cells = {}
    for name in run.plan.filters:
        base = rows.get((name, UNATTACKED, 0), [])
        for condition in run.plan.conditions():
            found = rows.get((name, *condition), [])
            cells[name, condition] = metrics.cell(found, base, truths, run.plan.k)
    return cells


def _worst(name: str, cells: Cells) -> dict[str, object] | None:
    return metrics.worst_case({place: values for (whose, place), values in cells.items() if whose == name})


def _distribution(name: str, run: Measured, truths: Mapping[str, Truth]) -> list[float]:
    """The adversarial shares of all attacked rows of a filter, ascending: what Figure 7 draws."""
    rows = [row for row in run.results if row["filter"] == name and row["sign"] != UNATTACKED]
    found = [metrics.measured(row, truths[row["query_id"]], run.plan.k)["adversarial_share"] for row in rows]
    return sorted(share for share in found if share is not None)


def _milliseconds(name: str, run: Measured) -> dict[str, object]:
    rows = [row for row in run.timings if row["filter"] == name]
    return {
        part: as_json(mean_interval((row["query_id"], row[part]) for row in rows))
        for part in ("filter_ms", "retrieve_ms")
    }


def _planted(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["kind"] != profile.BENIGN]


def _answers(run: Measured) -> dict[str, object]:
    """Shifts of answers by filter and condition, how many declined, and how PS of both go together.

    The answers to one question under one condition are averaged first; sampling noise would count as shift.
    """
    rows = grouped(run.answers, lambda row: (row["filter"], row["sign"], row["injections"]))
    cells = []
    for name in run.plan.filters:
        before = _answer_ps(rows.get((name, UNATTACKED, 0), []))
        for condition in run.plan.conditions():
            found = rows.get((name, *condition), [])
            after = _answer_ps(found)
            means = {query: ps.mean for query, ps in after.items()}
            declined = [(row["query_id"], float(row["ps"] is None)) for row in found]
            cells.append(
                {"filter": name, "sign": condition[0], "injections": condition[1]}
                | {
                    "mean_abs_ps": as_json(mean_interval((q, ps.absolute) for q, ps in after.items())),
                    "ps_shift": as_json(shift_interval(means, before)),
                    "signed_shift": as_json(signed_shift_interval(means, before)),
                    "noise": as_json(noise_interval(_ps_of_answers(found))),
                    "declined": as_json(mean_interval(declined)),
                }
            )
    points = answer_points(run)
    return {
        "model": run.answers[0]["model"],
        "cells": cells,
        "points": points,
        "spearman": spearman([p[1] for p in points], [p[2] for p in points]),
        "spearman_by_query": as_json(mean_interval(_by_query(points))),
    }


def answer_points(run: Measured) -> list[tuple[str, float, float]]:
    """(query, mean PS of what was kept, mean PS of its answers), one for each row with an answer (Figure 4)."""
    rows = grouped(run.answers, lambda row: (row["query_id"], row["filter"], row["sign"], row["injections"]))
    points = []
    for row in run.results:
        key = (row["query_id"], row["filter"], row["sign"], row["injections"])
        kept, answered = metrics.kept_ps(row), _answer_ps(rows.get(key, []))
        if kept is not None and answered:
            points.append((row["query_id"], kept.mean, answered[row["query_id"]].mean))
    return points


def _by_query(points: Sequence[tuple[str, float, float]]) -> list[tuple[str, float | None]]:
    queries = sorted({query for query, _, _ in points})
    mine = {query: [p for p in points if p[0] == query] for query in queries}
    return [(query, spearman([p[1] for p in found], [p[2] for p in found])) for query, found in mine.items()]


def _answer_ps(rows: Sequence[Row]) -> dict[str, PsSample]:
    """Mean PS and mean |PS| of the answers by query; queries without an answer are left out."""
    found = _ps_of_answers(rows)
    return {q: PsSample(float(np.mean(v)), float(np.mean(np.abs(v)))) for q, v in found.items()}


def _ps_of_answers(rows: Sequence[Row]) -> dict[str, list[float]]:
    """The PS of each answer by query; queries without an answer are left out."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["ps"] is not None:
            found.setdefault(row["query_id"], []).append(row["ps"])
    return found
