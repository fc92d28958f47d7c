"""Whether passages answer a question, as one calibrated probability: what a highlighter declines by.

Told to say "unanswerable", small models hardly ever do; the probability of "yes" as the first token of a plain
check tells answerable questions from others far better, and the clues of the sentence highlighter know
something else. Both are joined by a logistic model, fitted for each language model by
`benchmarks/calibration/abstain.py` into `abstention.json`.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import exp

from equipoise import prompts
from equipoise.core.protocols import ChatModel, Encoder
from equipoise.core.types import ChatOptions, Proposal, Query, Usage
from equipoise.models.odds import MOST_ALTERNATIVES, yes_odds
from equipoise.rag.highlighters.sentence import likeliest
from equipoise.rag.highlighters.sentences import Sentence, numbered
from equipoise.rag.parts import Parts

CHECK = "evidence-check-v1"
LIMIT = 8.0
"""Log-odds are cut off here (0.9997), so that a reply without probabilities does not silence the clues."""
ONE_TOKEN = 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """p = 1 / (1 + exp(-(check * odds of the check + clues * odds of the clues + bias))); declined below
    `threshold`."""

    check: float
    clues: float
    bias: float
    threshold: float

    def probability(self, check: float, clues: float) -> float:
        """From the log-odds of both; each is cut to -8..8."""
        cut = [max(-LIMIT, min(LIMIT, odds)) for odds in (check, clues)]
        return 1.0 / (1.0 + exp(-(self.check * cut[0] + self.clues * cut[1] + self.bias)))


@cache
def calibration(model: str) -> Calibration:
    """The fitted values for the chat model called `model`; for one that was not fitted, those of "other"."""
    fitted = json.loads(files("equipoise.rag").joinpath("abstention.json").read_text("utf-8"))["models"]
    return Calibration(**fitted.get(model, fitted["other"]))


@dataclass(frozen=True, slots=True)
class Checked:
    """The `probability` (0 to 1) that the passages answer, the sentence that does so likeliest, the cost."""

    probability: float
    likeliest: Sentence | None = None
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Check:
    """One short request about all the sentences: does the text answer the question?

    An endpoint without log-probabilities is taken at its word (log-odds of 8 or -8); a reply that is neither
    yes nor no leaves the decision to the clues.
    """

    chat: ChatModel
    encoder: Encoder
    fitted: Calibration
    options: ChatOptions = ChatOptions()

    @classmethod
    def from_parts(cls, parts: Parts, who: str) -> "Check":
        """Built from the settings; raises ModelUnavailable, naming `who` needs the model."""
        chat = parts.need_chat(who)
        fitted, threshold = calibration(chat.name), parts.settings.highlight.threshold
        if threshold is not None:
            fitted = replace(fitted, threshold=threshold)
        return cls(chat, parts.encoder, fitted, parts.options)

    async def ask(self, query: Query, sentences: Sequence[Sentence]) -> Checked:
        """Whether `sentences` answer; none at all do not, and cost nothing. Raises ModelError."""
        if not sentences:
            return Checked(0.0)
        said, clues, sentence, usage = await self.odds(query, sentences)
        return Checked(self.fitted.probability(said, clues), sentence, usage)

    async def odds(
        self, query: Query, sentences: Sequence[Sentence]
    ) -> tuple[float, float, Sentence | None, Usage]:
        """The log-odds of the model and of the clues, the likeliest sentence and the cost; raises ModelError."""
        messages = prompts.load(CHECK, sentences=numbered(sentences), question=query.text)
        reply = await self.chat.complete(messages, options=first_token(self.options))
        best = await asyncio.to_thread(likeliest, query.text, sentences, self.encoder)
        sentence, clues = best or (None, -LIMIT)
        return yes_odds(reply) or 0.0, clues, sentence, reply.usage

    def declines(self, checked: Checked) -> Proposal | None:
        """A proposal of nothing with its probability, where that is below the threshold."""
        if checked.probability >= self.fitted.threshold:
            return None
        return Proposal(
            (), usage=checked.usage, probability=checked.probability, wanted=self.fitted.threshold
        )


def first_token(options: ChatOptions) -> ChatOptions:
    """The options of a request of which only the first token counts."""
    return replace(options, max_tokens=ONE_TOKEN, top_logprobs=MOST_ALTERNATIVES)
