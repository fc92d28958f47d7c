"""Lines of JSON that people write: read strictly, and refused with file and line."""

import gzip
import json
import lzma
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from equipoise.core.errors import InputError


def lines(path: Path) -> Iterator[tuple[str, str]]:
    """(text, "file:line") of each line that is not empty; `path` may be packed (.gz, .xz).

    Raises InputError where it cannot be read.
    """
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        elif path.suffix == ".xz":
            content = lzma.decompress(content)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read ({reason}): check the path") from None
    for number, line in enumerate(content.split(b"\n"), 1):
        where = f"{path}:{number}"
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            raise InputError(f"{where}: not UTF-8: save the file in that encoding") from None
        if text.strip():
            yield text, where


def json_object(text: str, where: str) -> dict[str, Any]:
    """The JSON object in a line; raises InputError for anything else."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error}): fix or remove the line") from None
    if not isinstance(row, dict):
        raise InputError(f"{where}: a JSON object is wanted, not {type(row).__name__}")
    return row


def text_of(row: Mapping[str, Any], name: str, where: str, *, needed: bool = True) -> str:
    """The text `row[name]`; raises InputError where it is missing, empty or no text (or "" if not `needed`)."""
    value = row.get(name, "" if not needed else None)
    if value is None and not needed:
        return ""
    if not isinstance(value, str) or (needed and not value.strip()):
        problem = "is missing" if value is None else f"is {value!r}"
        raise InputError(f"{where}: {name!r} {problem}: a text that is not empty is wanted")
    return value
