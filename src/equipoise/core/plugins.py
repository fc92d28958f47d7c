"""Parts that other packages add, found by their entry points (docs/extensions.md). Nothing is imported before its name
is asked for, and names of our own parts are never looked up here."""

from collections.abc import Mapping
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import Any, Literal

from equipoise.core.errors import EquipoiseError, InputError

Group = Literal["equipoise.commands", "equipoise.highlighters", "equipoise.filters"]

LAB = "equipoise-lab"
"""The distribution beside this one with benchmarks, training and the papers' methods."""


def found(group: Group) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, in the order of the names.

    Raises InputError where two packages use one name for different things.
    """
    by_name: dict[str, EntryPoint] = {}
    for point in sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value)):
        other = by_name.setdefault(point.name, point)
        if other.value != point.value:
            raise InputError(
                f"{package_of(other)} and {package_of(point)} both name {point.name!r} in {group}: remove one of them"
            )
    return by_name


def load(group: Group, name: str) -> Any:  # noqa: ANN401
    """The object behind the entry point `name`; None where no package has that name.

    Raises InputError where it cannot be imported, and the errors of this package as they are (such as MissingExtra).
    """
    point = found(group).get(name)
    if point is None:
        return None
    try:
        return point.load()
    except EquipoiseError:
        raise
    except Exception as error:
        raise InputError(
            f"{name!r} of {package_of(point)} cannot be loaded ({type(error).__name__}: {error}): "
            "install that package again, or remove it"
        ) from error


def package_of(point: EntryPoint) -> str:
    """The name of the package that an entry point belongs to."""
    return point.dist.name if point.dist else point.value.partition(":")[0]
