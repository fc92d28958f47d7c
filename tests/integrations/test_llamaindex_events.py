"""LlamaIndex: what events, spans and callbacks tell, and that they hold no question where none belongs."""

from dataclasses import dataclass

import pytest
from pydantic import Field

pytest.importorskip("llama_index.core")

from llama_index.core.callbacks import CBEventType, LlamaDebugHandler
from llama_index_instrumentation import get_dispatcher, root_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span_handlers import SimpleSpanHandler
from llama_parts import CANARY, QUESTION, asked, node, scored

from equipoise.core.errors import InputError
from equipoise.core.types import Filtered, Flag, Proposal, Span
from equipoise.integrations.llamaindex import (
    Filter,
    Highlighter,
    NotQuoted,
    Synthesizer,
    TakenOut,
)
from hashed_words import HashedWords
from serving import CATS


@dataclass
class TakesCats:
    async def filter(self, query, candidates, *, k):
        rows = [row for row, passage in enumerate(candidates.passages) if "Cats" not in passage.text]
        out = [passage for passage in candidates.passages if "Cats" in passage.text]
        return Filtered(candidates.take(rows[:k]), tuple(Flag(passage, "about cats", 0.7) for passage in out))


class Listens(BaseEventHandler):
    """Writes down every event."""

    events: list

    @classmethod
    def class_name(cls):
        return "Listens"

    def handle(self, event, **more):
        self.events.append(event)


@pytest.fixture
def heard():
    """Every event of LlamaIndex from now on."""
    events, spans = Listens(events=[]), SimpleSpanHandler()
    before = root_dispatcher.event_handlers, root_dispatcher.span_handlers
    root_dispatcher.event_handlers, root_dispatcher.span_handlers = [events], [spans]
    yield events.events
    root_dispatcher.event_handlers, root_dispatcher.span_handlers = before


def test_what_is_taken_out_or_dropped_is_told_with_its_reason(heard):
    nodes = scored(node(), node(CATS, "cats"), node("", "empty"))
    kept = Filter(part=TakesCats(), embedder=HashedWords()).postprocess_nodes(nodes, query_str=QUESTION)
    assert [hit.node.node_id for hit in kept] == ["x/1 #ü"]
    [event] = [event for event in heard if isinstance(event, TakenOut)]
    assert event.flagged == [("cats", "about cats", 0.7), ("empty", "has no text", pytest.approx(1 / 3))]

    class Wild:
        async def highlight(self, query, passages):
            return Proposal((Span("nowhere", 0, 9),))

    assert Highlighter(part=Wild()).postprocess_nodes(nodes, query_str=QUESTION) == []
    [event] = [event for event in heard if isinstance(event, NotQuoted)]
    assert event.dropped[0][1:] == ("nowhere", 0, 9) and event.dropped[0][0]


class Enters(SimpleSpanHandler):
    """Writes down what every span was entered with."""

    entered: list = Field(default_factory=list)

    def new_span(self, id_, bound_args, instance=None, parent_span_id=None, tags=None, **more):
        self.entered.append((id_, repr(bound_args)))
        return super().new_span(id_, bound_args, instance, parent_span_id, tags, **more)


@pytest.mark.parametrize("awaited", [False, True])
def test_events_spans_and_callbacks_of_the_synthesizer_have_no_question(heard, awaited):
    root_dispatcher.span_handlers = [Enters()]
    entered = root_dispatcher.span_handlers[0].entered
    debug = LlamaDebugHandler(print_trace_on_end=False)
    asked(f"{CANARY}?", awaited=awaited, debug=debug)
    synthesis = [event for event in heard if "Synthesize" in type(event).__name__]
    assert len(synthesis) == 2
    assert all(event.query == "" for event in synthesis)
    models = [event for event in heard if type(event).__name__.startswith("LLM")]
    assert models and CANARY not in repr(models)
    assert any(CANARY in said for _, said in entered), "the outer spans hold it, as the asker's own"
    assert not [name for name, said in entered if CANARY in said and name.startswith("Synthesizer.")]
    assert not [name for name, said in entered if CANARY in said and name.startswith("Recorder.")]
    payloads = [pair[0].payload for pair in debug.get_event_pairs(CBEventType.SYNTHESIZE)]
    assert payloads and all(CANARY not in repr(payload) for payload in payloads)


def test_a_span_around_synthesize_would_hold_it(heard):
    """The test above can fail: with LlamaIndex's own decorator the question is there."""
    root_dispatcher.span_handlers = [Enters()]
    entered = root_dispatcher.span_handlers[0].entered

    class Spanned(Synthesizer):
        @get_dispatcher(__name__).span
        def synthesize(self, query, nodes, additional_source_nodes=None, **more):
            return super().synthesize(query, nodes, additional_source_nodes, **more)

    with pytest.raises(InputError):
        Spanned().synthesize(f"{CANARY}?", scored(node()))
    assert any(CANARY in said for _, said in entered)
