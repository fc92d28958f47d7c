"""The whole benchmark: corpus and attacks in, results, summary, figures and report out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.bench.bias import (
    answers,
    attacked_questions,
    attacks,
    corpora,
    facts,
    profile,
    report,
    runner,
    stance,
    stored,
    systems,
)
from equipoise.bench.bias.attacked_questions import AttackedQuestion
from equipoise.bench.bias.attacks import SIGNS, Attack
from equipoise.bench.bias.background import Background, EmbeddedPassages, InMemory
from equipoise.bench.bias.corpora import Corpus
from equipoise.bench.bias.facts import FactChecker, NliChecker, WikiCheck
from equipoise.bench.bias.runner import BiasPlan
from equipoise.bench.bias.summary import Measured, summarise
from equipoise.bench.bias.vectors import Workspace
from equipoise.bench.results import Row, check_config, encoded, fingerprint, write_atomically
from equipoise.core.errors import InputError
from equipoise.core.protocols import Retriever
from equipoise.core.types import Passage
from equipoise.rag import build, nli
from equipoise.rag.components import Components

PROFILES, SUMMARY, REPORT, TABLES = "passages.jsonl", "summary.json", "report.html", "tables.md"
FACT_SAMPLE = 40
"""Passages of each kind that are fact checked."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run works on, and what it measures besides the filters themselves.

    `corpus` is a folder (`corpora.read`), `attacks` a file (`attacks.read`).
    `facts` is "none", "nli" or the URL of a WikiCheck server; `limit` takes the first questions only;
    `variant` names adaptive attack passages.
    """

    corpus: Path
    attacks: Path
    answers: bool = False
    facts: str = "none"
    limit: int | None = None
    variant: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Everything read and encoded: what every measurement works on."""

    corpus: Corpus
    embedded: EmbeddedPassages
    attacked_questions: tuple[AttackedQuestion, ...]
    background: Background


async def bench(
    plan: BiasPlan, options: Options, components: Components, workspace: Workspace
) -> dict[str, object]:
    """Measure what the output folder does not hold yet, write everything there, and return the summary.

    Raises InputError, CorpusError, ModelError or MissingExtra. What was measured before one of them, or before
    the process was killed, stays.
    """
    filters = systems.systems(plan.filters, components)
    facts.check_name(options.facts)
    corpus = corpora.read(options.corpus)
    everything = attacks.read(options.attacks, corpus, variant=options.variant)
    attacks.need(everything, max(plan.injections, default=0))
    config = _config(plan, corpus, everything, components)
    written = everything[: options.limit]
    check_config(workspace.out, config)
    stage = _stage(corpus, written, plan.retriever, components, workspace)
    checker = _checker(options.facts, stage.embedded, components)
    results, timings = await runner.run(stage.attacked_questions, stage.background, filters, plan, workspace)
    profiles = profile.profiles(
        stage.attacked_questions, corpus, stage.embedded, stage.background, depth=plan.candidates
    )
    measured = Measured(
        plan,
        corpus,
        {attack.query_id: attack.polarity for attack in written},
        config,
        results,
        timings,
        profiles,
        answers=await _answers(results, stage, components, workspace) if options.answers else (),
        facts=await _facts(stage, checker, options.facts, workspace),
        stance=agreement(stage),
    )
    return write(measured, workspace.out)


def write(measured: Measured, out: Path) -> dict[str, object]:
    """Write profiles, summary, tables, figures and the report page of a run; returns the summary."""
    summary = summarise(measured)
    write_atomically(out / PROFILES, b"".join(encoded(row) for row in measured.profiles))
    content = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(out / SUMMARY, content.encode("utf-8"))
    write_atomically(out / TABLES, report.markdown(summary).encode("utf-8"))
    drawn = report.figures(summary, measured.profiles)
    write_atomically(out / REPORT, report.page(summary, drawn).encode("utf-8"))
    (out / "plots").mkdir(exist_ok=True)
    for figure in drawn:
        if figure.svg is not None:
            write_atomically(out / "plots" / f"{figure.name}.svg", figure.svg.encode("utf-8"))
    return summary


def agreement(stage: Stage) -> dict[str, object]:
    """How PS agrees with human stance; empty without labels."""
    if not stage.corpus.stance:
        return {}
    axes = {
        attacked.attack.query_id: (attacked.axis, attacked.attack.polarity)
        for attacked in stage.attacked_questions
    }
    return stance.agreement(stage.corpus, stage.embedded, axes)


def stance_only(folder: Path, workspace: Workspace) -> dict[str, object]:
    """Spearman of PS with human stance on a corpus that nobody attacked.

    Raises InputError where the corpus has no stance labels.
    """
    corpus = corpora.read(folder)
    if not corpus.stance:
        raise InputError(f"{folder} has no {corpora.STANCE}: there is no human stance to compare with")
    embedded = attacked_questions.embedded(corpus, workspace)
    return {"corpus": corpus.name, **stance.agreement(corpus, embedded, {})}


def _stage(
    corpus: Corpus, written: Sequence[Attack], retriever: str, components: Components, workspace: Workspace
) -> Stage:
    embedded = attacked_questions.embedded(corpus, workspace)
    found = attacked_questions.attacked_questions(written, corpus, embedded, workspace)
    return Stage(corpus, embedded, found, _background(retriever, embedded, components))


def _background(name: str, embedded: EmbeddedPassages, components: Components) -> Background:
    """Dense search needs no store; the product's other retrievers read one."""
    if name == "dense":
        return InMemory(embedded)
    retriever: Retriever = build.make("retriever", build.RETRIEVERS, name, components)
    stored.fill(components.store, embedded, components.encoder)
    return stored.Stored(components.store, retriever)


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
    return runner.config_of(
        plan,
        corpus=corpus.name,
        corpus_sha256=fingerprint(texts)[:16],
        attacks_sha256=fingerprint(passages)[:16],
        encoder=components.encoder.name,
        filter_settings=", ".join(f"{name} {value}" for name, value in chosen.items()),
    )


async def _answers(
    results: Sequence[Row], stage: Stage, components: Components, workspace: Workspace
) -> list[Row]:
    chat = components.need_chat("measuring answers")
    shelves = (attacked.planted[sign] for attacked in stage.attacked_questions for sign in SIGNS)
    passages: Mapping[str, Passage] = {
        passage.doc_id: passage for embedded in (stage.embedded, *shelves) for passage in embedded.passages
    }
    return await answers.ask(results, stage.attacked_questions, passages, chat, workspace)


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


async def _facts(stage: Stage, checker: FactChecker | None, name: str, workspace: Workspace) -> list[Row]:
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
