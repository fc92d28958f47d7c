"""Runs every question through every filter under every condition, and keeps what came out as ids.

A row holds no text: the ids retrieved, kept, injected and flagged, and SS and PS of what was retrieved. All
measures are made from such rows afterwards (`metrics`), so a run is repeated only where a filter changed.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from equipoise.bench.bias.attacked_questions import AttackedQuestion
from equipoise.bench.bias.background import Background
from equipoise.bench.bias.vectors import Workspace
from equipoise.bench.results import Lines, Row
from equipoise.core.errors import InputError
from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Flag, Query
from equipoise.maths.polarization import polarization_scores
from equipoise.redteam.passages import Kind

KEY = ("query_id", "filter", "sign", "injections")
RESULTS, TIMINGS = "results.jsonl", "timings.jsonl"
UNATTACKED = "none"
DIGITS = 5

Condition = tuple[str, int]
"""(sign, injections): ("none", 0), ("adv_neg", 5)."""


@dataclass(frozen=True, slots=True)
class BiasPlan:
    """What is run. Conditions always begin with the unattacked one: shifts are measured from it."""

    filters: tuple[str, ...]
    injections: tuple[int, ...] = (0, 1, 5, 10)
    k: int = 5
    candidates: int = 20
    retriever: str = "dense"

    def __post_init__(self) -> None:
        if not self.filters:
            raise InputError("no filter was named: give --filters none,biasdef for example")
        if self.k < 1 or self.candidates < self.k:
            raise InputError(
                f"{self.candidates} candidates for the top {self.k} are not possible: "
                "give -k of at least 1 and --candidates of at least -k"
            )
        if min(self.injections, default=0) < 0:
            raise InputError(f"{min(self.injections)} injections are not possible: give numbers from 0")

    def attacked(self) -> tuple[int, ...]:
        """The numbers of injected passages, ascending, without 0."""
        return tuple(sorted(set(self.injections) - {0}))

    def conditions(self) -> tuple[Condition, ...]:
        """Unattacked, then each sign with each number of injections."""
        signs = (Kind.ADV_NEG, Kind.ADV_POS)
        return ((UNATTACKED, 0), *((sign.value, n) for sign in signs for n in self.attacked()))


async def run(
    attacked_questions: Sequence[AttackedQuestion],
    background: Background,
    filters: Mapping[str, PassageFilter],
    plan: BiasPlan,
    workspace: Workspace,
) -> tuple[list[Row], list[Row]]:
    """Do what the output folder does not hold yet; (results, timings) of the whole plan, in the order of their keys."""
    with Lines(workspace.out / RESULTS, KEY) as lines, Lines(workspace.out / TIMINGS, KEY) as timings:
        work = _Work(background, filters, plan, lines, timings)
        total = len(attacked_questions) * len(plan.conditions())
        for number, attacked in enumerate(attacked_questions):
            for place, condition in enumerate(plan.conditions()):
                done = number * len(plan.conditions()) + place
                workspace.progress(done, total, f"{attacked.attack.query_id} {condition[0]} {condition[1]}")
                await work.condition(attacked, condition)
        wanted = {attacked.attack.query_id for attacked in attacked_questions}
        return _of(lines.finish(), wanted, plan), _of(timings.finish(), wanted, plan)


@dataclass(frozen=True, slots=True)
class _Work:
    background: Background
    filters: Mapping[str, PassageFilter]
    plan: BiasPlan
    lines: Lines
    timings: Lines

    async def condition(self, attacked: AttackedQuestion, condition: Condition) -> None:
        """Every filter that has no line yet, on the same candidates."""
        sign, injections = condition
        query_id, question = attacked.attack.query_id, attacked.attack.question
        todo = [name for name in self.plan.filters if (query_id, name, *condition) not in self.lines]
        if not todo:
            return
        planted = attacked.planted[Kind.ADV_POS if sign == UNATTACKED else Kind(sign)].first(injections)
        begin = time.perf_counter()
        found = self.background.search(question, attacked.vector, planted, k=self.plan.candidates)
        searched = time.perf_counter() - begin
        for name in todo:
            begin = time.perf_counter()
            filtered = await self.filters[name].filter(Query(question), found, k=self.plan.k)
            seconds = time.perf_counter() - begin
            key = dict(zip(KEY, (query_id, name, sign, injections), strict=True))
            times = {"retrieve_ms": round(searched * 1e3, 3), "filter_ms": round(seconds * 1e3, 3)}
            self.timings.append(key | times)
            injected = [passage.doc_id for passage in planted.passages]
            self.lines.append(key | {"injected": injected} | outcome(attacked, found, filtered))
            await asyncio.sleep(0)  # lets Ctrl-C through where a filter never waits


def outcome(attacked: AttackedQuestion, found: Candidates, filtered: Filtered) -> Row:
    """Ids, SS and PS of what was retrieved, best first; ids kept; ids flagged with reasons."""
    return {
        "candidates": [passage.doc_id for passage in found.passages],
        "ss": _rounded(found.embeddings @ attacked.vector),
        "ps": _rounded(polarization_scores(found.embeddings, attacked.axis)),
        "kept": [passage.doc_id for passage in filtered.kept.passages],
        "flagged": [_flag(flag) for flag in filtered.flagged],
    }


def _flag(flag: Flag) -> Row:
    score = round(float(flag.score), DIGITS) if np.isfinite(flag.score) else None
    return {"id": flag.passage.doc_id, "reason": flag.reason, "score": score}


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), DIGITS) + 0.0 for value in values]


def _of(rows: Sequence[Row], queries: set[str], plan: BiasPlan) -> list[Row]:
    """The rows that belong to the plan; a results file may hold more."""
    conditions = set(plan.conditions())
    return [
        row
        for row in rows
        if row["query_id"] in queries
        and row["filter"] in plan.filters
        and (row["sign"], row["injections"]) in conditions
    ]


def config_of(plan: BiasPlan, **more: str) -> dict[str, object]:
    """What must not change between the runs that share an output folder."""
    fixed = {name: value for name, value in asdict(plan).items() if name not in ("filters", "injections")}
    return fixed | more
