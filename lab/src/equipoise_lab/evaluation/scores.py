"""Judges of answers, and what they say."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from equipoise.core.usage import Usage


@dataclass(frozen=True, slots=True)
class Score:
    """A judge's value for one answer, on the judge's scale, with its reason.

    `value` is None where the answer could not be scored: it is left out of every mean, and counted.
    """

    value: float | None
    explanation: str
    usage: Usage = Usage()


@runtime_checkable
class Judge(Protocol):
    """Scores an answer. Keyword-only, so that nobody can swap what is judged and what it is judged by."""

    async def judge(self, *, question: str, prediction: str | None, reference: str | None) -> Score:
        """The score of `prediction`; a judge that answers junk gives a score of None, never 0.

        `prediction` is None where the system declined to answer, `reference` where the documents hold no
        answer (blank: an answer exists and is not known). Raises ModelUnavailable.
        """
        ...
