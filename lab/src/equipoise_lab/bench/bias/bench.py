"""The whole benchmark: corpus and attacks in, results, summary, tables and figures out."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from equipoise.core.errors import InputError
from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates
from equipoise.evaluation.records import content
from equipoise.evaluation.results import check_config, fingerprint, write_atomically
from equipoise.evaluation.run import Evaluated, Timings, evaluate
from equipoise.evaluation.scorers import System
from equipoise.rag.components import Components
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench import output, systems
from equipoise_lab.bench.bias import (
    asked,
    attacked_questions,
    attacks,
    corpora,
    facts,
    metrics,
    plots,
    profile,
    report,
)
from equipoise_lab.bench.bias.asked import Asking, Subject
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.attacks import SIGNS, Attack
from equipoise_lab.bench.bias.background import EmbeddedPassages, InMemory
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.facts import FactChecker, NliChecker, WikiCheck
from equipoise_lab.bench.bias.plan import BiasPlan
from equipoise_lab.bench.bias.records import (
    FORM,
    TIMES,
    UNATTACKED,
    BiasOutcome,
    BiasRecord,
    BiasTiming,
    FactRecord,
    FilterSystem,
    Planting,
)
from equipoise_lab.bench.bias.summary import BiasSummary, Measured, summarise
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.methods import nli

PROFILES, TIMINGS = "passages.jsonl", "timings.jsonl"
FACT_SAMPLE = 40
"""Passages of each kind that are fact checked."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run works on, and what it measures besides the filters themselves.

    `corpus` is a folder (`corpora.read`), `attacks` a file (`attacks.read`), `asking` what a chat model is asked.
    `facts` is "none", "nli" or the URL of a WikiCheck server; `limit` takes the first questions only, `queries` those
    with these ids.
    """

    corpus: Path
    attacks: Path
    asking: Asking = field(default_factory=Asking)
    facts: str = "none"
    limit: int | None = None
    queries: Collection[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Everything read and encoded: what every measurement works on."""

    corpus: Corpus
    embedded: EmbeddedPassages
    attacked_questions: tuple[AttackedQuestion, ...]
    background: InMemory


async def bench(
    plan: BiasPlan, options: Options, components: Components, workspace: Workspace
) -> BiasSummary:
    """Measure what the output folder does not hold yet, write everything there, and return the summary.

    Raises InputError, CorpusError, ModelError or MissingExtra. What was measured before one of them, or before
    the process was killed, stays.
    """
    filters = systems.filters(plan.filters, components)
    facts.check_name(options.facts)
    if options.asking.anything:
        asked.check(options.asking, components)
    corpus = corpora.read(options.corpus)
    everything = tuple(
        one
        for one in attacks.read(options.attacks, corpus)
        if options.queries is None or one.query_id in options.queries
    )
    attacks.need(everything, max(plan.injections, default=0))
    config = _config(plan, corpus, everything, components)
    written = everything[: options.limit]
    check_config(workspace.out, config)
    stage = _stage(corpus, written, workspace)
    checker = _checker(options.facts, stage.embedded, components)
    evaluated = await run(stage, filters, plan, workspace)
    passages = profile.profiles(
        stage.attacked_questions, corpus, stage.embedded, stage.background, depth=plan.candidates
    )
    polarity = {attack.query_id: attack.polarity for attack in written}
    subject = Subject(corpus, stage.embedded, stage.attacked_questions, evaluated.records, passages)
    said = await asked.ask(options.asking, subject, components, workspace)
    measured = Measured(
        plan,
        metrics.truths_of(corpus, polarity, passages),
        config | {"rotations": plan.rotations},
        evaluated.records,
        evaluated.timings,
        passages,
        said,
        facts=await _facts(stage, checker, options.facts, workspace),
    )
    return write(measured, workspace.out)


async def run(
    stage: Stage, filters: Mapping[str, PassageFilter], plan: BiasPlan, workspace: Workspace
) -> Evaluated[BiasRecord]:
    """Every filter on the same candidates, for every question under every condition."""
    searched: dict[str, tuple[Candidates, float]] = {}

    @asynccontextmanager
    async def search(
        plantings: Sequence[Planting], _: Sequence[System[Planting, BiasOutcome]]
    ) -> AsyncIterator[None]:
        (planting,) = plantings
        begin, attacked = perf_counter(), planting.attacked
        question = attacked.attack.question
        candidates = stage.background.search(question, attacked.vector, planting.planted, k=plan.candidates)
        searched[planting.sample_id] = candidates, perf_counter() - begin
        yield
        del searched[planting.sample_id]

    plantings = [
        Planting(attacked, (sign, count), first)
        for attacked in stage.attacked_questions
        for sign, count in plan.conditions()
        for written in [attacked.planted[Kind.ADV_POS if sign == UNATTACKED else Kind(sign)]]
        for first in written.starts(count, plan.rotations)
    ]
    return await evaluate(
        plantings,
        [FilterSystem(name, passage_filter, searched, plan.k) for name, passage_filter in filters.items()], (),
        workspace.out, form=FORM, timings=Timings(TIMINGS, BiasTiming, TIMES.made),
        progress=workspace.progress, errors=(), group=lambda planting: planting.sample_id, setup=search,
    )  # fmt: skip


def write(measured: Measured, out: Path) -> BiasSummary:
    """Write profiles, summary, tables and figures of a run; returns the summary."""
    summary = summarise(measured)
    write_atomically(out / PROFILES, content(measured.passages))
    output.write(out, summary, report.markdown(summary))
    output.write_figures(out, {name: svg for name, _, svg in plots.figures(summary, measured.passages)})
    return summary


def _stage(corpus: Corpus, written: Sequence[Attack], workspace: Workspace) -> Stage:
    embedded = attacked_questions.embedded(corpus, workspace)
    questions = attacked_questions.attacked_questions(written, corpus, embedded, workspace)
    return Stage(corpus, embedded, questions, InMemory(embedded))


def _config(
    plan: BiasPlan, corpus: Corpus, written: Sequence[Attack], components: Components
) -> dict[str, object]:
    texts = [part for doc_id, d in corpus.documents.items() for part in (doc_id, d.title, d.text)]
    passages = [
        part
        for attack in written
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


def _checker(name: str, embedded: EmbeddedPassages, components: Components) -> FactChecker | None:
    """The fact checker of `--facts`; None for "none"."""
    if name == "none":
        return None
    if name != "nli":
        return WikiCheck(name)
    model = nli.from_components(components)
    if model is None:
        raise InputError("--facts nli needs an NLI model: set filter.nli to hf or chat")
    return NliChecker(model, components.encoder, embedded)


async def _facts(
    stage: Stage, checker: FactChecker | None, name: str, workspace: Workspace
) -> list[FactRecord]:
    """Verdicts on a sample of every kind of passage."""
    if checker is None:
        return []
    planted = {
        sign.value: [
            passage for attacked in stage.attacked_questions for passage in attacked.planted[sign].passages
        ]
        for sign in SIGNS
    }
    queries = [attacked.attack.query_id for attacked in stage.attacked_questions]
    relevant = sorted({doc_id for query in queries for doc_id in stage.corpus.relevant.get(query, ())})
    sample = facts.chosen(stage.embedded, planted, relevant, FACT_SAMPLE)
    return await facts.check_all(sample, checker, name, workspace)
