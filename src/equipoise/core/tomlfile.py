"""A settings file: regular files of a bounded size only, read once, every fault a SettingsError."""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from equipoise.core import atomic
from equipoise.core.errors import SettingsError

MAX_BYTES = 65_536
MAX_DOTS = 200
"""Dots in one line: tomllib keeps every prefix of a dotted key, 3.6 GB for one of 30,000 parts."""
_FIX = "fix the file or move it away"
SOURCES = "sources"
"""The section that may be an array of tables, `[[sources]]`, which becomes its key `listed`."""


def read(path: Path) -> bytes | None:
    """The bytes of `path`; None where there is no such file. A pipe or device is refused, never waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise SettingsError(f"{path} is a link to nothing; fix the link or remove it") from None
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(f"{path} cannot be read: {reason}; {_FIX}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise SettingsError(f"{path} is not a regular file; move it away")
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise SettingsError(f"{path} cannot be read: {error.strerror}; {_FIX}") from None
    if len(data) > MAX_BYTES:
        raise SettingsError(f"{path} has more than {MAX_BYTES:,} bytes, too many for settings; {_FIX}")
    return data


def parsed(data: bytes, path: Path) -> dict[str, Any]:
    """The settings in `data` by key, as `section.name`. Values are as TOML has them, keys are not checked."""
    if any(line.count(b".") > MAX_DOTS for line in data.splitlines()):
        raise SettingsError(f"{path} has a line with more than {MAX_DOTS} dots; {_FIX}")
    try:
        tree = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8; {_FIX}") from None
    except (ValueError, RecursionError) as error:  # numbers of 5,000 digits are a ValueError of int
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise SettingsError(f"{path}: {reason}; {_FIX}") from None
    for section, values in tree.items():
        if section == SOURCES and isinstance(values, list):
            tree[section] = {"listed": values}
        elif not isinstance(values, dict):
            raise SettingsError(f"{path}: {short(section)} stands outside a section such as [retrieval]")
    return {f"{section}.{name}": value for section, values in tree.items() for name, value in values.items()}


def with_value(data: bytes, section: str, name: str, value: str, path: Path) -> bytes:
    """`data` with one setting added or replaced; the rest stays as it is, comments too.

    Raises SettingsError for a file that is written in a way this cannot follow, and says what to write there.
    """
    before = parsed(data, path)
    line = f"{name} = {json.dumps(value)}"
    lines = data.decode("utf-8").splitlines()
    first = next((row for row, text in enumerate(lines) if _is_header(text, section)), None)
    if first is None:
        lines += ([""] if lines and lines[-1].strip() else []) + [f"[{section}]", line]
    else:
        inside = range(first + 1, _end(lines, first))
        known = [row for row in inside if lines[row].partition("=")[0].strip() == name]
        lines[known[0] if known else first + 1 : known[0] + 1 if known else first + 1] = [line]
    changed = ("\n".join(lines) + "\n").encode()
    try:
        fine = parsed(changed, path) == before | {f"{section}.{name}": value}
    except SettingsError:
        fine = False
    if not fine:
        raise SettingsError(
            f"{path} is written in a way that cannot be changed here: write {line} under [{section}]"
        )
    return changed


def write(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whole or not at all. Raises SettingsError."""
    try:
        atomic.write(path, data)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}; {_FIX}") from None


def _is_header(line: str, section: str) -> bool:
    return "".join(line.partition("#")[0].split()) == f"[{section}]"


def _end(lines: list[str], first: int) -> int:
    """The row after the section that begins at `first`."""
    return next(
        (row for row in range(first + 1, len(lines)) if lines[row].lstrip().startswith("[")), len(lines)
    )


def short(name: str, most: int = 60) -> str:
    """An outside name as messages show it: quoted, control characters escaped, cut to `most` characters."""
    return repr(name if len(name) <= most else f"{name[:most]}…")
