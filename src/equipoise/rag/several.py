"""Several questions in one message (H&S, section 9): split, read apart, answered together, joined.

The joined text is in the order of the documents, not of the questions, and holds nothing that a user typed: an answer
goes out in the operator's name. Which question has which answer is in `parts`, for whoever shows it to the one who
asked.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from equipoise.core.protocols import Observer
from equipoise.core.results import Answer, Reason, Refusal, SubAnswer, Trace
from equipoise.core.types import Flag, Highlights, ScoredPassage, Trust, Usage
from equipoise.rag.gathering import checked
from equipoise.rag.pipeline import HighlightSummarize
from equipoise.text.questions import split_questions

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QuestionSplitter:
    """The pipeline `pipeline`, which a message with one question reaches unchanged. Of several, the first `most`
    are asked; the others are refused."""

    pipeline: HighlightSummarize
    most: int = 5

    async def ask(
        self,
        question: str,
        *,
        before: Sequence[str] = (),
        observer: Observer | None = None,
        others: bool = False,
    ) -> Answer | Refusal:
        """As `pipeline`; an answer where at least one question has one, and it says why others have none."""
        questions = split_questions(checked(question).text, before)
        if len(questions) < 2:
            return await self.pipeline.ask(question, before=before, observer=observer, others=others)
        asked = await self.pipeline.ask_all(questions[: self.most], observer, others=others)
        parts = [
            SubAnswer(question.text, result)
            for question, result in zip(questions, asked.results, strict=False)
        ]
        detail = f"A message may hold {self.most} questions: ask this one by itself."
        over = Refusal(Reason.TOO_MANY_QUESTIONS, detail)
        return joined(
            (*parts, *(SubAnswer(question.text, over) for question in questions[self.most :])),
            asked.highlights,
        )


def joined(parts: Sequence[SubAnswer], highlights: Highlights) -> Answer | Refusal:
    """One result for all `parts` (one or more), which it holds; `highlights` are the canonical ones of all.

    Its text is each different answer once, in document order, trusted ones first, and how many questions have none for
    which reason.
    """
    results = [part.result for part in parts]
    trace = total([result.trace for result in results])
    refusals = [result for result in results if isinstance(result, Refusal)]
    answers = [result for result in results if isinstance(result, Answer)]
    reasons = _unanswered(refusals, len(results))
    if not answers:
        first = min((refusal.reason for refusal in refusals), key=_weight)
        detail = " ".join([f"None of the {len(results)} questions was answered.", *reasons])
        return Refusal(first, detail, highlights, trace, tuple(parts))
    text = "\n\n".join([*dict.fromkeys(answer.text for answer in in_order(answers)), *reasons])
    return Answer(text, highlights, all(answer.grounded for answer in answers), trace, tuple(parts))


def in_order(answers: Iterable[Answer]) -> list[Answer]:
    """The answers as they are joined: in document order, what rests on untrusted documents at the end, so that its
    heading speaks of nothing else."""
    return sorted(
        answers,
        key=lambda answer: (
            answer.trust is not Trust.TRUSTED,
            [(item.span, item.spans) for item in answer.highlights.items],
            answer.text,
        ),
    )


def _unanswered(refusals: Iterable[Refusal], questions: int) -> list[str]:
    """A line for each different reason."""
    counted = Counter((refusal.reason, refusal.detail) for refusal in refusals)
    ordered = sorted(counted.items(), key=lambda item: (_weight(item[0][0]), item[0][1]))
    return [f"No answer to {count} of {questions} questions: {detail}" for (_, detail), count in ordered]


def _weight(reason: Reason) -> tuple[bool, int]:
    """A failure comes before every refusal."""
    return reason is not Reason.MODEL_FAILED, list(Reason).index(reason)


def total(traces: Sequence[Trace]) -> Trace:
    """One trace: each passage once with its best score, each flagged passage once, times and costs added up.

    Probabilities, similarities, tags and what a question was read as stay with their parts.
    """
    seconds: dict[str, float] = {}
    for trace in traces:
        for stage, spent in trace.timings.items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    return Trace(
        _best(scored for trace in traces for scored in trace.passages),
        _flagged(flag for trace in traces for flag in trace.flagged),
        tuple(drop for trace in traces for drop in trace.dropped),
        spelling=_once(pair for trace in traces for pair in trace.spelling),
        notice=" ".join(_once(trace.notice for trace in traces if trace.notice)),
        guessed_questions=_once(guess for trace in traces for guess in trace.guessed_questions),
        unsupported=_once(word for trace in traces for word in trace.unsupported),
        missing=_once(word for trace in traces for word in trace.missing),
        failure=" ".join(_once(trace.failure for trace in traces if trace.failure)),
        timings=seconds,
        usage=sum((trace.usage for trace in traces), Usage()),
        models={name: model for trace in traces for name, model in trace.models.items()},
    )


def _once(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))


def _flagged(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Each passage with the first reason."""
    first: dict[int, Flag] = {}
    for flag in flags:
        first.setdefault(flag.passage.passage_id, flag)
    return tuple(first.values())


def _best(scored: Iterable[ScoredPassage]) -> tuple[ScoredPassage, ...]:
    """Each passage once, best first."""
    best: dict[int, ScoredPassage] = {}
    for candidate in scored:
        known = best.get(candidate.passage.passage_id)
        if known is None or candidate.score > known.score:
            best[candidate.passage.passage_id] = candidate
    return tuple(
        sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.passage.passage_id))
    )
