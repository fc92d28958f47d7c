"""The filters that can be benchmarked, by name: those of the product and two variants for comparison."""

from collections.abc import Sequence

from equipoise.core.errors import InputError
from equipoise.core.protocols import PassageFilter
from equipoise.maths.biasdef import AS_WRITTEN
from equipoise.rag import build
from equipoise.rag.components import Components
from equipoise.rag.filters import BiasDefFilter, SmartFilter

VARIANTS: dict[str, PassageFilter] = {
    "biasdef-as-written": BiasDefFilter(AS_WRITTEN),
    "smart-without-nli": SmartFilter(None),
}
"""BiasDef without our limit on a cut, with 20 bins; SMART without its conflict matrix."""

BY_TRUST = "auto"
"""Not here: it depends on who may write a document, which a benchmark corpus does not say."""


def names() -> tuple[str, ...]:
    """All names."""
    return (*(name for name in build.FILTERS if name != BY_TRUST), *VARIANTS)


def systems(wanted: Sequence[str], components: Components) -> dict[str, PassageFilter]:
    """The filters by name; raises InputError for an unknown one, and what a filter needs and has not."""
    if unknown := [name for name in wanted if name not in names()]:
        raise InputError(f"there is no filter {unknown[0]!r}: choose among {', '.join(names())}")
    return {name: _system(name, components) for name in wanted}


def _system(name: str, components: Components) -> PassageFilter:
    if name in VARIANTS:
        return VARIANTS[name]
    found: PassageFilter = build.make("filter", build.FILTERS, name, components)
    return found
