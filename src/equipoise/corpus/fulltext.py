"""Full text search in the store file: a plan as a query of SQLite's FTS5, and what its indexes hold."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from equipoise.core.types import Trust
from equipoise.corpus.keywords import QueryPlan


class Match(NamedTuple):
    """A full text query, and how many times over it counts each word."""

    expression: str
    times: int


def matching(plan: QueryPlan) -> Match:
    """The FTS5 expression for a plan, empty where nothing finds.

    FTS5 adds up the score of every word of an expression, so each stands in it once, or each twice.
    """
    finding, others = plan
    if not others:
        return Match(_any_of(finding), 1)
    return Match(f"({_any_of(finding)}) AND ({_any_of([*finding, *others, *others])})", 2)


def words_of(trust: Trust) -> str:
    """The table with the search index of a partition: its frequencies and lengths are those of the partition alone."""
    return f"words_{trust.value}"


def vocabulary_of(trust: Trust) -> str:
    """The temporary table that shows the search index of a partition."""
    return f"vocabulary_{trust.value}"


class FullText:
    """The search index of one partition behind one connection."""

    def __init__(self, connection: sqlite3.Connection, trust: Trust) -> None:
        """Adds a temporary table to the connection that shows the search index."""
        self._connection = connection
        self._vocabulary = vocabulary_of(trust)
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.{self._vocabulary} USING fts5vocab('main', '{words_of(trust)}', 'row')"
        )

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """See `keywords.Terms`."""
        ask = f"SELECT doc FROM {self._vocabulary} WHERE term = ?"
        rows = [(stem, self._connection.execute(ask, (stem,)).fetchone()) for stem in stems]
        return {stem: row[0] for stem, row in rows if row}

    def vocabulary(self) -> dict[str, int]:
        """See `keywords.Terms`."""
        rows = self._connection.execute(f"SELECT term, doc FROM {self._vocabulary} WHERE length(term) >= 3")
        return {term: count for term, count in rows if term.isalpha()}


def _any_of(words: list[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
