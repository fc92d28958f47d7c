"""The search index of a store in Postgres: where each term stands in each passage."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from equipoise.corpus import scoring
from equipoise.corpus.keywords import Keywords, QueryPlan
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.stems import Stems

LONGEST = 128
"""Characters of a term that is kept. No word of a question is as long (`keywords.terms`)."""

Places = dict[str, dict[int, list[int]]]
Placed = dict[str, list[int]]
"""By term: where it stands in a passage, ascending."""


class Words:
    """The index behind the connection of the moment; see `keywords.Terms`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """See `keywords.Terms`."""
        ask = "SELECT term, passages FROM terms WHERE term = ANY(%s)"
        return dict(self._link.execute(ask, ([stem for stem in stems if len(stem) <= LONGEST],)).fetchall())

    def vocabulary(self) -> dict[str, int]:
        """See `keywords.Terms`."""
        rows = self._link.execute("SELECT term, passages FROM terms WHERE length(term) >= 3 ORDER BY term")
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
            word: single[terms[0]] if len(terms) == 1 else self._phrases(terms)
            for word, terms in by_word.items()
        }
        return scoring.scored(
            plan, times=times, holding=holding, lengths=lengths, passages=passages, tokens=tokens
        )

    def with_stem(self, stem: str, most: int) -> list[int]:
        """The first passages that a term stands in."""
        ask = "SELECT passage_id FROM postings WHERE term = %s ORDER BY passage_id LIMIT %s"
        return [row[0] for row in self._link.execute(ask, (stem, most))]

    def _places(self, finding: Sequence[str], terms: Iterable[str]) -> tuple[Places, dict[int, int]]:
        """Where terms stand in the passages that hold one of the `finding`, and how long these are."""
        ask = (
            "WITH found AS MATERIALIZED (SELECT DISTINCT passage_id FROM postings WHERE term = ANY(%s))"
            " SELECT p.term, p.passage_id, p.positions, q.length FROM found"
            " JOIN postings p ON p.passage_id = found.passage_id AND p.term = ANY(%s)"
            " JOIN passages q ON q.passage_id = found.passage_id"
        )
        places: Places = {}
        lengths: dict[int, int] = {}
        for term, passage, positions, length in self._link.execute(
            ask, (list(finding), list(terms)), binary=True
        ):
            places.setdefault(term, {})[passage] = positions
            lengths[passage] = length
        return places, lengths

    def _phrases(self, parts: Sequence[str]) -> int:
        """In how many passages the parts of a word stand side by side."""
        places, _ = self._places(parts[:1], set(parts))
        return len(scoring.phrase([places.get(term, {}) for term in parts]))


def placed(stems: Stems, texts: Sequence[str]) -> Iterator[tuple[Placed, int]]:
    """The terms of each text, and how many tokens it has."""
    for pairs in stems.of_texts(texts):
        terms: Placed = {}
        for term, position in pairs:
            if len(term) <= LONGEST:
                terms.setdefault(term, []).append(position)
        yield terms, len(pairs)


def write(link: Link, passages: Sequence[tuple[int, Placed]]) -> None:
    """Put the terms of new passages into the index."""
    with (
        link.cursor() as cursor,
        cursor.copy("COPY postings (term, passage_id, positions) FROM STDIN") as copy,
    ):
        for passage_id, terms in passages:
            for term, positions in terms.items():
                copy.write_row((term, passage_id, positions))
    _count(link, [terms for _, terms in passages], 1)


def remove(link: Link, passages: Sequence[tuple[int, Placed]]) -> None:
    """Take the terms of passages out of the index."""
    pairs = [(term, passage_id) for passage_id, terms in passages for term in terms]
    ask = (
        "DELETE FROM postings p USING unnest(%s::text[], %s::bigint[]) AS gone(term, passage_id)"
        " WHERE p.term = gone.term AND p.passage_id = gone.passage_id"
    )
    link.execute(ask, ([term for term, _ in pairs], [passage_id for _, passage_id in pairs]))
    _count(link, [terms for _, terms in passages], -1)
    link.execute("DELETE FROM terms WHERE passages <= 0 AND term = ANY(%s)", (list({t for t, _ in pairs}),))


def _count(link: Link, passages: Iterable[Placed], sign: int) -> None:
    counts = Counter(term for terms in passages for term in terms)
    names = sorted(counts)
    ask = (
        "INSERT INTO terms SELECT * FROM unnest(%s::text[], %s::bigint[])"
        " ON CONFLICT (term) DO UPDATE SET passages = terms.passages + excluded.passages"
    )
    link.execute(ask, (names, [sign * counts[name] for name in names]))


def _parts(pairs: Sequence[tuple[str, int]]) -> list[str]:
    """The terms of a word in their order."""
    return [term for term, _ in sorted(pairs, key=lambda pair: pair[1])]
