"""Asks every question through every pipeline: document set by document set, one record and one timing each."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from equipoise.core.protocols import ChatModel, Encoder, Highlighter, Pipeline, Reranker
from equipoise.core.results import Reason
from equipoise.core.settings import Settings
from equipoise.core.types import Span
from equipoise.evaluation.budget import Budget
from equipoise.evaluation.results import Key
from equipoise.evaluation.run import Progress, Ran, RecordForm, Timings, evaluate
from equipoise.evaluation.scorers import System
from equipoise.rag.components import Components
from equipoise_lab.bench.qa import stores
from equipoise_lab.bench.qa.items import Item, Text
from equipoise_lab.bench.qa.records import FAILED, QaRecord, QaTiming
from equipoise_lab.bench.qa.scorers import DIGITS, SCORERS, QaOutcome, outcome_of
from equipoise_lab.bench.systems import Named

TIMINGS = "timings.jsonl"
TIME_DIGITS = 4

Documents = tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Harness:
    """What pipelines are built from, where records go, and how many questions run at a time. Without a `reranker`
    nothing is reranked."""

    settings: Settings
    encoder: Encoder
    chat: ChatModel | None
    out: Path
    budget: Budget
    progress: Progress
    concurrency: int = 1
    reranker: Reranker | None = None


@dataclass(frozen=True, slots=True)
class QaPipeline:
    """A System: a pipeline of the product over the documents of the question, which stand on the shelf then."""

    named: Named
    model: str
    shelf: dict[Documents, dict[str, Pipeline]]

    @property
    def name(self) -> str:
        """The pipeline's."""
        return self.named.name

    async def __call__(self, sample: Item) -> QaOutcome:
        """Ask the question. Raises what the pipeline raises."""
        result = await self.shelf[sample.documents][self.name].ask(sample.question)
        return outcome_of(sample, result, quotes=self.named.highlights)


def _fields(item: Item, ran: Ran[QaOutcome]) -> dict[str, Any]:
    """An error is a failed question without scores."""
    outcome = ran.outcome or QaOutcome(FAILED, _failure(ran.error))
    scores = {scorer.name: ran.scores.get(scorer.name) for scorer in SCORERS}
    return {
        "question": item.question,
        "answerable": item.answerable,
        "decision": item.decision,
        "references": item.references,
        "gold": _places(item.gold),
        **{name: getattr(outcome, name) for name in QaRecord.model_fields if hasattr(outcome, name)},
        "highlights": _places(outcome.spans),
        "scores": {
            name: None if value is None else round(float(value), DIGITS) for name, value in scores.items()
        },
    }


def _times(_: Item, ran: Ran[QaOutcome]) -> dict[str, Any]:
    stages = {name: round(part, TIME_DIGITS) for name, part in ran.value.stages.items()}
    return {"seconds": round(ran.seconds, TIME_DIGITS), "stages": stages}


def _places(spans: Sequence[Span]) -> list[tuple[str, int, int]]:
    return [(span.doc_id, span.start, span.end) for span in spans]


async def run(
    dataset: str, items: Sequence[Item], wanted: Sequence[Named], harness: Harness
) -> list[QaRecord]:
    """Ask what the output folder does not hold yet; the records of these items and pipelines by their keys.

    Raises what building a pipeline raises. Errors while one question is answered are records.
    """
    shelf: dict[Documents, dict[str, Pipeline]] = {}
    highlighters: dict[str, Highlighter | None] = {}
    models = {pipeline.name: pipeline.model(harness.chat) for pipeline in wanted}

    def key(item: Item, system: System[Item, QaOutcome]) -> Key:
        return dataset, item.item_id, system.name, models[system.name]

    form: RecordForm[Item, QaOutcome, QaRecord] = RecordForm(QaRecord, key, _fields)
    times: RecordForm[Item, QaOutcome, QaTiming] = RecordForm(QaTiming, key, _times)

    @asynccontextmanager
    async def stocked(
        samples: Sequence[Item], systems: Sequence[System[Item, QaOutcome]]
    ) -> AsyncIterator[None]:
        """A store of the documents, with the pipelines over it; their models are loaded once for the whole run."""
        documents, names = samples[0].documents, {system.name for system in systems}
        async with stores.store_of(documents, harness.encoder) as store:
            parts = Components(harness.settings, store, harness.encoder, harness.chat, harness.reranker)
            shelf[documents] = {}
            for pipeline in wanted:
                if pipeline.name in names:
                    if pipeline.name not in highlighters:
                        highlighters[pipeline.name] = pipeline.highlighting(parts)
                    own = replace(parts, highlighter=highlighters[pipeline.name])
                    shelf[documents][pipeline.name] = pipeline.pipeline(own)
            yield
            del shelf[documents]

    def timing(item: Item, system: System[Item, QaOutcome], ran: Ran[QaOutcome]) -> QaTiming | None:
        return times.made(item, system, ran) if ran.outcome and ran.outcome.fresh else None

    evaluated = await evaluate(
        items, [QaPipeline(pipeline, models[pipeline.name], shelf) for pipeline in wanted], SCORERS, harness.out,
        form=form, timings=Timings(TIMINGS, QaTiming, timing), progress=harness.progress, budget=harness.budget,
        concurrency=harness.concurrency, group=lambda item: item.documents, setup=stocked,
    )  # fmt: skip
    return evaluated.records


def _failure(error: Exception | None) -> str:
    said = str(error) or type(error).__name__
    return f"{Reason.MODEL_FAILED.value}: {said}"
