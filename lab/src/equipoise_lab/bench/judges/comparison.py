"""The comparison judge (H&S, section 5.2): which of two answers is better, a tie, or neither is acceptable.

The paper's sees no reference and no examples: so does ours, unless it is `informed`, which is ours.

Models prefer a place (Zheng et al. 2023, section 3.3), so the order in which the answers are shown can be drawn from a
hash (`seeded_order`): the same for the same pair, whichever way round it is named. Verdicts are in the caller's order.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Message, Usage
from equipoise.models.structured import complete_as
from equipoise.text.fence import fenced
from equipoise.text.tokens import has_words
from equipoise_lab import prompts
from equipoise_lab.bench.judges.rating import MAX_TOKENS, Explanation
from equipoise_lab.maths.rates import Estimate, wilson

ZERO_SHOT, INFORMED = "judge-comparison-v2", "judge-comparison-v1"
DECLINED = "(no answer: it declined)"
"""Stands outside the fence, where no answer can write it."""


class Preference(StrEnum):
    """In the order of the caller's arguments."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"
    NEITHER = "neither"

    def mirrored(self) -> "Preference":
        """The verdict with the two answers named the other way round."""
        return _MIRROR.get(self, self)


_MIRROR = {Preference.FIRST: Preference.SECOND, Preference.SECOND: Preference.FIRST}


class Order(StrEnum):
    """In which order a model is shown the two answers."""

    AS_IS = "as-is"
    SWAPPED = "swapped"


class ComparisonReply(BaseModel):
    """The reason first: the verdict then follows from it."""

    explanation: Explanation
    better: Literal["1", "2", "tie", "neither"]


_SHOWN = {"1": Preference.FIRST, "2": Preference.SECOND, "tie": Preference.TIE, "neither": Preference.NEITHER}


@dataclass(frozen=True, slots=True)
class Vote:
    """One reply: the verdict in the caller's order, None where it was junk; `swapped`: second was shown first."""

    verdict: Preference | None
    explanation: str
    swapped: bool
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict, None where it could not be scored, and the votes it rests on: none where a rule decided.

    Two votes (both orders) that differ make a tie, as in MT-Bench (Zheng et al. 2023, section 3.4).
    """

    verdict: Preference | None
    explanation: str
    votes: tuple[Vote, ...] = ()

    @property
    def consistent(self) -> bool | None:
        """Whether both orders gave the same verdict; None without two votes that could be used."""
        said = [vote.verdict for vote in self.votes if vote.verdict is not None]
        return said[0] == said[1] if len(said) == 2 else None

    @property
    def usage(self) -> Usage:
        """What all votes cost."""
        return sum((vote.usage for vote in self.votes), Usage())


@dataclass(frozen=True, slots=True)
class ComparisonJudge:
    """Compares two answers with a chat model; an `informed` one has examples, and sees the reference."""

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    informed: bool = False

    @property
    def prompt(self) -> str:
        """The name of its prompt."""
        return INFORMED if self.informed else ZERO_SHOT

    async def compare(
        self,
        *,
        question: str,
        first: str | None,
        second: str | None,
        reference: str | None = None,
        order: Order = Order.AS_IS,
    ) -> Comparison:
        """Which of two answers is better; None stands for a system that declined.

        `reference` is shown to an informed judge, where given. Equal answers are a tie and two declined ones are
        neither, by rule. Raises ModelUnavailable.
        """
        if decided := by_rule(first, second):
            return decided
        said, swapped = (_said(first), _said(second)), order is Order.SWAPPED
        known = None if not self.informed else f"Reference:\n{fenced(reference)}\n" if reference else ""
        options = replace(self.options, max_tokens=min(self.options.max_tokens, MAX_TOKENS))
        messages = request(question, said[::-1] if swapped else said, known)
        try:
            reply, usage = await complete_as(self.chat, messages, ComparisonReply, options=options)
        except ModelReplyError as error:
            return combined([Vote(None, f"not scored: {error}", swapped)])
        verdict = _SHOWN[reply.better]
        better = verdict.mirrored() if swapped else verdict
        return combined([Vote(better, reply.explanation.strip(), swapped, usage)])


def request(
    question: str, shown: tuple[str | None, str | None], known: str | None = None
) -> tuple[Message, ...]:
    """The messages with the answers in the order of `shown`; `known` is what an informed judge is told, maybe nothing,
    and None for the paper's."""
    first, second = (DECLINED if text is None else fenced(text) for text in shown)
    places = {"question": fenced(question), "first": first, "second": second}
    return (
        prompts.load(ZERO_SHOT, **places) if known is None else prompts.load(INFORMED, known=known, **places)
    )


def seeded_order(question: str, names: tuple[str, str], *, seed: int) -> Order:
    """As is or swapped, each for half of all questions: the same of the two `names` is shown first, whichever
    way round they are given."""
    key = json.dumps([seed, question, *sorted(names)])
    larger_first = hashlib.sha256(key.encode("utf-8", "backslashreplace")).digest()[0] % 2 == 1
    return Order.SWAPPED if larger_first == (names[0] <= names[1]) else Order.AS_IS


def combined(votes: list[Vote]) -> Comparison:
    """One verdict from one vote or two; unscored where any vote is."""
    explanation = " / ".join(vote.explanation for vote in votes)
    said = [vote.verdict for vote in votes]
    if None in said:
        return Comparison(None, explanation, tuple(votes))
    verdict = said[0] if len(set(said)) == 1 else Preference.TIE
    return Comparison(verdict, explanation, tuple(votes))


def consistency(comparisons: Iterable[Comparison]) -> Estimate | None:
    """The share of comparisons in both orders with the same verdict twice (Wilson); None without any."""
    said = [c.consistent for c in comparisons if c.consistent is not None]
    return wilson(sum(said), len(said))


def first_place_share(comparisons: Iterable[Comparison]) -> Estimate | None:
    """The share of votes with a winner that went to the answer shown first (Wilson); None without any.

    Without a preference for a place it is near 0.5; it is 0.5 where both orders always agree.
    """
    won = [vote for c in comparisons for vote in c.votes if vote.verdict in _MIRROR]
    return wilson(sum((vote.verdict is Preference.FIRST) != vote.swapped for vote in won), len(won))


def _said(answer: str | None) -> str | None:
    """The answer without outer blanks; None where it says nothing."""
    return answer.strip() if answer is not None and has_words(answer) else None


def by_rule(first: str | None, second: str | None) -> Comparison | None:
    """What needs no model: two that declined, and two that say the same; None for all else."""
    first, second = _said(first), _said(second)
    if first != second:
        return None
    if first is None:
        return Comparison(Preference.NEITHER, "neither system answered (decided without a model)")
    return Comparison(Preference.TIE, "the answers are equal (decided without a model)")
