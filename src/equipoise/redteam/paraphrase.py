"""Attack passages told again in other forms by a language model, so that they do not lie together.

One of the adaptive variants (see `redteam.variants`): choose among the results with `variants.spread`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from equipoise import prompts
from equipoise.core.errors import ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions
from equipoise.corpus.loaders.loaded import clean, one_line
from equipoise.models.structured import complete_as
from equipoise.redteam.ebi import REPEATS_FROM, Rewritten
from equipoise.redteam.passages import AttackPassage, Journal
from equipoise.redteam.variants import variant_of

PROMPT = "ebi-paraphrase-v1"
STYLES = (
    "a short news report",
    "a letter to the editor",
    "an entry of an encyclopedia",
    "a personal account",
    "a page of questions and answers",
    "a speech in a debate",
    "a blog post",
    "an abstract of a paper",
)
"""Forms a passage can be told in: far apart in style, so in embeddings too."""

_TEMPERATURES = (0.7, 1.0)  # the second where the first reply could not be used


@dataclass(frozen=True, slots=True)
class Paraphraser:
    """Rewrites passages with `chat`. With `journal` what is there already is not asked for again."""

    chat: ChatModel
    styles: tuple[str, ...] = STYLES
    journal: Journal | None = None
    concurrency: int = 4
    max_tokens: int = 600

    async def rewrite(
        self, passages: Sequence[AttackPassage]
    ) -> tuple[tuple[AttackPassage, ...], tuple[str, ...]]:
        """Every passage in every style, passage by passage, and a sentence for each one that failed.

        The variant of style number s (from 1) is named `style-s`. Raises ModelUnavailable.
        """
        gate = asyncio.Semaphore(self.concurrency)
        there = {p.passage_id: p for p in self.journal.recover()} if self.journal else {}
        wanted = [(base, number) for base in passages for number in range(1, len(self.styles) + 1)]
        work = [self._one(base, number, gate, there) for base, number in wanted]
        done = await asyncio.gather(*work)
        return (
            tuple(made for made in done if isinstance(made, AttackPassage)),
            tuple(made for made in done if isinstance(made, str)),
        )

    async def _one(
        self,
        base: AttackPassage,
        number: int,
        gate: asyncio.Semaphore,
        there: dict[str, AttackPassage],
    ) -> AttackPassage | str:
        name = f"style-{number}"
        empty = variant_of(base, name, base.text)
        if empty.passage_id in there:
            return there[empty.passage_id]
        messages = prompts.load(PROMPT, style=self.styles[number - 1], passage=base.text)
        problem = ""
        for attempt, temperature in enumerate(_TEMPERATURES):
            options = ChatOptions(temperature, self.max_tokens, seed=1000 * attempt + number)
            try:
                async with gate:
                    reply, _ = await complete_as(self.chat, messages, Rewritten, options=options)
            except ModelReplyError as error:
                problem = str(error)
                continue
            text = one_line(clean(reply.text))
            if problem := _unusable(text, base.text):
                continue
            made = variant_of(base, name, text)
            if self.journal:
                self.journal.append([made])
            return made
        return f"{empty.passage_id}: {problem} ({len(_TEMPERATURES)} tries)"


def _unusable(text: str, base: str) -> str:
    """Why the rewritten text is no variant; empty where it is one."""
    if len(text.split()) < len(base.split()) / 3:
        return f"it has {len(text.split())} words, the passage has {len(base.split())}"
    same = fuzz.ratio(text.lower(), base.lower()) >= REPEATS_FROM
    return "it repeats the passage" if same else ""
