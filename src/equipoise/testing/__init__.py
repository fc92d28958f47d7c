"""For authors of parts: checks of what their part must promise, in three lines, and a scripted chat model.

from equipoise.testing import check_highlighter

def test_my_highlighter():
    check_highlighter(MyHighlighter())
"""

from equipoise.models.scripted import ScriptedChat
from equipoise.testing.checks import (
    check_chat_model,
    check_encoder,
    check_filter,
    check_highlighter,
    check_reranker,
    check_retriever,
    check_summarizer,
)
from equipoise.testing.corpus import ANSWER, DOCUMENTS, QUESTION, small_store

__all__ = [
    "ANSWER",
    "DOCUMENTS",
    "QUESTION",
    "ScriptedChat",
    "check_chat_model",
    "check_encoder",
    "check_filter",
    "check_highlighter",
    "check_reranker",
    "check_retriever",
    "check_summarizer",
    "small_store",
]
