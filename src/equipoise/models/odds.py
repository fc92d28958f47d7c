"""What a model thinks of a yes/no question, read from the probability of its first token."""

from dataclasses import replace
from math import exp, inf, log
from typing import Literal

from equipoise.core.types import ChatOptions, ChatReply

MOST_ALTERNATIVES = 20
"""How many of the likeliest tokens at one place endpoints report at most (OpenAI's limit)."""

LIMIT = 8.0
"""Log-odds are cut off here (0.9997), so that a reply without probabilities does not outweigh everything else."""
ROUNDING = 1e-3
"""How far above 0 a log-probability may lie that was computed in half precision."""

Word = Literal["yes", "no"]


def first_token(options: ChatOptions) -> ChatOptions:
    """The options of a request of which only the first token counts."""
    return replace(options, max_tokens=1, top_logprobs=MOST_ALTERNATIVES)


def is_logprob(value: float) -> bool:
    """Whether `value` can be a natural log-probability: finite, and at most 0 but for rounding."""
    return -inf < value <= ROUNDING


def yes_odds(reply: ChatReply) -> float | None:
    """The natural log-odds of "yes" against "no" as the first token of `reply`.

    Where only one of them is among the tokens told, the other gets the probability of the last one told, an
    upper bound. Without log-probabilities the reply's own first word decides: infinite odds. A value that is no
    log-probability (`is_logprob`) counts as not told. None where the reply says neither.
    """
    first = reply.logprobs[0] if reply.logprobs else None
    told = (
        [entry for entry in (first.top or ((first.token, first.logprob),)) if is_logprob(entry[1])]
        if first
        else []
    )
    if not told:
        said = _word(reply.text.split()[0]) if reply.text.split() else None
        return None if said is None else inf if said == "yes" else -inf
    mass: dict[Word, float] = {}
    for token, logprob in told:
        if word := _word(token):
            mass[word] = mass.get(word, 0.0) + exp(logprob)
    if not mass:
        return None
    floor = exp(min(logprob for _, logprob in told))
    yes, no = (mass.get(word, floor) for word in ("yes", "no"))
    return log(yes) - log(no) if yes and no else None


def _word(token: str) -> Word | None:
    bare = token.strip(" \t\n.,:;!\"'*").casefold()
    return "yes" if bare == "yes" else "no" if bare == "no" else None
