"""Carries a suite out: one file of records for each attack, resumable, and the tables of what is there."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import EquipoiseError, InputError
from equipoise_lab.evaluation.budget import RunBudget
from equipoise_lab.evaluation.records import SampleRecord
from equipoise_lab.evaluation.results import check_config, fingerprint, write_atomically
from equipoise_lab.evaluation.run import Evaluated, Progress, evaluate, silent
from equipoise_lab.redteam.suite import summaries
from equipoise_lab.redteam.suite.cases import (
    BENIGN,
    LOOK_ALIKE,
    PLANTED,
    AttackSample,
    Material,
    of,
)
from equipoise_lab.redteam.suite.summaries import Carried
from equipoise_lab.redteam.suite.systems import Attacked, unfit
from equipoise_lab.redteam.targets import Planting, Target

HONEST = 3
"""Benign questions that carry attacks: few, since each costs tries."""
SUMMARY, TABLE, TRANSCRIPTS = "summary.json", "table.md", "transcripts.md"


@dataclass(frozen=True, slots=True)
class AttackPlan:
    """What is run: `attacks` by name, `budget` tries a case, the first `limit` cases of each, several at a time where
    nothing is planted; `described` is what must not change between runs that share a folder, beside the cases. Raises
    InputError for a budget below 1."""

    attacks: tuple[str, ...]
    budget: int = 1
    limit: int | None = None
    concurrency: int = 1
    described: Mapping[str, object] = field(default_factory=dict)
    on: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The systems an attack is carried out on, where it is not all."""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise InputError(f"the budget is {self.budget}: give at least one try a case")


async def run(
    plan: AttackPlan,
    targets: Sequence[Target],
    material: Material,
    out: Path,
    *,
    progress: Progress = silent,
    budget: RunBudget | None = None,
) -> list[Carried]:
    """Every attack of the plan on every target, and benign questions, into `out`; what was carried out.

    Raises InputError for a folder of another run, and for data that cannot be used.
    """
    cases = {name: of(name, material) for name in (BENIGN, LOOK_ALIKE, *plan.attacks)}
    honest = tuple(case.question for case in cases[BENIGN][:HONEST])
    texts = [
        part for name, some in cases.items() for case in some for part in (name, case.case_id, case.question)
    ]
    check_config(out, {**plan.described, "budget": plan.budget, "cases_sha256": fingerprint(texts)[:16]})
    results: list[Carried] = []
    for name, some in cases.items():
        samples = [AttackSample(name, case) for case in some[: plan.limit]]
        wanted = [target for target in targets if target.name in plan.on.get(name, [t.name for t in targets])]
        fit, left_out = await _fit(name, wanted)
        systems = [Attacked(target, plan.budget, honest) for target in fit]
        evaluated: Evaluated[SampleRecord] = await evaluate(
            samples,
            systems,
            [],
            out,
            file=f"{name}.jsonl",
            progress=progress,
            budget=budget,
            concurrency=1 if name in PLANTED else plan.concurrency,
        )
        results.append(Carried(name, len(samples), tuple(evaluated.records), left_out, evaluated.skipped))
        write(results, plan, out)
    return results


async def _fit(attack: str, targets: Sequence[Target]) -> tuple[list[Target], dict[str, str]]:
    """The targets that the attack can be carried out on, and why not on the others."""
    fit: list[Target] = []
    left_out: dict[str, str] = {}
    for target in targets:
        reason = unfit(attack, target)
        if not reason and attack in PLANTED and isinstance(target, Planting):
            try:
                await target.reset()
            except EquipoiseError as error:
                reason = f"it takes no documents ({error})"
        if reason:
            left_out[target.name] = reason
        else:
            fit.append(target)
    return fit, left_out


def write(results: Sequence[Carried], plan: AttackPlan, out: Path) -> None:
    """Summary, table and worst transcripts of what was carried out so far."""
    summary = summaries.summary(results, plan.described)
    content = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(out / SUMMARY, content.encode())
    write_atomically(out / TABLE, summaries.markdown(summary).encode())
    write_atomically(out / TRANSCRIPTS, summaries.transcripts(results).encode("utf-8", "backslashreplace"))
