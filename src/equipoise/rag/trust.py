"""The filter `auto`: looks only for what documents that anybody may have written do to a question."""

from dataclasses import dataclass

from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Query, Trust
from equipoise.rag.components import Components
from equipoise.rag.coordinated import CoordinatedFilter
from equipoise.rag.filters import NoFilter

BEST = CoordinatedFilter
"""What `filter.name = "auto"` uses for untrusted documents: the choice is measured in benchmarks/bias."""


@dataclass(frozen=True, slots=True)
class ByTrust:
    """The filter `best`, for passages from documents that anybody may have written.

    Passages of trusted documents take part in its statistics but are never flagged. Where no candidate is
    untrusted it is not even asked. Trust is that of `candidates.documents`; a passage whose document is not among them
    counts as untrusted.
    """

    best: PassageFilter

    @classmethod
    def from_components(cls, components: Components) -> "ByTrust":
        """`BEST`, built from the settings."""
        return cls(BEST.from_components(components))

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """The first k of what `best` keeps and of the trusted passages that it flags; raises what `best` raises."""
        held = {
            doc_id for doc_id, document in candidates.documents.items() if document.trust is Trust.TRUSTED
        }
        trusted = {passage.passage_id for passage in candidates.passages if passage.doc_id in held}
        if all(passage.passage_id in trusted for passage in candidates.passages):
            return await NoFilter().filter(query, candidates, k=k)
        judged = await self.best.filter(query, candidates, k=k)
        flags = tuple(flag for flag in judged.flagged if flag.passage.passage_id not in trusted)
        flagged = {flag.passage.passage_id for flag in judged.flagged}
        chosen = {passage.passage_id for passage in judged.kept.passages} | (flagged & trusted)
        kept = [row for row, passage in enumerate(candidates.passages) if passage.passage_id in chosen]
        return Filtered(candidates.take(kept[:k]), flags, judged.usage)
