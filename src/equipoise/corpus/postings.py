"""BM25 and words over postings: where each term stands in each passage, whatever keeps them."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from equipoise.corpus import scoring
from equipoise.corpus.keywords import Keywords, QueryPlan

Places = dict[str, dict[int, list[int]]]
"""By term and passage: where it stands there, ascending."""


class Postings(Protocol):
    """The postings of the passages of a scope."""

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]: ...

    def with_term(self, term: str, most: int | None = None) -> list[int]:
        """The passages, ascending, that a term stands in; the first `most` of them."""
        ...

    def places(self, finding: Sequence[str], terms: Iterable[str]) -> tuple[Places, dict[int, int]]:
        """Where terms stand in the passages that hold one of the `finding`, and how many tokens these have."""
        ...

    def size(self) -> tuple[int, int]:
        """How many passages there are, and how many tokens these have together."""
        ...


def bm25(index: Postings, plan: QueryPlan, keywords: Keywords) -> list[tuple[int, float]]:
    """Every passage that a finding word stands in with its score, best first, ties by id."""
    passages, tokens = index.size()
    words = [*plan.finding, *plan.others]
    parts = [_parts(pairs) for pairs in keywords.stems.of_texts(words)]
    by_word = dict(zip(words, parts, strict=True))
    places, lengths = index.places(
        [by_word[word][0] for word in plan.finding], {term for terms in parts for term in terms}
    )
    times = {word: scoring.phrase([places.get(term, {}) for term in by_word[word]]) for word in words}
    single = keywords.frequencies([terms[0] for terms in parts if len(terms) == 1])
    held = {
        word: single[terms[0]] if len(terms) == 1 else len(_standing(index, terms))
        for word, terms in by_word.items()
    }
    return scoring.scored(plan, times=times, holding=held, lengths=lengths, passages=passages, tokens=tokens)


def holding(index: Postings, pairs: Sequence[tuple[str, int]]) -> list[int]:
    """The passages, ascending, in which the (term, position) pairs of a word stand side by side."""
    parts = _parts(pairs)
    return index.with_term(parts[0]) if len(parts) == 1 else sorted(_standing(index, parts))


def _standing(index: Postings, parts: Sequence[str]) -> dict[int, int]:
    """How often the parts of a word stand side by side, in each passage where they do."""
    places, _ = index.places(parts[:1], set(parts))
    return scoring.phrase([places.get(term, {}) for term in parts])


def _parts(pairs: Sequence[tuple[str, int]]) -> list[str]:
    """The terms of a word in their order."""
    return [term for term, _ in sorted(pairs, key=lambda pair: pair[1])]
