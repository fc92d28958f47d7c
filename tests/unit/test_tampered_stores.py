"""Stores that are damaged, or were made by somebody else: one clear error, and nothing of theirs runs."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document, Query, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.record_types import FileRecord
from equipoise.corpus.store import Store
from equipoise.rag.retrieval import HybridRetriever
from hashed_words import HashedWords
from processes import ENVIRONMENT
from verified import verified

DOCUMENTS = (
    Document("cats", "Cats sleep most of the day. They hunt at night.", "cats.txt", "On cats", pages=(0, 28)),
    Document("dogs", "Dogs bark at strangers. A dog needs a walk. " * 60, "dogs.txt"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "s.db"
    with Store.open(path, create=True) as store:
        store.bind_encoder(HashedWords())
        record = FileRecord("a.txt", "00", 1, 1, Trust.TRUSTED, ".")
        store.replace_file(record, prepare(DOCUMENTS[:1], HashedWords()))
        store.add_documents(prepare(DOCUMENTS[1:], HashedWords()))
        verified(store)
    return path


@pytest.fixture
def tampered(whole, tmp_path):
    """Make a copy of the whole store and run statements on it, constraints off."""

    def make(*statements):
        path = tmp_path / "tampered.db"
        shutil.copy(whole, path)
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            raw.execute(statement)
        raw.close()
        return path

    return make


def without_not_null(table):
    """Take NOT NULL away from a table, and put it back: the schema looks untouched."""
    return (
        "PRAGMA writable_schema = ON",
        "CREATE TEMP TABLE kept AS SELECT sql FROM sqlite_master WHERE name = 'X'".replace("X", table),
        f"UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '         ') WHERE name = '{table}'",
        "PRAGMA writable_schema = RESET",
    )


def with_not_null(table):
    return (
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = (SELECT sql FROM kept) WHERE name = '{table}'",
        "PRAGMA writable_schema = RESET",
    )


def use(path):
    """Everything that reading a store for a question does."""
    with Store.open(path, read_only=True) as store, store.snapshot():
        store.check_encoder(HashedWords())
        ids = [int(i) for trust in Trust for i in store.partition(trust).matrix()[0]]
        store.files()
        store.unfiled()
        store.documents(store.doc_ids())
        store.passages(ids)
        for doc_id in store.doc_ids():
            store.passages_of(doc_id)
        for trust in Trust:
            store.partition(trust).bm25("cats and dogs", 5)


def blob(numbers, kind="<i4"):
    return f"x'{np.asarray(numbers, kind).tobytes().hex()}'"


CAT = "UPDATE documents SET {} WHERE doc_id = 'cats'"
VECTOR = "UPDATE vectors SET {} WHERE document = 1"
DAMAGE = {
    "a vector too short": VECTOR.format(f"data = {blob(np.ones(31), '<f4')}"),
    "a vector too long": VECTOR.format(f"data = {blob(np.ones(33), '<f4')}"),
    "odd bytes": VECTOR.format("data = x'000000'"),
    "vectors as text": VECTOR.format("data = 'text'"),
    "NaN": VECTOR.format(f"data = {blob(np.full(32, np.nan), '<f4')}"),
    "infinity": VECTOR.format(f"data = {blob(np.full(32, np.inf), '<f4')}"),
    "zeros": VECTOR.format(f"data = {blob(np.zeros(32), '<f4')}"),
    "not of length 1": VECTOR.format(f"data = {blob(np.ones(32), '<f4')}"),
    "a huge count": VECTOR.format("count = 1000000000000"),
    "the largest count": VECTOR.format("count = 9223372036854775807"),
    "a huge count and no vectors": VECTOR.format("count = 1000000000000, data = x''"),
    "no count and no vectors": VECTOR.format("count = 0, data = x''"),
    "a negative count": VECTOR.format("count = -1"),
    "a count of text": VECTOR.format("count = 'many'"),
    "vectors of other passages": VECTOR.format("first = 1000"),
    "a first beyond int64": VECTOR.format("first = 9223372036854775807"),
    "a first of text": VECTOR.format("first = 'one'"),
    "no vectors": "DELETE FROM vectors WHERE document = 1",
    "dimensions that are no number": "UPDATE meta SET value = 'many' WHERE key = 'dimensions'",
    "huge dimensions": "UPDATE meta SET value = '99999999999999999999' WHERE key = 'dimensions'",
    "negative dimensions": "UPDATE meta SET value = '-32' WHERE key = 'dimensions'",
    "other dimensions": "UPDATE meta SET value = '16' WHERE key = 'dimensions'",
    "no dimensions": "DELETE FROM meta",
    "meta that is a blob": "UPDATE meta SET value = x'3332' WHERE key = 'dimensions'",
    "odd sentences": CAT.format("sentences = x'0000'"),
    "a start without an end": CAT.format(f"sentences = {blob([0, 4, 5])}"),
    "sentences outside the text": CAT.format(f"sentences = {blob([0, 4000])}"),
    "a sentence before the text": CAT.format(f"sentences = {blob([-4, 4])}"),
    "unsorted sentences": CAT.format(f"sentences = {blob([28, 47, 0, 27])}"),
    "overlapping sentences": CAT.format(f"sentences = {blob([0, 27, 20, 47])}"),
    "sentences as text": CAT.format("sentences = 'text'"),
    "odd blocks": CAT.format("blocks = x'00'"),
    "a block cut off": CAT.format(f"blocks = {blob([1, 0, 4, 0, -1, 0])}"),
    "a block outside the text": CAT.format(f"blocks = {blob([1, 0, 4000, 0, -1, 0, -1])}"),
    "an empty block": CAT.format(f"blocks = {blob([1, 4, 4, 0, -1, 0, -1])}"),
    "overlapping blocks": CAT.format(f"blocks = {blob([1, 0, 9, 0, -1, 0, -1, 1, 8, 12, 0, -1, 0, -1])}"),
    "a block of no kind": CAT.format(f"blocks = {blob([6, 0, 4, 0, -1, 0, -1])}"),
    "a block of a negative kind": CAT.format(f"blocks = {blob([-1, 0, 4, 0, -1, 0, -1])}"),
    "a block too deep": CAT.format(f"blocks = {blob([1, 0, 4, 100, -1, 0, -1])}"),
    "a block that leads itself": CAT.format(f"blocks = {blob([1, 0, 4, 0, 0, 0, -1])}"),
    "a lead that is none": CAT.format(f"blocks = {blob([1, 0, 4, 0, -2, 0, -1])}"),
    "a line before the first": CAT.format(f"blocks = {blob([1, 0, 4, 0, -1, -1, -1])}"),
    "a block under itself": CAT.format(f"blocks = {blob([1, 0, 4, 0, -1, 0, 0])}"),
    "a heading under itself": CAT.format(f"blocks = {blob([0, 0, 4, 1, -1, 0, 0])}"),
    "a block under a paragraph": CAT.format(
        f"blocks = {blob([1, 0, 4, 0, -1, 0, -1, 1, 5, 9, 0, -1, 0, 0])}"
    ),
    "a heading under its equal": CAT.format(
        f"blocks = {blob([0, 0, 4, 1, -1, 0, -1, 0, 5, 9, 1, -1, 0, 0])}"
    ),
    "blocks as text": CAT.format("blocks = 'text'"),
    "odd pages": CAT.format("pages = x'00'"),
    "pages outside the text": CAT.format(f"pages = {blob([0, 4000])}"),
    "unsorted pages": CAT.format(f"pages = {blob([28, 0])}"),
    "an unknown trust": CAT.format("trust = 'blind'"),
    "an unknown trust of a file": "UPDATE files SET trust = 'blind'",
    "a trust that is a blob": CAT.format("trust = x'6f70656e'"),
    "text that is a blob": CAT.format("text = x'00ff'"),
    "text that is not UTF-8": CAT.format("text = CAST(x'ff' || substr(text, 2) AS TEXT)"),
    "text cut short": CAT.format("text = 'Cats.'"),
    "a title that is a blob": CAT.format("title = x'00'"),
    "a source that is a blob": CAT.format("source = x'00'"),
    "an id that is a blob": CAT.format("doc_id = x'00'"),
    "a file's size of text": "UPDATE files SET size = 'large'",
    "a path that is a blob": "UPDATE files SET path = x'00'",
    "a passage outside its text": "UPDATE passages SET end = 4000 WHERE passage_id = 1",
    "a passage before its text": "UPDATE passages SET start = -5 WHERE passage_id = 1",
    "an empty passage": "UPDATE passages SET end = start WHERE passage_id = 1",
    "a start of text": "UPDATE passages SET start = 'x' WHERE passage_id = 1",
    "a passage without its document": "UPDATE passages SET document = 77 WHERE passage_id = 1",
}
UNSEEN_BY_USE = {  # found by verify alone: no single answer shows them
    "passages that overlap": "UPDATE passages SET start = 0 WHERE passage_id = 3",
    "another text of the same length": CAT.format("text = replace(text, 'Cats', 'Dogs')"),
    "search without its words": "INSERT INTO words_trusted(words_trusted) VALUES ('delete-all')",
    "a trust that is not its partition's": CAT.format("trust = 'untrusted'"),
}


def refusal(action):
    with pytest.raises(StoreError) as caught:
        action()
    message = str(caught.value)
    assert "tampered.db" in message
    assert "\n" not in message
    return message


def verify(path):
    with Store.open(path, read_only=True) as store:
        verified(store)


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_one_clear_error(tampered, name):
    path = tampered(DAMAGE[name])
    for action in (use, verify):
        message = refusal(lambda action=action: action(path))
        assert message.endswith(": delete it and index your documents again") or "built with" in message, (
            message
        )


@pytest.mark.parametrize("name", UNSEEN_BY_USE)
def test_verify_finds_what_answers_do_not_show(tampered, name):
    path = tampered(UNSEEN_BY_USE[name])
    assert "is damaged" in refusal(lambda: verify(path))


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("documents", "text"),
        ("documents", "title"),
        ("documents", "trust"),
        ("documents", "sentences"),
        ("documents", "pages"),
        ("documents", "blocks"),
        ("documents", "doc_id"),
        ("passages", "start"),
        ("passages", "end"),
        ("vectors", "data"),
        ("vectors", "count"),
        ("vectors", "first"),
        ("files", "trust"),
        ("files", "size"),
        ("meta", "value"),
    ],
)
def test_a_missing_value_is_one_clear_error(tampered, table, column):
    empty = f"UPDATE {table} SET {column} = NULL"
    path = tampered(*without_not_null(table), empty, *with_not_null(table))
    for action in (use, verify):
        assert "is damaged" in refusal(lambda action=action: action(path))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON documents BEGIN UPDATE documents SET trust = 'trusted'; END",
        "CREATE VIEW v AS SELECT * FROM documents",
        "CREATE TABLE more (x)",
        "CREATE INDEX i ON documents(title)",
        "DROP TABLE vectors",
        "DROP TABLE words_untrusted",
        "DROP INDEX passages_of_document",
        "ALTER TABLE files ADD COLUMN more TEXT",
        "ALTER TABLE documents RENAME COLUMN title TO name",
    ],
)
def test_a_schema_that_is_not_ours_is_refused_before_anything_is_read(tampered, statement):
    path = tampered(statement)
    for how in ({}, {"read_only": True}, {"create": True}):
        message = refusal(lambda how=how: Store.open(path, **how).close())
        assert "is damaged (its" in message


@pytest.mark.parametrize(
    ("version", "advice"), [(1, "delete it and index your documents again"), (99, "update equipoise")]
)
def test_a_store_of_another_format_says_what_to_do(tampered, version, advice):
    path = tampered(f"PRAGMA user_version = {version}")
    message = refusal(lambda: Store.open(path, create=True).close())
    assert f"has format {version}, this equipoise reads 5: {advice}" in message


def test_vectors_that_were_emptied_are_made_again_before_anything_is_judged_by_them(tampered):
    path = tampered(VECTOR.format("data = x''"))
    with Store.open(path) as store:
        verified(store)
        assert (store.counts().pending, len(store.unembedded([1]))) == (1, 1)
        candidates = HybridRetriever(store.partition(Trust.TRUSTED), HashedWords()).retrieve(
            Query("cats"), k=5
        )
        assert np.allclose(np.linalg.norm(candidates.embeddings, axis=1), 1)


def test_passages_that_were_moved_while_they_wait_are_damage(tampered):
    path = tampered(VECTOR.format("data = x''"), DAMAGE["a passage outside its text"])
    with Store.open(path) as store:
        assert "is damaged" in refusal(lambda: store.unembedded([1]))


def test_a_view_in_the_place_of_a_table_is_refused(tampered):
    path = tampered("ALTER TABLE meta RENAME TO old", "CREATE VIEW meta AS SELECT * FROM old")
    assert "is damaged" in refusal(lambda: use(path))


def test_a_count_that_is_not_there_takes_no_memory(tampered):
    """A forged record header says that a vector has a gigabyte: nothing is reserved for it."""
    path = tampered(VECTOR.format("count = 8000000"))
    script = (
        "import resource, sys\nfrom pathlib import Path\nfrom equipoise.corpus.store import Store\n"
        "from equipoise.core.errors import StoreError\n"
        "from equipoise.core.types import Trust\n"
        "resource.setrlimit(resource.RLIMIT_AS, (900_000_000, 900_000_000))\n"
        "try:\n    Store.open(Path(sys.argv[1])).partition(Trust.TRUSTED).matrix()\n"
        "except StoreError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert "is damaged" in done.stdout
    assert done.stderr == ""


def test_every_page_may_be_damaged(whole, tmp_path):
    """Random bytes anywhere in what is used of the file: an error of ours, or nothing anybody could notice."""
    data, chance = whole.read_bytes(), np.random.default_rng(7)
    used = np.flatnonzero(np.frombuffer(data[:-64], np.uint8))
    path = tmp_path / "tampered.db"
    refused = 0
    for _ in range(150):
        broken = bytearray(data)
        at, length = int(chance.choice(used)), int(chance.integers(1, 64))
        broken[at : at + length] = chance.bytes(length)
        path.write_bytes(broken)
        for action in (use, verify):
            try:
                action(path)
            except CorpusError:  # StoreError, or a name that now leads nowhere
                refused += 1
    assert refused > 50
    path.write_bytes(data)
    use(path)
    verify(path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a\0b", "a zero character"),
        ("x" * 5_000, "File name too long"),
        ("pipe", "is not a regular file"),
        ("spin", "Too many levels of symbolic links"),
        ("/dev/zero", "is not a regular file"),
    ],
)
@pytest.mark.parametrize("how", [{}, {"create": True}, {"read_only": True}])
def test_a_path_that_is_no_store(tmp_path, monkeypatch, path, reason, how):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "spin").symlink_to("spin")
    with pytest.raises(StoreError, match=reason):
        Store.open(type(tmp_path)(path), **how)


FULL = """
import resource, sys
from pathlib import Path
from equipoise.core.errors import CorpusError, StoreError
from equipoise.core.types import Document
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.rag.retrieval import HybridRetriever
from hashed_words import HashedWords
with Store.open(Path(sys.argv[1]), create=True) as store:
    store.bind_encoder(HashedWords())
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    kept = 0
    try:
        while True:
            store.add_documents(prepare([Document(str(kept), f"Text {kept}. " * 400, "s")], HashedWords()))
            kept += 1
    except StoreError as error:
        print(kept, error)
"""


def test_a_disk_that_is_full_is_named_and_what_was_written_stays(tmp_path):
    path = tmp_path / "s.db"
    done = subprocess.run(
        [sys.executable, "-c", FULL, path], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    kept, _, message = done.stdout.partition(" ")
    assert "the disk of the store" in message
    assert (message.count("\n"), done.stderr) == (1, "")
    with Store.open(path) as store:
        verified(store)
        assert store.counts().documents == int(kept) > 0


def test_limits_are_those_of_this_process():
    """The tests above lower limits in processes of their own, never here."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
