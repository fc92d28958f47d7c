"""The store under real processes: killed, read while written, and in a folder that cannot be written.

No test here races another process: each is held at a chosen point (`held`), or answers when it is asked.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from equipoise.core.types import Trust
from equipoise.corpus.embedding import AT_A_TIME
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from held import WAITS, Held
from processes import ENVIRONMENT
from verified import verified

FILES = 12
PASSAGES = 6  # of each file

READER = """
import sys
from pathlib import Path
from equipoise.core.errors import CorpusError
from equipoise.core.types import Trust
from equipoise.corpus.store import Store

def look(store):
    with store.snapshot():
        ids, matrix = store.partition(Trust.TRUSTED).matrix()
        counts = store.counts()
        assert len(ids) == len(matrix) == counts.passages - counts.pending, (len(ids), counts)
        assert len(store.doc_ids()) == counts.files == counts.documents
        found = sorted(i for i, _ in store.partition(Trust.TRUSTED).bm25("shared", 1000))
        assert len(found) == counts.passages and set(ids.tolist()) <= set(found)
        for passage in store.passages(found):
            assert passage.text == store.document(passage.doc_id).text[passage.start : passage.end]
        new = sum("new" in d.text for d in store.documents(store.doc_ids()).values())
    return counts.files, new

with Store.open(Path(sys.argv[1]), read_only=True) as store:
    while order := sys.stdin.readline().strip():
        if order == "look":
            print(*look(store), flush=True)
        else:
            with store.snapshot():
                print(*look(store), flush=True)
                ids = store.partition(Trust.TRUSTED).matrix()[0].tolist()
                sys.stdin.readline()
                print(*look(store), flush=True)
                assert store.partition(Trust.TRUSTED).matrix()[0].tolist() == ids
                assert len(store.passages(ids)) == len(ids)
            try:
                store.passages(ids)
                print("the same passages", flush=True)
            except CorpusError:
                print("other passages", flush=True)
"""


def start(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def asked(process, order):
    """The line that the process answers to `order`."""
    process.stdin.write(f"{order}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def write(folder, word):
    for number in range(FILES):
        lines = (
            f"Line {line} of {word} file {number} is a shared sentence of some length." for line in range(80)
        )
        (folder / f"f{number:02}.txt").write_text("\n".join(lines))


@pytest.fixture
def folder(tmp_path):
    """Twelve files of six passages each."""
    made = tmp_path / "files"
    made.mkdir()
    write(made, "old")
    return made


def test_a_killed_writer_loses_at_most_the_file_in_work(folder, tmp_path):
    path = tmp_path / "store.db"
    kept = 0
    for point, written in (
        ("file:1", 0),
        ("begin:2", 1),
        ("documents:2", 1),
        ("words:7", 1),
        ("vectors:1", 0),
        ("commit:3", 2),
        ("written:2", 2),
        ("vectors:2", 1),
    ):
        with Held(folder, path, point) as writer:
            assert writer.next() == point
            workers = writer.kill()  # all of them are gone with it
            assert workers or point == "file:1"  # where none may have been started yet
        kept += written
        with Store.open(path) as store:
            verified(store)
            counts = store.counts()
            assert counts.files == counts.documents == kept
            assert counts.pending == counts.passages == kept * PASSAGES
            assert len(store.partition(Trust.TRUSTED).bm25("shared", 1000)) == counts.passages
            assert len(store.partition(Trust.TRUSTED).matrix()[0]) == 0
    assert 0 < kept < FILES
    encoder = HashedWords()
    with Store.open(path) as store:
        report = index(folder, store, encoder)
        assert (report.unchanged, report.added) == (kept, FILES - kept)
        assert encoder.encoded == FILES * PASSAGES
        assert len(store.partition(Trust.TRUSTED).matrix()[0]) == store.counts().passages == FILES * PASSAGES
        killed = store.digest()
    with Store.open(tmp_path / "whole.db", create=True) as whole:
        index(folder, whole, HashedWords())
        assert whole.digest() == killed


def test_a_run_that_is_killed_among_its_vectors_goes_on_there(tmp_path, folder):
    path = tmp_path / "store.db"
    long = "\n".join(f"Line {line} is a shared sentence of some length." for line in range(9_000))
    (folder / "a_long_one.txt").write_text(long)  # fills the first transaction of vectors by itself
    with Held(folder, path, "embedded:2") as writer:
        assert writer.next() == "embedded:2"
        writer.kill()
    with Store.open(path) as store:
        verified(store)
        counts = store.counts()
        assert (counts.files, counts.pending) == (FILES + 1, FILES * PASSAGES)
        assert len(store.partition(Trust.TRUSTED).matrix()[0]) == counts.passages - counts.pending > AT_A_TIME
        encoder = HashedWords()
        assert index(folder, store, encoder).unchanged == FILES + 1
        assert encoder.encoded == counts.pending
        killed = store.digest()
    with Store.open(tmp_path / "whole.db", create=True) as whole:
        index(folder, whole, HashedWords())
        assert whole.digest() == killed


def test_readers_see_whole_files_while_one_writes(folder, tmp_path):
    path = tmp_path / "store.db"
    with Store.open(path, create=True) as store:
        index(folder / "f00.txt", store, HashedWords())
    readers = [start(READER, path) for _ in range(2)]
    points = {"vectors:1": 1, "written:1": 2, "commit:3": 3, "written:3": 4, "written:11": 12}
    with Held(folder, path, *points) as writer:
        for point, files in points.items():
            assert writer.next() == point
            assert [asked(reader, "look") for reader in readers] == [f"{files} 0"] * 2
            writer.go_on()
        assert writer.end() == "done 11 0 0"
    for reader in readers:
        output, errors = reader.communicate(timeout=WAITS)
        assert (output, errors) == ("", "")


def test_a_snapshot_is_one_moment_while_its_files_are_replaced(folder, tmp_path):
    path = tmp_path / "store.db"
    with Store.open(path, create=True) as store:
        index(folder, store, HashedWords())
    write(folder, "new")
    inside, beside = start(READER, path), start(READER, path)
    with Held(folder, path, "vectors:2", "written:3") as writer:
        assert writer.next() == "vectors:2"
        assert asked(inside, "inside") == "12 1"
        writer.go_on()
        assert writer.next() == "written:3"
        assert asked(beside, "look") == "12 3"
        assert asked(inside, "on") == "12 1"
        assert inside.stdout.readline().strip() == "other passages"
        assert asked(inside, "look") == "12 3"
        writer.go_on()
        assert writer.end() == "done 0 12 0"
    for reader in (inside, beside):
        assert reader.communicate(timeout=WAITS) == ("", "")


READ_ONLY = """
import os, sys
from pathlib import Path
from equipoise.core.errors import StoreError
from equipoise.core.types import Trust
from equipoise.corpus.store import Store
path = Path(sys.argv[1])
if os.geteuid() == 0:  # root may write anywhere: become somebody else
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with Store.open(path, read_only=True) as store:
    print(len(store.partition(Trust.TRUSTED).matrix()[0]))
try:
    with Store.open(path) as store:
        store.drop_file("f00.txt")
except StoreError as error:
    print(error)
"""


def test_a_store_in_a_read_only_folder_is_read_and_not_written(folder):
    with TemporaryDirectory() as made:
        place = Path(made)
        with Store.open(place / "store.db", create=True) as store:
            index(folder / "f00.txt", store, HashedWords())
        (place / "store.db").chmod(0o444)
        place.chmod(0o555)
        output, errors = start(READ_ONLY, place / "store.db").communicate(timeout=30)
        place.chmod(0o755)
    assert errors == ""
    passages, message = output.splitlines()
    assert int(passages) == PASSAGES
    assert "check the permissions of the file and its folder" in message
