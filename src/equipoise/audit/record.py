"""A tamper-evident record: JSON Lines, each with the hash of all before it.

A line is a JSON object; its `hash` is the sha256 of the hash before and of the object without it, as JSON with sorted
keys. The last line closes the record. With a key it carries an HMAC-SHA256 of the last hash, so that only who has the
key can have written it; without one, a record that was forged from the beginning is not noticed. Who can check a
signature can make one: a public key would need a library that nothing else here needs.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.core.errors import InputError

HEADER, ROW, END = "header", "row", "end"
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CertifyRecord:
    """A record as it was read: `end` is None while it is being written."""

    header: Line
    rows: tuple[Line, ...]
    end: Line | None
    last: str


class Writer:
    """Appends lines to a record; each is on the disk when `add` returns."""

    def __init__(self, path: Path, last: str = "") -> None:
        self._path = path
        self._last = last

    def add(self, kind: str, content: Mapping[str, Any]) -> None:
        """Append a line. Raises InputError where the file cannot be written."""
        body = {"kind": kind, **content}
        self._last = chained(self._last, body)
        line = json.dumps(body | {"hash": self._last}, ensure_ascii=False, sort_keys=True) + "\n"
        try:
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def close(self, content: Mapping[str, Any], key: bytes | None) -> None:
        """Append the last line, signed where there is a key."""
        signed = {"signature": signature(self._last, content, key)} if key else {}
        self.add(END, {**content, **signed})


def chained(before: str, body: Mapping[str, Any]) -> str:
    """The hash (hex) of a line after the one with the hash `before`, "" for the first."""
    return hashlib.sha256(f"{before}\n{_canonical(body)}".encode()).hexdigest()


def signature(last: str, content: Mapping[str, Any], key: bytes) -> str:
    """HMAC-SHA256 (hex) over the hash of the last row and what closes the record."""
    return hmac.new(key, f"{last}\n{_canonical(content)}".encode(), hashlib.sha256).hexdigest()


def read(path: Path, *, key: bytes | None = None) -> CertifyRecord:
    """The record in a file. Raises InputError for one that was changed, is no record, or has another signature.

    Half a last line, as a kill leaves it, does not count: see `cut_half_line`.
    """
    lines: list[dict[str, Any]] = []
    last = before = ""
    for number, text in enumerate(_text(path).split("\n")[:-1], 1):
        body = _parsed(text, path, number)
        said = body.pop("hash", None)
        if said != chained(last, body):
            raise InputError(
                f"{path}:{number}: this line, or one before it, was changed: the record proves nothing"
            )
        before, last = last, said
        lines.append(body)
    kinds = [body.get("kind") for body in lines]
    ended = kinds[-1:] == [END]
    if kinds != [HEADER] + [ROW] * (len(lines) - 1 - ended) + [END] * ended:
        raise InputError(f"{path} is no record of equipoise certify: give the file that it wrote")
    record = CertifyRecord(
        lines[0], tuple(lines[1:-1] if ended else lines[1:]), lines[-1] if ended else None, last
    )
    if key is not None and record.end is not None:
        _check(record.end, before, key, path)
    return record


def cut_half_line(path: Path) -> None:
    """Cut off what stands after the last line end. Raises InputError where the file cannot be written."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    try:
        if whole < len(content):
            os.truncate(path, whole)
    except OSError as error:
        raise _unwritable(path, error) from error


def _check(end: Line, before: str, key: bytes, path: Path) -> None:
    content = {name: value for name, value in end.items() if name not in ("kind", "signature")}
    said = end.get("signature")
    if said is None:
        raise InputError(f"{path} is not signed: leave --key out, or certify again with it")
    if not hmac.compare_digest(str(said), signature(before, content, key)):
        raise InputError(f"{path} was not signed with this key: the record proves nothing")


def _parsed(text: str, path: Path, number: int) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError(
            f"{path}:{number}: this is not a line of a record: give the file that equipoise certify wrote"
        )
    return body


def _canonical(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(
            f"{path} cannot be read ({reason}): give the file that equipoise certify wrote"
        ) from error


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be written ({error.strerror}): choose another file with --out")
