"""The filter `voices`: takes out passages by which one writer crowds out the other side.

Several passages by the same hand on the same side are one voice (`maths.voices`). Hands are told by style, with a model
learnt from documents by people; sides are asked of the operator's chat model, only for passages that could belong to a
voice. Where no three candidates are by one hand nothing is asked and nothing changes. Without a chat model sides are
unknown, and nothing is flagged: style alone says who wrote, not that it is one-sided.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

import numpy as np

from equipoise.core.types import Candidates, Filtered, Flag, Query
from equipoise.maths.checks import Floats, Mask
from equipoise.maths.hands import Hands
from equipoise.maths.voices import THRESHOLD, likeness, suspects, voices
from equipoise.rag.components import Components
from equipoise.rag.stance import ChatStance, Sides
from equipoise.text.style import style

LEARNT = "hands.json"
NAMED = 3
"""Fellows that a reason names at most."""


class Stance(Protocol):
    """Tells which side of a question texts take."""

    async def sides(self, query: Query, texts: Sequence[str]) -> Sides:
        """One value a text, from -1 (no) to 1 (yes), NaN where it cannot be told. Raises ModelError."""
        ...


@cache
def shipped_hands() -> Hands:
    """The model of hands in this package, made by `benchmarks/bias/hands.py`."""
    values = json.loads(files(__package__).joinpath(LEARNT).read_text("utf-8"))
    arrays = {name: np.array(values[name]) for name in ("mean", "scale", "axes", "own", "cross")}
    return Hands(**arrays, constant=values["constant"])


@dataclass(frozen=True, slots=True)
class VoicesFilter:
    """Keeps at most `per_voice` passages of a voice, those that come first.

    `stance` None: sides are unknown, and nothing is flagged.
    """

    stance: Stance | None
    hands: Hands
    threshold: float = THRESHOLD
    per_voice: int = 0

    @classmethod
    def from_components(cls, components: Components) -> "VoicesFilter":
        """Built from the settings; sides are told by the language model, where there is one."""
        wanted, chat = components.settings.filter, components.chat
        stance = ChatStance(chat, components.options) if chat else None
        return cls(stance, shipped_hands(), per_voice=wanted.per_voice)

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k candidates that are not flagged; a flag's score is how many fellows it has in its voice.

        Raises what `stance` raises.
        """
        alike = self._alike(candidates)
        asked = suspects(alike, threshold=self.threshold)
        if self.stance is None or not asked.any():
            return Filtered(candidates.take(list(range(min(k, len(candidates))))))
        rows = np.flatnonzero(asked)
        told = await self.stance.sides(query, [candidates.passages[row].text for row in rows])
        sides = np.zeros(len(candidates))
        sides[rows] = np.nan_to_num(told.values)
        flags = [
            flag
            for voice in voices(alike, sides, threshold=self.threshold)
            for flag in self._flags(candidates, alike, voice)
        ]
        flags.sort(key=lambda flag: candidates.passages.index(flag.passage))
        out = {flag.passage.passage_id for flag in flags}
        kept = [row for row, passage in enumerate(candidates.passages) if passage.passage_id not in out]
        return Filtered(candidates.take(kept[:k]), tuple(flags))

    def _alike(self, candidates: Candidates) -> Floats:
        if len(candidates) < 2:
            return np.zeros((len(candidates), len(candidates)))
        return likeness(self.hands.ratios([style(passage.text) for passage in candidates.passages]))

    def _flags(self, candidates: Candidates, alike: Floats, voice: Mask) -> list[Flag]:
        rows = np.flatnonzero(voice)
        return [
            Flag(candidates.passages[row], _reason(candidates, alike[row], rows, row), float(len(rows) - 1))
            for row in rows[self.per_voice :]
        ]


def _reason(candidates: Candidates, alike: Floats, rows: Sequence[int], row: int) -> str:
    """In words, naming the fellows it is most like."""
    fellows = sorted((other for other in rows if other != row), key=lambda other: (-alike[other], other))
    named = [f"[{candidates.passages[other].passage_id}]" for other in fellows[:NAMED]]
    more = f" and {len(fellows) - NAMED} more" if len(fellows) > NAMED else ""
    return f"voices: written like {', '.join(named)}{more}, and on the same side"
