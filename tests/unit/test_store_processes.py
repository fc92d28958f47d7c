"""The store under real processes: killed, read while written, and in a folder that cannot be written."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
from hashed_words import HashedWords
from processes import ENVIRONMENT

WRITER = """
import sys
from pathlib import Path
from hashed_words import HashedWords
from equipoise.corpus.indexing import index
from equipoise.corpus.store import Store
with Store.open(Path(sys.argv[2]), create=True) as store:
    index(sys.argv[1], store, HashedWords(), progress=lambda step: print(step.file, flush=True))
"""

READER = """
import sys, time
from pathlib import Path
from equipoise.corpus.store import Store
with Store.open(Path(sys.argv[1]), read_only=True) as store:
    seen = set()
    while len(seen) < 3 or store.counts().files < int(sys.argv[2]):
        with store.snapshot():
            ids, matrix = store.matrix()
            counts = store.counts()
            assert len(ids) == len(matrix) == counts.passages, (len(ids), counts)
            assert len(store.doc_ids()) == counts.files == counts.documents
            for passage in store.passages(ids[-3:].tolist()):
                assert passage.text == store.document(passage.doc_id).text[passage.start : passage.end]
            assert len(store.bm25("shared", 1000)) == counts.passages
        seen.add(counts.files)
print(len(seen))
"""


def start(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def folder(tmp_path):
    """Sixty files of about five passages each."""
    made = tmp_path / "files"
    made.mkdir()
    for number in range(60):
        lines = (f"Line {line} of file {number} is a shared sentence of some length." for line in range(80))
        (made / f"f{number:02}.txt").write_text("\n".join(lines))
    return made


def test_a_killed_writer_loses_at_most_the_file_in_work(folder, tmp_path):
    path = tmp_path / "store.db"
    chance = random.Random(7)
    kept = 0
    for _ in range(5):
        writer = start(WRITER, folder, path)
        begun = 0
        until = kept + chance.randint(3, 10)
        while begun < until:
            begun = int(writer.stdout.readline())
        time.sleep(chance.random() * 0.02)
        writer.send_signal(signal.SIGKILL)
        begun = int((writer.stdout.read().split() or [begun])[-1])
        writer.communicate()
        with Store.open(path) as store:
            store.verify()
            counts = store.counts()
            assert counts.files == counts.documents == len(store.matrix()[0]) / 5
            assert counts.files in (begun - 1, begun)
            assert counts.files >= kept
            kept = counts.files
    encoder = HashedWords()
    with Store.open(path) as store:
        report = index(folder, store, encoder)
        assert (report.unchanged, report.added) == (kept, 60 - kept)
        assert encoder.encoded == report.passages - kept * 5
        killed = store.digest()
    with Store.open(tmp_path / "whole.db", create=True) as whole:
        index(folder, whole, HashedWords())
        assert whole.digest() == killed


def test_two_processes_read_while_one_writes(folder, tmp_path):
    path = tmp_path / "store.db"
    with Store.open(path, create=True) as store:
        index(folder / "f00.txt", store, HashedWords())
    readers = [start(READER, path, 60) for _ in range(2)]
    time.sleep(0.3)
    writer = start(WRITER, folder, path)
    assert writer.communicate(timeout=60)[1] == ""
    for reader in readers:
        output, errors = reader.communicate(timeout=60)
        assert errors == ""
        assert int(output) >= 3


READ_ONLY = """
import os, sys
from pathlib import Path
from equipoise.core.errors import StoreError
from equipoise.corpus.store import Store
path = Path(sys.argv[1])
if os.geteuid() == 0:  # root may write anywhere: become somebody else
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with Store.open(path, read_only=True) as store:
    print(len(store.matrix()[0]))
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
    assert passages == "5"
    assert "check the permissions of the file and its folder" in message
