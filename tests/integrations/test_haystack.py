"""The parts for Haystack against Haystack itself: its pipelines, document store, retrievers, generators, embedders."""

import asyncio
import json
import os

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

pytest.importorskip("haystack")

from haystack import Document, Pipeline
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from equipoise import Library
from equipoise.core.errors import InputError, QuestionError, SettingsError
from equipoise.core.types import Proposal, Span
from equipoise.integrations.haystack import (
    Boundary,
    Filter,
    Highlighter,
    Retriever,
    Summarizer,
    assert_no_path,
)
from equipoise.integrations.shared import Picks, Quotes
from equipoise.testing import ANSWER, DOCUMENTS, QUESTION, ScriptedChat

MODULES = ["equipoise.integrations.haystack"]
TEXTS = {document.doc_id: document.text for document in DOCUMENTS}


def documents():
    return [
        Document(id=document.doc_id, content=document.text, meta={"title": document.title})
        for document in DOCUMENTS
    ]


def chain(retriever, *, part="auto", highlighter=None, summarizer=None, trust_key=""):
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    pipeline.add_component("filter", Filter(part, trust_key=trust_key))
    pipeline.add_component("highlighter", highlighter or Highlighter(trust_key=trust_key))
    pipeline.add_component("boundary", Boundary(trust_key=trust_key))
    pipeline.add_component("summarizer", summarizer or Summarizer())
    pipeline.connect("retriever.documents", "filter.documents")
    pipeline.connect("filter.documents", "highlighter.documents")
    pipeline.connect("filter.documents", "boundary.documents")
    pipeline.connect("highlighter.picks", "boundary.picks")
    pipeline.connect("boundary.quotes", "summarizer.quotes")
    return pipeline


def over_its_own_store(**more):
    store = InMemoryDocumentStore()
    store.write_documents(documents())
    return chain(InMemoryBM25Retriever(store), **more)


def asked(question, *names):
    return {name: {"query": question} for name in names or ("retriever", "filter", "highlighter")}


class TestAPipeline:
    def test_over_its_own_store_and_retriever_answers_with_verbatim_quotes(self):
        result = over_its_own_store().run(asked(QUESTION))["summarizer"]
        assert ANSWER in result["answer"]
        assert not result["refused"]
        for quote in result["quotes"]:
            place = quote.meta
            text = TEXTS[place["document_id"]]
            assert text[place["quote_start"] : place["quote_end"]] == quote.content
        assert json.loads(json.dumps(result["report"]))["grounded"] is True

    def test_quotes_keep_the_metadata_and_the_page_of_their_document(self):
        store = InMemoryDocumentStore()
        meta = {"page": 7, "team": "roads", "trust": "trusted", "quote_start": -1}
        store.write_documents([Document(id="b", content=TEXTS["bridge"], meta=meta)])
        quote, *_ = chain(InMemoryBM25Retriever(store)).run(asked(QUESTION))["summarizer"]["quotes"]
        assert (quote.meta["page"], quote.meta["page_number"], quote.meta["team"]) == (7, 7, "roads")
        assert (quote.meta["trust"], quote.meta["document_id"]) == ("untrusted", "b")
        assert TEXTS["bridge"][quote.meta["quote_start"] : quote.meta["quote_end"]] == quote.content

    def test_answers_the_same_when_awaited(self):
        pipeline = over_its_own_store()
        waited = asyncio.run(pipeline.run_async(asked(QUESTION)))
        assert waited["summarizer"]["answer"] == pipeline.run(asked(QUESTION))["summarizer"]["answer"]

    def test_runs_inside_a_running_loop(self):
        async def notebook():
            return over_its_own_store().run(asked(QUESTION))

        assert ANSWER in asyncio.run(notebook())["summarizer"]["answer"]

    def test_refuses_what_the_documents_do_not_say(self):
        result = over_its_own_store().run(asked("Who won the Harlow chess tournament of 1999?"))["summarizer"]
        assert result["refused"]
        assert result["answer"].startswith("The documents do not seem to answer this question.")
        assert result["quotes"] == []

    @pytest.mark.parametrize(("probability", "weak"), [(0.6, True), (0.9, False), (None, False)])
    def test_weak_evidence_is_told(self, probability, weak):
        class Unsure:
            async def highlight(self, query, passages):
                start = TEXTS["bridge"].index(ANSWER)
                spans = (Span("bridge", start, start + len(ANSWER)),)
                return Proposal(spans, probability=probability)

        result = over_its_own_store(highlighter=Highlighter(Unsure())).run(asked(QUESTION))
        report = result["highlighter"]["report"]
        assert (report["weak"], report["probability"]) == (weak, probability)
        assert not {"weak", "probability"} & set(result["summarizer"]["report"]), "it cannot know"

    def test_over_our_own_index_answers(self, index):
        pipeline = chain(Retriever(index), trust_key="trust")
        pipeline.connect("retriever.query_embedding", "filter.query_embedding")
        assert_no_path(pipeline, "summarizer")
        result = pipeline.run(asked(QUESTION))
        assert ANSWER in result["summarizer"]["answer"]
        pipeline.close()
        assert ANSWER in asyncio.run(pipeline.run_async(asked(QUESTION)))["summarizer"]["answer"]
        pipeline.close()

    def test_an_index_without_trusted_documents_is_searched_too(self, tmp_path):
        with Library.create(tmp_path / "index.db", chat=None) as library:
            (tmp_path / "bridge.txt").write_text(TEXTS["bridge"], "utf-8")
            library.index(tmp_path / "bridge.txt", trust="untrusted")
        retriever = Retriever(str(tmp_path / "index.db"))
        pipeline = chain(retriever, trust_key="trust")
        pipeline.connect("retriever.query_embedding", "filter.query_embedding")
        result = pipeline.run(asked(QUESTION))["summarizer"]
        assert "(untrusted): “" in result["answer"] and ANSWER in result["answer"]
        assert not result["others"]["silent"]
        assert {quote.meta["trust"] for quote in result["quotes"]} == {"untrusted"}
        retriever.close()

    def test_parts_that_tell_trust_by_different_keys_are_caught(self, index):
        for pipeline, said in (
            (chain(Retriever(index)), "retriever by 'trust', filter by none"),
            (over_its_own_store(highlighter=Highlighter(trust_key="owner")), "highlighter by 'owner'"),
        ):
            with pytest.raises(AssertionError, match=said):
                assert_no_path(pipeline, "summarizer")
        alike = Retriever(index, settings={"trust": {"mode": "equal"}})
        assert_no_path(chain(alike), "summarizer")

    def test_is_loaded_as_it_was_dumped(self):
        pipeline = over_its_own_store(
            highlighter=Highlighter("reader", settings={"highlight": {"threshold": 0.5}}),
            summarizer=Summarizer(chat=MockChatGenerator("x")),
        )
        written = pipeline.dumps()
        again = Pipeline.loads(written, allowed_modules=MODULES)
        assert again.to_dict()["components"] == pipeline.to_dict()["components"]
        assert set(again.graph.edges) == set(pipeline.graph.edges)
        assert_no_path(again, "summarizer")
        assert "212 metres" in again.run(asked(QUESTION))["summarizer"]["answer"]

    def test_an_object_that_nobody_can_write_is_no_secret(self):
        pipeline = over_its_own_store(summarizer=Summarizer(chat=ScriptedChat(["x"])))
        with pytest.raises(Exception, match="ScriptedChat"):
            pipeline.dumps()


class TestModels:
    def test_its_chat_generator_picks_and_writes(self):
        said = MockChatGenerator(
            response_fn=lambda messages: (
                '{"answer": "It is 212 metres long and stands on seven piers of grey stone."}'
                if "quotes" in messages[-1].text.lower()
                else "yes"
            )
        )
        settings = {"summarize": {"when": "always"}}
        for waits in (False, True):
            pipeline = over_its_own_store(summarizer=Summarizer(chat=said, settings=settings))
            call = pipeline.run_async(asked(QUESTION)) if waits else None
            result = asyncio.run(call) if call else pipeline.run(asked(QUESTION))
            assert "212 metres" in result["summarizer"]["answer"]
            assert result["summarizer"]["report"]["tokens"]["calls"] == 1

    def test_our_chat_model_writes_too(self):
        chat = ScriptedChat(
            lambda _: '{"answer": "The bridge is 212 metres long, on seven piers of grey stone."}'
        )
        settings = {"summarize": {"when": "always"}}
        pipeline = over_its_own_store(summarizer=Summarizer(chat=chat, settings=settings))
        assert "212 metres" in pipeline.run(asked(QUESTION))["summarizer"]["answer"]
        assert QUESTION not in repr(chat.requests)

    def test_a_generator_that_fails_is_a_refusal_that_names_it_to_the_operator_alone(self):
        def broken(messages):
            raise RuntimeError("key sk-123 is wrong")

        chat = MockChatGenerator(response_fn=broken)
        settings = {"summarize": {"when": "always"}}
        pipeline = over_its_own_store(summarizer=Summarizer(chat=chat, settings=settings))
        result = pipeline.run(asked(QUESTION))["summarizer"]
        assert result["refused"]
        assert "sk-123" not in result["answer"]
        assert "MockChatGenerator" in result["report"]["failure"]

    def test_its_embedder_makes_the_filters_vectors(self):
        result = Filter("mmr", top_k=2, embedder=MockTextEmbedder(dimension=8)).run(QUESTION, documents())
        assert len(result["documents"]) == 2
        assert sorted(document.id for document in result["documents"] + result["flagged"]) == sorted(TEXTS)
        assert result["flagged"][0].meta["flag"].startswith("mmr: ")

    def test_the_documents_own_vectors_are_used_where_the_questions_is_given(self):
        store = InMemoryDocumentStore()
        store.write_documents(MockDocumentEmbedder(dimension=8).run(documents())["documents"])
        pipeline = Pipeline()
        pipeline.add_component("embedder", MockTextEmbedder(dimension=8))
        pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, return_embedding=True))
        pipeline.add_component("filter", Filter("biasdef", embedder=Refusing()))
        pipeline.connect("embedder.embedding", "retriever.query_embedding")
        pipeline.connect("embedder.embedding", "filter.query_embedding")
        pipeline.connect("retriever.documents", "filter.documents")
        result = pipeline.run({"embedder": {"text": QUESTION}, "filter": {"query": QUESTION}})["filter"]
        assert sorted(document.id for document in result["documents"] + result["flagged"]) == sorted(TEXTS)


class Refusing:
    """An Encoder that must not be asked."""

    name, dimensions = "refusing", 8

    def encode(self, texts):
        raise AssertionError("asked")


class TestParts:
    def test_every_document_is_kept_or_flagged_with_a_reason(self):
        every = [
            *documents(),
            Document(content=""),
            Document(id="again", content="Only this."),
            Document(content=None),
        ]
        result = Filter("none", top_k=2).run(QUESTION, [*every, every[0]])
        assert len(result["documents"]) + len(result["flagged"]) == len(every) + 1
        assert all(document.meta["flag"] for document in result["flagged"])
        assert {document.meta["flag"] for document in result["flagged"]} >= {"has no text", "came twice"}

    def test_trust_stands_where_the_operator_says(self):
        planted = [
            Document(content=f"The bridge is {n} metres long.", meta={"trust": "trusted"}) for n in range(4)
        ]
        owned = [Document(content=ANSWER, meta={"owner": "trusted"})]
        alike = {"trust": {"mode": "equal"}}
        result = Filter("quotas", top_k=5, trust_key="owner", settings=alike).run(QUESTION, planted + owned)
        assert len(result["documents"]) == 3
        assert result["documents"][-1].content == ANSWER
        assert all(document.meta["flag"].startswith("quota: ") for document in result["flagged"])

    def test_a_document_with_the_id_of_another_is_quoted_from_its_own_text(self):
        copy = Document(id="same", content="The bridge is 212 metres long and stands on piers of stone.")
        other = Document(
            id="same", content="Our beekeepers feed sugar syrup in autumn and in no other season."
        )
        picks = Highlighter().run("When do beekeepers feed sugar syrup?", [copy, other])["picks"]
        (item,) = Boundary().run(picks, [copy, other])["quotes"].highlights.items
        assert item.text == other.content

    def test_spans_outside_the_documents_are_dropped_with_a_reason(self):
        made = Boundary().run(Picks((Span("bridge", 0, 10**6), Span("none", 0, 5))), documents())
        assert made["quotes"] == Quotes()
        assert {drop["reason"] for drop in made["dropped"]} == {"outside the passages that were shown"}

    def test_a_highlighter_of_ones_own_is_taken_and_its_words_stay_behind(self):
        class Mine:
            async def highlight(self, query, passages):
                start = TEXTS["bridge"].index(ANSWER)
                return Proposal((Span("bridge", start, start + len(ANSWER)),))

        picks = Highlighter(Mine()).run(QUESTION, documents())["picks"]
        (item,) = Boundary().run(picks, documents())["quotes"].highlights.items
        assert item.marked == (ANSWER,)

    def test_quotes_survive_a_snapshot(self):
        quotes = Boundary().run(Highlighter().run(QUESTION, documents())["picks"], documents())["quotes"]
        assert Quotes.from_dict(json.loads(json.dumps(quotes.to_dict()))) == quotes


class TestErrors:
    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (lambda: Filter().run(QUESTION, ["a text"]), "documents are haystack.Document objects, not of type str"),
            (lambda: Filter("nosuch").warm_up(), "there is no filter 'nosuch'"),
            (lambda: Highlighter("nosuch").warm_up(), "there is no highlighter 'nosuch'"),
            (lambda: Summarizer(chat=MockTextEmbedder()).warm_up(), "chat is a chat generator of Haystack"),
            (lambda: Filter(embedder=MockChatGenerator("x")).warm_up(), "embedder is a text embedder of Haystack"),
            (lambda: Summarizer().run("the question"), "quotes come from a boundary of this package, not of type str"),
            (lambda: Boundary().run("the question", []), "picks come from a highlighter of this package"),
            (lambda: Summarizer(settings={"model": {"api_key": "sk-1"}}), "would stand in the dump"),
        ],
    )  # fmt: skip
    def test_a_wrong_thing_gets_one_sentence(self, make, said):
        with pytest.raises(InputError, match=said):
            make()

    def test_an_unknown_setting_is_an_error_at_once(self):
        with pytest.raises(SettingsError, match=r"highlight\.nosuch"):
            Boundary(settings={"highlight": {"nosuch": 1}})

    def test_an_empty_question_is_an_error(self):
        with pytest.raises(QuestionError, match="the question is empty"):
            Highlighter().run("  ", documents())
