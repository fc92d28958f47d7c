"""What is known of a document beside its text: names with typed values.

A text in the form of a date (2024-05-01) is always taken as a date, so JSON needs no marker for one. `token` is the
form in which a value is stored and compared: values of different kinds are never equal, and have no order.
"""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import TypeAlias

from equipoise.core.errors import InputError

Scalar: TypeAlias = str | int | float | bool | date
Token: TypeAlias = str | int | float
"""A number, or a text that begins with the letter of its kind and a colon."""

MOST, LONGEST = 64, 500
"""Limits: names for each document, and characters of a text value."""
LARGEST = 2**53
"""Whole numbers are smaller than this in absolute value: beyond it, stores compare them in different ways."""
COLLECTION = "collection"
"""The name that only the operator gives a value to."""
NEVER_OWN = ("folder", "trust")
"""What no document says of itself: else its writer could put it into a filter that is meant for others."""
DATE, READ = "date", "read"
"""The names of two days: the document's own date (as it says itself, else its server), and the day on which its text
was read from a source."""

UNSTORED = re.compile("[\0\ud800-\udfff]")
"""What no store can keep: a zero character, half a surrogate pair."""
_ODD = re.compile(r"\W+")
_NAME = re.compile(r"[^\W\d]\w{0,63}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def name(given: object) -> str:
    """`given` as a name: letters, digits and _, in lower case, beginning with a letter. Raises InputError."""
    made = given.lower() if isinstance(given, str) else ""
    if not _NAME.fullmatch(made):
        raise InputError(
            f"{str(given)[:80]!r} is no name of metadata: write letters, digits and _, 64 at most, a letter first"
        )
    return made


def scalar(given: object) -> Scalar:
    """`given` as a value; text that is a date becomes one. Raises InputError for what is none."""
    if isinstance(given, bool) or type(given) is date:
        return given
    if isinstance(given, int) and abs(given) < LARGEST:
        return int(given)
    if isinstance(given, float) and math.isfinite(given):
        return float(given)
    if isinstance(given, str) and len(given) <= LONGEST and _is_plain(given):
        return _dated(given)
    raise InputError(
        f"{str(given)[:80]!r} is no value of metadata: give a text of at most {LONGEST} characters, a finite number "
        f"below 2**53, true, false or a date"
    )


def checked(given: Mapping[str, object]) -> dict[str, Scalar]:
    """The metadata, by name in alphabetical order. Raises InputError."""
    if not isinstance(given, Mapping) or len(given) > MOST:
        raise InputError(f"metadata is a mapping of at most {MOST} names to values")
    if strange := next((key for key in given if name(key) != key), None):
        raise InputError(f"{str(strange)[:80]!r} is no name of metadata: write it in lower case")
    return {key: scalar(given[key]) for key in sorted(given)}


def cleaned(given: Mapping[str, object]) -> dict[str, Scalar]:
    """A document's metadata about itself: what of `given` can be metadata, names normalised, never a collection."""
    known: dict[str, Scalar] = {}
    for key, value in given.items():
        with suppress(InputError):
            known.setdefault(name(_ODD.sub("_", key.strip())), scalar(_one_line(value)))
    known.pop(COLLECTION, None)
    return dict(sorted(known.items())[:MOST])


def own(given: Mapping[str, object]) -> dict[str, Scalar]:
    """What a document may say of itself: `cleaned`, without NEVER_OWN."""
    return {key: said for key, said in cleaned(given).items() if key not in NEVER_OWN}


def token(value: Scalar) -> Token:
    """The value as it is kept and compared.

    >>> token("hr"), token(date(2024, 5, 1)), token(True), token(3)
    ('s:hr', 'd:2024-05-01', 'b:true', 3)
    """
    if isinstance(value, bool):
        return "b:true" if value else "b:false"
    if isinstance(value, date):
        return f"d:{value.isoformat()}"
    return f"s:{value}" if isinstance(value, str) else value


def day(metadata: Mapping[str, Scalar], key: str) -> date | None:
    """The value of a name, where it is a date."""
    value = metadata.get(key)
    return value if isinstance(value, date) else None


def packed(metadata: Mapping[str, Scalar]) -> str:
    """The metadata as a store keeps it: JSON of tokens, equal for equal metadata."""
    tokens = {key: token(metadata[key]) for key in sorted(metadata)}
    return json.dumps(tokens, ensure_ascii=False, separators=(",", ":"))


def unpacked(text: str) -> dict[str, Scalar]:
    """What `packed` made. Raises ValueError for anything else."""
    kept = json.loads(text)
    if not isinstance(kept, dict):
        raise ValueError("metadata that is no object")  # noqa: TRY004 - one kind of error for the caller
    try:
        metadata = checked({key: _of_token(value) for key, value in kept.items()})
    except InputError as error:
        raise ValueError(str(error)) from error
    if packed(metadata) != text:
        raise ValueError("metadata in another form than it is written in")
    return metadata


def as_json(value: Scalar) -> str | int | float | bool:
    """The value as JSON has it."""
    return value.isoformat() if isinstance(value, date) else value


def _of_token(kept: object) -> object:
    if not isinstance(kept, str):
        return None if isinstance(kept, bool) else kept
    kind, _, text = kept.partition(":")
    return {"s": text, "d": text, "b": text == "true"}.get(kind)


def _dated(text: str) -> Scalar:
    if not _DATE.fullmatch(text):
        return text
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


def _one_line(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else value


def _is_plain(text: str) -> bool:
    return text.isprintable() or not UNSTORED.search(text)
