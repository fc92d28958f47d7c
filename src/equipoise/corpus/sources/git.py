"""A Git repository as a file system of one folder: the newest commit of a branch, held by a process of its own."""

import io
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import IO, Any

from equipoise.corpus import frames
from equipoise.corpus.limits import LARGEST_FILE
from equipoise.corpus.workers import killed_after, pipe, spawned

MODULE = "equipoise.corpus.sources.git_worker"
FETCHED_WITHIN_S = 300.0
READ_WITHIN_S = 60.0


class Repository:
    """A repository with the methods of a file system that `RemoteFiles` needs."""

    def __init__(self, process: "subprocess.Popen[bytes]", asked: Mapping[str, Any]) -> None:
        """Fetches what is asked. Raises OSError."""
        self._process, self._lock = process, Lock()
        self._to, self._from = pipe(process.stdin), pipe(process.stdout)
        header, _ = self._told({**asked}, FETCHED_WITHIN_S)
        self._files = {str(path): str(sha) for path, sha in header["files"]}

    def ls(self, _folder: str, *, detail: bool = True) -> list[dict[str, Any]]:
        """All files, of all folders."""
        return [{"name": path, "type": "file", "e_tag": sha} for path, sha in self._files.items()]

    def open(self, name: str, _mode: str = "rb") -> IO[bytes]:
        """A file's content. Raises OSError."""
        return io.BytesIO(self._told({"sha": self._files[name]}, READ_WITHIN_S)[1])

    def _told(self, asked: dict[str, Any], within: float) -> tuple[dict[str, Any], bytes]:
        try:
            with self._lock, killed_after(within, self._process.kill):
                frames.send(self._to, asked)
                header, length = frames.receive_header(self._from, most=LARGEST_FILE)
                data = frames.exactly(self._from, min(length, LARGEST_FILE + 1))
        except (OSError, frames.BrokenFrame) as error:
            raise OSError(
                "the process that reads the repository ended: it is too large, or broken"
            ) from error
        if "failed" in header:
            raise OSError(str(header["failed"]))
        return header, data


@contextmanager
def started() -> "Iterator[subprocess.Popen[bytes]]":
    """A process for one repository; at the end it is gone."""
    process = spawned(MODULE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
