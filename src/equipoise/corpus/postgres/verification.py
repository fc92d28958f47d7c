"""Everything a store in Postgres should be: every row against the others."""

from collections import Counter

from equipoise.core.errors import CorpusError
from equipoise.core.types import Trust
from equipoise.corpus import record_types
from equipoise.corpus.keywords import Stems
from equipoise.corpus.postgres import rows, searching, words
from equipoise.corpus.postgres.connections import Link
from equipoise.corpus.record_types import Damage
from equipoise.corpus.scope import DocumentScope, bounds

_ODD = (
    ("SELECT 1 FROM documents d WHERE count <> (SELECT count(*) FROM passages WHERE document = d.number)",
     "passages that are not those of their documents"),
    ("SELECT 1 FROM passages p JOIN documents d ON d.number = p.document"
     " WHERE p.passage_id NOT BETWEEN d.first AND d.first + d.count - 1",
     "passages that are not those of their documents"),
    ("SELECT 1 FROM passages p JOIN documents d ON d.number = p.document LEFT JOIN vectors v USING (passage_id)"
     " WHERE d.embedded <> (v.passage_id IS NOT NULL)",
     "vectors that are not those of the passages"),
    ("SELECT 1 WHERE (SELECT count(*) FROM postings) <> (SELECT coalesce(sum(passages), 0) FROM terms)",
     "full text search does not hold the words of the passages"),
)  # fmt: skip
_OUTSIDE = (
    "SELECT 1 FROM documents LEFT JOIN passages ON document = number WHERE trust = %s"
    " AND NOT (number BETWEEN %s AND %s AND coalesce(passage_id, number) BETWEEN %s AND %s)"
)
_SIZE = "SELECT count(*), coalesce(sum(length), 0) FROM passages WHERE passage_id BETWEEN %s AND %s"


def verify(link: Link, stems: Stems) -> None:
    """Raises Damage for anything that `PostgresStore` would not have written."""
    for ask, reason in _ODD:
        if link.execute(ask.encode()).fetchone():
            raise Damage(reason)
    for row in link.execute(record_types.FILE.encode()).fetchall():
        record_types.read_file(row)
    for trust in Trust:
        _check_partition(link, trust)
    counts: Counter[tuple[str, str]] = Counter()
    try:
        for numbered in rows.numbered(link):
            entry = numbered.entry
            record_types.check_entry(entry, rows.dimensions(link))
            texts = rows.texts_of(entry.document, entry.spans)
            for passage_id, (terms, _) in enumerate(words.placed(stems, texts), numbered.first):
                _check_postings(link, passage_id, terms)
                counts.update((entry.document.trust.value, term) for term in terms)
    except CorpusError as error:
        raise Damage(str(error)) from error
    kept = link.execute("SELECT trust, term, passages FROM terms").fetchall()
    if counts != {(trust, term): passages for trust, term, passages in kept}:
        raise Damage("full text search does not hold the words of the passages")


def _check_partition(link: Link, trust: Trust) -> None:
    if link.execute(_OUTSIDE, (trust.value, *bounds(trust), *bounds(trust))).fetchone():
        raise Damage("a document in the partition of another trust")
    if link.execute(_SIZE, bounds(trust)).fetchone() != words.kept_size(link, trust):
        raise Damage("counts that are not those of the passages")
    searching.matrix(link, DocumentScope(trust))


def _check_postings(link: Link, passage_id: int, terms: words.Placed) -> None:
    ask = "SELECT term, positions FROM postings WHERE passage_id = %s AND term = ANY(%s)"
    if dict(link.execute(ask, (passage_id, list(terms))).fetchall()) != terms:
        raise Damage("full text search does not hold the words of the passages")
