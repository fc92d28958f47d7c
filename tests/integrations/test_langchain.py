"""The parts for LangChain against LangChain itself: its documents, vector store, chat models, embeddings, runnables."""

import asyncio

import pytest

pytest.importorskip("langchain_core")

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from equipoise.core.errors import InputError, QuestionError, SettingsError
from equipoise.core.types import Dropped, Proposal, Span
from equipoise.integrations.langchain import (
    EncoderEmbeddings,
    Filter,
    Highlighter,
    HighlightSummarize,
    Retriever,
    Summarizer,
)
from equipoise.integrations.shared import Quotes
from equipoise.testing import ANSWER, DOCUMENTS, QUESTION, ScriptedChat

ALWAYS = {"summarize": {"when": "always"}}
SAID = '{"answer": "The bridge is 212 metres long and stands on seven piers of grey stone."}'


def documents():
    return [
        Document(
            document.text, id=document.doc_id, metadata={"source": document.source, "title": document.title}
        )
        for document in DOCUMENTS
    ]


def nameless():
    return [Document(document.page_content) for document in documents()]


every = RunnableLambda(lambda question: documents())


def block_of(message):
    (block,) = message.content_blocks
    return block


class TestAnswers:
    @pytest.mark.parametrize("waits", [False, True])
    def test_an_answer_has_citations_that_point_into_it_and_into_a_document(self, waits):
        chain = HighlightSummarize(retriever=every)
        message = asyncio.run(chain.ainvoke(QUESTION)) if waits else chain.invoke(QUESTION)
        assert isinstance(message, AIMessage)
        block = block_of(message)
        assert ANSWER in block["text"]
        assert block["annotations"]
        texts = {document.id: document.page_content for document in documents()}
        for cited in block["annotations"]:
            assert cited["type"] == "citation"
            place = cited["extras"]
            text = texts[place["document_id"]]
            assert text[place["quote_start"] : place["quote_end"]] == cited["cited_text"]
            assert block["text"][cited["start_index"] : cited["end_index"]] in text
            assert cited["url"] == "bridge.txt"
            assert cited["title"] == "The Harlow bridge"
        assert message.response_metadata["grounded"] is True

    def test_what_the_documents_do_not_say_is_refused(self):
        message = HighlightSummarize(retriever=every).invoke("Who won the Harlow chess tournament of 1999?")
        assert message.response_metadata["refused"]
        assert block_of(message)["text"].startswith("The documents do not seem to answer this question.")
        assert not block_of(message).get("annotations")

    @pytest.mark.parametrize(("probability", "weak"), [(0.6, True), (0.9, False), (None, False)])
    def test_weak_evidence_is_told(self, probability, weak):
        class Unsure:
            async def highlight(self, query, passages):
                text = documents()[0].page_content
                start = text.index(ANSWER)
                return Proposal((Span("bridge", start, start + len(ANSWER)),), probability=probability)

        message = HighlightSummarize(retriever=every, highlighter=Highlighter(part=Unsure())).invoke(QUESTION)
        told = message.response_metadata
        assert (told["weak"], told["report"]["probability"]) == (weak, probability)

    def test_over_its_own_vector_store(self):
        store = InMemoryVectorStore(EncoderEmbeddings())
        store.add_documents(
            [Document(document.page_content, metadata=document.metadata) for document in documents()]
        )
        message = HighlightSummarize(retriever=store.as_retriever()).invoke(QUESTION)
        assert ANSWER in message.text

    @pytest.mark.parametrize("waits", [False, True])
    def test_over_our_own_index(self, index, waits):
        retriever = Retriever(index=index, top_k=3)
        results = asyncio.run(retriever.ainvoke(QUESTION)) if waits else retriever.invoke(QUESTION)
        assert results[0].metadata["trust"] == "trusted"
        assert 0 < len(results) <= 3
        narrow = {"where": "type = none"}
        nothing = (
            asyncio.run(retriever.ainvoke(QUESTION, **narrow))
            if waits
            else retriever.invoke(QUESTION, **narrow)
        )
        assert nothing == []
        with pytest.raises(TypeError, match="filter"):
            retriever.invoke(QUESTION, filter="type = none")
        chain = HighlightSummarize(retriever=retriever, filter=Filter(trust_key="trust"))
        message = asyncio.run(chain.ainvoke(QUESTION)) if waits else chain.invoke(QUESTION)
        assert ANSWER in message.text
        retriever.close()

    def test_in_a_chain_of_its_own_making_in_a_batch_and_as_a_stream(self):
        chain = HighlightSummarize(retriever=every) | RunnableLambda(lambda message: message.text)
        assert [ANSWER in text for text in chain.batch([QUESTION, QUESTION])] == [True, True]
        assert ANSWER in "".join(chain.stream(QUESTION))

    def test_inside_a_running_loop(self):
        async def notebook():
            return HighlightSummarize(retriever=every).invoke(QUESTION)

        assert ANSWER in asyncio.run(notebook()).text


class TestModels:
    @pytest.mark.parametrize("waits", [False, True])
    @pytest.mark.parametrize(
        "make",
        [
            lambda: FakeListChatModel(responses=[SAID]),
            lambda: GenericFakeChatModel(messages=iter([AIMessage(SAID)])),
            lambda: ScriptedChat([SAID]),
        ],
        ids=["a list", "messages", "ours"],
    )
    def test_chat_models_of_theirs_and_ours_write(self, make, waits):
        chain = HighlightSummarize(retriever=every, summarizer=Summarizer(chat=make(), settings=ALWAYS))
        message = asyncio.run(chain.ainvoke(QUESTION)) if waits else chain.invoke(QUESTION)
        assert "212 metres" in message.text
        assert message.response_metadata["grounded"] is True

    def test_a_chat_model_of_theirs_picks(self):
        picking = FakeListChatModel(responses=["yes", '{"answerable": true, "picks": [2]}'])
        results = Highlighter(chat=picking).compress_documents(documents(), QUESTION)
        assert all(document.page_content in documents()[0].page_content for document in results)

    def test_a_model_that_fails_is_a_refusal(self):
        chat = GenericFakeChatModel(messages=iter([]))
        summarizer = Summarizer(chat=chat, settings=ALWAYS)
        message = HighlightSummarize(retriever=every, summarizer=summarizer).invoke(QUESTION)
        assert message.response_metadata["refused"]
        assert "failed" in message.response_metadata["report"]["failure"]

    def test_embeddings_of_theirs_make_the_filters_vectors(self):
        judge = Filter(part="mmr", top_k=2, embeddings=DeterministicFakeEmbedding(size=16))
        kept, flagged = judge.sift(documents(), QUESTION)
        assert len(kept) == 2
        assert flagged[0].metadata["flag"].startswith("mmr: ")


class TestParts:
    @pytest.mark.parametrize("make", [documents, nameless], ids=["with ids", "without ids"])
    @pytest.mark.parametrize("waits", [False, True])
    def test_quotes_are_verbatim_and_say_where_they_stand(self, make, waits):
        given = make()
        work = Highlighter()
        results = (
            asyncio.run(work.acompress_documents(given, QUESTION))
            if waits
            else work.compress_documents(given, QUESTION)
        )
        assert results
        for quote in results:
            start, end = quote.metadata["quote_start"], quote.metadata["quote_end"]
            assert quote.page_content == given[0].page_content[start:end]
            assert quote.id == given[0].id

    def test_every_document_is_kept_or_flagged(self):
        given = [*documents(), Document(""), documents()[0]]
        for kept, flagged in (
            Filter(part="none", top_k=2).sift(given, QUESTION),
            asyncio.run(Filter(part="none", top_k=2).asift(given, QUESTION)),
        ):
            assert len(kept) + len(flagged) == len(given)
            assert {document.metadata["flag"] for document in flagged} >= {"has no text", "came twice"}

    def test_one_id_for_several_texts_quotes_each_from_its_own(self):
        texts = (
            "The bridge is 212 metres long and stands on piers.",
            "Our beekeepers feed sugar syrup in autumn only.",
        )
        given = [Document(text, id="same") for text in texts]
        (document,) = Highlighter().compress_documents(given, "When do beekeepers feed sugar syrup?")
        assert document.page_content == texts[1]

    def test_what_a_highlighter_wrote_stays_behind(self):
        class Mine:
            async def highlight(self, query, passages):
                bad = (Span("bridge", 5, 10**6), Span("nowhere", 0, 5))
                return Proposal(bad, dropped=(Dropped("not found", quotation="my own words"),))

        quotes, dropped = Highlighter(part=Mine()).quotes(documents(), QUESTION)
        assert quotes == Quotes()
        assert "my own words" in repr(dropped)
        assert len(dropped) == 3


class TestErrors:
    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (lambda: Filter().compress_documents(["a text"], QUESTION), "LangChain Document objects, not of type str"),
            (lambda: Filter(part="nosuch").compress_documents([], QUESTION), "there is no filter 'nosuch'"),
            (lambda: Summarizer(chat=RunnableLambda(str)).invoke(Quotes()), "pass the model itself"),
            (lambda: Filter(embeddings=7).compress_documents([], QUESTION), "embeddings are Embeddings of LangChain"),
            (lambda: Summarizer().invoke("the question"), "quotes come from a boundary of this package"),
        ],
    )  # fmt: skip
    def test_a_wrong_thing_gets_one_sentence(self, make, said):
        with pytest.raises(InputError, match=said):
            make()

    @pytest.mark.parametrize(
        ("make", "name"),
        [
            (lambda: Retriever(index="index.db", filter="team = it"), "filter"),
            (lambda: Filter(topk=3), "topk"),
            (lambda: Highlighter(trustkey="owner"), "trustkey"),
            (lambda: Summarizer(trust_key="owner"), "trust_key"),
            (lambda: HighlightSummarize(retriever=every, trustkey="owner"), "trustkey"),
        ],
    )
    def test_a_misspelt_argument_is_not_lost(self, make, name):
        with pytest.raises(ValueError, match=rf"{name}\n +Extra inputs are not permitted"):
            make()

    def test_an_unknown_setting(self):
        with pytest.raises(SettingsError, match=r"highlight\.nosuch"):
            Highlighter(settings={"highlight": {"nosuch": 1}}).compress_documents(documents(), QUESTION)

    def test_an_empty_question(self):
        with pytest.raises(QuestionError, match="the question is empty"):
            HighlightSummarize(retriever=every).invoke(" ")
