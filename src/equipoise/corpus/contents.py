"""Everything a store holds, row by row, and its digest: equal for equal content, whatever keeps it.

Rows begin with the name of a table of the store file (`corpus.schema`) and come in its order; vocabulary rows go on
with (trust, term, passages that hold it, times it stands in them).
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from typing import Any

from equipoise.core.types import Trust
from equipoise.corpus.fulltext import vocabulary_of
from equipoise.corpus.keywords import TOKENIZER
from equipoise.corpus.pieces import passage_at, word_text
from equipoise.corpus.record_types import FileRecord, Numbered

Row = tuple[Any, ...]
TABLES = (
    ("meta", "key"),
    ("files", "path"),
    ("documents", "number"),
    ("passages", "passage_id"),
    ("vectors", "document"),
)


def digest(rows: Iterable[Row]) -> str:
    """sha256 (hex) of the rows."""
    total = hashlib.sha256()
    for row in rows:
        total.update(repr(row).encode())
    return total.hexdigest()


def of_file(connection: sqlite3.Connection) -> Iterator[Row]:
    """The rows of a store file; the connection must show its vocabulary."""
    for table, order in TABLES:
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY {order}"):
            yield (table, *row)
    for trust in Trust:
        for row in connection.execute(f"SELECT term, doc, cnt FROM {vocabulary_of(trust)} ORDER BY term"):
            yield ("vocabulary", trust.value, *row)


def of_documents(
    meta: Mapping[str, str], files: Iterable[FileRecord], documents: Iterable[Numbered]
) -> Iterator[Row]:
    """The rows that a store file would have with these documents, each in its order."""
    yield from (("meta", key, meta[key]) for key in sorted(meta))
    yield from (("files", *record.row) for record in files)
    passages: list[Row] = []
    vectors: list[Row] = []
    with ExitStack() as stack:
        vocabularies = {trust: stack.enter_context(closing(Vocabulary())) for trust in Trust}
        for numbered in documents:
            document, spans = numbered.entry.document, numbered.entry.spans
            yield ("documents", *numbered.row)
            for passage_id, (start, end) in enumerate(spans, numbered.first):
                passages.append(("passages", passage_id, numbered.number, start, end))
                words = word_text(passage_at(0, start, end, document))
                vocabularies[document.trust].add(passage_id, words)
            made = numbered.entry.vectors
            data = b"" if made is None else made.astype("<f4").tobytes()
            vectors.append(("vectors", numbered.number, numbered.first, len(spans), data))
        yield from passages
        yield from vectors
        for trust, vocabulary in vocabularies.items():
            yield from (("vocabulary", trust.value, *row) for row in vocabulary.rows())


class Vocabulary:
    """Counts the words of passages as a store file would, in a temporary file."""

    def __init__(self) -> None:
        self._file = sqlite3.connect("", isolation_level=None)
        self._file.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='{TOKENIZER}')")
        self._file.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab('words', 'row')")
        self._file.execute("BEGIN")

    def add(self, passage_id: int, text: str) -> None:
        """Count the words of a passage's search text."""
        self._file.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (passage_id, text))

    def rows(self) -> Iterator[Row]:
        """(term, passages, times), by term."""
        yield from self._file.execute("SELECT term, doc, cnt FROM vocabulary ORDER BY term")

    def close(self) -> None:
        """Delete the file."""
        self._file.close()
