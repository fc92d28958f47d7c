"""`equipoise watch`: a real process over real files."""

import os
import signal
import subprocess
import sys
import threading
from queue import Queue

import pytest

WAIT = 120


@pytest.fixture
def watching(tmp_path):
    """A process that watches `docs`, and a function that gives its next line."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.txt").write_text("Tea is hot.", "utf-8")
    call = "import sys; from equipoise.apps.cli import main; sys.argv[0] = 'equipoise'; main()"
    home = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CACHE", "CONFIG", "STATE")}
    process = subprocess.Popen(
        [sys.executable, "-c", call, "watch", "docs", "--store", "docs/i.db"],
        cwd=tmp_path,
        env=os.environ | home | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = Queue()
    threading.Thread(target=lambda: [lines.put(line) for line in process.stdout], daemon=True).start()
    yield tmp_path / "docs", process, lambda: lines.get(timeout=WAIT)
    process.kill()
    process.wait()


def test_a_change_is_indexed_and_an_interrupt_ends_it_well(watching):
    docs, process, line = watching
    assert line() == "Watching docs; Ctrl-C ends it.\n"
    assert "1 document, 1 passage (files: 1 added)" in line()
    (docs / "milk.txt").write_text("Milk is white.", "utf-8")
    assert "2 documents, 2 passages (files: 1 added)" in line()
    (docs / "tea.txt").write_text("Tea is cold now.", "utf-8")
    assert "1 changed" in line()
    (docs / "milk.txt").unlink()
    assert "1 document, 1 passage (files: 1 removed)" in line()
    (docs / "tea.txt").unlink()
    assert "not indexed: " in line()  # a folder that lost all its files at once stays as it was
    (docs / "tea.txt").write_text("Tea is cold now.", "utf-8")
    (docs / "rice.txt").write_text("Rice is white.", "utf-8")
    assert "1 added" in line()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=WAIT) == 0


def test_a_path_that_is_not_there_is_named(run):
    code, _, err = run("watch", "nowhere")
    assert (code, "nowhere: no such file or folder" in err) == (2, True)
