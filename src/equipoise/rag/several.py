"""Several questions in one message (H&S, section 9): split, asked apart, joined.

Every question goes the whole way by itself, so what reaches a summarizer stays a function of that question's
spans. The joined text holds numbers in place of the questions: nothing that a user typed becomes part of an answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from equipoise.core.protocols import Pipeline
from equipoise.core.types import (
    Answer,
    Highlight,
    Highlights,
    Part,
    Reason,
    Refusal,
    ScoredPassage,
    Trace,
    Usage,
)
from equipoise.rag.pipeline import checked
from equipoise.text.questions import split_questions


@dataclass(frozen=True, slots=True)
class SeveralQuestions:
    """The pipeline `pipeline`, which a message with one question reaches unchanged. Of several, the first `most`
    are asked, one after the other; the others are refused."""

    pipeline: Pipeline
    most: int = 5

    async def ask(self, question: str) -> Answer | Refusal:
        """As `pipeline`; an answer where at least one question has one, and it says which have none and why."""
        questions = split_questions(checked(question).text)
        if len(questions) < 2:
            return await self.pipeline.ask(question)
        parts = [Part(one.text, await self.pipeline.ask(one.whole)) for one in questions[: self.most]]
        detail = f"A message may hold {self.most} questions: ask this one by itself."
        over = Refusal(Reason.TOO_MANY_QUESTIONS, detail)
        return joined((*parts, *(Part(one.text, over) for one in questions[self.most :])))


def joined(parts: Sequence[Part]) -> Answer | Refusal:
    """One result for all `parts` (one or more), which it holds. Its highlights are those of all parts, canonical."""
    results = [part.result for part in parts]
    highlights = merged(result.highlights for result in results)
    trace = total([result.trace for result in results])
    refusals = [result for result in results if isinstance(result, Refusal)]
    lines = [f"{number}. {_said(result)}" for number, result in enumerate(results, 1)]
    if len(refusals) == len(results):
        failed = [one.reason for one in refusals if one.reason is Reason.MODEL_FAILED]
        reason = [*failed, refusals[0].reason][0]
        detail = " ".join([f"None of the {len(results)} questions was answered.", *lines])
        return Refusal(reason, detail, highlights, trace, tuple(parts))
    grounded = all(result.grounded for result in results if isinstance(result, Answer))
    return Answer("\n\n".join(lines), highlights, grounded, trace, tuple(parts))


def _said(result: Answer | Refusal) -> str:
    if isinstance(result, Answer):
        return result.text
    return f"No answer ({result.reason.value}): {result.detail}"


def merged(sets: Iterable[Highlights]) -> Highlights:
    """The highlights of all sets in document order; where two overlap, one that reaches over both."""
    items: list[Highlight] = []
    for item in sorted((item for one in sets for item in one.items), key=lambda item: item.span):
        last = items[-1] if items else None
        if last is None or last.doc_id != item.doc_id or item.start >= last.end:
            items.append(item)
        elif item.end > last.end:
            text = last.text + item.text[last.end - item.start :]
            items[-1] = replace(last, end=item.end, text=text)
    return Highlights(tuple(items))


def total(traces: Sequence[Trace]) -> Trace:
    """One trace: each passage once with its best score, each flag once, times and costs added up.

    Probabilities and tags stay with their parts.
    """
    seconds: dict[str, float] = {}
    for trace in traces:
        for stage, spent in trace.timings.items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    return Trace(
        _best(scored for trace in traces for scored in trace.passages),
        tuple({flag.passage_id: flag for trace in reversed(traces) for flag in trace.flagged}.values()),
        tuple(drop for trace in traces for drop in trace.dropped),
        tuple(guess for trace in traces for guess in trace.guessed_questions),
        tuple(word for trace in traces for word in trace.unsupported),
        tuple(word for trace in traces for word in trace.missing),
        failure=" ".join(trace.failure for trace in traces if trace.failure),
        timings=seconds,
        usage=sum((trace.usage for trace in traces), Usage()),
        models={name: model for trace in traces for name, model in trace.models.items()},
    )


def _best(scored: Iterable[ScoredPassage]) -> tuple[ScoredPassage, ...]:
    """Each passage once, best first."""
    best: dict[int, ScoredPassage] = {}
    for one in scored:
        known = best.get(one.passage.passage_id)
        if known is None or one.score > known.score:
            best[one.passage.passage_id] = one
    return tuple(sorted(best.values(), key=lambda one: (-one.score, one.passage.passage_id)))
