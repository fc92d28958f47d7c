"""Uploaded files: which names they may have, and how their bytes come safely to the disk.

A file is the whole body of its request, not a part of a form: nothing parses it before it is on the disk, and one that
is too large is noticed at its first byte too many.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from equipoise.apps.server.errors import ApiError
from equipoise.corpus.loaders import DOCUMENTS, kind_of
from equipoise.corpus.loaders.beginnings import HEAD, misnamed

LONGEST_NAME = 200
"""Bytes of a name."""


def checked_name(name: str) -> str:
    """`name`, if a file may be called so. Raises ApiError 400, 415 for a type that is not read."""
    plain = name == Path(name).name and not {"/", "\\", ":"} & set(name) and name.isprintable()
    if not plain or name.startswith((".", "~")) or name != name.strip() or not _fits(name):
        said = f"A document's name is the name of a file, without folders, of at most {LONGEST_NAME} bytes."
        raise ApiError(400, said, param="name")
    if not kind_of(Path(name)):
        raise ApiError(
            415, f"Files of this type are not read; convert it to one of {' '.join(DOCUMENTS)}.", param="name"
        )
    return name


def check_beginning(name: str, head: bytes) -> None:
    """Raises ApiError where the first bytes of a file cannot be of the type that its name says."""
    if not head.strip():
        raise ApiError(400, "The document is empty.")
    if why := misnamed(Path(name).suffix.lower(), head):
        raise ApiError(415, f"{why[0].upper()}{why[1:]}.", param="name")


async def received(stream: AsyncIterator[bytes], path: Path, name: str) -> int:
    """Write the stream to `path`, synced to disk; returns how many bytes. Raises ApiError if they do not fit `name`."""
    head, size = b"", 0
    try:
        with path.open("xb") as file:
            async for chunk in stream:
                head += chunk[: HEAD - len(head)]
                size += len(chunk)
                file.write(chunk)
            check_beginning(name, head)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        await asyncio.to_thread(keep_folder, path.parent)
    except BaseException:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        raise
    return size


def keep_folder(folder: Path) -> None:
    """Sync `folder` to disk, so that the names in it survive a crash."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _fits(name: str) -> bool:
    try:
        return 0 < len(name.encode()) <= LONGEST_NAME
    except UnicodeEncodeError:
        return False
