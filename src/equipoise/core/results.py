"""How a question ended: an answer or a refusal, with its trace. `to_dict` is what `equipoise ask --json` prints.

The person who asks may see `Answer` and `Refusal`, but not their `trace`: that is for the operator.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from equipoise.core.types import (
    Dropped,
    Flag,
    Highlight,
    Highlights,
    Passage,
    ScoredPassage,
    Tag,
    Trust,
    Usage,
)

DIGITS = 6
"""Decimal places of scores, probabilities and seconds in dictionaries."""


class Reason(StrEnum):
    """Why a question was refused."""

    NO_QUESTION = "no question"
    NOTHING_RETRIEVED = "nothing retrieved"
    NOTHING_HIGHLIGHTED = "nothing highlighted"
    MODEL_DECLINED = "model declined"
    MODEL_FAILED = "model failed"
    GUESS_TOO_FAR = "guess too far"
    TOO_MANY_QUESTIONS = "too many questions"
    TOO_MANY_QUOTES = "too many quotes"


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened to one question, for the operator alone; holds user text.

    What a person who asks must not see stands here and nowhere else: `failure` (the error of a model, with its
    name and endpoint), `probability` (0 to 1) that the passages answer and the `threshold` it must reach, the monitor's
    `similarity` (-1 to 1) of question and nearest guess, why a filter took passages out. None: not measured.
    `read_as` is the text read in place of the question: an earlier question and this one; empty where nothing was
    added. `spelling` has (as typed, as read) for each corrected word. `notice` tells the person who asks that the
    encoder does not read the question's or the documents' language; empty where it does. `unheard` are words of an
    unanswered question that no document has.
    """

    passages: tuple[ScoredPassage, ...] = ()
    flagged: tuple[Flag, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    read_as: str = ""
    spelling: tuple[tuple[str, str], ...] = ()
    notice: str = ""
    unheard: tuple[str, ...] = ()
    guessed_questions: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    failure: str = ""
    probability: float | None = None
    threshold: float | None = None
    similarity: float | None = None
    tags: tuple[Tag, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)
    usage: Usage = Usage()
    models: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """What only the operator may see: guesses, dropped spans and quotations, unsupported words."""
        return {
            "dropped": [dropped_dict(drop) for drop in self.dropped],
            "guessed_questions": list(self.guessed_questions),
            "unsupported": list(self.unsupported),
            "missing": list(self.missing),
            "failure": self.failure,
            "threshold": self.threshold,
            "similarity": self.similarity,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    """What one author of untrusted documents says, as quotes from them: at least one, in document order.

    `impersonates` is the source of the trusted document whose title, file name or text theirs bears; empty for none.
    """

    author: str
    highlights: tuple[Highlight, ...]
    impersonates: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """Statements that claim the same, the one that represents the claim first; `independent` is how many of the claim's
    authors are independent of each other (1 or more), `side` the side they take if the question has sides."""

    statements: tuple[Statement, ...]
    independent: int
    side: Tag | None = None

    @property
    def shown(self) -> tuple[Statement, ...]:
        """The statements that are quoted: all that stand for a side, else the first."""
        return self.statements if self.side else self.statements[:1]


@dataclass(frozen=True, slots=True)
class Others:
    """What untrusted documents say, claim by claim, the best supported first; `contested` where claims speak against
    each other. `silent`: there are trusted documents, and they do not answer."""

    claims: tuple[Claim, ...]
    contested: bool = False
    silent: bool = False

    @property
    def quotes(self) -> tuple[Highlight, ...]:
        """All their quotes, claim by claim."""
        return tuple(item for claim in self.claims for one in claim.statements for item in one.highlights)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with the highlights it rests on, for the person who asks; `trace` is for the operator.

    `grounded` as in `Summary`. `sub_answers` are the questions of a message that held several, empty for a single one.
    `best_first` are the indices of `highlights` in the order to show them in, the one in which the highlighter picked
    them; `highlights` itself is in document order. `weak`: it is not very probable that they answer.
    `others` is what untrusted documents say: where trusted ones do not answer they are all there is, and `trust` says
    so.
    """

    text: str
    highlights: Highlights
    grounded: bool = True
    trace: Trace = field(default_factory=Trace)
    sub_answers: tuple["SubAnswer", ...] = ()
    best_first: tuple[int, ...] = ()
    weak: bool = False
    others: Others | None = None

    @property
    def trust(self) -> Trust:
        """UNTRUSTED if any highlight (without highlights: any passage that was read) is not from a trusted document,
        else TRUSTED."""
        read = (scored.passage for scored in self.trace.passages)
        every = {one.trust for one in self.highlights.items or read}
        return Trust.TRUSTED if every <= {Trust.TRUSTED} else Trust.UNTRUSTED

    @property
    def quotes(self) -> tuple[Highlight, ...]:
        """The highlights in the order in which they are shown: the best first, where that is known."""
        return tuple(self.highlights.items[row] for row in self.best_first) or self.highlights.items

    def __str__(self) -> str:
        """The text, and below it the place of each quote that it rests on."""
        return "\n".join([self.text, *(f"[{n}] {_place(item)}" for n, item in enumerate(self.quotes, 1))])

    def to_dict(self) -> dict[str, Any]:
        """One object with the same keys for answers and refusals; `answer` and `reason` may be None.

        Where a message held several questions there is one key more: `sub_answers`, with each question and how it
        ended.
        """
        return _whole(self)


@dataclass(frozen=True, slots=True)
class Refusal:
    """No answer: the reason, and one sentence for the person who asks.

    `detail` holds no probabilities, thresholds, names of models or endpoints, and no text of an error: those are
    in `trace`, for the operator. `sub_answers` as in `Answer`. `nearest` are passages that were read in vain, best
    first, for a person to look into.
    """

    reason: Reason
    detail: str
    highlights: Highlights = field(default_factory=Highlights)
    trace: Trace = field(default_factory=Trace)
    sub_answers: tuple["SubAnswer", ...] = ()
    nearest: tuple[Passage, ...] = ()

    @property
    def quotes(self) -> tuple[Highlight, ...]:
        """The highlights, in the order of the documents."""
        return self.highlights.items

    def __str__(self) -> str:
        """The sentence for the person who asks."""
        return self.detail

    def to_dict(self) -> dict[str, Any]:
        """As `Answer.to_dict`."""
        return _whole(self)


@dataclass(frozen=True, slots=True)
class SubAnswer:
    """One question of a message that held several, as it was typed, and how it ended."""

    question: str
    result: Answer | Refusal


def placed(item: Highlight | Passage, heading: str) -> str:
    """Where a reader finds it: file, page or line if it has them, heading, else paragraph."""
    above = f', "{heading}"' if heading else ""
    if item.page or item.line:
        return f"{item.source}, " + (f"page {item.page}" if item.page else f"line {item.line}") + above
    return f"{item.source}{above}" + (f", paragraph {item.paragraph}" if item.paragraph else "")


def passage_dict(passage: Passage) -> dict[str, Any]:
    """A passage: its place and its text."""
    return {
        "passage_id": passage.passage_id,
        "doc_id": passage.doc_id,
        "source": passage.source,
        "title": passage.title,
        "page": passage.page,
        "line": passage.line,
        "heading": " > ".join(passage.headings),
        "paragraph": passage.paragraph,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "trust": passage.trust.value,
    }


def dropped_dict(drop: Dropped) -> dict[str, Any]:
    """What was left out and why, for the operator."""
    span = [drop.span.doc_id, drop.span.start, drop.span.end] if drop.span else None
    return {"reason": str(drop.reason), "quotation": drop.quotation, "span": span}


def _place(item: Highlight) -> str:
    return placed(item, item.heading) + ("" if item.trust is Trust.TRUSTED else f" ({item.trust})")


def _whole(result: Answer | Refusal) -> dict[str, Any]:
    trace = result.trace
    data = _outcome(result) | {
        "passages": [_scored(passage) for passage in trace.passages],
        "flagged": [_flagged(flag) for flag in trace.flagged],
        "timings": {name: round(seconds, DIGITS) for name, seconds in trace.timings.items()},
        "tokens": {
            "calls": trace.usage.calls,
            "prompt": trace.usage.prompt_tokens,
            "completion": trace.usage.completion_tokens,
            "replayed": trace.usage.replayed,
        },
        "models": dict(trace.models),
    }
    if result.sub_answers:
        data["sub_answers"] = [
            {"question": sub_answer.question} | _outcome(sub_answer.result)
            for sub_answer in result.sub_answers
        ]
    return data


def _outcome(result: Answer | Refusal) -> dict[str, Any]:
    answer, refusal = (result, None) if isinstance(result, Answer) else (None, result)
    trace = result.trace
    return {
        "answer": answer.text if answer else None,
        "refused": refusal is not None,
        "reason": refusal.reason.value if refusal else None,
        "detail": refusal.detail if refusal else None,
        "failure": trace.failure,
        "grounded": answer.grounded if answer else None,
        "weak": answer.weak if answer else None,
        "trust": answer.trust.value if answer else None,
        "others": _others(answer.others) if answer and answer.others else None,
        "read_as": trace.read_as or None,
        "spelling": [list(pair) for pair in trace.spelling],
        "notice": trace.notice or None,
        "unheard": list(trace.unheard),
        "probability": None if trace.probability is None else round(trace.probability, DIGITS),
        "tags": [tag.value for tag in trace.tags],
        "highlights": [_highlight(item) for item in result.highlights.items],
        "best_first": list(answer.best_first) if answer else [],
        "nearest": [passage_dict(passage) for passage in refusal.nearest] if refusal else [],
    }


def _scored(scored: ScoredPassage) -> dict[str, Any]:
    return passage_dict(scored.passage) | {"score": round(scored.score, DIGITS)}


def _flagged(flag: Flag) -> dict[str, Any]:
    return passage_dict(flag.passage) | {"reason": flag.reason, "score": round(flag.score, DIGITS)}


def _others(others: Others) -> dict[str, Any]:
    return {
        "contested": others.contested,
        "silent": others.silent,
        "claims": [
            {
                "independent": claim.independent,
                "side": claim.side.value if claim.side else None,
                "statements": [
                    {
                        "author": statement.author,
                        "impersonates": statement.impersonates or None,
                        "highlights": [_highlight(item) for item in statement.highlights],
                    }
                    for statement in claim.statements
                ],
            }
            for claim in others.claims
        ],
    }


def _highlight(item: Highlight) -> dict[str, Any]:
    return {
        "doc_id": item.doc_id,
        "source": item.source,
        "title": item.title,
        "page": item.page,
        "line": item.line,
        "heading": item.heading,
        "paragraph": item.paragraph,
        "start": item.start,
        "end": item.end,
        "text": item.text,
        "trust": item.trust.value,
        "spans": [[span.start, span.end] for span in item.chosen],
        "marks": [list(mark) for mark in item.marks or ((0, len(item.text)),)],
        **({"newer": item.newer} if item.newer else {}),
        **({"corrected": item.corrected} if item.corrected else {}),
        **({"correction": True} if item.correction else {}),
        **({"date": item.date.isoformat()} if item.date else {}),
        **({"read": item.read.isoformat()} if item.read else {}),
    } | ({"context": item.context} if item.context else {})
