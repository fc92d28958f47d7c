"""The cascade: the first highlighter's word where it is sure, one request to the model where it is not."""

import pytest

from equipoise.core import sync
from equipoise.core.settings import Settings
from equipoise.core.types import Passage, Proposal, Query, Span
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.components import resolve
from equipoise.rag.highlighters.cascade import MOST, READ, CascadeHighlighter
from equipoise.text.spans import DropReason

TEXT = "The fox sleeps by day. Owls hunt at night only. The badger was first seen in 1874."
FOX, OWLS = Span("d", 0, 22), Span("d", 23, 47)


class Reads:
    """Proposes the fox with a probability; declines below the threshold of .6."""

    def __init__(self, probability):
        self.probability = probability

    async def highlight(self, query, passages):
        spans = (FOX,) if self.probability >= 0.6 else ()
        return Proposal(spans, probability=self.probability, threshold=0.6)


PASSAGE = Passage(1, "d", 0, len(TEXT), TEXT, "Animals")


def ask(probability, *replies, passages=(PASSAGE,)):
    chat = ScriptedChat(replies)
    proposal = sync.run(CascadeHighlighter(Reads(probability), chat).highlight(Query("Who hunts?"), passages))
    return chat, proposal


@pytest.mark.parametrize(("probability", "spans"), [(0.95, (FOX,)), (0.81, (FOX,)), (0.35, ()), (0.0, ())])
def test_a_sure_reader_costs_no_request(probability, spans):
    chat, proposal = ask(probability)
    assert (proposal.spans, chat.requests) == (spans, [])


@pytest.mark.parametrize("probability", [0.37, 0.5, 0.6, 0.79])
def test_an_unsure_one_leaves_it_to_the_model_in_one_request(probability):
    chat, proposal = ask(probability, '{"sentences": [2]}')
    assert (proposal.spans, len(chat.requests)) == ((OWLS,), 1)
    assert (proposal.probability, proposal.threshold) == (probability, 0.6)


@pytest.mark.parametrize("probability", [0.5, 0.7])
def test_an_empty_pick_declines(probability):
    assert ask(probability, '{"sentences": []}')[1].spans == ()


@pytest.mark.parametrize(("probability", "spans"), [(0.5, ()), (0.7, (FOX,))])
def test_no_valid_reply_leaves_it_to_the_reader_and_says_so(probability, spans):
    _, proposal = ask(probability, "I like owls.", "Owls are nice.")
    assert proposal.spans == spans
    assert [drop.reason for drop in proposal.dropped] == [DropReason.NO_VALID_REPLY]


def test_the_model_sees_five_passages_and_may_pick_six_sentences():
    passages = tuple(Passage(n, f"d{n}", 0, 20, f"Owls were {n} of them.", "Animals") for n in range(8))
    chat, proposal = ask(0.6, '{"sentences": [1, 2, 3, 4, 5, 6, 7]}', passages=passages)
    assert [span.doc_id for span in proposal.spans] == [f"d{n}" for n in range(READ)]
    assert {drop.reason for drop in proposal.dropped} == {DropReason.NO_SUCH_NUMBER, DropReason.OVER_THE_PICK}
    assert chat.requests[0].schema["properties"]["sentences"]["maxItems"] == MOST


@pytest.mark.parametrize(
    ("reads", "llm", "name"),
    [
        ("reader", "none", "reader"),
        ("reader", "local/qwen2.5-coder-1.5b", "reader"),
        ("reader", "openai/gpt-4.1-mini", "cascade"),
        ("reader", "openai", "cascade"),
        ("sentence", "none", "sentence"),
        ("sentence", "local", "cascade"),
    ],
)
def test_what_auto_stands_for(reads, llm, name):
    resolved = resolve(Settings(), llm, multilingual=reads == "sentence")
    assert (resolved.reads, resolved.highlighter) == (reads, name)
    assert resolved.rerank is (reads == "reader")
