"""Filters between retrieval and highlighting: what is kept, what is taken out, and why."""

from dataclasses import dataclass

from equipoise.core.types import Candidates, Filtered, Query
from equipoise.rag.parts import Parts


@dataclass(frozen=True, slots=True)
class NoFilter:
    """Keeps the first k candidates."""

    @classmethod
    def from_parts(cls, parts: Parts) -> "NoFilter":
        """Needs nothing."""
        return cls()

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k candidates; nothing is flagged."""
        return Filtered(candidates.take(list(range(min(k, len(candidates))))))
