"""`assert_no_path` on pipelines that hold and on those that leak, each of which it must name."""

import os

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
pytest.importorskip("haystack")

from typing import Any

from haystack import Document, Pipeline, SuperComponent, component, super_component
from haystack.components.builders import ChatPromptBuilder, PromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import BranchJoiner

from equipoise.core.errors import InputError
from equipoise.integrations.haystack import Boundary, Filter, Highlighter, Summarizer, assert_no_path
from equipoise.integrations.shared import Quotes


def safe(last=None, behind=None):
    pipeline = Pipeline()
    pipeline.add_component("filter", Filter())
    pipeline.add_component("highlighter", Highlighter())
    pipeline.add_component("boundary", behind or Boundary())
    pipeline.add_component("summarizer", last or Summarizer())
    pipeline.connect("filter.documents", "highlighter.documents")
    pipeline.connect("filter.documents", "boundary.documents")
    pipeline.connect("highlighter.picks", "boundary.picks")
    pipeline.connect("boundary.quotes", "summarizer.quotes")
    return pipeline


@component
class Asking:
    """A summarizer that is given the question."""

    @component.output_types(answer=str)
    def run(self, quotes: Quotes, query: str = ""):
        return {"answer": query}


@component
class Forging:
    """Makes quotes out of anything."""

    @component.output_types(quotes=Quotes)
    def run(self, prompt: str):
        return {"quotes": Quotes()}


@component
class Remembering:
    """Makes quotes of what it has seen elsewhere."""

    @component.output_types(quotes=Quotes)
    def run(self):
        return {"quotes": Quotes()}


@component
class Passing:
    """Hands quotes on."""

    @component.output_types(quotes=Quotes, anything=Any)
    def run(self, quotes: Quotes):
        return {"quotes": quotes, "anything": quotes}


class Whispering(Boundary):
    """A boundary that could do anything."""


def a_socket_that_the_caller_fills():
    return safe(Asking())


def a_socket_that_another_part_fills():
    pipeline = safe(Asking())
    pipeline.add_component("prompt", PromptBuilder("{{query}}"))
    pipeline.connect("prompt.prompt", "summarizer.query")
    return pipeline


def quotes_that_are_forged():
    pipeline = Pipeline()
    for name, part in {
        "prompt": PromptBuilder("{{q}}"),
        "forge": Forging(),
        "summarizer": Summarizer(),
    }.items():
        pipeline.add_component(name, part)
    pipeline.connect("prompt.prompt", "forge.prompt")
    pipeline.connect("forge.quotes", "summarizer.quotes")
    return pipeline


def types_that_nobody_checks():
    pipeline = Pipeline(connection_type_validation=False)
    pipeline.add_component("boundary", Boundary())
    pipeline.add_component("summarizer", Summarizer())
    pipeline.connect("boundary.dropped", "summarizer.quotes")
    return pipeline


def anything_in_place_of_quotes():
    pipeline = Pipeline(connection_type_validation=False)
    for name, part in {"boundary": Boundary(), "passing": Passing(), "summarizer": Summarizer()}.items():
        pipeline.add_component(name, part)
    pipeline.connect("boundary.quotes", "passing.quotes")
    pipeline.connect("passing.anything", "summarizer.quotes")
    return pipeline


def a_boundary_of_another_class():
    return safe(behind=Whispering())


def a_joiner_beside_the_boundary():
    pipeline = Pipeline()
    for name, part in {
        "boundary": Boundary(),
        "joiner": BranchJoiner(Quotes),
        "summarizer": Summarizer(),
    }.items():
        pipeline.add_component(name, part)
    pipeline.connect("boundary.quotes", "joiner.value")
    pipeline.connect("joiner.value", "summarizer.quotes")
    return pipeline


def a_part_that_remembers():
    pipeline = Pipeline()
    pipeline.add_component("memory", Remembering())
    pipeline.add_component("summarizer", Summarizer())
    pipeline.connect("memory.quotes", "summarizer.quotes")
    return pipeline


def inner(leaky):
    pipeline = Pipeline()
    pipeline.add_component("boundary", Boundary())
    pipeline.add_component("summarizer", Asking() if leaky else Summarizer())
    pipeline.connect("boundary.quotes", "summarizer.quotes")
    return pipeline


def a_super_component_that_hands_the_question_in(name="query"):
    pipeline = Pipeline()
    pipeline.add_component("highlighter", Highlighter())
    mapping = {
        "picks": ["boundary.picks"],
        "documents": ["boundary.documents"],
        name: ["summarizer.query"],
    }
    pipeline.add_component(
        "answerer", SuperComponent(inner(leaky=True), mapping, {"summarizer.answer": "answer"})
    )
    pipeline.connect("highlighter.picks", "answerer.picks")
    return pipeline


def a_super_component_within_another():
    outer = Pipeline()
    outer.add_component("deep", SuperComponent(a_super_component_that_hands_the_question_in()))
    return outer


LEAKS = {
    a_socket_that_the_caller_fills: ("summarizer", "'query' from the caller"),
    a_socket_that_another_part_fills: ("summarizer", "beside the boundary: prompt"),
    quotes_that_are_forged: ("summarizer", "beside the boundary: prompt"),
    types_that_nobody_checks: ("summarizer", "only Quotes may reach it"),
    anything_in_place_of_quotes: ("summarizer", "only Quotes may reach it"),
    a_boundary_of_another_class: ("summarizer", "beside the boundary"),
    a_joiner_beside_the_boundary: ("summarizer", "beside the boundary: joiner.value"),
    a_part_that_remembers: ("summarizer", "memory, which is no boundary, feeds"),
    a_super_component_that_hands_the_question_in: ("answerer.summarizer", "'query' from the caller"),
    a_super_component_within_another: ("deep.answerer.summarizer", "'query' from the caller"),
}


@pytest.mark.parametrize("leaking", LEAKS, ids=lambda make: make.__name__)
def test_each_leak_is_named(leaking):
    target, said = LEAKS[leaking]
    with pytest.raises(AssertionError, match=said):
        assert_no_path(leaking(), target)


def test_a_pipeline_with_a_boundary_holds():
    assert_no_path(safe(), "summarizer")


def test_what_hands_quotes_on_behind_the_boundary_holds():
    pipeline = Pipeline()
    for name, part in {"boundary": Boundary(), "passing": Passing(), "summarizer": Summarizer()}.items():
        pipeline.add_component(name, part)
    pipeline.connect("boundary.quotes", "passing.quotes")
    pipeline.connect("passing.quotes", "summarizer.quotes")
    assert_no_path(pipeline, "summarizer")


def test_a_socket_that_no_super_component_shows_cannot_be_filled():
    pipeline = Pipeline()
    mapping = {"picks": ["boundary.picks"], "documents": ["boundary.documents"]}
    shown = {"summarizer.answer": "answer"}
    pipeline.add_component("answerer", SuperComponent(inner(leaky=True), mapping, shown))
    assert_no_path(pipeline, "answerer.summarizer")


def test_a_super_component_made_with_the_decorator_is_opened():
    @super_component
    class Answerer:
        def __init__(self):
            self.pipeline = inner(leaky=True)
            self.input_mapping = {"query": ["summarizer.query"], "picks": ["boundary.picks"]}
            self.output_mapping = {"summarizer.answer": "answer"}

    pipeline = Pipeline()
    pipeline.add_component("answerer", Answerer())
    with pytest.raises(AssertionError, match="'query' from the caller"):
        assert_no_path(pipeline, "answerer.summarizer")


def test_a_generator_of_haystack_behind_a_prompt_with_the_question_is_named():
    pipeline = Pipeline()
    pipeline.add_component("prompt", ChatPromptBuilder(variables=["query"]))
    pipeline.add_component("llm", MockChatGenerator("x"))
    pipeline.connect("prompt.prompt", "llm.messages")
    with pytest.raises(AssertionError, match="from the caller"):
        assert_no_path(pipeline, "llm")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nobody", "no component 'nobody': name one of filter"),
        ("boundary", "is a boundary itself"),
    ],
)
def test_a_target_that_cannot_be_proved_is_an_input_error(target, said):
    with pytest.raises(InputError, match=said):
        assert_no_path(safe(), target)


def test_a_super_component_is_no_target():
    pipeline = Pipeline()
    pipeline.add_component("answerer", SuperComponent(inner(leaky=False)))
    with pytest.raises(InputError, match=r"within it: answerer\.boundary, answerer\.summarizer"):
        assert_no_path(pipeline, "answerer")


def test_haystack_itself_refuses_a_question_for_the_summarizer():
    with pytest.raises(ValueError, match="query"):
        safe().run(
            {
                "filter": {"query": "q", "documents": [Document(content="x")]},
                "highlighter": {"query": "q"},
                "summarizer": {"query": "q"},
            }
        )
