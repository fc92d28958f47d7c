"""Which settings need consent: a folder's settings file may choose *how*, but *where to* only with the user's consent.

A marker on the field decides (`Annotated[str, HOW]`). What has no marker and is neither a number nor one of a
closed list of words needs consent, so a new field that names a place cannot be forgotten.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

Free = Callable[[object, Path], bool]


@dataclass(frozen=True, slots=True)
class Marker:
    """What a folder's file may set without consent: values for which `free(value, folder)` holds."""

    free: Free


def inside(value: object, folder: Path) -> bool:
    """Whether `value` is a relative path whose target, links followed, lies below `folder`; an address never does."""
    if (
        not isinstance(value, str | Path)
        or "\0" in str(value)
        or "://" in str(value)
        or Path(value).is_absolute()
    ):
        return False
    try:
        root = folder.resolve()
        target = (root / value).resolve()
    except (OSError, RuntimeError):  # a path that is too long, a loop of links
        return False
    return target != root and target.is_relative_to(root)


def words(*names: str, also: str = "") -> Marker:
    """A marker that leaves these words free, and what begins with `also`."""
    return Marker(lambda value, _: isinstance(value, str) and (value in names or _begins(value, also)))


HOW = Marker(lambda value, folder: True)
WHERE_TO = Marker(lambda value, folder: False)
INSIDE = Marker(inside)


def decision(field: FieldInfo) -> Marker | None:
    """The marker of a field; HOW for numbers, truth values and closed lists of words; None where none was made."""
    made = next((item for item in field.metadata if isinstance(item, Marker)), None)
    return made or (HOW if _is_closed(field.annotation) else None)


def needs_consent(field: FieldInfo, value: object, folder: Path) -> bool:
    """Whether the settings file of `folder` may set `value` only with the user's consent."""
    return not (decision(field) or WHERE_TO).free(value, folder)


def shown(field: FieldInfo, value: object, folder: Path | None = None) -> str:
    """`value` for people: secrets as asterisks, addresses without password, paths of a `folder` with their target."""
    kinds = _kinds(field.annotation)
    if SecretStr in kinds and value is not None:
        return "**********"
    if folder and Path in kinds and isinstance(value, str) and not ("\0" in value or "://" in value):
        try:
            return str((folder / value).resolve())
        except (OSError, RuntimeError):
            return value
    return without_password(value) if isinstance(value, str) else str(value)


def without_password(text: str) -> str:
    """An address without what stands before the @ and after the ?, whether or not it can be read as an address."""
    scheme, colon, rest = text.partition("://")
    if not colon:
        scheme, rest = "", text
        if "@" not in text:
            return text
    _, at, host = rest.rpartition("@")
    address, mark, _ = host.partition("?")
    return f"{scheme}{colon}{'***@' if at else ''}{address}{'?***' if mark else ''}"


def _begins(value: str, prefix: str) -> bool:
    return bool(prefix) and value.startswith(prefix)


def _is_closed(annotation: Any) -> bool:  # noqa: ANN401
    return all(kind in {int, float, bool} or get_origin(kind) is Literal for kind in _kinds(annotation))


def _kinds(annotation: Any) -> list[Any]:  # noqa: ANN401
    """The members of a union without None."""
    members = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    return [kind for kind in members if kind is not NoneType]
