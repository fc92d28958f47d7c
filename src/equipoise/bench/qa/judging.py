"""Has answers judged one by one, and compared in pairs, by language models. Rows are kept like results.

What was not scored is asked again by the next run; a reply that was once given comes from the replay cache then.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from equipoise.bench.judges import rating
from equipoise.bench.judges.comparison import Comparison, ComparisonJudge, Order, seeded_order
from equipoise.bench.judges.rating import RUBRICS
from equipoise.bench.qa.rows import ANSWERED, COMPARISON_KEY, FAILED, HIGHLIGHTS_ALONE, JUDGEMENT_KEY, KEY
from equipoise.bench.qa.runner import Harness
from equipoise.bench.qa.systems import System
from equipoise.bench.results import Lines, Row
from equipoise.core.errors import ModelError
from equipoise.core.protocols import ChatModel
from equipoise.core.sync import together
from equipoise.core.types import Score

JUDGEMENTS, COMPARISONS = "judgements.jsonl", "comparisons.jsonl"

Job = Callable[[], Awaitable[bool]]
"""Whether the model could be asked."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one question, None for a declined one; `first` and `second` are sorted names."""

    dataset: str
    item_id: str
    question: str
    reference: str | None
    first: str
    second: str
    answers: tuple[str | None, str | None]


async def judge(rows: Sequence[Row], models: Sequence[ChatModel], harness: Harness) -> int:
    """Rate every answer with every rubric by every model; how many ratings a used-up budget left out.

    A failed answer is not rated. Declined ones, and answers where the documents hold none, are scored by rule.
    """
    rated = [row for row in rows if row["outcome"] != FAILED]
    with Lines(harness.out / JUDGEMENTS, JUDGEMENT_KEY) as lines:
        scored = _keys(lines, "value")
        jobs: list[Job] = []
        for row in rated:
            for model in models:
                for name in RUBRICS:
                    key = {field: row[field] for field in KEY} | {"judge": name, "judge_model": model.name}
                    if lines.key_of(key) not in scored:
                        jobs.append(_rating(name, model, row, key, lines))
        left = await _work(jobs, harness, "judging")
        lines.finish()
    return left


async def compare(
    rows: Sequence[Row],
    systems: Sequence[System],
    model: ChatModel,
    harness: Harness,
    *,
    both_orders: bool = False,
) -> int:
    """Have every pair of pipelines compared, and each written answer with its highlights alone.

    In one order, drawn by question and pair, or in both. Returns how many pairs a used-up budget left out.
    """
    with Lines(harness.out / COMPARISONS, COMPARISON_KEY) as lines:
        scored = _keys(lines, "verdict")
        jobs: list[Job] = []
        for pair in [*pairs(rows), *alone(rows, systems)]:
            todo = [o for o in orders(pair, both=both_orders) if _key(pair, o, model) not in scored]
            if todo:
                jobs.append(_comparison(pair, todo, model, lines))
        left = await _work(jobs, harness, "comparing")
        lines.finish()
    return left


def pairs(rows: Sequence[Row]) -> list[Pair]:
    """Every two answers to a question that did not fail."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["outcome"] != FAILED:
            found.setdefault(row["item_id"], []).append(row)
    return [
        _pair(one, one["pipeline"], other["pipeline"], _answer(one), _answer(other))
        for same in found.values()
        for one, other in combinations(sorted(same, key=lambda row: str(row["pipeline"])), 2)
    ]


def alone(rows: Sequence[Row], systems: Sequence[System]) -> list[Pair]:
    """Each answer that was written from highlights, against these highlights."""
    written = {system.name for system in systems if system.summarizer == "llm"}
    return [
        _pair(row, row["pipeline"], row["pipeline"] + HIGHLIGHTS_ALONE, _answer(row), row["highlighted"])
        for row in rows
        if row["outcome"] == ANSWERED and row["pipeline"] in written
    ]


def orders(pair: Pair, *, both: bool) -> tuple[Order, ...]:
    """In which orders a pair is shown."""
    if both:
        return Order.AS_IS, Order.SWAPPED
    return (seeded_order(pair.question, (pair.first, pair.second), seed=0),)


def reference(row: Row) -> str | None:
    """What judges are told is right: the first reference, after the decision; None where nothing is."""
    if row["answerable"] is False:
        return None
    decided = f"{row['decision'].capitalize()}. " if row["decision"] else ""
    known = row["references"][0] if row["references"] else ""
    same = known.strip().lower().rstrip(".") == row["decision"]
    return known if same else f"{decided}{known}".strip()


def _rating(name: str, model: ChatModel, row: Row, key: Row, lines: Lines) -> Job:
    async def rate() -> bool:
        try:
            score = await rating.make(name, model).judge(
                question=row["question"], prediction=_answer(row), reference=reference(row)
            )
        except ModelError as error:
            score = Score(None, f"not scored: {error}")
            asked = False
        else:
            asked = True
        lines.append(key | {"value": score.value, "explanation": score.explanation})
        return asked

    return rate


def _comparison(pair: Pair, todo: Sequence[Order], model: ChatModel, lines: Lines) -> Job:
    async def ask() -> bool:
        for order in todo:
            found = await _verdict(pair, order, model)
            key = dict(zip(COMPARISON_KEY, _key(pair, order, model), strict=True))
            lines.append(key | {"verdict": found.verdict, "explanation": found.explanation})
            if not found.votes:
                return found.verdict is not None  # by rule, the other order says the same; or it failed
        return True

    return ask


async def _verdict(pair: Pair, order: Order, model: ChatModel) -> Comparison:
    first, second = pair.answers
    known = pair.reference or None
    try:
        return await ComparisonJudge(model).compare(
            question=pair.question, first=first, second=second, reference=known, order=order
        )
    except ModelError as error:
        return Comparison(None, f"not scored: {error}")


async def _work(jobs: Sequence[Job], harness: Harness, what: str) -> int:
    """Do the jobs, several at a time; how many were left out because the budget is used up."""
    slots = asyncio.Semaphore(harness.concurrency)
    left = done = 0

    async def one(job: Job) -> None:
        nonlocal left, done
        async with slots:
            if harness.budget.stop():
                left += 1
                return
            harness.progress(done, len(jobs), what)
            harness.budget.saw(failed=not await job())
            done += 1

    await together(one(job) for job in jobs)
    return left


def _keys(lines: Lines, value: str) -> set[tuple[str | int, ...]]:
    """The keys of the rows that are scored."""
    return {lines.key_of(row) for row in lines.rows() if row[value] is not None}


def _key(pair: Pair, order: Order, model: ChatModel) -> tuple[str, ...]:
    return pair.dataset, pair.item_id, pair.first, pair.second, order.value, model.name


def _pair(row: Row, first: str, second: str, one: str | None, other: str | None) -> Pair:
    return Pair(row["dataset"], row["item_id"], row["question"], reference(row), first, second, (one, other))


def _answer(row: Row) -> str | None:
    return row["answer"] if row["outcome"] == ANSWERED else None
