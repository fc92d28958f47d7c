"""LlamaIndex: no question gets through to the summarizer's model, and mutants that leak are caught."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llama_index.core")


from llama_parts import CANARY, asked

from equipoise.core import sync
from equipoise.integrations import llamaindex, shared
from equipoise.integrations.llamaindex import (
    Highlighter,
    Synthesizer,
)


def leak(question, *, awaited=False):
    """What shows that the model's requests depend on the question; empty where nothing does."""
    got, other = asked(question, awaited=awaited), asked(f"{CANARY}?", awaited=awaited)
    if repr(got).encode() != repr(other).encode():
        return "other words, other requests"
    return "a question stands in a request" if CANARY in repr(other) else ""


@settings(max_examples=40)
@given(question=st.text(max_size=200).map(lambda said: f"{said} {CANARY} who?"), awaited=st.booleans())
def test_no_question_changes_what_the_summarizers_model_gets(question, awaited):
    if any("\ud800" <= c <= "\udfff" for c in question):
        return
    assert leak(question, awaited=awaited) == ""


def passes_query(monkeypatch):
    """A synthesizer that adds query_str to what is summarized."""
    written = Synthesizer._written

    def synthesize(self, query, nodes, more=None, **rest):
        first = nodes[0].node.crossed["highlights"][0]
        first["text"] = f"{first['text']} ({query.query_str})"
        return sync.run(written(self, nodes, more or (), blocking=True))

    monkeypatch.setattr(Synthesizer, "synthesize", synthesize)


def reads_texts(monkeypatch):
    """A synthesizer that takes the text of the nodes as it comes."""

    def quotes_of(nodes):
        nodes = list(nodes)
        for hit in nodes:
            hit.node.crossed["highlights"][0]["text"] = hit.node.text
        return QUOTES_OF(nodes)

    monkeypatch.setattr(llamaindex, "quotes_of", quotes_of)


def counts_the_letters(monkeypatch):
    """A title that depends on how long the question is."""
    judged = Highlighter._judged

    async def highlight(self, nodes, asked, *, blocking):
        judged_nodes = await judged(self, nodes, asked, blocking=blocking)
        for hit in judged_nodes:
            hit.node.crossed["highlights"][0]["title"] = "long" * (len(asked.query_str) % 5)
        return judged_nodes

    monkeypatch.setattr(Highlighter, "_judged", highlight)


def keeps_the_context(monkeypatch):
    """A model that is called in the context of whoever asked."""

    async def apart(work):
        return await work

    monkeypatch.setattr(shared, "apart", apart)


QUOTES_OF = llamaindex.quotes_of


@pytest.mark.parametrize("mutant", [passes_query, reads_texts, counts_the_letters, keeps_the_context])
def test_every_mutant_that_leaks_is_caught(monkeypatch, mutant):
    mutant(monkeypatch)
    assert leak(f"Tell me {CANARY}, please!")
