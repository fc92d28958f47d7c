"""The scorers of answers, highlights and guesses. One is a name and a function of (question, what came out).

A declined answer to an answerable question has recall 0; a failed one is not scored. `answer_k_precision` is the share
of the answer's tokens in the gold passage (H&S, Table 1), `answer_k_precision_documents` in all documents that were
given (Adlakha's own). `highlight_*` compare the highlighted text with the gold passage (Table 5); `highlight_in_gold`
and `gold_in_highlight` are Figure 6. `guess_*` are Table 6 for the best guess, `guess_first_*` for the first.
`decision_correct` is 1 where a yes/no question was decided rightly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from equipoise.core.results import Answer, Reason, Refusal
from equipoise.core.types import Span
from equipoise.evaluation.scorers import Measure
from equipoise_lab.bench.qa import items, metrics
from equipoise_lab.bench.qa.items import Item
from equipoise_lab.bench.qa.metrics import Relation
from equipoise_lab.bench.qa.records import ANSWERED, DECLINED, FAILED, Used

DIGITS = 5
UNUSED = Used(calls=0, prompt_tokens=0, completion_tokens=0)


@dataclass(frozen=True, slots=True)
class QaOutcome:
    """How a pipeline ended, in plain values. `quotes` is whether it highlights at all, `fresh` whether its model was
    really asked; `stages` are seconds."""

    outcome: str
    reason: str | None = None
    answer: str = ""
    grounded: bool | None = None
    probability: float | None = None
    tags: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    highlighted: str = ""
    dropped: int = 0
    gold_text: str = ""
    guesses: tuple[str, ...] = ()
    usage: Used = UNUSED
    quotes: bool = True
    fresh: bool = True
    stages: dict[str, float] = field(default_factory=dict)

    @property
    def ran(self) -> bool:
        """Whether no error ended it."""
        return self.outcome != FAILED


def outcome_of(item: Item, result: Answer | Refusal, *, quotes: bool) -> QaOutcome:
    """The outcome of a result."""
    outcome, reason = _ended(result)
    trace = result.trace
    return QaOutcome(
        outcome=outcome,
        reason=reason,
        answer=result.text if isinstance(result, Answer) else "",
        grounded=result.grounded if isinstance(result, Answer) else None,
        probability=None if trace.probability is None else round(trace.probability, DIGITS),
        tags=tuple(tag.value for tag in trace.tags),
        spans=tuple(span for highlight in result.highlights.items for span in highlight.chosen),
        highlighted="\n".join(text for highlight in result.highlights.items for text in highlight.marked),
        dropped=len(trace.dropped),
        gold_text=items.gold_text(item),
        guesses=tuple(trace.guessed_questions),
        usage=Used(
            calls=trace.usage.calls + trace.usage.replayed,
            prompt_tokens=trace.usage.prompt_tokens,
            completion_tokens=trace.usage.completion_tokens,
        ),
        quotes=quotes,
        fresh=outcome != FAILED and not trace.usage.replayed,
        stages=dict(trace.timings),
    )


def _ended(result: Answer | Refusal) -> tuple[str, str | None]:
    if isinstance(result, Answer):
        return ANSWERED, None
    if result.reason is Reason.MODEL_FAILED:
        return FAILED, f"{result.reason.value}: {result.trace.failure}"
    return DECLINED, result.reason.value


def _wanted(item: Item, outcome: QaOutcome) -> bool:
    """Whether an answer was to be had."""
    return outcome.ran and item.answerable is not False


def _answer_recall(item: Item, outcome: QaOutcome) -> float | None:
    return metrics.best_recall(item.references, outcome.answer) if _wanted(item, outcome) else None


def _answer_hit(item: Item, outcome: QaOutcome) -> bool | None:
    return metrics.answer_hit(item.references, outcome.answer) if _wanted(item, outcome) else None


def _answer_k_precision(_: Item, outcome: QaOutcome) -> float | None:
    return metrics.k_precision(outcome.answer, outcome.gold_text) if outcome.gold_text else None


def _answer_k_precision_documents(item: Item, outcome: QaOutcome) -> float | None:
    documents = "\n".join(part for document in item.documents for part in (document.title, document.text))
    return metrics.k_precision(outcome.answer, documents)


def _evidence_hit(item: Item, outcome: QaOutcome) -> bool | None:
    asked = _wanted(item, outcome) and outcome.quotes
    return metrics.evidence_hit(outcome.spans, item.gold) if asked else None


def _highlight_k_precision(_: Item, outcome: QaOutcome) -> float | None:
    return metrics.k_precision(outcome.highlighted, outcome.gold_text) if outcome.gold_text else None


def _highlight_recall(item: Item, outcome: QaOutcome) -> float | None:
    asked = _wanted(item, outcome) and outcome.quotes
    return metrics.recall(outcome.gold_text, outcome.highlighted) if asked else None


def _related(*wanted: Relation) -> Callable[[Item, QaOutcome], bool | None]:
    def of(_: Item, outcome: QaOutcome) -> bool | None:
        if not (outcome.gold_text and outcome.highlighted):
            return None
        return metrics.relation(outcome.highlighted, outcome.gold_text) in wanted

    return of


def _guess(part: int, *, first: bool = False) -> Callable[[Item, QaOutcome], float | None]:
    def of(item: Item, outcome: QaOutcome) -> float | None:
        guesses: Sequence[str] = outcome.guesses[:1] if first else outcome.guesses
        best = metrics.best_guess(item.question, guesses)
        return best[part] if best else None

    return of


def _decision_correct(item: Item, outcome: QaOutcome) -> bool | None:
    if not outcome.ran or item.decision not in ("yes", "no"):
        return None
    return metrics.decided(outcome.answer, outcome.tags) == item.decision


SCORERS: tuple[Measure[Item, QaOutcome], ...] = (
    Measure("answer_recall", _answer_recall),
    Measure("answer_hit", _answer_hit),
    Measure("answer_k_precision", _answer_k_precision),
    Measure("answer_k_precision_documents", _answer_k_precision_documents),
    Measure("evidence_hit", _evidence_hit),
    Measure("highlight_k_precision", _highlight_k_precision),
    Measure("highlight_recall", _highlight_recall),
    Measure("highlight_in_gold", _related(Relation.EQUAL, Relation.SUBSTRING)),
    Measure("gold_in_highlight", _related(Relation.EQUAL, Relation.SUPERSTRING)),
    Measure("guess_k_precision", _guess(0)),
    Measure("guess_recall", _guess(1)),
    Measure("guess_first_k_precision", _guess(0, first=True)),
    Measure("guess_first_recall", _guess(1, first=True)),
    Measure("decision_correct", _decision_correct),
)
