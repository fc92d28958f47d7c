"""What a run will ask for, before it begins: questions, calls and tokens, from the length of the prompts."""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.settings import Settings
from equipoise.corpus.chunks import TARGET
from equipoise_lab.bench.qa import metrics
from equipoise_lab.bench.qa.items import Item
from equipoise_lab.bench.systems import Named

CHARACTERS_PER_TOKEN = 4
"""Of English text, roughly."""
INSTRUCTIONS = 250
"""Tokens of the prompts that ship with the package, roughly, with the schema."""
QUOTED = 400
"""Characters of highlights that a summarizer gets, roughly."""
REPLY = 100
"""Tokens of a reply, roughly (measured: 20 for vanilla to 117 for structured and its summary together)."""
JUDGES = 3
"""Judges that rate an answer on its own."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Of a whole run, replies in the cache included; tokens are good to a factor of two."""

    items: int
    pipelines: int
    calls: int
    prompt_tokens: int
    completion_tokens: int

    def lines(self, *, price_in: float | None = None, price_out: float | None = None) -> list[str]:
        """For people; a price (for a million tokens) adds the cost."""
        said = [
            f"{self.items} questions x {self.pipelines} pipelines = {self.items * self.pipelines} answers",
            f"about {self.calls:,} calls, {self.prompt_tokens:,} prompt and {self.completion_tokens:,} "
            "reply tokens (an estimate; what the cache holds is free)",
        ]
        if price_in is not None and price_out is not None:
            price = metrics.cost(
                self.prompt_tokens, self.completion_tokens, price_in=price_in, price_out=price_out
            )
            said.append(f"about {price:.2f} at the prices given")
        return said


def forecast(
    items: Sequence[Item],
    wanted: Sequence[Named],
    settings: Settings,
    *,
    judges: int = 0,
    comparisons: int = 0,
) -> Forecast:
    """What a run will ask for with so many judge models; with `comparisons` (1 or 2 orders) the first of them compares
    every pair of pipelines, and each highlighter alone with its pipeline."""
    shown = [_shown(item, settings.retrieval.k) for item in items]
    calls = prompt = 0
    for pipeline in wanted:
        reading = pipeline.calls - pipeline.writes
        calls += pipeline.calls * len(items)
        prompt += reading * sum(shown) + pipeline.calls * len(items) * INSTRUCTIONS
        prompt += pipeline.writes * len(items) * QUOTED // CHARACTERS_PER_TOKEN
    pairs = len(wanted) * (len(wanted) - 1) // 2 + sum(pipeline.writes for pipeline in wanted)
    asked = (judges * JUDGES * len(wanted) + min(judges, 1) * pairs * comparisons) * len(items)
    return Forecast(
        len(items),
        len(wanted),
        calls + asked,
        prompt + asked * (INSTRUCTIONS + 2 * QUOTED // CHARACTERS_PER_TOKEN),
        (calls + asked) * REPLY,
    )


def _shown(item: Item, k: int) -> int:
    """Tokens of the question and the passages that are read for it."""
    characters = sum(len(document.text) + len(document.title) for document in item.documents)
    return (min(characters, k * TARGET) + len(item.question)) // CHARACTERS_PER_TOKEN
