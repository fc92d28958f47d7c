"""A budget search for what evades a filter: the adaptive attacker who may try the defence and watch.

Stronger than the EBI paper's attacker, who never sees the defence: its result bounds what a filter holds against
somebody with the same filter at home and a number of tries. For measuring defences only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from equipoise.core.errors import InputError
from equipoise.core.protocols import Encoder, PassageFilter
from equipoise.core.types import Array, Candidates, Passage, Query
from equipoise.maths.measures import share_at_k
from equipoise.maths.polarization import row_dots
from equipoise.redteam.passages import AttackPassage
from equipoise.redteam.planter import is_planted, planted_id

Rows = frozenset[int]
Success = tuple[float, int]
"""(share of attack passages in the top k, their number)."""

_NEIGHBOURS = 8  # tries around one set before the search starts anew somewhere else


@dataclass(frozen=True, slots=True)
class Evasion:
    """The best that was found. `share` (0 to 1) is its part of the top k, `calls` the calls of the filter used.

    `history` holds (calls, share) each time the best rose: what smaller budgets would have reached.
    """

    chosen: tuple[AttackPassage, ...]
    share: float
    calls: int
    history: tuple[tuple[int, float], ...]


async def search_evasion(
    passage_filter: PassageFilter,
    query: Query,
    candidates: Candidates,
    pool: Sequence[AttackPassage],
    *,
    encoder: Encoder,
    injections: int,
    k: int = 5,
    budget: int = 100,
    seed: int = 0,
) -> Evasion:
    """The set of at most `injections` passages of `pool` that gets the largest share of the top k.

    `candidates` is what retrieval finds without attack; chosen passages are ranked among them by cosine, as many
    as there were go through the filter, a black box. First every variant by itself and the whole pool are tried,
    each by SS; then single passages are swapped, added and dropped, anew from random sets where that no longer
    helps. The same arguments give the same result for a filter without chance. Stops early when all chosen
    passages pass or fill the top k. Raises InputError for an empty pool or numbers below 1.
    """
    if not pool or min(injections, k, budget) < 1:
        raise InputError("a search needs passages, and injections, k and budget of at least 1")
    search = _Search(passage_filter, query, _Ground(candidates, pool, encoder), min(injections, len(pool)), k)
    rng = np.random.default_rng(seed)
    for rows in search.starts():
        await search.attempt(rows, budget)
    around, fruitless = search.best, 0
    while not search.done(budget):
        rows = search.neighbour(around, rng) if fruitless < _NEIGHBOURS else search.random(rng)
        before = search.tried.get(around, (-1.0, 0))
        known = rows in search.tried
        success = await search.attempt(rows, budget)
        better = fruitless >= _NEIGHBOURS or success > before
        fruitless = 0 if better else fruitless + 1
        if better or (success == before and not known):
            around = rows
        search.repeats = search.repeats + 1 if known else 0
    chosen = tuple(pool[row] for row in sorted(search.best))
    return Evasion(chosen, search.tried[search.best][0], search.calls, tuple(search.history))


class _Ground:
    """Candidates and pool in one set of rows: candidates first, then the pool."""

    def __init__(self, candidates: Candidates, pool: Sequence[AttackPassage], encoder: Encoder) -> None:
        first = max((p.passage_id for p in candidates.passages), default=0) + 1
        attack = [_as_passage(p, first + row) for row, p in enumerate(pool)]
        vectors = encoder.encode([p.text for p in pool])
        self.benign = len(candidates)
        self.passages = (*candidates.passages, *attack)
        self.embeddings: Array = np.concatenate(
            [candidates.embeddings.reshape(-1, vectors.shape[1]), vectors]
        )
        self.query = candidates.query_embedding
        self.scores = row_dots(self.embeddings.astype(np.float64), self.query.astype(np.float64)).astype(
            np.float32
        )
        self.families = [p.variant for p in pool]

    def under_attack(self, rows: Rows) -> Candidates:
        """What retrieval would hand on with these rows of the pool planted."""
        there = np.array([*range(self.benign), *(self.benign + row for row in sorted(rows))])
        ranked = there[np.argsort(-self.scores[there], kind="stable")][: max(self.benign, len(rows))]
        return Candidates(
            tuple(self.passages[row] for row in ranked),
            self.scores[ranked],
            self.embeddings[ranked],
            self.query,
        )

    def nearest(self, rows: Sequence[int]) -> list[int]:
        """Rows of the pool by falling SS."""
        return sorted(rows, key=lambda row: (-float(self.scores[self.benign + row]), row))


@dataclass(slots=True)
class _Search:
    """What has been tried, and what was best."""

    passage_filter: PassageFilter
    query: Query
    ground: _Ground
    injections: int
    k: int
    calls: int = 0
    repeats: int = 0
    best: Rows = frozenset()
    tried: dict[Rows, Success] = field(default_factory=dict)
    history: list[tuple[int, float]] = field(default_factory=list)

    async def attempt(self, rows: Rows, budget: int) -> Success:
        """How well the filter lets `rows` through; a set tried before, or beyond the budget, costs no call."""
        if rows in self.tried or self.done(budget):
            return self.tried.get(rows, (-1.0, 0))
        self.calls += 1
        kept = await self.passage_filter.filter(self.query, self.ground.under_attack(rows), k=self.k)
        hits = [is_planted(passage.doc_id) for passage in kept.kept.passages]
        success = (share_at_k(hits, self.k) or 0.0, sum(hits[: self.k]))
        self.tried[rows] = success
        if not self.best or success > self.tried[self.best]:
            self.best = rows
            self.history.append((self.calls, success[0]))
        return success

    def done(self, budget: int) -> bool:
        """Nothing better can come, or nothing more may be or is left to be tried."""
        if self.calls >= budget or self.repeats >= 50:
            return True
        share, number = self.tried.get(self.best, (0.0, 0))
        return share == 1.0 or number >= min(self.k, self.injections)

    def starts(self) -> Iterator[Rows]:
        """Every variant by itself, then all together: the nearest to the question, as many as may be."""
        families = self.ground.families
        for name in dict.fromkeys(families):
            members = [row for row, family in enumerate(families) if family == name]
            yield frozenset(self.ground.nearest(members)[: self.injections])
        yield frozenset(self.ground.nearest(range(len(families)))[: self.injections])

    def neighbour(self, rows: Rows, rng: np.random.Generator) -> Rows:
        """`rows` with one passage swapped, added or dropped."""
        outside = [row for row in range(len(self.ground.families)) if row not in rows]
        moves = ["drop"] * (len(rows) > 1) + ["swap"] * (2 * bool(outside))
        moves += ["add"] * (bool(outside) and len(rows) < self.injections)
        if not moves:
            return rows
        move = moves[int(rng.integers(len(moves)))]
        less = {int(rng.choice(sorted(rows)))} if move in ("drop", "swap") else set()
        more = {int(rng.choice(outside))} if move in ("add", "swap") else set()
        return frozenset(rows - less | more)

    def random(self, rng: np.random.Generator) -> Rows:
        """A random set of a random size."""
        size = int(rng.integers(1, self.injections + 1))
        return frozenset(int(r) for r in rng.choice(len(self.ground.families), size, replace=False))


def _as_passage(passage: AttackPassage, passage_id: int) -> Passage:
    return Passage(passage_id, planted_id(passage), 0, len(passage.text), passage.text)
