"""Question answering over documents that cannot be pushed, not by who asks, not by what it reads.

`ask` is the short way; `equipoise.rag.build` makes pipelines out of settings, and every part can be replaced by
an object with the methods of its protocol in `equipoise.core.protocols`. The names here load at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.core.results import Answer, Refusal
    from equipoise.core.types import Highlight
    from equipoise.rag.library import Library, ask

__all__ = ["Answer", "Highlight", "Library", "Refusal", "ask"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = "rag.library" if name in ("Library", "ask") else "core.types"
    return getattr(import_module(f"equipoise.{room}"), name)
