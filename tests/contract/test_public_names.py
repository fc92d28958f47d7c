"""What is in `equipoise` and `equipoise.testing` is a promise: there, documented and annotated throughout."""

import asyncio
import inspect
from enum import EnumType

import pytest

import equipoise
from equipoise import Answer, Document, HighlightSummarize, Library, Refusal, Trust, testing
from equipoise.core import protocols
from equipoise.core.errors import CorpusError
from equipoise.core.protocols import Pipeline
from equipoise.rag.filters import NoFilter
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.retrieval import HybridRetriever
from equipoise.rag.summarizers.extractive import ExtractiveSummarizer
from equipoise.testing import ANSWER, DOCUMENTS, QUESTION, check_highlighter

POINTS = [
    name
    for name, value in vars(protocols).items()
    if inspect.isclass(value) and getattr(value, "_is_protocol", 0)
]
PUBLIC = {
    **{f"equipoise.{name}": getattr(equipoise, name) for name in equipoise.__all__},
    **{f"testing.{name}": getattr(testing, name) for name in testing.__all__},
    **{f"protocols.{name}": getattr(protocols, name) for name in POINTS if name != "Protocol"},
}
CODE = {name: value for name, value in PUBLIC.items() if callable(value)}
PROMISED = {
    "Answer", "Document", "EquipoiseError", "Highlight", "HighlightSummarize", "Highlights", "Library", "Passage",
    "QuestionError", "Reason", "Refusal", "Settings", "Span", "Trust", "ask", "highlight",
}  # fmt: skip


def of_ours(value):
    """The public functions that a class of this package defines itself, by name."""
    for name, member in vars(value).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        function = function.fget if isinstance(function, property) else function
        if inspect.isfunction(function) and not name.startswith("_"):
            yield name, function


def functions(value):
    if inspect.isclass(value):
        return dict(of_ours(value))
    return {value.__name__: inspect.unwrap(value)}


def test_a_name_that_was_promised_stays():
    assert set(equipoise.__all__) == PROMISED


@pytest.mark.parametrize("name", CODE)
def test_every_public_name_says_what_it_is(name):
    value = CODE[name]
    said = inspect.getdoc(value) if not isinstance(value, EnumType) else value.__doc__
    assert said and not said.startswith(f"{value.__name__}("), "a docstring that Python made is none"
    for method, function in functions(value).items():
        assert function.__doc__ or method in ("name", "dimensions"), f"{name}.{method}"


@pytest.mark.parametrize("name", CODE)
def test_every_public_signature_is_annotated(name):
    for method, function in functions(CODE[name]).items():
        signature = inspect.signature(function)
        bare = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
        ]
        assert not bare, f"{name}.{method}: {bare}"
        assert signature.return_annotation is not signature.empty, f"{name}.{method}"


def test_an_unknown_name_is_an_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = equipoise.nonsense


@pytest.fixture
def library(tmp_path):
    with Library.create(tmp_path / "index.db", chat=None) as made:
        assert made.add(DOCUMENTS) == 3
        yield made


def test_documents_in_typed_results_out_sync_and_async(library):
    for answer in (library.ask(QUESTION), asyncio.run(library.aask(QUESTION))):
        assert isinstance(answer, Answer) and ANSWER in answer.text
        assert answer.to_dict()["highlights"][0]["doc_id"] == "bridge"
    refused = library.ask("How much is the metro in Paris?")
    assert isinstance(refused, Refusal) and refused.to_dict()["refused"]
    first = library.search(QUESTION).passages[0]
    assert first == asyncio.run(library.asearch(QUESTION)).passages[0]
    assert isinstance(first, equipoise.Passage)


def test_a_document_is_added_again_once_it_was_removed(library):
    with pytest.raises(CorpusError, match="remove"):
        library.add(DOCUMENTS[:1])
    assert library.remove("bridge.txt") == 1
    library.add([Document("bridge", "The bridge is 99 metres long.", "bridge.txt", trust=Trust.UNTRUSTED)])
    assert [document.trust for document in library.documents() if document.doc_id == "bridge"] == [
        Trust.UNTRUSTED
    ]
    assert len(library.documents()) == 3


def test_parts_are_objects(library):
    parts = library.components
    made = HighlightSummarize(
        retriever=HybridRetriever(library.store.partition(Trust.TRUSTED), parts.encoder),
        filter=NoFilter(),
        highlighter=ReaderHighlighter.from_components(parts),
        summarizer=ExtractiveSummarizer(),
    )
    assert isinstance(made, Pipeline)
    assert ANSWER in asyncio.run(made.ask(QUESTION)).text


def test_a_part_from_outside_is_checked_in_three_lines(library):
    check_highlighter(ReaderHighlighter.from_components(library.components))
    with pytest.raises(AssertionError, match="has the methods of Highlighter"):
        check_highlighter(object())
