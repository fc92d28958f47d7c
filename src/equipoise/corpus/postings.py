"""BM25 and words over postings: where each term stands in each passage, whatever keeps them.

BM25 is as SQLite's FTS5 computes it: score(p) = sum over words w of idf(w) * f (k1 + 1) / (f + k1 (1 - b + b |p| / mean
length)), where f is how often w stands in p and idf(w) = ln((N - n + 0.5) / (n + 0.5)), at least 1e-6 (Robertson and
Walker, SIGIR 1994; FTS5's `fts5_aux.c`). Numbers are added in FTS5's order, so scores are the same to the last bit.
With Postgres's own `ts_rank` an answer would depend on where documents are kept.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from equipoise.corpus.keywords import Keywords, QueryPlan
from equipoise.corpus.record_types import Ids

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


Places = dict[str, dict[int, list[int]]]
"""By term and passage: where it stands there, ascending."""


class Postings(ABC):
    """The postings of the passages of a scope, and what is found in them."""

    @abstractmethod
    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """See `keywords.Terms`."""

    @abstractmethod
    def with_term(self, term: str, most: int | None = None) -> list[int]:
        """The passages, ascending, that a term stands in; the first `most` of them."""

    @abstractmethod
    def places(self, finding: Sequence[str], terms: Iterable[str]) -> tuple[Places, dict[int, int]]:
        """Where terms stand in the passages that hold one of the `finding`, and how many tokens these have."""

    @abstractmethod
    def size(self) -> tuple[int, int]:
        """How many passages there are, and how many tokens these have together."""

    def bm25(self, plan: QueryPlan, keywords: Keywords, k: int) -> list[tuple[int, float]]:
        """At most `k` (passage, score) of those that a finding word stands in, best first, ties by id."""
        passages, tokens = self.size()
        words = [*plan.finding, *plan.others]
        parts = [_parts(pairs) for pairs in keywords.stems.of_texts(words)]
        by_word = dict(zip(words, parts, strict=True))
        places, lengths = self.places(
            [by_word[word][0] for word in plan.finding], {term for terms in parts for term in terms}
        )
        times = {word: phrase([places.get(term, {}) for term in by_word[word]]) for word in words}
        single = keywords.frequencies([terms[0] for terms in parts if len(terms) == 1])
        held = {
            word: single[terms[0]] if len(terms) == 1 else len(self._together(terms))
            for word, terms in by_word.items()
        }
        return scored(plan, times=times, holding=held, lengths=lengths, passages=passages, tokens=tokens)[:k]

    def holding(self, words: Sequence[str], keywords: Keywords) -> list[Ids]:
        """For each word the passages, ascending, in which its parts stand side by side."""
        each = map(_parts, keywords.stems.of_texts(words))
        found = (
            self.with_term(parts[0]) if len(parts) == 1 else sorted(self._together(parts)) for parts in each
        )
        return [np.array(ids, np.int64) for ids in found]

    def _together(self, parts: Sequence[str]) -> dict[int, int]:
        """How often the parts of a word stand side by side, in each passage where they do."""
        places, _ = self.places(parts[:1], set(parts))
        return phrase([places.get(term, {}) for term in parts])


def _parts(pairs: Sequence[tuple[str, int]]) -> list[str]:
    """The terms of a word in their order."""
    return [term for term, _ in sorted(pairs, key=lambda pair: pair[1])]
