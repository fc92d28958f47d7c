"""Which side of a question a text takes: by a chat model's odds of yes against no, or by the embedded model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from equipoise import prompts
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Query, Usage
from equipoise.maths.checks import Floats
from equipoise.models.adapted import STANCE, StanceModel
from equipoise.models.odds import LIMIT, first_token, yes_odds
from equipoise.text.fence import fenced
from equipoise.text.sentences import sentence_spans

PROMPT = "stance-v1"
LONGEST = 900
"""Characters of a text that are read: who argues says so early, and a chat model takes a request for each text."""
WINDOW = 280
"""Characters that two sentences may have together to be in one window of the embedded model."""
BALANCED = """\
This question has been argued for a long time, and both sides have a case. Those who answer yes point to the \
advantages, which are real and reach many people. Those who answer no point to the harm, which is real, too, and \
reaches others. Some of the evidence speaks for it and some speaks against it, and much depends on the place and on \
how it is done. Whoever looks at it with care finds good arguments for yes and good arguments for no."""
"""The zero of a chat model's scale: as long as a passage, on no side, and fit for any question."""
SURE = 1.0
"""Log-odds, beyond those of BALANCED, from which a side counts in full: about the median of their size for EBI passages
with the local 1.5B model (`benchmarks/stance/zero.py`)."""
EMBEDDED_SURE = 0.9
"""The embedded model's logit from which a side counts in full: the median of its size for EBI passages of the questions
that its training was stopped by (0.94, n = 52; 0.53 for people's passages, which it is less sure of)."""
CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class Sides:
    """`values` (n,) from -1 (argues for no) to 1 (for yes), NaN where the model said neither; and what it cost."""

    values: Floats
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class ChatStance:
    """One short request a text and one for BALANCED, `concurrency` at a time.

    A model leans towards yes whenever it has read an argument, so the odds for a text on both sides are the zero of its
    scale: it does not move with what is planted, as the mean of the texts would, and unlike an empty text it is read as
    the others are. Texts stand behind bars, and the reply is one of two words: a text that asks for another reply can
    at most choose between these.
    """

    chat: ChatModel
    options: ChatOptions = ChatOptions()
    concurrency: int = CONCURRENCY

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """The side of each text. Raises ModelError, after ending the other requests."""
        odds, usage = await self.odds(query, (BALANCED, *texts))
        zero = 0.0 if np.isnan(odds[0]) else odds[0]
        return Sides(np.clip((odds[1:] - zero) / SURE, -1.0, 1.0), usage)

    async def odds(self, query: Query, texts: Sequence[str]) -> tuple[Floats, Usage]:
        """(n,) natural log-odds that each text argues for yes, NaN where the model said neither; raises as `sides`."""
        gate = asyncio.Semaphore(self.concurrency)
        tasks: list[asyncio.Task[tuple[float, Usage]]] = []
        try:
            async with asyncio.TaskGroup() as group:
                tasks.extend(group.create_task(self._odds(query, text, gate)) for text in texts)
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        usage = sum((task.result()[1] for task in tasks), Usage())
        return np.array([task.result()[0] for task in tasks]), usage

    async def _odds(self, query: Query, text: str, gate: asyncio.Semaphore) -> tuple[float, Usage]:
        messages = prompts.load(PROMPT, text=fenced(text[:LONGEST]), question=query.text)
        async with gate:
            reply = await self.chat.complete(messages, options=first_token(self.options))
        said = yes_odds(reply)
        return nan if said is None else max(-LIMIT, min(LIMIT, said)), reply.usage


@dataclass(frozen=True, slots=True)
class EmbeddedStance:
    """The embedded model's side: the mean logit over the windows of a text, in full from EMBEDDED_SURE on."""

    model: StanceModel = STANCE

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """The side of each text, at no request. Raises WeightsError where the model's files are not as shipped."""
        logits = await asyncio.to_thread(self.logits, query.text, texts)
        return Sides(np.clip(logits / EMBEDDED_SURE, -1.0, 1.0))

    def logits(self, question: str, texts: Sequence[str]) -> Floats:
        """(n,) mean logits that each text argues for yes. Raises WeightsError as `sides`."""
        cut = [windows(text) for text in texts]
        each = iter(self.model.scores(question, [window for some in cut for window in some]))
        return np.array([np.mean([next(each) for _window in some]) for some in cut], np.float64)


def windows(text: str) -> tuple[str, ...]:
    """The first LONGEST characters of a text as runs of whole sentences of about WINDOW characters; at least one."""
    read = text[:LONGEST]
    made: list[tuple[int, int]] = []
    for start, end in sentence_spans(read):
        if made and end - made[-1][0] <= WINDOW:
            made[-1] = made[-1][0], end
        else:
            made.append((start, end))
    return tuple(read[start:end] for start, end in made) or (read,)
