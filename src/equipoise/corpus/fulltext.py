"""Full text search in the store file: a plan as a query of SQLite's FTS5, and what its indexes hold."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

import numpy as np

from equipoise.core.types import Trust
from equipoise.corpus.keywords import FOUND_BY, Keywords, QueryPlan
from equipoise.corpus.postings import Places, Postings
from equipoise.corpus.record_types import Ids, rows_of
from equipoise.corpus.scope import SQLITE, DocumentScope

MANY = 100_000
"""From so many passages on common terms are counted once, whatever is asked: to say in how many passages a term stands,
FTS5 walks through all of them. For 300,000 passages counting takes .7 s, and spares a question 30 ms."""


class WordQuery(NamedTuple):
    """A full text query, and how many times over it counts each word."""

    expression: str
    times: int


def matching(plan: QueryPlan) -> WordQuery:
    """The FTS5 expression for a plan, empty where the plan finds nothing.

    FTS5 adds up the scores of all words of an expression, so each stands in it equally often: once, or twice.
    """
    finding, others = plan
    if not others:
        return WordQuery(_any_of(finding), 1)
    return WordQuery(f"({_any_of(finding)}) AND ({_any_of([*finding, *others, *others])})", 2)


def words_of(trust: Trust) -> str:
    """The table with the search index of a partition: its frequencies and lengths are those of the partition alone."""
    return f"words_{trust.value}"


def vocabulary_of(trust: Trust) -> str:
    """The temporary table that shows the search index of a partition."""
    return f"vocabulary_{trust.value}"


def show_words(connection: sqlite3.Connection, trust: Trust) -> None:
    """Add temporary tables to the connection that show the search index: by term, and by every place of a term."""
    for table, kind in ((vocabulary_of(trust), "row"), (_instances_of(trust), "instance")):
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.{table} USING fts5vocab('main', '{words_of(trust)}', '{kind}')"
        )


class FullText:
    """The search index of one partition behind one connection, valid until the store changes."""

    def __init__(self, connection: sqlite3.Connection, scope: DocumentScope) -> None:
        self._connection, self._trust = connection, scope.trust
        self._common = {} if scope.where else self._counted()

    def at_once(self) -> AbstractContextManager[None]:
        """A context around all reads of one question; nothing is kept in it here."""
        return nullcontext()

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        ask = f"SELECT doc FROM {vocabulary_of(self._trust)} WHERE term = ?"
        known = {stem: self._common[stem] for stem in stems if stem in self._common}
        rows = [
            (stem, self._connection.execute(ask, (stem,)).fetchone()) for stem in stems if stem not in known
        ]
        return known | {stem: row[0] for stem, row in rows if row}

    def _counted(self) -> dict[str, int]:
        """How many passages each term stands in, if more than FOUND_BY; empty for fewer than MANY passages in all."""
        held = self._connection.execute(f"SELECT count(*) FROM {words_of(self._trust)}_docsize").fetchone()[0]
        ask = f"SELECT term, doc FROM {vocabulary_of(self._trust)} WHERE doc > ?"
        return dict(self._connection.execute(ask, (FOUND_BY,))) if held >= MANY else {}

    def vocabulary(self) -> list[str]:
        ask = f"SELECT term FROM {vocabulary_of(self._trust)} WHERE length(term) >= 3"
        return [row[0] for row in self._connection.execute(ask) if row[0].isalpha()]

    def bm25(self, plan: QueryPlan, _keywords: Keywords, k: int) -> list[tuple[int, float]]:
        """At most `k` (passage, score), best first, ties by id."""
        match, words = matching(plan), words_of(self._trust)
        ask = f"SELECT rowid, bm25({words}) AS s FROM {words} WHERE {words} MATCH ? ORDER BY s, rowid LIMIT ?"
        found = self._connection.execute(ask, (match.expression, k)).fetchall()
        return [(row[0], -row[1] / match.times) for row in found]

    def holding(self, words: Sequence[str], _keywords: Keywords) -> list[Ids]:
        index = words_of(self._trust)
        ask = f"SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid"
        found = (self._connection.execute(ask, (f'"{word}"',)) if word else () for word in words)
        return [np.fromiter((row[0] for row in rows), np.int64) for rows in found]

    def with_term(self, term: str, most: int | None = None) -> list[int]:
        """See `postings.Postings`; FTS5 keeps places in the order of passages."""
        ask = f"SELECT DISTINCT doc FROM {_instances_of(self._trust)} WHERE term = ? LIMIT ?"
        return [row[0] for row in self._connection.execute(ask, (term, -1 if most is None else most))]


class FilteredText(Postings, FullText):
    """The index of a filtered scope's passages alone, counted and scored from postings; see `postings.Postings`."""

    def __init__(self, connection: sqlite3.Connection, scope: DocumentScope) -> None:
        """Reads the ids of the scope's passages, and their lengths in tokens."""
        super().__init__(connection, scope)
        inside = scope.passages("id", SQLITE)
        ask = f"SELECT id, sz FROM {words_of(scope.trust)}_docsize WHERE {inside.text} ORDER BY id"
        pairs = ((row[0], _varint(row[1])) for row in connection.execute(ask, inside.values))
        kept = np.fromiter(pairs, np.dtype("int64,int64"))
        self._ids, self._lengths = kept["f0"].copy(), kept["f1"].copy()
        self._read: dict[str, tuple[Ids, Ids]] = {}

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside it each term is read once; its postings are forgotten at the end."""
        try:
            yield
        finally:
            self._read.clear()

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        return {stem: len(np.unique(self._standing(stem)[0])) for stem in stems}

    def with_term(self, term: str, most: int | None = None) -> list[int]:
        inside: list[int] = np.unique(self._standing(term)[0])[:most].tolist()
        return inside

    def places(self, finding: Sequence[str], terms: Iterable[str]) -> tuple[Places, dict[int, int]]:
        found = np.unique(
            np.concatenate([np.empty(0, np.int64), *(self._standing(one)[0] for one in finding)])
        )
        lengths = self._lengths[rows_of(self._ids, found)[1]]
        places: Places = {}
        for term in terms:
            passages, offsets = self._standing(term)
            inside = rows_of(found, passages)[0]
            for passage, offset in zip(passages[inside].tolist(), offsets[inside].tolist(), strict=True):
                places.setdefault(term, {}).setdefault(passage, []).append(offset)
        return places, dict(zip(found.tolist(), lengths.tolist(), strict=True))

    def size(self) -> tuple[int, int]:
        return len(self._ids), int(self._lengths.sum())

    def _standing(self, term: str) -> tuple[Ids, Ids]:
        """The passage (n,) and the position in it (n,) of each occurrence of a term, ascending."""
        if term not in self._read:
            ask = f'SELECT doc, "offset" FROM {_instances_of(self._trust)} WHERE term = ?'
            rows = np.fromiter(self._connection.execute(ask, (term,)), np.dtype("int64,int64"))
            rows = rows[rows_of(self._ids, rows["f0"])[0]]
            order = np.lexsort((rows["f1"], rows["f0"]))
            self._read[term] = rows["f0"][order], rows["f1"][order]
        return self._read[term]


def _instances_of(trust: Trust) -> str:
    return f"instances_{trust.value}"


def _varint(data: bytes) -> int:
    """The first number in the form of SQLite's file: seven bits a byte, the highest first."""
    value = 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value
    return value


def _any_of(words: list[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
