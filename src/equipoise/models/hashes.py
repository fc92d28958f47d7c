"""The sha256 of large files, taken once and remembered as long as the file does not change."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

import platformdirs


def sha256_of(path: Path, expected: str, *, again: bool = False) -> str:
    """The sha256 of a file. It is not taken again if it was `expected` before and the file has not changed since,
    unless `again` is set. Raises OSError."""
    before = _stamp(path, expected)
    if not again and _is_remembered(path, before):
        return expected
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest == expected:
        _write(path, before)  # a file that changed meanwhile has another stamp
    return digest


def remember(path: Path, sha256: str) -> None:
    """Record that the file has this sha256."""
    _write(path, _stamp(path, sha256))


def records() -> Path:
    """`equipoise/verified` in the user's cache folder, where nobody else writes.

    A record beside the file would come with the folder, from whoever made it.
    """
    return Path(platformdirs.user_cache_dir("equipoise", appauthor=False)) / "verified"


def record_of(path: Path) -> Path:
    """Where what is known of a file is recorded."""
    return records() / f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()}.json"


def _stamp(path: Path, sha256: str) -> dict[str, int | str]:
    """What identifies the bytes of a file, as far as a file system tells: nobody can set its change time."""
    real = path.resolve()
    status = real.stat()
    return {
        "path": str(real),
        "sha256": sha256,
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "ctime_ns": status.st_ctime_ns,
        "inode": status.st_ino,
        "device": status.st_dev,
    }


def _write(path: Path, stamp: dict[str, int | str]) -> None:
    with suppress(OSError):  # then the file is hashed again the next time
        records().mkdir(parents=True, exist_ok=True)
        record_of(path).write_text(json.dumps(stamp), "utf-8")


def _is_remembered(path: Path, stamp: dict[str, int | str]) -> bool:
    try:
        return bool(json.loads(record_of(path).read_text("utf-8")) == stamp)
    except (OSError, ValueError, RecursionError):
        return False
