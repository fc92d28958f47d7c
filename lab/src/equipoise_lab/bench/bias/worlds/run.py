"""Every row in every world: one record for a row, a world and a question, with the means over the trials."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from equipoise.core.errors import ModelUnavailable
from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Query
from equipoise.evaluation.records import Record
from equipoise.evaluation.results import Key
from equipoise.evaluation.run import Ran, RecordForm, evaluate
from equipoise.evaluation.scorers import System
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.bias.worlds.plantings import AttackedCorpus, Trial, World

WORLDS = "worlds.jsonl"
DIGITS = 5


class WorldRecord(Record):
    """Means over the `trials` of a world and a question.

    `adversarial` and `relevant` are shares of the k seats, `most` the largest adversarial share of a trial; empty
    seats count as neither. `out_planted`, `out_synthetic`, `out_people` are the shares that a filter flagged of such
    passages among the candidates (people's: relevant ones), None where there were none. `seats` is the share of seats
    taken, `empty` counts the trials of which nothing was kept. `error` says why nothing was measured.
    """

    KEY: ClassVar[tuple[str, ...]] = ("world", "filter", "query_id")

    world: str
    filter: str
    query_id: str
    trials: int = 0
    adversarial: float = 0.0
    relevant: float = 0.0
    most: float = 0.0
    out_planted: float | None = None
    out_synthetic: float | None = None
    out_people: float | None = None
    seats: float = 0.0
    empty: int = 0
    error: str = ""

    @property
    def failed(self) -> bool:
        """See Record."""
        return bool(self.error)


@dataclass(frozen=True, slots=True)
class Row:
    """A System: a filter on the candidates of every trial; `searched` holds these while its filters run."""

    name: str
    filter: PassageFilter
    searched: Mapping[str, Sequence[Candidates]]
    k: int

    async def __call__(self, sample: World) -> list[Filtered]:
        """What it makes of each trial. Raises what the filter raises."""
        question = Query(sample.attacked.attack.question)
        return [
            await self.filter.filter(question, candidates, k=self.k)
            for candidates in self.searched[sample.sample_id]
        ]


async def run(
    attacked_corpus: AttackedCorpus,
    worlds: Sequence[World],
    filters: Mapping[str, PassageFilter],
    workspace: Workspace,
    *,
    k: int,
    candidates: int,
    asks: bool,
) -> list[WorldRecord]:
    """The records of all rows and worlds, those that the output folder holds and those that it lacks.

    Without `asks` nobody can be asked for a side: where one is missing, the record says so. Otherwise a model that
    cannot be reached ends the run, and what was measured stays.
    """
    searched: dict[str, list[Candidates]] = {}

    @asynccontextmanager
    async def search(
        samples: Sequence[World], _: Sequence[System[World, list[Filtered]]]
    ) -> AsyncIterator[None]:
        (world,) = samples
        searched[world.sample_id] = [
            attacked_corpus.candidates(world, trial, candidates) for trial in world.trials
        ]
        yield
        del searched[world.sample_id]

    def fields(sample: World, ran: Ran[list[Filtered]]) -> dict[str, Any]:
        if ran.error is not None:
            return {"error": str(ran.error)}
        return measured(sample, searched[sample.sample_id], ran.value, k)

    form: RecordForm[World, list[Filtered], WorldRecord] = RecordForm(WorldRecord, _key, fields)
    evaluated = await evaluate(
        worlds, [Row(name, passage_filter, searched, k) for name, passage_filter in filters.items()], (),
        workspace.out, form=form, file=WORLDS, progress=workspace.progress,
        errors=() if asks else (ModelUnavailable,),
        group=lambda world: world.sample_id, setup=search,
    )  # fmt: skip
    return evaluated.records


def measured(
    world: World, candidates: Sequence[Candidates], filtered: Sequence[Filtered], k: int
) -> dict[str, Any]:
    """The fields of a record.

    Worked value: one trial, k = 5, kept (a1, d1, d2) with a1 planted, d1 relevant: adversarial 0.2, relevant 0.2,
    seats 0.6.
    """
    rows = [
        _one(trial, there, made, k)
        for trial, there, made in zip(world.trials, candidates, filtered, strict=True)
    ]
    means = {name: _mean([row[name] for row in rows]) for name in rows[0]}
    return {
        "trials": len(rows),
        **means,
        "most": max(row["adversarial"] or 0.0 for row in rows),
        "empty": sum(row["seats"] == 0 for row in rows),
    }


def _one(trial: Trial, candidates: Candidates, filtered: Filtered, k: int) -> dict[str, float | None]:
    planted, beside = _ids(trial.planted.passages), _ids(trial.beside.passages)
    kept = [passage.doc_id for passage in filtered.kept.passages]
    flagged = {flag.passage.doc_id for flag in filtered.flagged}
    there = _ids(candidates.passages)
    return {
        "adversarial": _hits(kept, planted) / k,
        "relevant": _hits(kept, trial.relevant) / k,
        "out_planted": _share(flagged, there & planted),
        "out_synthetic": _share(flagged, there & beside),
        "out_people": _share(flagged, there & trial.relevant - beside),
        "seats": len(kept) / k,
    }


def _ids(passages: Sequence[Any]) -> set[str]:
    return {passage.doc_id for passage in passages}


def _hits(kept: Sequence[str], wanted: Collection[str]) -> int:
    return sum(doc_id in wanted for doc_id in kept)


def _share(flagged: Collection[str], of: Collection[str]) -> float | None:
    return sum(doc_id in flagged for doc_id in of) / len(of) if of else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), DIGITS) + 0.0 if known else None


def _key(sample: World, system: System[World, list[Filtered]]) -> Key:
    return sample.name, system.name, sample.attacked.attack.query_id
