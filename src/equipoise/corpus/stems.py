"""Texts to the terms of full text search: SQLite's own tokenizer, also where no SQLite file keeps the index.

So every kind of store finds and scores the same passages for the same words.
"""

import sqlite3
from collections.abc import Sequence
from threading import Lock

TOKENIZER = "porter unicode61 remove_diacritics 2"


class Stems:
    """A tokenizer. Close it at the end; threads take turns."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._memory.execute(f"CREATE VIRTUAL TABLE stems USING fts5(word, tokenize='{TOKENIZER}')")
        self._memory.execute("CREATE VIRTUAL TABLE stem USING fts5vocab('stems', 'instance')")

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()

    def of_words(self, words: Sequence[str]) -> list[str]:
        """Each word as the search index holds it; a word that it splits counts as its rarest-looking part."""
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
