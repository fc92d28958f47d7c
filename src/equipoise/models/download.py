"""One plain download over HTTP, appended to a partial file so that it can resume.

The length of the partial file is the whole record of progress. Nothing here is trusted: `weights.pull` checks the
size and the sha256 of the result.
"""

import os
import re
import stat
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO
from urllib.request import Request, urlopen

from equipoise.core.errors import WeightsError
from equipoise.models.control import one_line

CHUNK = 1 << 20
TIMEOUT = 10.0  # seconds without a connection or without a byte until a URL counts as unreachable

Advance = Callable[[int], None]


def download(url: str, partial: Path, size: int, advance: Advance) -> None:
    """Append to `partial` until it has the `size` bytes at `url`, calling `advance(bytes so far)` now and then.

    A server that ignores Range is read from the start. Raises WeightsError with the reason when that fails; what was
    fetched stays.
    """
    done = partial.stat().st_size if partial.exists() else 0
    if done == size:
        return
    request = Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        with urlopen(request, timeout=TIMEOUT) as reply:
            start = _start_of(reply, size)
            if start not in {0, done}:
                raise WeightsError(f"it sent bytes from {start} on where {done} was asked")
            with opened(partial) as out:
                out.truncate(start)
                out.seek(start)
                _copy(reply, out, start, size, advance)
    except (OSError, HTTPException, ValueError) as error:  # ValueError: a length that is no number
        raise WeightsError(one_line(str(error)) or type(error).__name__) from error


def refuse_unless_plain(path: Path) -> None:
    """Raises WeightsError where `path` is there and is no file of its own: a link, a folder, a pipe.

    Whoever may put names into a folder must not have us write into what they stand for.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not _is_plain(status):
        raise WeightsError(f"{path} is a link or no plain file: delete it")


def opened(partial: Path) -> IO[bytes]:
    """`partial`, made if it is not there, open for reading and writing. Raises what `refuse_unless_plain` does."""
    refuse_unless_plain(partial)
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # not every system has all of them
        flags |= getattr(os, name, 0)
    file = os.fdopen(os.open(partial, flags, 0o666), "r+b")
    if not _is_plain(os.fstat(file.fileno())):
        file.close()
        raise WeightsError(f"{partial} is a link or no plain file: delete it")
    return file


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 1


def _start_of(reply: HTTPResponse, size: int) -> int:
    """The offset at which the body of `reply` starts; WeightsError when the whole has not `size` bytes."""
    if reply.status == 206:
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", reply.headers.get("Content-Range", ""))
        start, total = (int(match[1]), int(match[2])) if match else (-1, size)
    else:
        start, total = 0, int(reply.headers.get("Content-Length") or size)
    if total != size:
        raise WeightsError(f"it holds a file of {total:,} bytes, expected {size:,}")
    return start


def _copy(reply: HTTPResponse, out: IO[bytes], done: int, size: int, advance: Advance) -> None:
    """Copy bytes `done` to `size`; WeightsError when `reply` ends before that."""
    while done < size:
        chunk = reply.read(min(CHUNK, size - done))
        if not chunk:
            raise WeightsError(f"it ended {size - done:,} bytes too early")
        out.write(chunk)
        done += len(chunk)
        advance(done)
