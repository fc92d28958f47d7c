"""deploy/drill.py: what is kept while it is written, that the copy answers, and what is said where it does not."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from equipoise.apps.server.book import Book, folder_of
from equipoise.apps.server.keys import Keys
from processes import ENVIRONMENT, ROOT
from serving import WAL

PROGRAM = Path(sys.executable).with_name("equipoise")
PLAIN = {
    "EQUIPOISE_MODEL_LLM": "none",
    "EQUIPOISE_HIGHLIGHT_NAME": "sentence",
    "EQUIPOISE_RETRIEVAL_RERANK": "false",
}
QUESTION = "Does write-ahead logging work over a network filesystem?"


def drilled(index, target):
    command = [sys.executable, ROOT / "deploy" / "drill.py", index, target, "--question", QUESTION]
    return subprocess.run(
        [*command, "--program", PROGRAM], env=ENVIRONMENT | PLAIN, capture_output=True, text=True, check=False
    )


@pytest.fixture
def kept(tmp_path):
    """An index with an upload, and a book that is open, whose newest key is in no file but its `-wal`."""
    (tmp_path / "wal.txt").write_text(WAL)
    index = tmp_path / "here" / "index.db"
    environment = ENVIRONMENT | PLAIN | {"EQUIPOISE_STORE_PATH": str(index)}
    subprocess.run([PROGRAM, "index", tmp_path / "wal.txt"], env=environment, check=True, capture_output=True)
    folder = folder_of(index)
    (folder / "uploads" / "a").mkdir(parents=True)
    (folder / "uploads" / "a" / "notes.txt").write_text("handed in")
    book = Book(folder)
    yield index, Keys(book).create("mine")[1]
    book.close()


def test_a_copy_has_all_and_answers_while_others_write(kept, tmp_path):
    index, secret = kept
    target = tmp_path / "backup"
    done = drilled(index, target)
    assert done.returncode == 0, done.stderr
    assert "answers: Write-ahead logging does not work over a network filesystem" in done.stdout
    assert (target / "index.server" / "uploads" / "a" / "notes.txt").read_text() == "handed in"
    assert not [path for path in target.rglob("*") if path.stat().st_mode & 0o077]
    book = Book(folder_of(target / index.name))
    try:
        assert [key.name for key in Keys(book).all()] == ["mine"]
        assert Keys(book).find(secret).name == "mine"
    finally:
        book.close()
    again = drilled(index, target)
    assert again.returncode == 1 and again.stderr == f"no proof: {target} is not empty\n"


def test_what_a_version_cannot_read_is_said_before_anything_is_stopped(kept, tmp_path):
    index, _ = kept
    with closing(sqlite3.connect(index)) as store:
        store.execute("PRAGMA user_version = 1")
    done = drilled(index, tmp_path / "backup")
    assert done.returncode == 1 and done.stderr.startswith(f"no proof: {PROGRAM} status: ")
    assert "Traceback" not in done.stderr and (tmp_path / "backup" / "index.db").exists()
