"""A settings file: regular files of a bounded size only, read once, every fault a SettingsError."""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from equipoise.core.errors import SettingsError

MAX_BYTES = 65_536
MAX_DOTS = 200
"""In one line: tomllib keeps every beginning of a dotted key, 3.6 GB for one of 30,000 parts."""
_MEND = "mend the file or move it away"


def read(path: Path) -> bytes | None:
    """The bytes of `path`; None where there is no such file. A pipe or device is refused, never waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(f"{path} cannot be read: {reason}; {_MEND}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise SettingsError(f"{path} is not a regular file; move it away")
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise SettingsError(f"{path} cannot be read: {error.strerror}; {_MEND}") from None
    if len(data) > MAX_BYTES:
        raise SettingsError(f"{path} has more than {MAX_BYTES:,} bytes, too many for settings; {_MEND}")
    return data


def parsed(data: bytes, path: Path) -> dict[str, Any]:
    """The settings in `data` by key, as `section.name`. Values are as TOML has them, keys are not checked."""
    if any(line.count(b".") > MAX_DOTS for line in data.splitlines()):
        raise SettingsError(f"{path} has a line with more than {MAX_DOTS} dots; {_MEND}")
    try:
        tree = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8; {_MEND}") from None
    except (ValueError, RecursionError) as error:  # numbers of 5,000 digits are a ValueError of int
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise SettingsError(f"{path}: {reason}; {_MEND}") from None
    for section, values in tree.items():
        if not isinstance(values, dict):
            raise SettingsError(f"{path}: {short(section)} stands outside a section such as [retrieval]")
    return {f"{section}.{name}": value for section, values in tree.items() for name, value in values.items()}


def short(name: str, most: int = 60) -> str:
    """A name from outside for a message: in quotation marks, controls written out, its beginning where it is long."""
    return repr(name if len(name) <= most else f"{name[:most]}…")
