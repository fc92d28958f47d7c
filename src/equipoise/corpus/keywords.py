"""Keyword search: from a user's text to a full text query that is safe and fast.

BM25 (Robertson and Walker 1994) is SQLite FTS5's, with its k1 = 1.2 and b = 0.75. Its time grows with the
number of passages that hold a term, so passages are found by the rarest terms and scored by all of them.
Where all terms of a query together stand in at most FOUND_BY passages the result is that of plain BM25.
"""

import sqlite3
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from equipoise.corpus.schema import TOKENIZER
from equipoise.corpus.spelling import nearest, unknown
from equipoise.text.function_words import FUNCTION_WORDS

MOST_TERMS = 32
FOUND_BY = 3_000  # passages: the rarest terms, up to this many together, choose what is scored
SCORED_BY = 40_000  # passages: terms beyond this many together are left out of the scores too
_READ = 10_000  # characters of a query
_LONGEST = 64  # characters of a term
_CACHED = 50_000

# Function words of English: questions are full of them and they tell passages apart badly. Those of German and French
# are in text/function_words.
_FUNCTION_WORDS = """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has
    have having he her here hers him his how i if in into is it its itself just me more most my no
    nor not now of off on once only or other our out over own s same she should so some such t than
    that the their them then there these they this those through to too under until up us very was
    we were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split()) | FUNCTION_WORDS


def terms(query: str) -> list[str]:
    """The distinct words of `query`, lower case, in order, without stop words unless there are only those.

    A word is a run of letters, digits and their combining marks, so nothing of the query language is left.
    """
    bare = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in query[:_READ])
    words = list(dict.fromkeys(w[:_LONGEST] for w in bare.lower().split() if any(c.isalnum() for c in w)))
    return [w for w in words if w not in STOP_WORDS] or words


class Match(NamedTuple):
    """A full text query, and how many times over it counts each word."""

    expression: str
    times: int


class Keywords:
    """Plans queries for one store: knows in how many passages each term stands."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """`connection` is the store's. Adds a temporary table to it that shows the search index."""
        self._connection = connection
        connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')")
        self._stems = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._stems.execute(f"CREATE VIRTUAL TABLE stems USING fts5(word, tokenize='{TOKENIZER}')")
        self._stems.execute("CREATE VIRTUAL TABLE stem USING fts5vocab('stems', 'instance')")
        self._frequencies: dict[str, int] = {}
        self._vocabulary: dict[str, int] | None = None

    def close(self) -> None:
        """Give back what `Keywords` opened itself."""
        self._stems.close()

    def forget(self) -> None:
        """Drop remembered frequencies; call it when the store has changed."""
        self._frequencies.clear()
        self._vocabulary = None

    def misspelt(self, text: str, known: Callable[[str], bool]) -> list[tuple[str, str]]:
        """The words of `text` that are neither `known` nor in the store, each with the stem that it is nearest to,
        where one is near."""
        words = unknown(text, known)
        stems = dict(zip(words, self._stemmed([word.lower() for word in words]), strict=True))
        missing = [word for word in words if stems[word] and not self._frequency(stems[word])]
        counts = self._counts() if missing else {}
        meant = ((word, nearest(stems[word], list(counts), counts)) for word in missing)
        return [(word, stem) for word, stem in meant if stem]

    def words_of(self, stem: str, text: str) -> list[str]:
        """The words of `text` with this stem, in lower case."""
        words = terms(text)
        return [word for word, its in zip(words, self._stemmed(words), strict=True) if its == stem]

    def _counts(self) -> dict[str, int]:
        """Every stem that a misspelt word could be meant for, and in how many passages it stands."""
        if self._vocabulary is None:
            rows = self._connection.execute("SELECT term, doc FROM vocabulary WHERE length(term) >= 3")
            self._vocabulary = {term: count for term, count in rows if term.isalpha()}
        return self._vocabulary

    def match(self, query: str) -> Match:
        """The FTS5 expression for `query`, empty where no term of it is in the store.

        FTS5 adds up the score of every word of an expression, so each stands in it once, or each twice.
        """
        known = sorted((f, n, w) for n, (w, f) in enumerate(self._frequent(terms(query))) if f)[:MOST_TERMS]
        finding = [w for w, total in _running(known) if total <= FOUND_BY] or [w for _, _, w in known[:1]]
        scoring = [w for w, total in _running(known) if total <= SCORED_BY]
        others = scoring[len(finding) :]
        if not others:
            return Match(_any_of(finding), 1)
        return Match(f"({_any_of(finding)}) AND ({_any_of([*finding, *others, *others])})", 2)

    def _frequent(self, words: list[str]) -> list[tuple[str, int]]:
        """Each word with the number of passages that hold it; of words with one stem only the first."""
        found: dict[str, tuple[str, int]] = {}
        for word, stem in zip(words, self._stemmed(words), strict=True):
            if stem not in found:
                found[stem] = (word, self._frequency(stem))
        return list(found.values())

    def _stemmed(self, words: list[str]) -> list[str]:
        """Each word as the search index holds it; a word that it splits counts as its rarest-looking part."""
        self._stems.execute("BEGIN")
        try:
            self._stems.executemany("INSERT INTO stems(rowid, word) VALUES (?, ?)", enumerate(words))
            rows = self._stems.execute("SELECT doc, term FROM stem").fetchall()
        finally:
            self._stems.execute("ROLLBACK")
        longest: dict[int, str] = {}
        for number, term in rows:
            longest[number] = max(longest.get(number, ""), term, key=len)
        return [longest.get(number, "") for number in range(len(words))]

    def _frequency(self, stem: str) -> int:
        if stem not in self._frequencies:
            if len(self._frequencies) >= _CACHED:
                self._frequencies.clear()
            row = self._connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (stem,)).fetchone()
            self._frequencies[stem] = row[0] if row else 0
        return self._frequencies[stem]


def _running(known: list[tuple[int, int, str]]) -> list[tuple[str, int]]:
    """Each term, rarest first, with the number of passages up to and with it."""
    total, found = 0, []
    for frequency, _, word in known:
        total += frequency
        found.append((word, total))
    return found


def _any_of(words: list[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
