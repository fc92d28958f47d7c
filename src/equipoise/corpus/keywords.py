"""Keyword search: from a user's text to a plan that is safe and fast, the same for every kind of store.

BM25 (Robertson and Walker 1994) is SQLite FTS5's, with its k1 = 1.2 and b = 0.75 (`corpus.postings`). Its time
grows with the number of passages that hold a term, so passages are found by the rarest terms and scored by all of them.
Where all terms of a query together stand in at most FOUND_BY passages the result is that of plain BM25.
"""

import sqlite3
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import NamedTuple, Protocol

from equipoise.core.types import Passage
from equipoise.corpus.pieces import word_text
from equipoise.corpus.spelling import (
    NEAREST,
    SHORTEST,
    Correction,
    chosen,
    is_foreign,
    is_known,
    near_stems,
    parted,
    plain,
    small,
    umlauts,
    unknown,
)
from equipoise.text.function_words import FUNCTION_WORDS
from equipoise.text.tokens import is_unspaced, with_cjk_bigrams

TOKENIZER = "porter unicode61 remove_diacritics 2"
MOST_TERMS = 32
FOUND_BY = 3_000  # passages: the rarest terms, up to this many together, choose what is scored
SCORED_BY = 40_000  # passages: terms beyond this many together are left out of the scores too
_READ = 10_000  # characters of a query
_LONGEST = 64  # characters of a term
LOOKED_AT = 5
"""Most passages with a stem that was probably meant, in which its words are looked up as they are written."""

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

    A word is a run of letters, digits and their combining marks, so nothing of the query language is left; in
    scripts without spaces a pair of letters is one.
    """
    bare = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in with_cjk_bigrams(query[:_READ]))
    words = list(dict.fromkeys(w[:_LONGEST] for w in bare.lower().split() if any(c.isalnum() for c in w)))
    return [w for w in words if w not in STOP_WORDS] or words


class QueryPlan(NamedTuple):
    """The words that choose which passages are scored, and those that only score, both rarest first."""

    finding: list[str]
    others: list[str]


class Stems:
    """Texts to the terms of full text search: SQLite's own tokenizer, also where no SQLite file keeps the index, so
    that every kind of store finds and scores the same passages for the same words. Close it at the end; threads take
    turns."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._memory.execute(f"CREATE VIRTUAL TABLE stems USING fts5(word, tokenize='{TOKENIZER}')")
        self._memory.execute("CREATE VIRTUAL TABLE stem USING fts5vocab('stems', 'instance')")

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()

    def of_words(self, words: Sequence[str]) -> list[str]:
        """Each word as the search index holds it: its stem, or the longest of them where the index splits the word."""
        return [max((term for term, _ in pairs), key=len, default="") for pairs in self.of_texts(words)]

    def of_texts(self, texts: Sequence[str]) -> list[list[tuple[str, int]]]:
        """The (term, position) pairs of each text, by term and then by position."""
        with self._lock:
            self._memory.execute("BEGIN")
            try:
                self._memory.executemany("INSERT INTO stems(rowid, word) VALUES (?, ?)", enumerate(texts))
                rows = self._memory.execute('SELECT doc, term, "offset" FROM stem').fetchall()
            finally:
                self._memory.execute("ROLLBACK")
        by_text: list[list[tuple[str, int]]] = [[] for _ in texts]
        for number, term, position in rows:
            by_text[number].append((term, position))
        return by_text


class Terms(Protocol):
    """What a store knows of its search index."""

    def frequencies(self, stems: Sequence[str]) -> Mapping[str, int]:
        """In how many passages each stem stands; those that stand in none may be missing."""
        ...

    def vocabulary(self) -> Iterable[str]:
        """Every stem of three or more letters, and perhaps some that stand in no passage."""
        ...


class Keywords:
    """Plans queries for one store: knows in how many passages each term stands."""

    def __init__(self, terms_of: Terms, stems: Stems) -> None:
        """`stems` may be shared by several."""
        self._terms = terms_of
        self.stems = stems

    def misspelt(self, text: str, known: Container[str]) -> list[tuple[str, list[str]]]:
        """The words of `text` that are neither `known` nor in the store, each with the store's stems that are near."""
        missing = self.out_of_corpus(unknown(text, known))
        stems = list(self._terms.vocabulary()) if missing else []
        return [(word, self._first_known(near_stems(word.lower(), stems))) for word in missing]

    def out_of_corpus(self, words: Sequence[str]) -> list[str]:
        """The words that no passage has in any form; words of scripts without spaces are left out."""
        words = [word for word in words if not is_unspaced(word)]
        stems = self.stems.of_words([word.lower() for word in words])
        frequent = self.frequencies(stems)
        return [word for word, stem in zip(words, stems, strict=True) if stem and not frequent[stem]]

    def passages(self, word: str) -> int:
        """How many passages have the word, in any form."""
        (stem,) = self.stems.of_words([word])
        return self.frequencies([stem])[stem]

    def corrections(
        self, text: str, known: Mapping[str, int], holding: Callable[[str], Iterable[Passage]]
    ) -> tuple[Correction, ...]:
        """See `partition.Partition.corrections`; `holding` gives at most LOOKED_AT passages with a stem."""
        foreign = is_foreign(text)
        english = {} if foreign else known
        slips = dict(small(text, english))
        pairs = {word: slips[word] for word in self.out_of_corpus(list(slips))} | self._respelt(text, english)
        pairs |= parted(text, lambda word: self.out_of_corpus([word]))
        for word, stems in self.misspelt(text, known):
            if word not in pairs and not (foreign and word.islower()):
                pairs[word] = chosen(word, self._words(stems, holding), self.passages, english)
        return tuple(pair for pair in pairs.items() if pair[1])

    def _respelt(self, text: str, english: Container[str]) -> dict[str, str]:
        """The words of `text` that no passage has, each as some passage has it with its umlauts written otherwise.
        Words of `english` are left out: the search index holds "dös" wherever it holds "do"."""
        strange = [word for word in plain(text) if len(word) >= SHORTEST and not is_known(word, english)]
        others = {word: other for word in strange if (other := umlauts(word))}
        heard = {
            word: [one for one in others[word] if not self.out_of_corpus([one])]
            for word in self.out_of_corpus(list(others))
        }
        return {word: found[0] for word, found in heard.items() if found}

    def _words(self, stems: Iterable[str], holding: Callable[[str], Iterable[Passage]]) -> Iterator[str]:
        """The words that have one of the stems, from some passages that hold it."""
        for stem in stems:
            for passage in holding(stem):
                yield from self._words_of(stem, word_text(passage))

    def _words_of(self, stem: str, text: str) -> list[str]:
        """The words of `text` with this stem, in lower case."""
        words = terms(text)
        return [word for word, its in zip(words, self.stems.of_words(words), strict=True) if its == stem]

    def plan(self, query: str) -> QueryPlan:
        """How to search for `query`; `finding` is empty where no term of it is in the store."""
        known = sorted((f, n, w) for n, (w, f) in enumerate(self._frequent(terms(query))) if f)[:MOST_TERMS]
        finding = [w for w, total in _running(known) if total <= FOUND_BY] or [w for _, _, w in known[:1]]
        scoring = [w for w, total in _running(known) if total <= SCORED_BY]
        return QueryPlan(finding, scoring[len(finding) :])

    def _frequent(self, words: list[str]) -> list[tuple[str, int]]:
        """Each word with the number of passages that hold it; of words with one stem only the first."""
        first: dict[str, str] = {}
        for word, stem in zip(words, self.stems.of_words(words), strict=True):
            first.setdefault(stem, word)
        frequent = self.frequencies(list(first))
        return [(word, frequent[stem]) for stem, word in first.items()]

    def frequencies(self, stems: Sequence[str]) -> dict[str, int]:
        """In how many passages each stem stands. Nothing is kept: it would tell which words others have asked about."""
        return dict.fromkeys(stems, 0) | dict(self._terms.frequencies(list(dict.fromkeys(stems))))

    def _first_known(self, stems: Sequence[str]) -> list[str]:
        """The first NEAREST of the stems that stand in a passage."""
        held = self.frequencies(stems)
        return [stem for stem in stems if held[stem]][:NEAREST]


def _running(known: list[tuple[int, int, str]]) -> list[tuple[str, int]]:
    """Each term, rarest first, with the sum of its frequency and those before it, in passages."""
    total, running = 0, []
    for frequency, _, word in known:
        total += frequency
        running.append((word, total))
    return running
