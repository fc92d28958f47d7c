"""BM25 as SQLite's FTS5 computes it, for stores that keep their own postings.

score(p) = sum over words w of idf(w) * f (k1 + 1) / (f + k1 (1 - b + b |p| / mean length)), where f is how often w
stands in p and idf(w) = ln((N - n + 0.5) / (n + 0.5)), at least 1e-6 (Robertson and Walker, SIGIR 1994; FTS5's
`fts5_aux.c`). Numbers are added in FTS5's order, so scores are the same to the last bit. With Postgres's own
`ts_rank` an answer would depend on where documents are kept.
"""

import math
from collections.abc import Mapping, Sequence

from equipoise.corpus.keywords import QueryPlan

K1, B, LEAST_IDF = 1.2, 0.75, 1e-6

Positions = Mapping[int, Sequence[int]]
"""By passage: where a term stands in it, ascending."""


def phrase(parts: Sequence[Positions]) -> dict[int, int]:
    """How often a word that the tokenizer splits into `parts` stands in each passage: parts side by side."""
    if not parts:
        return {}
    if len(parts) == 1:
        return {passage: len(places) for passage, places in parts[0].items()}
    counts: dict[int, int] = {}
    for passage, places in parts[0].items():
        others = [set(part.get(passage, ())) for part in parts[1:]]
        times = sum(all(at + n in other for n, other in enumerate(others, 1)) for at in places)
        if times:
            counts[passage] = times
    return counts


def scored(
    plan: QueryPlan,
    *,
    times: Mapping[str, Mapping[int, int]],
    holding: Mapping[str, int],
    lengths: Mapping[int, int],
    passages: int,
    tokens: int,
) -> list[tuple[int, float]]:
    """(passage, score) of those that a finding word stands in, best first, ties by id.

    `times` says by word how often it stands in each passage that is scored, `holding` in how many of all `passages`
    it stands; `lengths` are in tokens, of which there are `tokens` in all. Worked value: tests/unit/test_store.py.
    """
    words = [*plan.finding, *plan.finding, *plan.others, *plan.others] if plan.others else plan.finding
    weights = [(times.get(word, {}), _idf(holding.get(word, 0), passages)) for word in words]
    chosen = dict.fromkeys(passage for word in plan.finding for passage in times.get(word, {}))
    mean = tokens / passages if passages else 1.0
    count = 2 if plan.others else 1
    scores = []
    for passage in chosen:
        ground = K1 * (1 - B + B * lengths[passage] / mean)
        score = 0.0
        for counts, idf in weights:
            often = float(counts.get(passage, 0))
            score += idf * ((often * (K1 + 1.0)) / (often + ground))
        scores.append((passage, score / count))
    return sorted(scores, key=lambda pair: (-pair[1], pair[0]))


def _idf(holding: int, passages: int) -> float:
    idf = math.log((passages - holding + 0.5) / (holding + 0.5))
    return idf if idf > 0 else LEAST_IDF
