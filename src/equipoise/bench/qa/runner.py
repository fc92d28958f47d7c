"""Asks every question through every pipeline, and keeps what came out: one row and one timing each.

A row that is there is not asked for again, except a failed one. Work goes document set by document set, several
questions at a time; the pipelines of one question follow each other, since the model's prompt cache has its
documents by then. A budget that is used up lets what runs end and begins nothing new.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.bench.budget import Budget
from equipoise.bench.qa import rows, stores
from equipoise.bench.qa.items import Item
from equipoise.bench.qa.rows import FAILED, KEY
from equipoise.bench.qa.stores import Documents
from equipoise.bench.qa.systems import System
from equipoise.bench.results import Key, Lines, Row
from equipoise.core.errors import EquipoiseError
from equipoise.core.protocols import ChatModel, Encoder, Highlighter, Pipeline, Reranker
from equipoise.core.settings import Settings
from equipoise.core.sync import together
from equipoise.corpus.store import Store
from equipoise.rag.components import Components

RESULTS, TIMINGS = "results.jsonl", "timings.jsonl"
TIME_DIGITS = 4

Progress = Callable[[int, int, str], None]
"""(done, total, what is in work)."""

Todo = tuple[Item, list[System]]
"""A question and the pipelines that have not answered it."""


@dataclass(frozen=True, slots=True)
class Harness:
    """What pipelines are built from, where rows go, and how many questions run at a time. Without a `reranker`
    nothing is reranked."""

    settings: Settings
    encoder: Encoder
    chat: ChatModel | None
    out: Path
    budget: Budget
    progress: Progress
    concurrency: int = 1
    reranker: Reranker | None = None


async def run(dataset: str, items: Sequence[Item], wanted: Sequence[System], harness: Harness) -> list[Row]:
    """Ask what the output folder does not hold yet; the rows of these items and pipelines by their keys.

    Raises what building a pipeline raises. Errors while one question is answered are rows.
    """
    jobs = {(item.item_id, one.name, one.model(harness.chat)) for item in items for one in wanted}
    with Lines(harness.out / RESULTS, KEY) as lines, Lines(harness.out / TIMINGS, KEY) as timings:
        work = _Work(dataset, tuple(wanted), harness, lines, timings, len(jobs))
        await work.all(items)
        timings.finish()
        return [
            row
            for row in lines.finish()
            if row["dataset"] == dataset and (row["item_id"], row["pipeline"], row["model"]) in jobs
        ]


def settled(lines: Lines) -> list[Row]:
    """The rows that need no second run: all but the failed ones."""
    return [row for row in lines.rows() if row["outcome"] != FAILED]


@dataclass(slots=True)
class _Work:
    """One run: what is open, and how far it is (`count` of `total` rows)."""

    dataset: str
    wanted: tuple[System, ...]
    harness: Harness
    lines: Lines
    timings: Lines
    total: int
    count: int = 0
    highlighters: dict[str, Highlighter | None] = field(default_factory=dict)
    slots: asyncio.Semaphore = field(init=False)
    done: set[Key] = field(init=False)

    def __post_init__(self) -> None:
        self.slots = asyncio.Semaphore(self.harness.concurrency)
        self.done = {self.lines.key_of(row) for row in settled(self.lines)}

    async def all(self, items: Sequence[Item]) -> None:
        """Every document set that has work left."""
        open_sets = asyncio.Semaphore(self.harness.concurrency)
        left = [
            (documents, todo)
            for documents, group in stores.by_documents(items).items()
            if (todo := [(item, missing) for item in group if (missing := self._missing(item))])
        ]
        self.count = self.total - sum(len(missing) for _, todo in left for _, missing in todo)

        async def one_set(documents: Documents, todo: Sequence[Todo]) -> None:
            async with open_sets:
                if not self.harness.budget.stop():
                    await self._set(documents, todo)

        await together(one_set(documents, todo) for documents, todo in left)

    async def _set(self, documents: Documents, todo: Sequence[Todo]) -> None:
        async with stores.store_of(documents, self.harness.encoder) as store:
            wanted = {one.name: one for _, missing in todo for one in missing}
            pipelines = {name: self._pipeline(one, store) for name, one in wanted.items()}

            async def one_item(item: Item, missing: Sequence[System]) -> None:
                async with self.slots:
                    for one in missing:
                        await self._one(item, one, pipelines[one.name])

            await together(one_item(item, missing) for item, missing in todo)

    async def _one(self, item: Item, system: System, pipeline: Pipeline) -> None:
        if self.harness.budget.stop():
            return
        self.harness.progress(self.count, self.total, f"{system.name} {item.item_id}")
        key = dict(zip(KEY, self._key(item, system), strict=True))
        begin = time.perf_counter()
        try:
            result = await pipeline.ask(item.question)
        except (EquipoiseError, OSError, ValueError, RuntimeError) as error:
            row = rows.failure(key, item, system, error)
        else:
            seconds = time.perf_counter() - begin
            row = rows.row(key, item, system, result)
            if row["outcome"] != FAILED and not result.trace.usage.replayed:
                self.timings.append(key | _timing(seconds, result.trace.timings))
        self.harness.budget.saw(failed=row["outcome"] == FAILED)
        self.lines.append(row)
        self.count += 1

    def _pipeline(self, system: System, store: Store) -> Pipeline:
        """The contender's pipeline over this store; its models are loaded once for the whole run."""
        harness = self.harness
        components = Components(harness.settings, store, harness.encoder, harness.chat, harness.reranker)
        if system.name not in self.highlighters:
            self.highlighters[system.name] = system.highlighting(components)
        return system.pipeline(replace(components, highlighter=self.highlighters[system.name]))

    def _key(self, item: Item, system: System) -> tuple[str, ...]:
        return self.dataset, item.item_id, system.name, system.model(self.harness.chat)

    def _missing(self, item: Item) -> list[System]:
        return [one for one in self.wanted if self._key(item, one) not in self.done]


def _timing(seconds: float, stages: Mapping[str, float]) -> Row:
    rounded = {name: round(part, TIME_DIGITS) for name, part in stages.items()}
    return {"seconds": round(seconds, TIME_DIGITS), "stages": rounded}
