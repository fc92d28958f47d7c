"""Any highlighter, asked only where the passages probably answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from equipoise.core.errors import after_spending
from equipoise.core.protocols import Highlighter
from equipoise.core.types import Passage, Proposal, Query
from equipoise.rag.highlighters.abstention import Check


@dataclass(frozen=True, slots=True)
class AbstainingHighlighter:
    """`inner` behind `check`: it is not asked below the calibrated threshold. If it is the check's own second opinion,
    the check has asked it already."""

    inner: Highlighter
    check: Check

    async def highlight(self, query: Query, passages: Sequence[Passage]) -> Proposal:
        """The proposal of `inner`, or none; with the probability, and the cost of both. Raises ModelError."""
        checked = await self.check.ask(query, passages)
        if declined := self.check.declines(checked):
            return declined
        proposal = checked.second
        if self.inner is not self.check.second:
            with after_spending(checked.usage):
                proposal = await self.inner.highlight(query, passages)
        return replace(
            proposal,
            usage=checked.usage + proposal.usage,
            probability=checked.probability,
            threshold=self.check.fitted.threshold,
        )
