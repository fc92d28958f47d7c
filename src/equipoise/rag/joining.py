"""One result for a message of several questions.

Its text goes out in the operator's name, so it holds nothing that a user typed: which question has which answer is in
`sub_answers`. The order of the questions orders the text and the quotes beside it, and nothing that a model reads.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from equipoise.core.results import Answer, Reason, Refusal, SubAnswer
from equipoise.core.types import Highlight, Highlights, Trust
from equipoise.rag.journal import total


def joined(parts: Sequence[SubAnswer], highlights: Highlights) -> Answer | Refusal:
    """One result for all `parts` (one or more), which it holds; `highlights` are the canonical ones of all.

    Its text is each different answer once, in the order of the questions, trusted ones first, and how many questions
    have none for which reason.
    """
    results = [part.result for part in parts]
    trace = total([result.trace for result in results])
    refusals = [result for result in results if isinstance(result, Refusal)]
    answers = in_order(result for result in results if isinstance(result, Answer))
    reasons = _unanswered(refusals, len(results))
    if not answers:
        first = min((refusal.reason for refusal in refusals), key=_weight)
        detail = " ".join([f"None of the {len(results)} questions was answered.", *reasons])
        return Refusal(first, detail, highlights, trace, tuple(parts))
    text = "\n\n".join([*dict.fromkeys(answer.text for answer in answers), *reasons])
    grounded = all(answer.grounded for answer in answers)
    return Answer(text, highlights, grounded, trace, tuple(parts), best_first=_shown(answers, highlights))


def in_order(answers: Iterable[Answer]) -> list[Answer]:
    """The answers as they are joined: what rests on untrusted documents at the end, so that its heading speaks of
    nothing else."""
    return sorted(answers, key=lambda answer: answer.trust is not Trust.TRUSTED)


def _shown(answers: Iterable[Answer], highlights: Highlights) -> tuple[int, ...]:
    """The rows of `highlights` in the order in which the answers show their quotes, which may be parts of them."""
    quotes = [quote for answer in answers for quote in answer.quotes]
    rows = range(len(highlights.items))
    shown = [row for quote in quotes for row in rows if _holds(highlights.items[row], quote)]
    return tuple(dict.fromkeys([*shown, *rows]))


def _holds(item: Highlight, quote: Highlight) -> bool:
    return item.doc_id == quote.doc_id and item.start <= quote.start and quote.end <= item.end


def _unanswered(refusals: Iterable[Refusal], questions: int) -> list[str]:
    """A line for each different reason."""
    counted = Counter((refusal.reason, refusal.detail) for refusal in refusals)
    ordered = sorted(counted.items(), key=lambda item: (_weight(item[0][0]), item[0][1]))
    return [f"No answer to {count} of {questions} questions: {detail}" for (_, detail), count in ordered]


def _weight(reason: Reason) -> tuple[bool, int]:
    """A sort key for reasons: a failure comes before every refusal."""
    return reason is not Reason.MODEL_FAILED, list(Reason).index(reason)
