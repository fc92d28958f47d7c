"""An indexing process that stops at points of the test's choosing, to be killed or looked at there.

`python -m held FOLDER STORE POINT...` indexes; at a point it prints the point and waits for a line. It also says
`wrote N` after every file. A point is a name and which time it is passed, as in `vectors:3`. Names, in the order
a file passes them:

file       its turn comes; nothing of it is written
begin      before its transaction
documents  inside the transaction, before its first row of that table; also `passages`, `words`, `vectors`
commit     before the transaction is committed
written    after it was
embedded   inside the transaction that gives documents their vectors, once all files are written
"""

import os
import select
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

from equipoise.corpus.indexing import index
from equipoise.corpus.sqlite import SqliteStore
from hashed_words import HashedWords
from processes import ENVIRONMENT

WAITS = 100
"""Seconds after which something that should have come is taken for lost."""

STATEMENTS = {
    "BEGIN IMMEDIATE": "begin",
    "INSERT INTO documents": "documents",
    "INSERT INTO passages": "passages",
    "INSERT INTO words_trusted(rowid": "words",
    "INSERT INTO vectors": "vectors",
    "UPDATE vectors": "embedded",
    "COMMIT": "commit",
}


class Points:
    """Counts the points a run passes, and stops at the wanted ones."""

    def __init__(self, wanted):
        self.wanted = set(wanted)
        self.passed = Counter()

    def at(self, name):
        self.passed[name] += 1
        point = f"{name}:{self.passed[name]}"
        if point in self.wanted:
            print(point, flush=True)
            if not sys.stdin.readline():
                os._exit(1)

    def statement(self, text):
        for begins, name in STATEMENTS.items():
            if text.startswith(begins):
                self.at(name)


class Watched(SqliteStore):
    """A store that tells its points; its transactions count from the first file's turn on."""

    def tell(self, points):
        self._connection.set_trace_callback(points.statement)
        self.points = points

    def replace_file(self, record, entries):
        super().replace_file(record, entries)
        print("wrote", self.points.passed["written"] + 1, flush=True)
        self.points.at("written")


def main(folder, path, *wanted):
    points = Points(wanted)
    with Watched.open(Path(path), create=True) as store:

        def progress(step):
            if step.file == 1 and not step.passages:
                store.tell(points)
            if not step.passages:
                points.at("file")

        report = index(folder, store, HashedWords(), progress=progress)
    print("done", report.added, report.changed, len(report.failed), flush=True)


class Held:
    """Such a process, seen from the test."""

    def __init__(self, folder, path, *points):
        self.wrote = 0
        command = [sys.executable, "-m", "held", *map(str, (folder, path, *points))]
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def next(self):
        """The point it waits at next, or how it ended; `wrote` counts the files written till then."""
        while self._is_about_files(line := self.process.stdout.readline()):
            continue
        return line.strip()

    def _is_about_files(self, line):
        word, _, number = line.partition(" ")
        if word == "wrote":
            self.wrote = int(number)
        return word == "wrote"

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self):
        """Kill it where it is; returns once it and its workers are gone, with the number of these."""
        self.process.send_signal(signal.SIGSTOP)
        with watched(children(self.process.pid)) as workers:
            self.process.kill()
            output, _ = self.process.communicate()
            for line in output.splitlines():
                self._is_about_files(line)
            wait_for_end(workers)
            return len(workers)

    def end(self):
        """Wait until it has indexed everything; what it says in the end."""
        output, _ = self.process.communicate("\n" * 1000, timeout=WAITS)
        return (output.splitlines() or ["nothing"])[-1]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()


def children(pid):
    """The processes that `pid` has started; Linux only, elsewhere none."""
    pids = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text("utf-8", "replace").rpartition(")")[2].split()[1]) == pid:
                pids.append(int(stat.parent.name))
    return pids


@contextmanager
def watched(pids):
    """Handles of processes that stay valid when these end and their numbers are given to others."""
    handles = []
    for pid in pids:
        with suppress(ProcessLookupError):
            handles.append(os.pidfd_open(pid))
    try:
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def wait_for_end(handles):
    """Returns once all the processes have ended."""
    for handle in handles:
        assert select.select([handle], [], [], WAITS)[0], "a worker outlived its parent"


if __name__ == "__main__":
    main(*sys.argv[1:])
