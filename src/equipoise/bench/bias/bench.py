"""The whole benchmark: corpus and attacks in, results, summary, figures and report out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.bench.bias import (
    answers,
    attacks,
    contenders,
    corpora,
    facts,
    profile,
    report,
    runner,
    scenes,
    stance,
    stored,
)
from equipoise.bench.bias.attacks import SIGNS, Attack
from equipoise.bench.bias.background import Background, InMemory, Shelf
from equipoise.bench.bias.corpora import Corpus
from equipoise.bench.bias.facts import FactChecker, NliChecker, WikiCheck
from equipoise.bench.bias.runner import Plan
from equipoise.bench.bias.scenes import Scene
from equipoise.bench.bias.summary import Measured, summarise
from equipoise.bench.bias.vectors import Desk
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
    shelf: Shelf
    scenes: tuple[Scene, ...]
    background: Background


async def bench(plan: Plan, options: Options, components: Components, desk: Desk) -> dict[str, object]:
    """Measure what the output folder does not hold yet, write everything there, and return the summary.

    Raises InputError, CorpusError, ModelError or MissingExtra. What was measured before one of them, or before
    the process was killed, stays.
    """
    filters = contenders.contenders(plan.filters, components)
    facts.check_name(options.facts)
    corpus = corpora.read(options.corpus)
    everything = attacks.read(options.attacks, corpus, variant=options.variant)
    attacks.need(everything, max(plan.injections, default=0))
    config = _config(plan, corpus, everything, components)
    written = everything[: options.limit]
    check_config(desk.out, config)
    stage = _stage(corpus, written, plan.retriever, components, desk)
    checker = _checker(options.facts, stage.shelf, components)
    results, timings = await runner.run(stage.scenes, stage.background, filters, plan, desk)
    profiles = profile.profiles(stage.scenes, corpus, stage.shelf, stage.background, depth=plan.candidates)
    measured = Measured(
        plan,
        corpus,
        {attack.query_id: attack.polarity for attack in written},
        config,
        results,
        timings,
        profiles,
        answers=await _answers(results, stage, components, desk) if options.answers else (),
        facts=await _facts(stage, checker, options.facts, desk),
        stance=agreement(stage),
    )
    return write(measured, desk.out)


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
    axes = {scene.attack.query_id: (scene.axis, scene.attack.polarity) for scene in stage.scenes}
    return stance.agreement(stage.corpus, stage.shelf, axes)


def stance_only(folder: Path, desk: Desk) -> dict[str, object]:
    """Spearman of PS with human stance on a corpus that nobody attacked.

    Raises InputError where the corpus has no stance labels.
    """
    corpus = corpora.read(folder)
    if not corpus.stance:
        raise InputError(f"{folder} has no {corpora.STANCE}: there is no human stance to compare with")
    shelf = scenes.shelf(corpus, desk)
    return {"corpus": corpus.name, **stance.agreement(corpus, shelf, {})}


def _stage(
    corpus: Corpus, written: Sequence[Attack], retriever: str, components: Components, desk: Desk
) -> Stage:
    shelf = scenes.shelf(corpus, desk)
    found = scenes.scenes(written, corpus, shelf, desk)
    return Stage(corpus, shelf, found, _background(retriever, shelf, components))


def _background(name: str, shelf: Shelf, components: Components) -> Background:
    """Dense search needs no store; the product's other retrievers read one."""
    if name == "dense":
        return InMemory(shelf)
    retriever: Retriever = build.make("retriever", build.RETRIEVERS, name, components)
    stored.fill(components.store, shelf, components.encoder)
    return stored.Stored(components.store, retriever)


def _config(
    plan: Plan, corpus: Corpus, written: Sequence[Attack], components: Components
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


async def _answers(results: Sequence[Row], stage: Stage, components: Components, desk: Desk) -> list[Row]:
    chat = components.need_chat("measuring answers")
    shelves = (scene.planted[sign] for scene in stage.scenes for sign in SIGNS)
    passages: Mapping[str, Passage] = {
        passage.doc_id: passage for shelf in (stage.shelf, *shelves) for passage in shelf.passages
    }
    return await answers.ask(results, stage.scenes, passages, chat, desk)


def _checker(name: str, shelf: Shelf, components: Components) -> FactChecker | None:
    """The fact checker of `--facts`; None for "none"."""
    if name == "none":
        return None
    if name != "nli":
        return WikiCheck(name)
    model = nli.from_components(components)
    if model is None:
        raise InputError("--facts nli needs an NLI model: set filter.nli to hf or chat")
    return NliChecker(model, components.encoder, shelf)


async def _facts(stage: Stage, checker: FactChecker | None, name: str, desk: Desk) -> list[Row]:
    """Verdicts on a sample of every kind of passage."""
    if checker is None:
        return []
    planted = {
        sign.value: [passage for scene in stage.scenes for passage in scene.planted[sign].passages]
        for sign in SIGNS
    }
    queries = [scene.attack.query_id for scene in stage.scenes]
    relevant = sorted({doc_id for query in queries for doc_id in stage.corpus.relevant.get(query, ())})
    sample = facts.chosen(stage.shelf, planted, relevant, FACT_SAMPLE)
    return await facts.check_all(sample, checker, name, desk)
