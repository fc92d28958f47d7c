"""Has answers judged one by one, and compared in pairs, by language models: runs whose systems are judges.

What was not scored is asked again by the next run; a reply that was once given comes from the replay cache then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from equipoise.core.errors import ModelError
from equipoise.core.protocols import ChatModel
from equipoise_lab.bench.judges import rating
from equipoise_lab.bench.judges.comparison import Comparison, ComparisonJudge, Order, by_rule, seeded_order
from equipoise_lab.bench.judges.rating import RUBRICS
from equipoise_lab.bench.qa.records import HIGHLIGHTS_ALONE, ComparisonRecord, Judgement, QaRecord
from equipoise_lab.bench.qa.runner import Harness
from equipoise_lab.bench.resumed import each
from equipoise_lab.bench.systems import Named
from equipoise_lab.evaluation.results import Key
from equipoise_lab.evaluation.run import Ran
from equipoise_lab.evaluation.scores import Score

JUDGEMENTS, COMPARISONS = "judgements.jsonl", "comparisons.jsonl"


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


async def judge(records: Sequence[QaRecord], models: Sequence[ChatModel], harness: Harness) -> int:
    """Rate every answer with every rubric by every model; how many ratings a used-up budget left out.

    A failed answer is not rated. Declined ones, and answers where the documents hold none, are scored by rule.
    """
    raters = {(name, model.name): rating.make(name, model) for model in models for name in RUBRICS}
    rated: dict[Key, QaRecord] = {
        (*record.key, *rater): record for record in records if not record.failed for rater in raters
    }

    async def rate(key: Key) -> Score:
        record = rated[key]
        return await raters[str(key[-2]), str(key[-1])].judge(
            question=record.question, prediction=record.said, reference=reference(record)
        )

    def kept(_: Key, ran: Ran[Score]) -> dict[str, object]:
        score = ran.outcome or Score(None, f"not scored: {ran.error}")
        return {"value": score.value, "explanation": score.explanation}

    evaluated = await each(
        Judgement, {key: key for key in rated}, "judges", rate, kept, harness.out, JUDGEMENTS,
        progress=harness.progress, budget=harness.budget, concurrency=harness.concurrency, errors=(ModelError,),
        group=lambda thing: thing.key[:4], in_turn=True,
    )  # fmt: skip
    return evaluated.skipped


async def compare(
    records: Sequence[QaRecord],
    systems: Sequence[Named],
    model: ChatModel,
    harness: Harness,
    *,
    both_orders: bool = False,
    informed: bool = False,
) -> int:
    """Have every pair of pipelines compared, and each written answer with its highlights alone.

    In one order, drawn by question and pair, as in the paper, or in both; by its judge, or an informed one. Returns how
    many comparisons a used-up budget left out.
    """
    judge = ComparisonJudge(model, informed=informed)
    shown = {
        (pair.dataset, pair.item_id, pair.first, pair.second, order.value, model.name, judge.prompt): (
            pair,
            order,
        )
        for pair in (*pairs(records), *alone(records, systems))
        for order in orders(pair, both=both_orders)
    }

    async def ask(shown: tuple[Pair, Order]) -> Comparison:
        pair, order = shown
        first, second = pair.answers
        return await judge.compare(
            question=pair.question, first=first, second=second, reference=pair.reference or None, order=order
        )

    def kept(_: tuple[Pair, Order], ran: Ran[Comparison]) -> dict[str, object]:
        comparison = ran.outcome or Comparison(None, f"not scored: {ran.error}")
        return {"verdict": comparison.verdict, "explanation": comparison.explanation}

    evaluated = await each(
        ComparisonRecord, shown, model.name, ask, kept, harness.out, COMPARISONS,
        progress=harness.progress, budget=harness.budget, concurrency=harness.concurrency, errors=(ModelError,),
        group=lambda thing: thing.of[0], in_turn=True,
    )  # fmt: skip
    return evaluated.skipped


def pairs(records: Sequence[QaRecord]) -> list[Pair]:
    """Every two answers to a question that did not fail."""
    by_item: dict[str, list[QaRecord]] = {}
    for record in records:
        if not record.failed:
            by_item.setdefault(record.item_id, []).append(record)
    return [
        _pair(first, first.pipeline, second.pipeline, first.said, second.said)
        for same in by_item.values()
        for first, second in combinations(sorted(same, key=lambda record: record.pipeline), 2)
    ]


def alone(records: Sequence[QaRecord], systems: Sequence[Named]) -> list[Pair]:
    """Each answer that was written from highlights, against these highlights."""
    written = {system.name for system in systems if system.writes}
    return [
        _pair(record, record.pipeline, record.pipeline + HIGHLIGHTS_ALONE, record.said, record.highlighted)
        for record in records
        if record.answered and record.pipeline in written
    ]


def orders(pair: Pair, *, both: bool) -> tuple[Order, ...]:
    """In which orders a pair is shown; one of two is enough where a rule decides."""
    if not both:
        return (seeded_order(pair.question, (pair.first, pair.second), seed=0),)
    return (Order.AS_IS,) if by_rule(*pair.answers) else (Order.AS_IS, Order.SWAPPED)


def reference(record: QaRecord) -> str | None:
    """What judges are told is right: the first reference, after the decision; None where nothing is."""
    if record.answerable is False:
        return None
    decided = f"{record.decision.capitalize()}. " if record.decision else ""
    known = record.references[0] if record.references else ""
    same = known.strip().lower().rstrip(".") == record.decision
    return known if same else f"{decided}{known}".strip()


def _pair(record: QaRecord, first: str, second: str, first_text: str | None, second_text: str | None) -> Pair:
    return Pair(
        record.dataset,
        record.item_id,
        record.question,
        reference(record),
        first,
        second,
        (first_text, second_text),
    )
