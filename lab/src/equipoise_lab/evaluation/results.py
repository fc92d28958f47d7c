"""Results as JSON Lines that are their own state: whatever stands in the file needs no second run.

A line is handed to the operating system before the next piece of work begins, so it outlives the process
(it is not forced to the disk: that can cost a second a line). A process killed in the middle of a line leaves
a last line without its end, which the next run drops. `finish` puts the lines in
the order of their keys, so that an interrupted run ends with the same bytes as one that was not.
"""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from equipoise.audit.record import cut_half_line
from equipoise.core.closing import Closing
from equipoise.core.errors import InputError

Row = dict[str, Any]
Key = tuple[str | int, ...]
Group = TypeVar("Group", bound=Hashable)
Member = TypeVar("Member")

CONFIG = "config.json"


class Lines(Closing):
    """An open results file; `key` names the fields that tell its rows apart."""

    def __init__(self, path: Path, key: Sequence[str]) -> None:
        """Read what is there. Raises InputError with file and line for a line that is not such a row."""
        self.path = path
        self._fields = tuple(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        cut_half_line(path)
        self._rows = {self.key_of(row): row for row in read_rows(path, self._fields)}
        self._file = path.open("ab")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def key_of(self, row: Mapping[str, Any]) -> Key:
        """The values of the key's fields in `row`."""
        return tuple(row[name] for name in self._fields)

    def rows(self) -> list[Row]:
        """All rows in the order of their keys."""
        return [self._rows[key] for key in sorted(self._rows)]

    def append(self, row: Row) -> None:
        """Keep `row`: it outlives the process when this returns."""
        self._file.write(encoded(row))
        self._file.flush()
        self._rows[self.key_of(row)] = row

    def finish(self) -> list[Row]:
        """Put the file in the order of the keys, at once or not at all, and return its rows."""
        rows = self.rows()
        write_atomically(self.path, b"".join(encoded(row) for row in rows))
        return rows


def encoded(row: Mapping[str, Any]) -> bytes:
    """One line of UTF-8 JSON without spaces; NaN is refused with a ValueError."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8") + b"\n"


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` in the place of the file at `path`; a reader sees the old or the new one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    partial.replace(path)


def check_config(out: Path, config: Mapping[str, object], file: str = CONFIG) -> None:
    """Write the configuration beside the results, or make sure that it is the one they were made with.

    Raises InputError that names what differs: results of two configurations must not mix.
    """
    path, content = out / file, encoded(config)
    if path.exists():
        try:
            before, now = json.loads(path.read_bytes()), json.loads(content)
            differing = sorted(name for name in before.keys() | now if before.get(name) != now.get(name))
        except (ValueError, AttributeError, RecursionError):
            differing = ["all"]
        if differing:
            raise InputError(
                f"{out} holds results of another configuration (it differs in {', '.join(differing)}): give the "
                "same options to go on with it, choose another --out, or delete that folder to begin again"
            )
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)


def fingerprint(texts: Sequence[str]) -> str:
    """sha256 (hex) of `texts` in their order; where one ends and the next begins counts too."""
    total = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()


def read_rows(path: Path, fields: Sequence[str]) -> list[Row]:
    """The rows of a file, none where there is no file. Raises InputError for one without all of `fields`."""
    if not path.exists():
        return []
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            row = json.loads(line)
            missing = [name for name in fields if name not in row]
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"{path}:{number}: not a row of results ({error}): move the file away") from None
        if missing:
            raise InputError(f"{path}:{number}: a row without {missing[0]!r}: move the file away")
        rows.append(row)
    return rows


def grouped(rows: Iterable[Member], names: Callable[[Member], Group]) -> dict[Group, list[Member]]:
    """The rows by what `names` gives."""
    groups: dict[Group, list[Member]] = {}
    for row in rows:
        groups.setdefault(names(row), []).append(row)
    return groups
