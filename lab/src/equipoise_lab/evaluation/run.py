"""One resumable run: every sample through every system, every outcome past every scorer, one record each.

Whatever stands in the file of records needs no second run: a run that was stopped, killed or out of budget
resumes where it was, and ends with the same bytes as one that was not. Several samples are in work at a time; the
systems of one sample follow each other, since an endpoint's prompt cache has its documents by then. An error while one
sample is run is a record, never a sample less.

A sample is what a system is run on, a system any object with a name that can be awaited with a sample, a scorer any
object with a name and `score(sample, outcome)`. None of them inherits anything.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from inspect import isawaitable
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

from equipoise.core.errors import EquipoiseError, InputError, ModelError
from equipoise.core.sync import together
from equipoise_lab.evaluation.budget import RunBudget
from equipoise_lab.evaluation.records import Record, RecordFile, SampleRecord, Value
from equipoise_lab.evaluation.results import Key, check_config
from equipoise_lab.evaluation.scores import Score

S_contra = TypeVar("S_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)
O_contra = TypeVar("O_contra", contravariant=True)

Scored = Value | Score


class Sample(Protocol):
    """What a system is run on: a question with what is known of it, a case of an attack, two answers to compare."""

    @property
    def sample_id(self) -> str:
        """Its name, distinct within a run."""
        ...


class System(Protocol[S_contra, O_co]):
    """What is measured: a pipeline, a filter, a judge, a server behind an address."""

    @property
    def name(self) -> str:
        """Its name in records and tables."""
        ...

    async def __call__(self, sample: S_contra, /) -> O_co:
        """The outcome for one sample. What it raises becomes the record of an error (see `evaluate`)."""
        ...


class Scorer(Protocol[S_contra, O_contra]):
    """One measure of one outcome."""

    @property
    def name(self) -> str:
        """Its name in records and tables."""
        ...

    def score(self, sample: S_contra, outcome: O_contra, /) -> Scored | Awaitable[Scored]:
        """A number, a flag, or None for what cannot be scored, never 0; a `Score` says why. It may be awaitable."""
        ...


async def score(scorer: Scorer[S_contra, O_contra], sample: S_contra, outcome: O_contra) -> tuple[Value, str]:
    """(value, why it is None): a scorer whose model fails scores nothing, and says so."""
    try:
        value = scorer.score(sample, outcome)
        scored = await value if isawaitable(value) else value
    except ModelError as error:
        return None, f"not scored: {error}"
    if isinstance(scored, Score):
        return scored.value, scored.explanation if scored.value is None else ""
    return scored, ""


RESULTS = "results.jsonl"
ERRORS: tuple[type[Exception], ...] = (EquipoiseError, OSError, ValueError, RuntimeError)
"""What ends the run of one sample and not all of them."""

S = TypeVar("S", bound=Sample)
O = TypeVar("O")  # noqa: E741
R = TypeVar("R", bound=Record)
T = TypeVar("T", bound=Record)

Progress = Callable[[int, int, str], None]
"""(done, total, what is in work)."""

Setup = Callable[[Sequence[S], Sequence[System[S, O]]], AbstractAsyncContextManager[None]]
"""What a group of samples needs while its systems run: entered before the first, left after the last."""


@dataclass(frozen=True, slots=True)
class Ran(Generic[O]):
    """How one run ended: an outcome, or the error that ended it. `seconds` by the wall clock.

    `scores` are by scorer, `unscored` says of those that are None why; both are empty after an error.
    """

    outcome: O | None
    error: Exception | None
    seconds: float
    scores: Mapping[str, Value] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)

    @property
    def value(self) -> O:
        """The outcome of a run that no error ended; raises the error of one that did."""
        if self.error is not None:
            raise self.error
        return cast(O, self.outcome)


@dataclass(frozen=True, slots=True)
class RecordForm(Generic[S, O, R]):
    """How the records of a benchmark look: their class, the values of its KEY, and the fields beside them."""

    record: type[R]
    key: Callable[[S, System[S, O]], Key]
    fields: Callable[[S, Ran[O]], Mapping[str, Any]]

    def made(self, sample: S, system: System[S, O], ran: Ran[O]) -> R:
        """The record of a run."""
        key = dict(zip(self.record.KEY, self.key(sample, system), strict=True))
        return self.record.model_validate(key | dict(self.fields(sample, ran)))


def _plain(_: Sample, ran: Ran[Any]) -> dict[str, Any]:
    if ran.error is not None:
        return {"error": str(ran.error) or type(ran.error).__name__}
    outcome: Any = ran.outcome
    facts = asdict(outcome) if is_dataclass(type(outcome)) else {"value": outcome}
    return {"facts": facts, "scores": dict(ran.scores), "unscored": dict(ran.unscored)}


PLAIN: RecordForm[Any, Any, SampleRecord] = RecordForm(
    SampleRecord, lambda sample, system: (sample.sample_id, system.name), _plain
)
"""The form of a benchmark that declares none. Outcomes are dataclasses, or JSON already."""


@dataclass(frozen=True, slots=True)
class Timings(Generic[S, O, T]):
    """Times beside the records, in a file of their own: they differ from run to run, and records do not.

    `made` gives None for a run whose time means nothing.
    """

    file: str
    record: type[T]
    made: Callable[[S, System[S, O], Ran[O]], T | None]


@dataclass(frozen=True, slots=True)
class Evaluated(Generic[R]):
    """The records and timings of the plan by their keys, and how many runs a used-up budget left out."""

    records: list[R]
    timings: list[Any]
    skipped: int


def silent(done: int, total: int, what: str) -> None:
    """Progress that says nothing."""


async def evaluate(
    samples: Sequence[S],
    systems: Sequence[System[S, O]],
    scorers: Sequence[Scorer[S, O]],
    out: Path,
    *,
    form: RecordForm[S, O, R] = PLAIN,  # type: ignore[assignment]
    config: Mapping[str, object] | None = None,
    file: str = RESULTS,
    timings: Timings[S, O, Any] | None = None,
    progress: Progress = silent,
    budget: RunBudget | None = None,
    concurrency: int = 1,
    retry: bool = True,
    errors: tuple[type[Exception], ...] = ERRORS,
    group: Callable[[S], Hashable] | None = None,
    setup: Setup[S, O] | None = None,
    in_turn: bool = False,
) -> Evaluated[R]:
    """Run what the folder `out` does not hold yet; the records of these samples and systems by their keys.

    `config` is what must not change between the runs that share the folder. Records that are not settled are made
    anew with `retry`, and SampleRecords that a new scorer has not seen. `budget` stops what has not begun. `errors`
    become records, all others end the run: what was kept stays. `setup` is entered for each group of samples (of
    `group`; without it all are one) that has work left; with `in_turn` the samples of a group follow each other too.
    Raises InputError for a file of other records, another configuration, or two samples with one key.
    """
    if config is not None:
        check_config(out, config)
    planned = _planned(samples, systems, form)
    with ExitStack() as stack:
        records = stack.enter_context(RecordFile(out / file, form.record))
        times = stack.enter_context(RecordFile(out / timings.file, timings.record)) if timings else None
        work = _Work(
            systems, scorers, form, records, times, timings, progress, budget or RunBudget(),
            asyncio.Semaphore(concurrency), retry, errors, setup or _nothing, in_turn, len(planned),
        )  # fmt: skip
        await work.all(_groups(samples, group), asyncio.Semaphore(concurrency))
        kept = [record for record in records.finish() if record.key in planned]
        timed = [timing for timing in times.finish() if timing.key in planned] if times else []
        return Evaluated(kept, timed, work.skipped)


@dataclass(slots=True)
class _Work(Generic[S, O, R]):
    """One run: what is open, how far it is (`done` of `total` records), whether an error has ended it (`over`)."""

    systems: Sequence[System[S, O]]
    scorers: Sequence[Scorer[S, O]]
    form: RecordForm[S, O, R]
    records: RecordFile[R]
    times: RecordFile[Any] | None
    timings: Timings[S, O, Any] | None
    progress: Progress
    budget: RunBudget
    slots: asyncio.Semaphore
    retry: bool
    errors: tuple[type[Exception], ...]
    setup: Setup[S, O]
    in_turn: bool
    total: int
    done: int = 0
    skipped: int = 0
    over: bool = False

    async def all(self, groups: Sequence[Sequence[S]], gate: asyncio.Semaphore) -> None:
        """Every group that has work left, several at a time."""
        names = [scorer.name for scorer in self.scorers]
        settled = {
            record.key
            for record in self.records
            if (record.settled or not self.retry) and not record.lacks(names)
        }
        left = [
            todo
            for samples in groups
            if (
                todo := [
                    (sample, missing) for sample in samples if (missing := self._missing(sample, settled))
                ]
            )
        ]
        self.done = self.total - sum(len(missing) for todo in left for _, missing in todo)

        async def one_group(todo: Sequence[tuple[S, list[System[S, O]]]]) -> None:
            async with gate:
                if self.over or self.budget.stop():
                    self.skipped += sum(len(missing) for _, missing in todo)
                else:
                    await self._group(todo)

        await together(one_group(todo) for todo in left)

    async def _group(self, todo: Sequence[tuple[S, list[System[S, O]]]]) -> None:
        wanted = {system.name: system for _, missing in todo for system in missing}
        async with self.setup([sample for sample, _ in todo], list(wanted.values())):

            async def one_sample(sample: S, missing: Sequence[System[S, O]]) -> None:
                async with self.slots:
                    for system in missing:
                        await self._one(sample, system)

            if not self.in_turn:
                await together(one_sample(sample, missing) for sample, missing in todo)
                return
            for sample, missing in todo:
                await one_sample(sample, missing)

    async def _one(self, sample: S, system: System[S, O]) -> None:
        if self.over or self.budget.stop():
            self.skipped += 1
            return
        self.progress(self.done, self.total, f"{system.name} {sample.sample_id}")
        ran = await self._ran(sample, system)
        record = self.form.made(sample, system, ran)
        if self.timings and self.times and (timing := self.timings.made(sample, system, ran)):
            self.times.append(timing)
        self.budget.saw(failed=ran.error is not None or record.failed)
        self.records.append(record)
        self.done += 1
        await asyncio.sleep(0)  # lets Ctrl-C through where a system never waits

    async def _ran(self, sample: S, system: System[S, O]) -> Ran[O]:
        begin = time.perf_counter()
        try:
            outcome = await system(sample)
        except self.errors as error:
            return Ran(None, error, time.perf_counter() - begin)
        except BaseException:
            self.over = True
            raise
        seconds = time.perf_counter() - begin
        scored = {scorer.name: await score(scorer, sample, outcome) for scorer in self.scorers}
        values = {name: value for name, (value, _) in scored.items()}
        reasons = {name: why for name, (_, why) in scored.items() if why}
        return Ran(outcome, None, seconds, values, reasons)

    def _missing(self, sample: S, settled: set[Key]) -> list[System[S, O]]:
        return [system for system in self.systems if self.form.key(sample, system) not in settled]


def _planned(samples: Sequence[S], systems: Sequence[System[S, O]], form: RecordForm[S, O, R]) -> set[Key]:
    """The keys of all runs. Raises InputError for one that stands for two."""
    planned: set[Key] = set()
    for sample in samples:
        for system in systems:
            key = form.key(sample, system)
            if key in planned:
                raise InputError(
                    f"{system.name} is to be run on {sample.sample_id!r} twice: names must be distinct"
                )
            planned.add(key)
    return planned


def _groups(samples: Sequence[S], group: Callable[[S], Hashable] | None) -> list[Sequence[S]]:
    """The samples by their group, both in the order they come."""
    if group is None:
        return [samples]
    groups: dict[Hashable, list[S]] = {}
    for sample in samples:
        groups.setdefault(group(sample), []).append(sample)
    return list(groups.values())


@asynccontextmanager
async def _nothing(samples: Sequence[Any], systems: Sequence[Any]) -> AsyncIterator[None]:
    yield
