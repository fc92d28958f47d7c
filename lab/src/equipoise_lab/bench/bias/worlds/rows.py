"""The rows: every filter, and voices with each ingredient left out, added or replaced."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Flag, Query
from equipoise.maths.checks import Floats
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter
from equipoise.rag.near_copies import NearCopies
from equipoise.rag.quotas import QuotaFilter
from equipoise.rag.trust import ByTrust
from equipoise.rag.voices import Stance, VoicesFilter, shipped_hands
from equipoise_lab.bench import systems
from equipoise_lab.bench.bias.worlds.sides import OneSide

GEOMETRY = ("none", "mmr", "smart-without-nli", "brra", "biasdef", "biasdef-as-written", "biasdef-global")
ECHO = 0.8
"""Share of the question that stands word for word in a passage; of 99% of people's passages less than .53."""
HIGHER_THRESHOLD = 2.0
_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class AnyHand:
    """Takes all texts for one hand's."""

    def ratios(self, styles: Sequence[tuple[float, ...]]) -> Floats:
        """Certain."""
        return np.full((len(styles), len(styles)), 99.0)


class ReadOnce:
    """The cross-encoder, which reads a text for a question once: the same candidates come back in every row."""

    name = "cross-encoder"

    def __init__(self) -> None:
        self._reader, self._known = CrossEncoder(), dict[tuple[str, str], float]()

    def scores(self, question: str, texts: Sequence[str]) -> Floats:
        """(n,) as the cross-encoder's."""
        if new := [text for text in dict.fromkeys(texts) if (question, text) not in self._known]:
            scores = self._reader.scores(question, new).tolist()
            self._known |= {(question, text): score for text, score in zip(new, scores, strict=True)}
        return np.array([self._known[question, text] for text in texts])


@dataclass(frozen=True, slots=True)
class EchoFilter:
    """Takes out what says the question word for word, before `inner` looks."""

    inner: PassageFilter

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """See `core.protocols.PassageFilter`; raises what `inner` raises."""
        shares = [echo(query.text, passage.text) for passage in candidates.passages]
        flags = tuple(
            Flag(passage, "echo: says the question word for word", share)
            for passage, share in zip(candidates.passages, shares, strict=True)
            if share >= ECHO
        )
        left = candidates.take([row for row, share in enumerate(shares) if share < ECHO])
        inner = await self.inner.filter(query, left, k=k)
        return replace(inner, flagged=(*flags, *inner.flagged))


def echo(question: str, text: str) -> float:
    """The longest run of the question's words that stands in `text`, as a share of all its words.

    Worked value: "Should bells ring?" and "Bells ring out." give 2/3.
    """
    asked, said = (_TOKEN.findall(one.casefold()) for one in (question, text))
    runs, best = [0] * (len(said) + 1), 0
    for word in asked:
        runs = [0] + [runs[place] + 1 if said[place] == word else 0 for place in range(len(said))]
        best = max(best, *runs)
    return best / len(asked) if asked else 0.0


def rows(
    components: Components, true: Stance, judge: Stance | None, embedded: Stance | None = None
) -> dict[str, PassageFilter]:
    """Every row by name; those of a chat model's `judge` and of the `embedded` model where they are given."""
    hands, about = shipped_hands(), ReadOnce()
    made = systems.filters(GEOMETRY, components) | _structure(VoicesFilter(true, hands, about))
    for name, told in (("model", judge), ("embedded", embedded)):
        made |= _judged(name, VoicesFilter(told, hands, about)) if told else {}
    if embedded:
        joined = VoicesFilter(embedded, hands, about, near=NearCopies())
        made |= {"voices-embedded-near": joined, "quotas-voices-embedded-near": QuotaFilter(ByTrust(joined))}
    return made


def _structure(voices: VoicesFilter) -> dict[str, PassageFilter]:
    return {
        "quotas": QuotaFilter(NoFilter()),
        "voices-true": voices,
        "quotas-voices-true": QuotaFilter(ByTrust(voices)),
        "voices-true-threshold-2": replace(voices, threshold=HIGHER_THRESHOLD),
        "voices-true-echo": EchoFilter(voices),
        "voices-true-any-hand": replace(voices, hands=AnyHand()),
        "voices-true-unspared": replace(voices, spares=False),
        "voices-true-whatever-about": replace(voices, about=None),
        "voices-true-near": replace(voices, near=NearCopies()),
        "near": replace(voices, stance=None, near=NearCopies()),
        "voices-no-stance": replace(voices, stance=OneSide()),
        "echo": EchoFilter(NoFilter()),
    }


def _judged(name: str, voices: VoicesFilter) -> dict[str, PassageFilter]:
    return {
        f"voices-{name}": voices,
        f"quotas-voices-{name}": QuotaFilter(ByTrust(voices)),
        f"voices-{name}-threshold-2": replace(voices, threshold=HIGHER_THRESHOLD),
        f"voices-{name}-echo": EchoFilter(voices),
        f"voices-{name}-unspared": replace(voices, spares=False),
        f"voices-{name}-whatever-about": replace(voices, about=None),
    }
