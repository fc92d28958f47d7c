"""Finds passages of several documents that lie together on one side of their neighbours, over the vectors of an index.

Without a question there is no set of candidates to judge, so each of a sample of passages stands in for one: BiasDef
(`maths.biasdef`, Algorithm 1 of "Epistemic Bias Injection", arXiv 2512.00804) judges its nearest neighbours, and a
passage that is flagged by most of the sets it comes into is reported with those that were flagged beside it.

It sees closeness and spread, not stance, and subjects that are merely written about alike look the same: what it
finds is a reason to read, hence its low severity. How often it is right: benchmarks/scan/README.md.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.core.types import Array, Passage
from equipoise.corpus.store import Store
from equipoise.maths.biasdef import bias_def
from equipoise.redteam.scan.findings import Finding, Reach
from equipoise.redteam.scan.rules import Rules
from equipoise.text.visible import flowing

RULE = "sides/cluster"
NEIGHBOURS = 20
"""As many as the paper's candidates, 4 k for k = 5."""
MOST_PROBES = 1_000
LEAST_VOTES = 3
SHARE = 0.8
LEAST_DOCUMENTS = 3
_BEGINNING = 160


@dataclass(frozen=True, slots=True)
class Votes:
    """How often each of n passages was among the neighbours of a probe (n,), and was flagged there (n,); `pairs` are
    rows that were flagged together."""

    seen: np.ndarray
    flagged: np.ndarray
    pairs: frozenset[tuple[int, int]]


def votes(vectors: Array) -> Votes:
    """The votes on unit vectors (n, d) by at most MOST_PROBES probes, spread evenly over the rows: linear in n."""
    count = len(vectors)
    seen, flagged = np.zeros(count, np.int64), np.zeros(count, np.int64)
    pairs: set[tuple[int, int]] = set()
    for probe in np.unique(np.linspace(0, count - 1, min(count, MOST_PROBES)).astype(np.int64)):
        near = _nearest(vectors, int(probe))
        result = bias_def(vectors[probe], vectors[near])
        rows = near[list(result.flagged)]
        seen[near] += 1
        flagged[rows] += 1
        pairs.update((int(rows[0]), int(row)) for row in rows[1:])
    return Votes(seen, flagged, frozenset(pairs))


def _nearest(vectors: Array, probe: int) -> np.ndarray:
    scores = vectors @ vectors[probe]
    scores[probe] = -np.inf
    take = min(NEIGHBOURS, len(vectors) - 1)
    return np.sort(np.argpartition(-scores, take - 1)[:take])


def clusters(found: Votes) -> list[list[int]]:
    """Rows that most of their sets flagged, in groups of those that were flagged together."""
    chosen = (found.seen >= LEAST_VOTES) & (found.flagged >= SHARE * found.seen)
    parents = {int(row): int(row) for row in np.flatnonzero(chosen)}

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    for one, two in sorted(found.pairs):
        if one in parents and two in parents:
            first, second = sorted((root(one), root(two)))
            parents[second] = first
    groups: dict[int, list[int]] = defaultdict(list)
    for row in parents:
        groups[root(row)].append(row)
    return [sorted(rows) for rows in groups.values()]


def find(store: Store, rules: Rules) -> Iterator[Finding]:
    """One finding for each cluster of passages of LEAST_DOCUMENTS documents or more."""
    if RULE not in rules:
        return
    ids, vectors = store.matrix()
    if len(ids) <= NEIGHBOURS:
        return
    for rows in clusters(votes(vectors)):
        members = store.passages(int(ids[row]) for row in rows)
        if len({one.doc_id for one in members}) >= LEAST_DOCUMENTS:
            yield _finding(members, rules)


def _finding(members: Sequence[Passage], rules: Rules) -> Finding:
    first = members[0]
    others = dict.fromkeys(one.source for one in members if one.doc_id != first.doc_id)
    rule = rules.by_id[RULE]
    return Finding(
        RULE,
        rule.severity,
        Reach.CORPUS,
        first.doc_id,
        first.source,
        first.start,
        first.end,
        flowing(first.text[:_BEGINNING]),
        f"{rule.why} {len(members)} passages of {len(others) + 1} documents.",
        first.page,
        first.line,
        first.headings,
        first.paragraph,
        tuple(others)[:_BEGINNING],
        " ".join(sorted(one.source for one in members)),
    )
