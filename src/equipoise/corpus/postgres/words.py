"""The search index of a partition in Postgres: where each term stands in each of its passages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from equipoise.core.types import Trust
from equipoise.corpus.keywords import Stems
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.postings import Places, Postings
from equipoise.corpus.record_types import Damage
from equipoise.corpus.scope import POSTGRES, DocumentScope

LONGEST = 128
"""Most characters of a term that is kept. No word of a question is as long (`keywords.terms`)."""

Placed = dict[str, list[int]]
"""By term: where it stands in a passage, ascending."""


class PostgresWords(Postings):
    """The search index of a partition, read over one connection."""

    def __init__(self, link: Link, scope: DocumentScope) -> None:
        self._link, self._scope = link, scope
        self._inside = scope.passages("passage_id", POSTGRES)

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        ask = "SELECT term, passages FROM terms WHERE trust = %s AND term = ANY(%s)"
        return self._counts(ask, (self._scope.trust.value, [stem for stem in stems if len(stem) <= LONGEST]))

    def vocabulary(self) -> list[str]:
        ask = "SELECT term FROM terms WHERE trust = %s AND length(term) >= 3 ORDER BY term"
        rows = self._link.execute(ask, (self._scope.trust.value,))
        return [row[0] for row in rows if row[0].isalpha()]

    def with_term(self, term: str, most: int | None = None) -> list[int]:
        ask = f"SELECT passage_id FROM postings WHERE term = %s AND {self._inside.text} ORDER BY passage_id LIMIT %s"
        values = (term, *self._inside.values, most)
        return [row[0] for row in self._link.execute(ask.encode(), values)]

    def places(self, finding: Sequence[str], terms: Iterable[str]) -> tuple[Places, dict[int, int]]:
        ask = (
            "WITH found AS MATERIALIZED (SELECT DISTINCT passage_id FROM postings"
            f" WHERE term = ANY(%s) AND {self._inside.text})"
            " SELECT p.term, p.passage_id, p.positions, q.length FROM found"
            " JOIN postings p ON p.passage_id = found.passage_id AND p.term = ANY(%s)"
            " JOIN passages q ON q.passage_id = found.passage_id"
        )
        places: Places = {}
        lengths: dict[int, int] = {}
        values = (list(finding), *self._inside.values, list(terms))
        for term, passage, positions, length in self._link.execute(ask.encode(), values, binary=True):
            places.setdefault(term, {})[passage] = positions
            lengths[passage] = length
        return places, lengths

    def size(self) -> tuple[int, int]:
        """See `postings.Postings`. Raises Damage."""
        return kept_size(self._link, self._scope.trust)

    def _counts(self, ask: str, values: Sequence[object]) -> dict[str, int]:
        return dict(self._link.execute(ask.encode(), values).fetchall())


class FilteredWords(PostgresWords):
    """The search index of the passages that a filter matches, counted from the postings."""

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        ask = (
            f"SELECT term, count(*) FROM postings WHERE term = ANY(%s) AND {self._inside.text} GROUP BY term"
        )
        return self._counts(ask, ([stem for stem in stems if len(stem) <= LONGEST], *self._inside.values))

    def size(self) -> tuple[int, int]:
        ask = f"SELECT count(*), coalesce(sum(length), 0)::bigint FROM passages WHERE {self._inside.text}"
        ((passages, tokens),) = self._link.execute(ask.encode(), self._inside.values).fetchall()
        return passages, tokens


def kept_size(link: Link, trust: Trust) -> tuple[int, int]:
    """How many passages a partition has, and how many tokens these have together. Raises Damage."""
    ask = "SELECT passages, tokens FROM partitions WHERE trust = %s"
    row = link.execute(ask, (trust.value,)).fetchone()
    if row is None:
        raise Damage(f"nothing counts the {trust} passages")
    return row[0], row[1]


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
