"""Question answering over documents: who asks cannot instruct the model that writes the answer.

`Library` is the short way; `equipoise.rag.build` makes pipelines out of settings, and every part can be replaced by
an object with the methods of its protocol in `equipoise.core.protocols`, which `equipoise.testing` checks. The names
here are a promise, and load at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.core.documents import Document, Trust
    from equipoise.core.errors import EquipoiseError, QuestionError
    from equipoise.core.results import Answer, Reason, Refusal
    from equipoise.core.settings import Settings
    from equipoise.core.types import Highlight, Highlights, Passage, Span
    from equipoise.integrations.plain import highlight
    from equipoise.rag.library import Library, ask
    from equipoise.rag.pipeline import HighlightSummarize

_PLACES = {
    "Answer": "core.results",
    "Document": "core.documents",
    "EquipoiseError": "core.errors",
    "Highlight": "core.types",
    "HighlightSummarize": "rag.pipeline",
    "Highlights": "core.types",
    "Library": "rag.library",
    "Passage": "core.types",
    "QuestionError": "core.errors",
    "Reason": "core.results",
    "Refusal": "core.results",
    "Settings": "core.settings",
    "Span": "core.types",
    "Trust": "core.documents",
    "ask": "rag.library",
    "highlight": "integrations.plain",
}

__all__ = [
    "Answer",
    "Document",
    "EquipoiseError",
    "Highlight",
    "HighlightSummarize",
    "Highlights",
    "Library",
    "Passage",
    "QuestionError",
    "Reason",
    "Refusal",
    "Settings",
    "Span",
    "Trust",
    "ask",
    "highlight",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"equipoise.{_PLACES[name]}"), name)
