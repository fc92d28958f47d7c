"""Has answers judged one by one, and compared in pairs, by language models: runs whose systems are judges.

What was not scored is asked again by the next run; a reply that was once given comes from the replay cache then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from equipoise.core.errors import ModelError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import Score
from equipoise.evaluation.run import Ran, RecordForm, evaluate
from equipoise.evaluation.scorers import Call
from equipoise_lab.bench.judges import rating
from equipoise_lab.bench.judges.comparison import Comparison, ComparisonJudge, Order, by_rule, seeded_order
from equipoise_lab.bench.judges.rating import RUBRICS
from equipoise_lab.bench.qa.records import HIGHLIGHTS_ALONE, ComparisonRecord, Judgement, QaRecord
from equipoise_lab.bench.qa.runner import Harness
from equipoise_lab.bench.systems import Named

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

    @property
    def key(self) -> tuple[str, ...]:
        """Data set, question and names."""
        return self.dataset, self.item_id, self.first, self.second


@dataclass(frozen=True, slots=True)
class Shown:
    """A Sample: a pair in the order in which a judge is shown it."""

    pair: Pair
    order: Order

    @property
    def sample_id(self) -> str:
        """Question, names and order."""
        return f"{self.pair.item_id} {self.pair.first} {self.pair.second} {self.order}"


def _rating(name: str, model: ChatModel) -> Call[QaRecord, Score]:
    """The judge `name` of single answers on `model`."""
    made = rating.make(name, model)
    return Call(
        f"{name} by {model.name}",
        lambda record: made.judge(
            question=record.question, prediction=record.said, reference=reference(record)
        ),
    )


def _comparing(model: ChatModel) -> Call[Shown, Comparison]:
    """The judge of pairs on `model`."""
    return Call(
        model.name,
        lambda shown: ComparisonJudge(model).compare(
            question=shown.pair.question,
            first=shown.pair.answers[0],
            second=shown.pair.answers[1],
            reference=shown.pair.reference or None,
            order=shown.order,
        ),
    )


def _judgement(_: QaRecord, ran: Ran[Score]) -> dict[str, object]:
    score = ran.outcome or Score(None, f"not scored: {ran.error}")
    return {"value": score.value, "explanation": score.explanation}


def _comparison(_: Shown, ran: Ran[Comparison]) -> dict[str, object]:
    comparison = ran.outcome or Comparison(None, f"not scored: {ran.error}")
    return {"verdict": comparison.verdict, "explanation": comparison.explanation}


COMPARISON: RecordForm[Shown, Comparison, ComparisonRecord] = RecordForm(
    ComparisonRecord, lambda shown, system: (*shown.pair.key, shown.order.value, system.name), _comparison
)


async def judge(records: Sequence[QaRecord], models: Sequence[ChatModel], harness: Harness) -> int:
    """Rate every answer with every rubric by every model; how many ratings a used-up budget left out.

    A failed answer is not rated. Declined ones, and answers where the documents hold none, are scored by rule.
    """
    rated = [record for record in records if not record.failed]
    raters = {_rating(name, model): (name, model.name) for model in models for name in RUBRICS}
    names = {rater.name: names for rater, names in raters.items()}
    form: RecordForm[QaRecord, Score, Judgement] = RecordForm(
        Judgement, lambda record, system: (*record.key, *names[system.name]), _judgement
    )
    evaluated = await evaluate(
        rated, list(raters), (), harness.out, form=form, file=JUDGEMENTS, progress=harness.progress,
        budget=harness.budget, concurrency=harness.concurrency, errors=(ModelError,),
    )  # fmt: skip
    return evaluated.skipped


async def compare(
    records: Sequence[QaRecord],
    systems: Sequence[Named],
    model: ChatModel,
    harness: Harness,
    *,
    both_orders: bool = False,
) -> int:
    """Have every pair of pipelines compared, and each written answer with its highlights alone.

    In one order, drawn by question and pair, or in both. Returns how many comparisons a used-up budget left out.
    """
    every = [*pairs(records), *alone(records, systems)]
    shown = [Shown(pair, order) for pair in every for order in orders(pair, both=both_orders)]
    evaluated = await evaluate(
        shown, [_comparing(model)], (), harness.out, form=COMPARISON, file=COMPARISONS, progress=harness.progress,
        budget=harness.budget, concurrency=harness.concurrency, errors=(ModelError,),
        group=lambda showing: showing.pair, in_turn=True,
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
