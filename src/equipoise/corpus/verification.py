"""Everything a store should be: SQLite's own checks, then every row against the others."""

import sqlite3
from contextlib import closing

from equipoise.core.types import Trust
from equipoise.corpus import record_types
from equipoise.corpus.contents import Vocabulary
from equipoise.corpus.fulltext import vocabulary_of
from equipoise.corpus.nearest import read_signs
from equipoise.corpus.pieces import word_text
from equipoise.corpus.record_types import DOCUMENT, FILE, PLACE, Damage
from equipoise.corpus.scope import DocumentScope, bounds

_PASSAGES_OF_VECTORS = """
    SELECT v.document FROM vectors v
    LEFT JOIN (SELECT document, min(passage_id) AS first, max(passage_id) AS last, count(*) AS number
               FROM passages GROUP BY document) p ON p.document = v.document
    WHERE v.count != coalesce(p.number, 0) OR (v.count > 0 AND (v.first != p.first OR v.first + v.count - 1 != p.last))
"""
_WITHOUT_VECTORS = "SELECT number FROM documents WHERE number NOT IN (SELECT document FROM vectors)"
_OUTSIDE = """
    SELECT 1 FROM documents LEFT JOIN passages ON document = number
    WHERE trust = ? AND NOT (number BETWEEN ? AND ? AND coalesce(passage_id, number) BETWEEN ? AND ?)
"""
_OVERLAPS = """
    SELECT passage_id FROM (SELECT passage_id, start, lag(end) OVER one AS before FROM passages
                            WINDOW one AS (PARTITION BY document ORDER BY passage_id))
    WHERE start < before
"""


def verify(connection: sqlite3.Connection) -> None:
    """Raises Damage or sqlite3.Error for anything that `Store` would not have written.

    Takes about as long as indexing words anew. It cannot tell a text that was changed together with all that
    was made of it.
    """
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise Damage(" ".join(str(problem).split()))
    if connection.execute("PRAGMA foreign_key_check").fetchall():
        raise Damage("rows without their document")
    for row in connection.execute(FILE):
        record_types.read_file(row)
    for row in connection.execute(DOCUMENT):
        record_types.read_document(row)
    for ask, reason in (
        (_PASSAGES_OF_VECTORS, "vectors that are not those of the passages"),
        (_WITHOUT_VECTORS, "a document without vectors"),
        (_OVERLAPS, "passages that overlap"),
    ):
        if connection.execute(ask).fetchone():
            raise Damage(reason)
    for trust in Trust:
        if connection.execute(_OUTSIDE, (trust.value, *bounds(trust), *bounds(trust))).fetchone():
            raise Damage("a document in the partition of another trust")
        read_signs(connection, DocumentScope(trust))
        _check_words(connection, trust)


def _check_words(connection: sqlite3.Connection, trust: Trust) -> None:
    """Whether full text search holds the words of the partition's passages: each as often, in as many of them."""
    with closing(Vocabulary()) as anew:
        for row in connection.execute(f"{DOCUMENT} WHERE number BETWEEN ? AND ?", bounds(trust)):
            document = record_types.read_document(row)
            for place in connection.execute(f"{PLACE} WHERE d.doc_id = ?", (document.doc_id,)):
                passage = record_types.read_passage(*record_types.read_place(place), document)
                anew.add(passage.passage_id, word_text(passage))
        held = connection.execute(f"SELECT term, doc, cnt FROM {vocabulary_of(trust)} ORDER BY term")
        if held.fetchall() != list(anew.rows()):
            raise Damage("full text search does not hold the words of the passages")
