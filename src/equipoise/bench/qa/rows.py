"""Rows of results: what one pipeline made of one question, and its scores.

The fields of a row, in order: dataset, item_id, pipeline, model, question, answerable, decision, outcome
(answered, declined, failed), reason, answer, references, grounded, probability, tags, highlights, highlighted,
dropped, gold, gold_text, guesses, usage, scores. Nothing in a row depends on the clock or on the replay cache.
"""

from collections.abc import Sequence

from equipoise.bench.qa import items, metrics
from equipoise.bench.qa.items import Item
from equipoise.bench.qa.systems import System
from equipoise.bench.results import Row
from equipoise.core.results import Answer, Reason, Refusal, Trace
from equipoise.core.types import Span, Usage

KEY = ("dataset", "item_id", "pipeline", "model")
JUDGEMENT_KEY = (*KEY, "judge", "judge_model")
COMPARISON_KEY = ("dataset", "item_id", "first", "second", "order", "judge_model")
HIGHLIGHTS_ALONE = " (highlights)"
"""Behind a pipeline's name in comparisons: its highlights alone as the answer (section 7.1)."""

ANSWERED, DECLINED, FAILED = "answered", "declined", "failed"
DIGITS = 5


def row(key: Row, item: Item, system: System, result: Answer | Refusal) -> Row:
    """The row of a result; `key` holds the fields of KEY."""
    outcome, reason = _outcome(result)
    answer = result.text if isinstance(result, Answer) else ""
    found = result.highlights
    facts: Row = {
        "outcome": outcome,
        "reason": reason,
        "answer": answer,
        "references": list(item.references),
        "grounded": result.grounded if isinstance(result, Answer) else None,
        "probability": None if result.trace.probability is None else round(result.trace.probability, DIGITS),
        "tags": [tag.value for tag in result.trace.tags],
        "highlights": [_place(one.span) for one in found.items],
        "highlighted": "\n".join(one.text for one in found.items),
        "dropped": len(result.trace.dropped),
        "gold": [_place(span) for span in item.gold],
        "gold_text": items.gold_text(item),
        "guesses": list(result.trace.guessed_questions),
        "usage": usage(result.trace),
    }
    return {**key, **_asked(item), **facts, "scores": scores(item, facts, highlights=system.highlights)}


def failure(key: Row, item: Item, system: System, error: Exception) -> Row:
    """The row of a question that an error ended."""
    said = str(error) or type(error).__name__
    return row(key, item, system, Refusal(Reason.MODEL_FAILED, "", trace=Trace(failure=said)))


def usage(trace: Trace) -> dict[str, int]:
    """Calls and tokens, replayed calls counted as calls: the same whether a reply is fresh or not."""
    used: Usage = trace.usage
    return {
        "calls": used.calls + used.replayed,
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
    }


def scores(item: Item, facts: Row, *, highlights: bool) -> dict[str, float | None]:
    """Every measure of one row, None where it does not apply.

    A declined answer to an answerable question has recall 0; a failed one is not scored. `answer_k_precision`
    is the share of the answer's tokens in the gold passage (H&S, Table 1), `answer_k_precision_documents` in all
    documents that were given (Adlakha's own). `highlight_*` compare the highlighted text with the gold passage
    (Table 5); `highlight_in_gold` and `gold_in_highlight` are Figure 6. `guess_*` are Table 6 for the best
    guess, `guess_first_*` for the first. `decision_correct` is 1 where a yes/no question was decided rightly.
    """
    ran = facts["outcome"] != FAILED
    wanted = ran and item.answerable is not False
    gold, quoted, answer = facts["gold_text"], facts["highlighted"], facts["answer"]
    documents = "\n".join(part for document in item.documents for part in (document.title, document.text))
    spans = [Span(*place) for place in facts["highlights"]]
    relation = metrics.relation(quoted, gold) if gold and quoted else None
    inside = (metrics.Relation.EQUAL, metrics.Relation.SUBSTRING)
    around = (metrics.Relation.EQUAL, metrics.Relation.SUPERSTRING)
    found: dict[str, float | None] = {
        "answer_recall": metrics.best_recall(item.references, answer) if wanted else None,
        "answer_hit": metrics.answer_hit(item.references, answer) if wanted else None,
        "answer_k_precision": metrics.k_precision(answer, gold) if gold else None,
        "answer_k_precision_documents": metrics.k_precision(answer, documents),
        "evidence_hit": metrics.evidence_hit(spans, item.gold) if wanted and highlights else None,
        "highlight_k_precision": metrics.k_precision(quoted, gold) if gold else None,
        "highlight_recall": metrics.recall(gold, quoted) if wanted and highlights else None,
        "highlight_in_gold": relation in inside if relation else None,
        "gold_in_highlight": relation in around if relation else None,
        **_guessed(item.question, facts["guesses"]),
        "decision_correct": _decision_hit(item, facts) if ran else None,
    }
    return {name: None if value is None else round(float(value), DIGITS) for name, value in found.items()}


def _asked(item: Item) -> Row:
    return {"question": item.question, "answerable": item.answerable, "decision": item.decision}


def _outcome(result: Answer | Refusal) -> tuple[str, str | None]:
    """Outcome and reason; a failure's reason has its error after a colon."""
    if isinstance(result, Answer):
        return ANSWERED, None
    if result.reason is Reason.MODEL_FAILED:
        return FAILED, f"{result.reason.value}: {result.trace.failure}"
    return DECLINED, result.reason.value


def _place(span: Span) -> list[str | int]:
    return [span.doc_id, span.start, span.end]


def _guessed(question: str, guesses: Sequence[str]) -> dict[str, float | None]:
    best = metrics.best_guess(question, guesses) or (None, None)
    first = metrics.best_guess(question, guesses[:1]) or (None, None)
    return {
        "guess_k_precision": best[0],
        "guess_recall": best[1],
        "guess_first_k_precision": first[0],
        "guess_first_recall": first[1],
    }


def _decision_hit(item: Item, facts: Row) -> bool | None:
    if item.decision not in ("yes", "no"):
        return None
    return metrics.decided(facts["answer"], facts["tags"]) == item.decision
