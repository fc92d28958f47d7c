"""What a model thinks of a yes/no question, read from the probability of its first token."""

from math import exp, inf, log
from typing import Literal

from equipoise.core.types import ChatReply

MOST_ALTERNATIVES = 20
"""How many likeliest tokens endpoints tell at most (OpenAI's limit)."""

Word = Literal["yes", "no"]


def yes_odds(reply: ChatReply) -> float | None:
    """The natural log-odds of "yes" against "no" as the first token of `reply`.

    Where only one of them is among the tokens told, the other gets the probability of the last one told, an
    upper bound. Without log-probabilities the reply's own first word decides: infinite odds. None where the
    reply says neither.
    """
    if not reply.logprobs:
        said = _word(reply.text.split()[0]) if reply.text.split() else None
        return None if said is None else inf if said == "yes" else -inf
    first = reply.logprobs[0]
    told = first.top or ((first.token, first.logprob),)
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
