"""Parts that other packages add by entry points, made from the same `Components` as ours (docs/extensions.md)."""

from collections.abc import Iterable, Mapping
from typing import Any

from equipoise.core import plugins
from equipoise.core.errors import InputError
from equipoise.rag.components import Components, check_objects

GROUPS: Mapping[str, plugins.Group] = {
    "filter": "equipoise.filters",
    "highlighter": "equipoise.highlighters",
}
"""Kind of part: the group of its entry points."""


def part(kind: str, name: str, components: Components) -> Any:  # noqa: ANN401
    """The part `name` of another package; None where no package has one.

    Raises InputError for one that cannot be loaded or lacks what its protocol asks for.
    """
    found = plugins.load(GROUPS[kind], name) if kind in GROUPS else None
    if found is None:
        return None
    if not hasattr(found, "from_components"):
        raise InputError(
            f"the {kind} {name!r} of another package has no from_components: see docs/extensions.md"
        )
    made = found.from_components(components)
    check_objects({kind: made})
    return made


def known(kind: str, ours: Iterable[str]) -> tuple[str, ...]:
    """Our names of a kind of part, and those that other packages add."""
    others = plugins.found(GROUPS[kind]) if kind in GROUPS else ()
    return tuple(dict.fromkeys([*ours, *others]))
