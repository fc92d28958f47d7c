"""Quotas: what can be read of documents that anybody may have written, whatever these say.

A detector can be evaded; a quota cannot. It looks at where a passage comes from and at nothing else, so the share that
planted passages can take has a bound that is known before any attack (`bound`).
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from equipoise.core.protocols import PassageFilter
from equipoise.core.types import Candidates, Filtered, Flag, Query, Trust
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter

NOT_READ = "quota: at most {most} of {k} passages may come from {what}"


def bound(k: int, untrusted: int, *, applies: bool = True) -> int:
    """How many of the k passages that are read can come from untrusted documents at most.

    Worked value: k = 5 and a limit of 2 give 2; where no limit applies, 5.
    """
    return min(k, untrusted) if applies else k


@dataclass(frozen=True, slots=True)
class QuotaFilter:
    """What `inner` keeps, but at most `untrusted` passages from untrusted documents, and `per_document` from each one
    of these. A passage whose document is not among the candidates' counts as untrusted.

    `applies` says whether seats can be kept for trusted documents at all: where a store holds none, a limit for all
    together would only leave seats empty. The limit for each document holds all the same.
    """

    inner: PassageFilter
    untrusted: int = 2
    per_document: int = 100
    applies: Callable[[], bool] = lambda: True

    @classmethod
    def from_components(cls, components: Components) -> "QuotaFilter":
        """Quotas alone, built from the settings."""
        return cls.around(NoFilter(), components)

    @classmethod
    def around(cls, inner: PassageFilter, components: Components) -> "QuotaFilter":
        """Built from the settings."""
        wanted = components.settings.filter
        return cls(
            inner, wanted.untrusted, wanted.per_document, lambda: components.store.counts().trusted > 0
        )

    async def filter(self, query: Query, candidates: Candidates, *, k: int) -> Filtered:
        """At most k passages within the quotas, in the order they came: what `inner` keeps, and for what a quota keeps
        out of that, with a flag, the next ones that nobody flagged. Raises what `inner` raises."""
        inner = await self.inner.filter(query, candidates, k=k)
        most = bound(k, self.untrusted, applies=self.applies())
        chosen = {passage.passage_id for passage in inner.kept.passages}
        out = {flag.passage.passage_id for flag in inner.flagged}
        ids = [passage.passage_id for passage in candidates.passages]
        first = [row for row, number in enumerate(ids) if number in chosen]
        rest = [row for row, number in enumerate(ids) if number not in chosen | out]
        kept: list[int] = []
        flags = list(inner.flagged)
        taken: Counter[str] = Counter()
        for row in (*first, *rest):
            passage = candidates.passages[row]
            if len(kept) == k:
                break
            if self._is_untrusted(candidates, passage.doc_id):
                if over := self._over(taken, passage.doc_id, most, k):
                    flags += [Flag(passage, over, float(candidates.scores[row]))] if row in first else []
                    continue
                taken[passage.doc_id] += 1
            kept.append(row)
        return Filtered(candidates.take(sorted(kept)), tuple(flags), inner.usage)

    def _is_untrusted(self, candidates: Candidates, doc_id: str) -> bool:
        document = candidates.documents.get(doc_id)
        return document is None or document.trust is not Trust.TRUSTED

    def _over(self, taken: "Counter[str]", doc_id: str, most: int, k: int) -> str:
        """Why no further passage of this document may be read; empty where one may."""
        if taken[doc_id] >= self.per_document:
            return NOT_READ.format(most=self.per_document, k=k, what="one untrusted document")
        if taken.total() >= most:
            return NOT_READ.format(most=most, k=k, what="untrusted documents")
        return ""
