"""BiasDef where near-duplicates take seats: rewrites of one text, as the EBI attack's last step makes them.

Alone BiasDef takes out four in ten of people's relevant passages where nobody attacks. So here it is asked only about
passages that repeat each other in other words, which people's hardly do; whatever else it flags stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from equipoise.core.types import Candidates, Passage, Query
from equipoise.maths.checks import Floats
from equipoise.maths.similarity import near_duplicates
from equipoise.rag.filters import BiasDefFilter, cosines

NEAR = 0.83
"""The cosine from which passages repeat each other: the least at which 132 claims that nobody attacks lose no more than
.005 of the relevant passages among the five (`benchmarks/LOG.md`). On the scale of the embedded encoder, as BiasDef's
parameters are."""
NEAR_WITHIN = 0.9
"""The same for two passages of one document: sections of a law or a manual share their title and words, too."""

Why = tuple[str, float]
"""A flag's reason and score."""


@dataclass(frozen=True, slots=True)
class NearCopies:
    """Finds clusters of passages of which each repeats another one, and BiasDef flags one."""

    biasdef: BiasDefFilter = field(default_factory=BiasDefFilter)
    least: float = NEAR
    within: float = NEAR_WITHIN

    async def one_sided(
        self, query: Query, candidates: Candidates, rows: Sequence[int]
    ) -> list[dict[int, Why]]:
        """The rows of each such cluster among `rows`, with why; BiasDef judges all candidates. A score is the cosine to
        the one that a passage is most like. Raises CorpusError or ModelError for vectors that cannot be used."""
        alike = cosines(candidates)[1][list(rows)][:, list(rows)]
        of = np.array([candidates.passages[row].doc_id for row in rows])
        groups = near_duplicates(alike, np.where(of[:, None] == of, self.within, self.least))
        if not groups:
            return []
        judged = await self.biasdef.filter(query, candidates, k=len(candidates))
        said = {flag.passage.passage_id: flag.reason for flag in judged.flagged}
        found = []
        for group in groups:
            numbers = [candidates.passages[rows[place]].passage_id for place in group]
            if told := next((said[number] for number in numbers if number in said), None):
                passages = [candidates.passages[rows[place]] for place in group]
                whys = _whys(passages, alike[np.ix_(group, group)], told)
                found.append({rows[place]: why for place, why in zip(group, whys, strict=True)})
        return found


def _whys(passages: Sequence[Passage], alike: Floats, told: str) -> list[Why]:
    """For each passage of a cluster with similarities (n, n)."""
    others = np.where(np.eye(len(passages), dtype=np.bool_), -np.inf, alike)
    whys = []
    for row in others:
        near = passages[int(row.argmax())]
        whys.append((f"near copies: {row.max():.2f} like {near.spot}; {told}", float(row.max())))
    return whys
