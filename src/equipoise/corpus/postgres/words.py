"""The search index of a partition in Postgres: where each term stands in each of its passages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from equipoise.core.types import Trust
from equipoise.corpus import scoring
from equipoise.corpus.keywords import Keywords, QueryPlan
from equipoise.corpus.partitions import bounds
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.stems import Stems

LONGEST = 128
"""Characters of a term that is kept. No word of a question is as long (`keywords.terms`)."""

Places = dict[str, dict[int, list[int]]]
Placed = dict[str, list[int]]
"""By term: where it stands in a passage, ascending."""


class Words:
    """The index of a partition behind the connection of the moment; see `keywords.Terms`."""

    def __init__(self, link: Link, trust: Trust) -> None:
        self._link, self._trust = link, trust

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """See `keywords.Terms`."""
        ask = "SELECT term, passages FROM terms WHERE trust = %s AND term = ANY(%s)"
        short = [stem for stem in stems if len(stem) <= LONGEST]
        return dict(self._link.execute(ask, (self._trust.value, short)).fetchall())

    def vocabulary(self) -> dict[str, int]:
        """See `keywords.Terms`."""
        ask = "SELECT term, passages FROM terms WHERE trust = %s AND length(term) >= 3 ORDER BY term"
        rows = self._link.execute(ask, (self._trust.value,))
        return {term: passages for term, passages in rows if term.isalpha()}

    def bm25(
        self, plan: QueryPlan, keywords: Keywords, passages: int, tokens: int
    ) -> list[tuple[int, float]]:
        """Every passage that a finding word stands in with its score, best first."""
        words = [*plan.finding, *plan.others]
        parts = [_parts(pairs) for pairs in keywords.stems.of_texts(words)]
        by_word = dict(zip(words, parts, strict=True))
        places, lengths = self._places(
            [by_word[word][0] for word in plan.finding], {term for terms in parts for term in terms}
        )
        times = {word: scoring.phrase([places.get(term, {}) for term in by_word[word]]) for word in words}
        single = keywords.frequencies([terms[0] for terms in parts if len(terms) == 1])
        holding = {
            word: single[terms[0]] if len(terms) == 1 else len(self._standing(terms))
            for word, terms in by_word.items()
        }
        return scoring.scored(
            plan, times=times, holding=holding, lengths=lengths, passages=passages, tokens=tokens
        )

    def with_stem(self, stem: str, most: int) -> list[int]:
        """The first passages that a term stands in."""
        ask = (
            "SELECT passage_id FROM postings WHERE term = %s AND passage_id BETWEEN %s AND %s"
            " ORDER BY passage_id LIMIT %s"
        )
        return [row[0] for row in self._link.execute(ask, (stem, *bounds(self._trust), most))]

    def holding(self, parts: Sequence[tuple[str, int]]) -> list[int]:
        """The passages, ascending, in which the (term, position) pairs of a word stand side by side."""
        terms = _parts(parts)
        if len(terms) != 1:
            return sorted(self._standing(terms))
        ask = (
            "SELECT passage_id FROM postings WHERE term = %s AND passage_id BETWEEN %s AND %s"
            " ORDER BY passage_id"
        )
        return [row[0] for row in self._link.execute(ask, (terms[0], *bounds(self._trust)))]

    def _places(self, finding: Sequence[str], terms: Iterable[str]) -> tuple[Places, dict[int, int]]:
        """Where terms stand in the passages that hold one of the `finding`, and how long these are."""
        ask = (
            "WITH found AS MATERIALIZED (SELECT DISTINCT passage_id FROM postings"
            " WHERE term = ANY(%s) AND passage_id BETWEEN %s AND %s)"
            " SELECT p.term, p.passage_id, p.positions, q.length FROM found"
            " JOIN postings p ON p.passage_id = found.passage_id AND p.term = ANY(%s)"
            " JOIN passages q ON q.passage_id = found.passage_id"
        )
        places: Places = {}
        lengths: dict[int, int] = {}
        values = (list(finding), *bounds(self._trust), list(terms))
        for term, passage, positions, length in self._link.execute(ask, values, binary=True):
            places.setdefault(term, {})[passage] = positions
            lengths[passage] = length
        return places, lengths

    def _standing(self, parts: Sequence[str]) -> dict[int, int]:
        """How often the parts of a word stand side by side, in each passage where they do."""
        places, _ = self._places(parts[:1], set(parts))
        return scoring.phrase([places.get(term, {}) for term in parts])


def placed(stems: Stems, texts: Sequence[str]) -> Iterator[tuple[Placed, int]]:
    """The terms of each text, and how many tokens it has."""
    for pairs in stems.of_texts(texts):
        terms: Placed = {}
        for term, position in pairs:
            if len(term) <= LONGEST:
                terms.setdefault(term, []).append(position)
        yield terms, len(pairs)


def write(link: Link, trust: Trust, passages: Sequence[tuple[int, Placed]]) -> None:
    """Put the terms of new passages into the index of their partition."""
    with (
        link.cursor() as cursor,
        cursor.copy("COPY postings (term, passage_id, positions) FROM STDIN") as copy,
    ):
        for passage_id, terms in passages:
            for term, positions in terms.items():
                copy.write_row((term, passage_id, positions))
    _count(link, trust, [terms for _, terms in passages], 1)


def remove(link: Link, trust: Trust, passages: Sequence[tuple[int, Placed]]) -> None:
    """Take the terms of passages out of the index of their partition."""
    pairs = [(term, passage_id) for passage_id, terms in passages for term in terms]
    ask = (
        "DELETE FROM postings p USING unnest(%s::text[], %s::bigint[]) AS gone(term, passage_id)"
        " WHERE p.term = gone.term AND p.passage_id = gone.passage_id"
    )
    link.execute(ask, ([term for term, _ in pairs], [passage_id for _, passage_id in pairs]))
    _count(link, trust, [terms for _, terms in passages], -1)
    ask = "DELETE FROM terms WHERE passages <= 0 AND trust = %s AND term = ANY(%s)"
    link.execute(ask, (trust.value, list({term for term, _ in pairs})))


def _count(link: Link, trust: Trust, passages: Iterable[Placed], sign: int) -> None:
    counts = Counter(term for terms in passages for term in terms)
    names = sorted(counts)
    ask = (
        "INSERT INTO terms (trust, term, passages) SELECT %s, * FROM unnest(%s::text[], %s::bigint[])"
        " ON CONFLICT (trust, term) DO UPDATE SET passages = terms.passages + excluded.passages"
    )
    link.execute(ask, (trust.value, names, [sign * counts[name] for name in names]))


def _parts(pairs: Sequence[tuple[str, int]]) -> list[str]:
    """The terms of a word in their order."""
    return [term for term, _ in sorted(pairs, key=lambda pair: pair[1])]
