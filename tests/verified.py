"""Whether a store is all that it should be: what it holds against what it would hold, made anew of its documents."""

from collections import Counter

from equipoise.core.errors import CorpusError, StoreError
from equipoise.corpus import contents
from equipoise.corpus.record_types import Damage, check_entry, check_number, integer
from equipoise.corpus.sqlite import SqliteStore

WORDS = "full text search does not hold the words of the passages"


def verified(store):
    """Raises StoreError for anything that the store would not have written. It cannot tell a text that was changed
    together with all that was made of it."""
    with store.snapshot(), store._mapped():
        if isinstance(store, SqliteStore):
            _check_file(store)
        files, width = list(store.files().values()), store._width()
        try:
            for numbered in store.numbered():
                integer(numbered.first)
                check_number(numbered)
                check_entry(numbered.entry, width)
        except StoreError:
            raise
        except CorpusError as error:
            raise Damage(str(error)) from error
        if not isinstance(store, SqliteStore):
            _check_tables(store)
        anew = contents.of_documents(store._meta(), files, store.numbered())
        if contents.digest(store.contents()) != contents.digest(anew):
            raise Damage("not all that it holds is made of its documents")


def _check_file(store):
    ((problem,),) = store._rows("PRAGMA integrity_check(1)")
    if problem != "ok":
        raise Damage(" ".join(problem.split()))
    if store._rows("PRAGMA foreign_key_check"):
        raise Damage("rows without their document")


def _check_tables(store):
    """In Postgres `contents` are made of the documents: here is what they leave out."""
    from equipoise.core.types import Trust
    from equipoise.corpus.postgres import rows, words
    from equipoise.corpus.scope import bounds

    counts = Counter()
    for numbered in store.numbered():
        entry, last = numbered.entry, numbered.first + len(numbered.entry.spans) - 1
        own = "SELECT passage_id FROM passages WHERE document = ? ORDER BY 1"
        ids = [row[0] for row in store._rows(own, numbered.number)]
        there = "SELECT count(*) FROM vectors WHERE passage_id BETWEEN ? AND ?"
        vectors = store._rows(there, numbered.first, last)[0][0]
        if ids != list(range(numbered.first, last + 1)):
            raise Damage("passages that are not those of their documents")
        if vectors != (0 if entry.vectors is None else len(ids)):
            raise Damage("vectors that are not those of the passages")
        texts = rows.texts_of(entry.document, entry.spans)
        for passage_id, (terms, _) in enumerate(words.placed(store._stems, texts), numbered.first):
            held = store._rows("SELECT term, positions FROM postings WHERE passage_id = ?", passage_id)
            counts.update((entry.document.trust.value, term) for term in terms)
            if dict(held) != terms:
                raise Damage(WORDS)
    kept = store._rows("SELECT trust, term, passages FROM terms")
    ((postings,),) = store._rows("SELECT count(*) FROM postings")
    if counts != {(trust, term): passages for trust, term, passages in kept} or postings != counts.total():
        raise Damage(WORDS)
    size = "SELECT count(*), coalesce(sum(length), 0) FROM passages WHERE passage_id BETWEEN ? AND ?"
    for trust in Trust:
        kept = store._rows("SELECT passages, tokens FROM partitions WHERE trust = ?", trust.value)
        if store._rows(size, *bounds(trust)) != kept:
            raise Damage("counts that are not those of the passages")
