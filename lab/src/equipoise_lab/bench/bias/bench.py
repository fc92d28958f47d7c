"""The whole benchmark: corpus and attacks in, results, summary, tables and figures out."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Query
from equipoise.maths.polarization import polarization_scores
from equipoise.rag.components import Components
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench import output, systems
from equipoise_lab.bench.bias import asked, attacks, corpora, numbers, planting, report
from equipoise_lab.bench.bias.asked import ANSWERS, LIKERT, Asking
from equipoise_lab.bench.bias.attacks import WrittenAttack
from equipoise_lab.bench.bias.corpora import BeirCorpus
from equipoise_lab.bench.bias.numbers import BiasRun, Numbers
from equipoise_lab.bench.bias.planting import AttackedQuestion, EmbeddedPassages, Workspace
from equipoise_lab.bench.bias.records import (
    UNATTACKED,
    AnswerRecord,
    BiasPlan,
    BiasRecord,
    BiasTiming,
    Condition,
    LikertRecord,
    rounded,
)
from equipoise_lab.evaluation.records import content, read_records
from equipoise_lab.evaluation.results import Key, check_config, fingerprint, write_atomically
from equipoise_lab.evaluation.run import Evaluated, Ran, RecordForm, System, Timings, evaluate

PROFILES, TIMINGS = "passages.jsonl", "timings.jsonl"


@dataclass(frozen=True, slots=True)
class BiasOptions:
    """What a run works on, and what it measures besides the filters themselves.

    `corpus` is a folder (`corpora.read`), `attacks` a file (`attacks.read`), `asking` what models are asked. `limit`
    takes the first questions only.
    """

    corpus: Path
    attacks: Path
    asking: Asking = field(default_factory=Asking)
    limit: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlantedSample:
    """A Sample: an attacked question under one condition, with the passages from the one at `first` on."""

    attacked: AttackedQuestion
    condition: Condition
    first: int = 0

    @property
    def sample_id(self) -> str:
        """Query, sign, number of injections, and the first of them."""
        return " ".join(map(str, (self.attacked.attack.query_id, *self.condition, self.first)))

    @property
    def planted(self) -> EmbeddedPassages:
        """What is planted."""
        return written(self.attacked, self.condition[0]).rotated(self.condition[1], self.first)


@dataclass(frozen=True, slots=True, eq=False)
class FilterSystem:
    """A System: a filter on what was retrieved for a planting; `searched` holds that, and the seconds it took, while
    its filters run. One for the `whole_corpus` gets all of it; of its candidates those are told that are retrieved
    without it, and what it kept beside them."""

    name: str
    filter: PassageFilter
    searched: dict[str, tuple[Candidates, float]]
    background: EmbeddedPassages
    k: int

    async def __call__(self, sample: PlantedSample) -> tuple[Candidates, float, Filtered]:
        """The first k after the filter. Raises what the filter raises."""
        candidates, seconds = self.searched[sample.sample_id]
        question, depth = Query(sample.attacked.attack.question), len(candidates)
        if not getattr(self.filter, "whole_corpus", False):
            return candidates, seconds, await self.filter.filter(question, candidates, k=self.k)
        everything = len(self.background) + len(sample.planted)
        corpus = self.background.search(sample.attacked.vector, sample.planted, k=everything)
        filtered = await self.filter.filter(question, corpus, k=self.k)
        kept = {passage.passage_id for passage in filtered.kept.passages}
        told = [n for n, passage in enumerate(corpus.passages) if n < depth or passage.passage_id in kept]
        return corpus.take(told), seconds, filtered


Outcome = tuple[Candidates, float, Filtered]


def written(attacked: AttackedQuestion, sign: str) -> EmbeddedPassages:
    """What can be planted for a sign."""
    return attacked.planted[Kind.ADV_POS if sign == UNATTACKED else Kind(sign)]


def _key(sample: PlantedSample, system: System[PlantedSample, Outcome]) -> Key:
    return sample.attacked.attack.query_id, system.name, *sample.condition, sample.first


def _fields(sample: PlantedSample, ran: Ran[Outcome]) -> dict[str, Any]:
    candidates, _, filtered = ran.value
    return {
        "injected": [passage.doc_id for passage in sample.planted.passages],
        "candidates": [passage.doc_id for passage in candidates.passages],
        "ss": [*map(rounded, candidates.embeddings @ sample.attacked.vector)],
        "ps": [*map(rounded, polarization_scores(candidates.embeddings, sample.attacked.axis))],
        "kept": [passage.doc_id for passage in filtered.kept.passages],
        "flagged": [
            {
                "id": flag.passage.doc_id,
                "reason": flag.reason,
                "score": rounded(flag.score) if np.isfinite(flag.score) else None,
            }
            for flag in filtered.flagged
        ],
    }


FORM: RecordForm[PlantedSample, Outcome, BiasRecord] = RecordForm(BiasRecord, _key, _fields)
TIMES: RecordForm[PlantedSample, Outcome, BiasTiming] = RecordForm(
    BiasTiming,
    _key,
    lambda _, ran: {"retrieve_ms": round(ran.value[1] * 1e3, 3), "filter_ms": round(ran.seconds * 1e3, 3)},
)


async def bench(
    plan: BiasPlan, options: BiasOptions, components: Components, workspace: Workspace
) -> Numbers:
    """Measure what the output folder does not hold yet, write everything there, and return the summary.

    Raises InputError, CorpusError, ModelError or MissingExtra. What was measured before one of them, or before
    the process was killed, stays.
    """
    filters, asking = systems.filters(plan.filters, components), options.asking
    asking.check(components)
    corpus = corpora.read(options.corpus)
    every = attacks.read(options.attacks, corpus)
    attacks.need(every, max(plan.injections, default=0))
    config = _config(plan, corpus, every, components)
    check_config(workspace.out, config)
    background = planting.embedded(corpus, workspace)
    questions = planting.attacked_questions(every[: options.limit], corpus, background, workspace)
    checker = asked.checker(asking.facts, background, components)
    evaluated = await run(background, questions, filters, plan, workspace)
    passages = planting.profiles(questions, corpus, background, depth=plan.candidates)
    said: dict[str, Any] = {}
    if asking.answers and components.chat:
        await asked.answers(evaluated.records, questions, background, components.chat, workspace)
        said["answers"] = kept(evaluated.records, workspace.out)
    if asking.likert and components.chat:
        first = questions[: asking.likert]
        known = await asked.points(
            first, corpus, passages, components.chat, workspace, options=components.options
        )
        scored = read_records(workspace.out / LIKERT, LikertRecord)
        said["likert"] = [one for one in scored if (one.query_id, one.id) in known]
    if checker:
        sample = asked.chosen(background, questions, corpus.relevant)
        said["facts"] = await asked.verdicts(sample, checker, asking.facts, workspace)
    config |= {"rotations": plan.rotations}
    return write(BiasRun(plan, config, evaluated.records, evaluated.timings, passages, **said), workspace.out)


def kept(records: Sequence[BiasRecord], out: Path) -> list[AnswerRecord]:
    """The answers of every model that the folder `out` holds to what these records kept, by their keys."""
    places = {record.place for record in records if record.first == 0}
    return [answer for answer in read_records(out / ANSWERS, AnswerRecord) if answer.place in places]


async def run(
    background: EmbeddedPassages,
    questions: Collection[AttackedQuestion],
    filters: Mapping[str, PassageFilter],
    plan: BiasPlan,
    workspace: Workspace,
) -> Evaluated[BiasRecord]:
    """Every filter on the same candidates, for every question under every condition."""
    searched: dict[str, tuple[Candidates, float]] = {}

    @asynccontextmanager
    async def search(
        plantings: Sequence[PlantedSample], _: Sequence[System[PlantedSample, Outcome]]
    ) -> AsyncIterator[None]:
        (one,) = plantings
        begin = perf_counter()
        candidates = background.search(one.attacked.vector, one.planted, k=plan.candidates)
        searched[one.sample_id] = candidates, perf_counter() - begin
        yield
        del searched[one.sample_id]

    plantings = [
        PlantedSample(attacked, (sign, count), first)
        for attacked in questions
        for sign, count in plan.conditions()
        for first in written(attacked, sign).starts(count, plan.rotations)
    ]
    running = [FilterSystem(name, one, searched, background, plan.k) for name, one in filters.items()]
    return await evaluate(
        plantings, running, (), workspace.out, form=FORM, timings=Timings(TIMINGS, BiasTiming, TIMES.made),
        progress=workspace.progress, errors=(), group=lambda one: one.sample_id, setup=search,
    )  # fmt: skip


def write(measured: BiasRun, out: Path) -> Numbers:
    """Write profiles, summary, tables and figures of a run; returns the summary."""
    summary = numbers.summarise(measured)
    write_atomically(out / PROFILES, content(measured.passages))
    output.write(out, summary, report.markdown(summary))
    output.write_figures(out, {name: svg for name, _, svg in report.figures(summary, measured.passages)})
    return summary


def _config(
    plan: BiasPlan, corpus: BeirCorpus, every: Sequence[WrittenAttack], components: Components
) -> dict[str, object]:
    texts = [part for doc_id, d in corpus.documents.items() for part in (doc_id, d.title, d.text)]
    passages = [
        part
        for attack in every
        for kind in attack.passages.values()
        for passage in kind
        for part in (attack.question, passage.passage_id, passage.text)
    ]
    chosen = components.settings.filter.model_dump(exclude={"name"}, exclude_none=True)
    if chosen["nli"] == "chat" and components.chat:
        chosen["llm"] = components.chat.name
    return plan.config(
        corpus=corpus.name,
        corpus_sha256=fingerprint(texts)[:16],
        attacks_sha256=fingerprint(passages)[:16],
        encoder=components.encoder.name,
        filter_settings=", ".join(f"{name} {value}" for name, value in chosen.items()),
    )
