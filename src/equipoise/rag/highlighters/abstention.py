"""The calibrated probability that passages answer a question, by which a highlighter declines.

Told to say "unanswerable", small models hardly ever do; the probability of "yes" as the first token of a plain
check tells answerable questions from others far better, and a highlighter without a language model (`reader`, or
`sentence` for other languages than English) adds other evidence. A logistic model joins both, fitted for each language
model and highlighter by `benchmarks/calibration/abstain.py` into `abstention.json`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import exp, log

from equipoise import prompts
from equipoise.core.protocols import ChatModel, Highlighter
from equipoise.core.types import ChatOptions, Passage, Proposal, Query, Span, Usage
from equipoise.models.odds import LIMIT, first_token, yes_odds
from equipoise.rag.components import Components
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.sentence import SentenceHighlighter
from equipoise.rag.highlighters.sentences import numbered, sentences_of

CHECK = "evidence-check-v1"
READ = 3
"""Passages, best first, that a language model is shown with its question: reading takes most of its time, and .85 of
questions have one that answers among the first three, .89 among five (benchmarks/LOG.md, "The later sets")."""


@dataclass(frozen=True, slots=True)
class CheckFit:
    """p = 1 / (1 + exp(-(check * odds of the check + second * odds of the second opinion + bias))); declined
    below `threshold`."""

    check: float
    second: float
    bias: float
    threshold: float

    def probability(self, check: float, second: float) -> float:
        """From the log-odds of both; each is cut to -8..8."""
        cut = [max(-LIMIT, min(LIMIT, odds)) for odds in (check, second)]
        return 1.0 / (1.0 + exp(-(self.check * cut[0] + self.second * cut[1] + self.bias)))


UNFITTED = CheckFit(check=1.0, second=0.0, bias=0.0, threshold=0.5)
"""A model that was not fitted is taken at its own probability."""


@cache
def calibrations(model: str) -> dict[str, CheckFit]:
    """The fitted values for a chat model by its name, for each highlighter they were fitted with."""
    fitted = json.loads(files(__package__).joinpath("abstention.json").read_text("utf-8"))
    return {second: CheckFit(**values) for second, values in fitted.get(model, {}).items()}


def second_opinion(model: str, reads: str) -> str:
    """The highlighter beside the check of a chat model: `reads` unless the model was fitted with "sentence" alone."""
    fitted = calibrations(model)
    return reads if reads in fitted or not fitted else "sentence"


@dataclass(frozen=True, slots=True)
class Checked:
    """The `probability` (0 to 1) that the passages answer, what the second opinion picks, the cost."""

    probability: float
    second: Proposal
    usage: Usage = Usage()

    @property
    def likeliest(self) -> Span | None:
        """The span that answers likeliest."""
        return next(iter(self.second.spans), None)


@dataclass(frozen=True, slots=True)
class Check:
    """One short request about all the sentences: does the text answer the question? `second` is a highlighter
    that gives a probability and never declines.

    An endpoint without log-probabilities is taken at its word (log-odds of 8 or -8); a reply that is neither
    yes nor no leaves the decision to the second opinion.
    """

    chat: ChatModel
    second: Highlighter
    fitted: CheckFit
    options: ChatOptions = ChatOptions()

    @classmethod
    def from_components(cls, components: Components, who: str) -> "Check":
        """Built from the settings; raises ModelUnavailable, naming `who` needs the model."""
        chat = components.need_chat(who)
        name, threshold = (
            second_opinion(chat.name, components.resolved.reads),
            components.settings.highlight.threshold,
        )
        kind = SentenceHighlighter if name == "sentence" else ReaderHighlighter
        second = replace(kind.from_components(components), threshold=0.0)
        fitted = calibrations(chat.name).get(name, UNFITTED)
        if threshold is not None:
            fitted = replace(fitted, threshold=threshold)
        return cls(chat, second, fitted, components.options)

    async def ask(self, query: Query, passages: Sequence[Passage]) -> Checked:
        """Whether the passages answer; none at all do not, and cost nothing. Raises ModelError."""
        if not sentences_of(passages):
            return Checked(0.0, Proposal(()))
        said, usage = await check_odds(self.chat, query, passages, self.options)
        second = await self.second.highlight(query, passages)
        probability = self.fitted.probability(said, log_odds(second.probability or 0.0))
        return Checked(probability, second, usage)

    def declines(self, checked: Checked) -> Proposal | None:
        """A proposal of nothing with its probability, where that is below the threshold."""
        if checked.probability >= self.fitted.threshold:
            return None
        return Proposal(
            (), usage=checked.usage, probability=checked.probability, threshold=self.fitted.threshold
        )


async def check_odds(
    chat: ChatModel, query: Query, passages: Sequence[Passage], options: ChatOptions
) -> tuple[float, Usage]:
    """The model's log-odds that the first READ passages answer (0 where it says neither), and the cost; raises
    ModelError."""
    sentences = numbered(sentences_of(passages[:READ]))
    messages = prompts.load(CHECK, sentences=sentences, question=query.text)
    reply = await chat.complete(messages, options=first_token(options))
    return yes_odds(reply) or 0.0, reply.usage


def log_odds(probability: float) -> float:
    """The natural log-odds of a probability, cut to -LIMIT..LIMIT."""
    if not 0.0 < probability < 1.0:
        return LIMIT if probability >= 1.0 else -LIMIT
    return max(-LIMIT, min(LIMIT, log(probability / (1.0 - probability))))
