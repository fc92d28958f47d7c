"""Question answering over documents that cannot be pushed, not by who asks, not by what it reads.

`Library` is the short way; `equipoise.rag.build` makes pipelines out of settings, and every part can be replaced by
an object with the methods of its protocol in `equipoise.core.protocols`. The names here load at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.core.documents import Trust
    from equipoise.core.errors import EquipoiseError
    from equipoise.core.results import Answer, Reason, Refusal
    from equipoise.core.settings import Settings
    from equipoise.core.types import Highlight
    from equipoise.rag.library import Library, ask

_PLACES = {
    "Answer": "core.results",
    "EquipoiseError": "core.errors",
    "Highlight": "core.types",
    "Library": "rag.library",
    "Reason": "core.results",
    "Refusal": "core.results",
    "Settings": "core.settings",
    "Trust": "core.documents",
    "ask": "rag.library",
}

__all__ = [
    "Answer",
    "EquipoiseError",
    "Highlight",
    "Library",
    "Reason",
    "Refusal",
    "Settings",
    "Trust",
    "ask",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"equipoise.{_PLACES[name]}"), name)
