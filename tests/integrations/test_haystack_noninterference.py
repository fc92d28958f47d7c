"""Facts 1 and 3 through Haystack's own machinery: no part of a question reaches the summarizer's model, and nothing
that anybody may write moves what trusted documents say.

What the model can see is recorded where it is asked: its messages, all that came with them, every context variable and
the tracing span that it stands in. A tracer records what the summarizer's component is handed, and a snapshot in front
of it what is written. Arbitrary questions, run, awaited, and resumed from a snapshot; mutants are caught.
"""

import asyncio
import json
import os
from contextlib import contextmanager
from contextvars import ContextVar, copy_context

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
pytest.importorskip("haystack")

from haystack import Document, Pipeline, component, tracing
from haystack.core.errors import BreakpointException
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import ChatMessage
from haystack.dataclasses.breakpoints import Breakpoint
from hypothesis import Phase, given, settings

import planted_chunks as fact3
from equipoise.core.types import Message
from equipoise.integrations import shared
from equipoise.integrations.haystack import (
    Boundary,
    Filter,
    Highlighter,
    Retriever,
    Summarizer,
    assert_no_path,
)
from equipoise.integrations.shared import Quotes
from equipoise.rag.summarizers.llm import LlmSummarizer
from equipoise.testing import DOCUMENTS
from hashed_words import HashedWords
from overheard import CANARY, LOUD, QUIET, SENTENCES, Picking, leak, picked, questions

REPLY = '{"answer": "The bridge is 212 metres long and stands on seven piers of grey stone."}'
BAGGAGE: ContextVar[str] = ContextVar("baggage", default="")
CURRENT: ContextVar[object] = ContextVar("current_span", default=None)


class Recorded(tracing.Span):
    """A span that keeps its tags, and what it stands in."""

    def __init__(self, name, tags, parent):
        self.name, self.tags, self.parent = name, dict(tags or {}), parent

    def set_tag(self, key, value):
        self.tags[key] = value

    def set_content_tag(self, key, value):
        self.tags[key] = value


class Recorder(tracing.Tracer):
    """A tracer that carries its span in a context variable, as OpenTelemetry does."""

    def __init__(self):
        self.spans = []

    @contextmanager
    def trace(self, operation_name, tags=None, parent_span=None):
        span = Recorded(operation_name, tags, parent_span or CURRENT.get())
        self.spans.append(span)
        token = CURRENT.set(span)
        try:
            yield span
        finally:
            CURRENT.reset(token)

    def current_span(self):
        return CURRENT.get()

    def inputs_of(self, name):
        of = [span.tags for span in self.spans if span.tags.get("haystack.component.name") == name]
        return [tags["haystack.component.input"] for tags in of]


@component
class Listening:
    """A chat generator of Haystack that keeps all it can see."""

    def __init__(self):
        self.seen = []

    def to_dict(self):
        return {"type": "Listening", "init_parameters": {}}

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], generation_kwargs: dict | None = None):
        around = {variable.name: value for variable, value in copy_context().items()}
        span = tracing.tracer.current_span()
        self.seen.append(
            repr(
                (
                    [message.to_dict() for message in messages],
                    generation_kwargs,
                    sorted(around),
                    around,
                    span and span.tags,
                )
            )
        )
        return {"replies": [ChatMessage.from_assistant(REPLY)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], generation_kwargs: dict | None = None):
        return self.run(messages, generation_kwargs)


def pipeline(spans, chat, summarizer=None):
    made = Pipeline()
    made.add_component("filter", Filter("none"))
    made.add_component("highlighter", Highlighter(Picking(spans)))
    made.add_component("boundary", Boundary(settings={"summarize": {"context": "passage"}}))
    options = {"summarize": {"when": "always", "guesses": 2}}
    made.add_component("summarizer", summarizer or Summarizer(chat=chat, settings=options))
    made.connect("filter.documents", "highlighter.documents")
    made.connect("filter.documents", "boundary.documents")
    made.connect("highlighter.picks", "boundary.picks")
    made.connect("boundary.quotes", "summarizer.quotes")
    return made


def data(question, *more):
    documents = [
        Document(id=document.doc_id, content=document.text, meta={"title": document.title})
        for document in DOCUMENTS
    ]
    asking = {name: {"query": question} for name in ("highlighter", *more)}
    return asking | {"filter": {"query": question, "documents": documents}}


def asked(question, spans, *, way="run", summarizer=None, chat=None, more=()):
    """(what the model saw, what the summarizer was handed, what stood in the snapshot) for one question."""
    chat, recorder = chat or Listening(), Recorder()
    made = pipeline(spans, chat, summarizer)
    token = BAGGAGE.set(question)
    tracing.enable_tracing(recorder)
    snapshot = ""
    try:
        if way == "run_async":
            asyncio.run(made.run_async(data(question, *more)))
        elif way == "snapshot":
            snapshot = resumed(made, question)
        else:
            made.run(data(question, *more))
    finally:
        tracing.disable_tracing()
        BAGGAGE.reset(token)
    return chat.seen, repr(recorder.inputs_of("summarizer")), snapshot


def resumed(made, question):
    with pytest.raises(BreakpointException) as stopped:
        made.run(data(question), break_point=Breakpoint("summarizer"))
    snapshot = stopped.value.pipeline_snapshot
    allow_deserialization_module("equipoise.integrations.shared")
    made.run(data={}, pipeline_snapshot=snapshot)
    return json.dumps(snapshot.pipeline_state.inputs["serialized_data"]["summarizer"])


def leaking(one, other, spans, **how):
    """See `leak`."""
    return leak(asked(one, spans, **how), asked(other, spans, **how))


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(one=questions, other=questions, spans=picked)
@pytest.mark.parametrize("way", ["run", "run_async", "snapshot"])
def test_no_part_of_a_question_reaches_the_summarizers_model(way, one, other, spans):
    assert leaking(one, other, spans, way=way) == ""


@component
class Asking:
    """The mutant: a summarizer that is given the query, too."""

    def __init__(self, chat, use):
        self.inner = Summarizer(chat=chat, settings={"summarize": {"when": "always"}})
        self.chat, self.use = chat, use

    @component.output_types(answer=str)
    def run(self, quotes: Quotes, query: str):
        if self.use:
            self.chat.run([ChatMessage.from_user(query)])
        return {"answer": self.inner.run(quotes)["answer"]}


@pytest.mark.parametrize("use", [True, False], ids=["it asks with the query", "it only holds the query"])
def test_a_summarizer_that_is_given_the_query_is_caught(use):
    bodies = []
    for question in (QUIET, LOUD):
        chat = Listening()
        mutant = Asking(chat, use)
        bodies.append(asked(question, SENTENCES[:1], summarizer=mutant, chat=chat, more=["summarizer"]))
    assert CANARY in repr(bodies)
    assert bodies[0] != bodies[1]


@pytest.mark.parametrize("way", ["run", "run_async"])
def test_a_model_that_is_asked_in_the_callers_context_is_caught(monkeypatch, way):
    async def together(work):
        return await work

    monkeypatch.setattr(shared, "apart", together)
    assert leaking(QUIET, LOUD, SENTENCES[:1], way=way) == "a question stands in what the model sees"


def test_a_boundary_that_passes_what_the_highlighter_says_is_caught(monkeypatch):
    summarize, heard = LlmSummarizer.summarize, []
    highlight = Picking.highlight

    async def hearing(self, query, passages):
        heard.append(query.text)
        return await highlight(self, query, passages)

    async def summarizing(self, highlights, *, tags=frozenset()):
        await self.chat.complete([Message("user", str(len(heard[-1])))])
        return await summarize(self, highlights, tags=tags)

    monkeypatch.setattr(Picking, "highlight", hearing)
    monkeypatch.setattr(LlmSummarizer, "summarize", summarizing)
    assert leaking(QUIET, LOUD, SENTENCES[:1]) == "other words, other requests"


class TestTrustedDocuments:
    """Fact 3 through Haystack's own machinery."""

    def asked(self, pieces, question=fact3.QUESTION, *, others=False, key="owner", settings=fact3.ALWAYS):
        """(the answer and its quotes, what others say, what the model saw)."""
        chat, how = fact3.writing(), {"settings": settings, "trust_key": key}
        made = Pipeline()
        made.add_component("filter", Filter(embedder=HashedWords(), **how))
        made.add_component("highlighter", Highlighter(fact3.Sharing(), **how))
        made.add_component("boundary", Boundary(**how))
        made.add_component("summarizer", Summarizer("llm", chat=chat, settings=settings))
        made.connect("filter.documents", "highlighter.documents")
        made.connect("filter.documents", "boundary.documents")
        made.connect("highlighter.picks", "boundary.picks")
        made.connect("boundary.quotes", "summarizer.quotes")
        assert_no_path(made, "summarizer")
        documents = [Document(id=piece.name, content=piece.text, meta=piece.metadata) for piece in pieces]
        result = made.run(
            {
                "filter": {"query": question, "documents": documents},
                "highlighter": {"query": question, "others": others},
            }
        )["summarizer"]
        shown = result["answer"], result["refused"], [quote.to_dict() for quote in result["quotes"]]
        return shown, result["others"], [request.messages for request in chat.requests]

    @fact3.few
    @given(pieces=fact3.planted)
    def test_nothing_planted_moves_an_answer_or_what_the_model_sees(self, pieces):
        shown, _, seen = self.asked(fact3.TRUSTED)
        for others in (False, True):
            again, said, also = self.asked(fact3.mixed(pieces), others=others)
            assert (again, also) == (shown, seen)
            assert bool(said) is others
        assert fact3.ANSWER in shown[0] and seen

    @fact3.few
    @given(pieces=fact3.planted)
    def test_where_no_trusted_document_answers_nothing_is_written(self, pieces):
        (_, refused, quotes), said, seen = self.asked([fact3.LAKE, *fact3.mixed(pieces)], fact3.SILENT)
        assert not seen and not refused and said["silent"]
        assert {quote["trust"] for quote in quotes} == {"untrusted"}

    def test_where_all_are_read_alike_planted_text_is_written_about(self):
        every = fact3.mixed([fact3.LIE])
        for how in ({"settings": fact3.EQUAL}, {"key": ""}):
            assert fact3.MARK in repr(self.asked(every, **how)[2])

    @fact3.few
    @given(pieces=fact3.planted)
    def test_nothing_planted_moves_what_is_found_of_trusted_documents(self, trusted_index, pieces):
        def found():
            retriever = Retriever(str(trusted_index), top_k=2, embedder=HashedWords())
            documents = retriever.run(fact3.QUESTION)["documents"]
            retriever.close()
            return [document.to_dict() for document in documents]

        before = found()
        with fact3.beside(trusted_index, pieces):
            after = found()
        assert after[: len(before)] == before
        assert {document["trust"] for document in before} == {"trusted"}
        assert {document["trust"] for document in after[len(before) :]} <= {"untrusted"}
        assert len(after) <= len(before) + 2
