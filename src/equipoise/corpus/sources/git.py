"""A Git repository as a file system of one folder: the newest commit of a branch, held by a process of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, Timer
from typing import IO, Any

from equipoise.corpus import frames
from equipoise.corpus.limits import LARGEST_FILE
from equipoise.corpus.workers import environment

MODULE = "equipoise.corpus.sources.git_worker"
FETCHED_WITHIN_S = 300.0
READ_WITHIN_S = 60.0


class Repository:
    """What `RemoteFiles` needs of a file system."""

    def __init__(self, process: "subprocess.Popen[bytes]", asked: Mapping[str, Any]) -> None:
        """Fetches what is asked. Raises OSError."""
        if process.stdin is None or process.stdout is None:
            raise OSError("a worker process has no pipes")
        self._process, self._lock = process, Lock()
        self._to, self._from = process.stdin, process.stdout
        header, _ = self._told({**asked}, FETCHED_WITHIN_S)
        self._files = {str(path): str(sha) for path, sha in header["files"]}

    def ls(self, _folder: str, *, detail: bool = True) -> list[dict[str, Any]]:
        """All files, of all folders."""
        return [{"name": path, "type": "file", "e_tag": sha} for path, sha in self._files.items()]

    def open(self, name: str, _mode: str = "rb") -> IO[bytes]:
        """A file's content. Raises OSError."""
        return io.BytesIO(self._told({"sha": self._files[name]}, READ_WITHIN_S)[1])

    def _told(self, asked: dict[str, Any], within: float) -> tuple[dict[str, Any], bytes]:
        timer = Timer(within, self._process.kill)
        timer.daemon = True
        with self._lock:
            timer.start()
            try:
                frames.send(self._to, asked)
                header, length = frames.receive_header(self._from, most=LARGEST_FILE)
                data = frames.exactly(self._from, min(length, LARGEST_FILE + 1))
            except (OSError, frames.BrokenFrame) as error:
                raise OSError(
                    "the process that reads the repository ended: it is too large, or broken"
                ) from error
            finally:
                timer.cancel()
        if "failed" in header:
            raise OSError(str(header["failed"]))
        return header, data


@contextmanager
def started() -> "Iterator[subprocess.Popen[bytes]]":
    """A process for one repository; at the end it is gone."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", MODULE],  # -P: no module of the user's folder is imported
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(os.environ),
        cwd=os.sep,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
