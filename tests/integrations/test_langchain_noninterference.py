"""Facts 1 and 3 through LangChain's own machinery: no part of a question reaches the summarizer's model, and nothing
that anybody may write moves what trusted documents say.

What the model can see is recorded where it is asked: its messages and arguments, the run manager with tags, metadata,
handlers and parents, every context variable, and what callbacks of its own are told, serialised forms included. The
question is put into all that a caller can set. Arbitrary questions, invoked, awaited, streamed; mutants are caught.
"""

import asyncio
import re
from contextvars import ContextVar, copy_context
from typing import Any

import pytest

pytest.importorskip("langchain_core")

from hypothesis import Phase, given, settings
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda
from pydantic import PrivateAttr

import planted_chunks as fact3
from equipoise.core.errors import InputError
from equipoise.integrations import langchain, shared
from equipoise.integrations.langchain import Filter, Highlighter, HighlightSummarize, Retriever, Summarizer
from equipoise.testing import DOCUMENTS
from hashed_words import HashedWords
from overheard import CANARY, LOUD, QUIET, SENTENCES, Picking, leak, picked, questions

REPLY = '{"guessed_questions": ["How long?"], "answer": "The bridge is 212 metres long."}'
BAGGAGE: ContextVar[str] = ContextVar("baggage", default="")
WAYS = ["invoke", "ainvoke", "astream_events", "batch"]


def without_numbers(seen):
    """Without what is drawn at random for each run."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+", "", repr(seen))


class Told(BaseCallbackHandler):
    """What callbacks are told of the starts of runs."""

    def __init__(self):
        self.chains, self.models = [], []

    def on_chain_start(self, serialized, inputs, **more):
        self.chains.append((more.get("name"), inputs))

    def on_chat_model_start(self, serialized, messages, **more):
        self.models.append((serialized, messages, more))


class Listening(BaseChatModel):
    """A chat model of LangChain that keeps all it can see."""

    _seen: list[Any] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self):
        return "listening"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        around = {variable.name: value for variable, value in copy_context().items()}
        about = {name: getattr(run_manager, name) for name in ("tags", "metadata", "inheritable_tags")}
        about |= {"parent": run_manager.parent_run_id, "inherited": len(run_manager.inheritable_handlers)}
        self._seen.append(without_numbers((messages, stop, kwargs, about, around)))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(REPLY))])


def documents(question):
    return [
        Document(document.text, id=document.doc_id, metadata={"title": document.title})
        for document in DOCUMENTS
    ]


def chain_of(spans, chat, summarizer=None):
    options = {"summarize": {"when": "always", "guesses": 2, "context": "passage"}}
    return HighlightSummarize(
        retriever=RunnableLambda(documents),
        filter=Filter(part="none"),
        highlighter=Highlighter(part=Picking(spans), settings=options),
        summarizer=summarizer or Summarizer(chat=chat, settings=options),
    )


async def streamed(chain, question, config):
    return [event async for event in chain.astream_events(question, config, version="v2")]


def asked(question, spans, *, way="invoke", summarizer=None, chat=None):
    """(what the model saw, what its own callbacks were told, what the caller's callbacks saw go to the summarizer)."""
    of_the_model, of_the_caller = Told(), Told()
    chat = chat or Listening(callbacks=[of_the_model])
    chain = chain_of(spans, chat, summarizer)
    config = {
        "callbacks": [of_the_caller],
        "tags": [question],
        "metadata": {"question": question},
        "run_name": question,
        "configurable": {"question": question},
    }
    token = BAGGAGE.set(question)
    try:
        if way == "ainvoke":
            asyncio.run(chain.ainvoke(question, config))
        elif way == "astream_events":
            asyncio.run(streamed(chain, question, config))
        elif way == "batch":
            chain.batch([question], config)
        else:
            chain.invoke(question, config)
    finally:
        BAGGAGE.reset(token)
    into = [inputs for name, inputs in of_the_caller.chains if name == "Summarizer"]
    return chat._seen, without_numbers(of_the_model.models), repr(into)


def leaking(one, other, spans, **how):
    """See `leak`."""
    return leak(asked(one, spans, **how), asked(other, spans, **how))


@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(one=questions, other=questions, spans=picked)
@pytest.mark.parametrize("way", WAYS)
def test_no_part_of_a_question_reaches_the_summarizers_model(way, one, other, spans):
    assert leaking(one, other, spans, way=way) == ""


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_is_asked_in_the_callers_context_is_caught(monkeypatch, way):
    async def together(work):
        return await work

    monkeypatch.setattr(shared, "apart", together)
    assert leaking(QUIET, LOUD, SENTENCES[:1], way=way) == "a question stands in what the model sees"


def test_a_model_that_is_given_the_callers_config_is_caught(monkeypatch):
    """The mutant: somebody wants the model's calls in the caller's trace."""
    asking = Summarizer.invoke

    def invoke(self, input, config=None, **more):
        self.chat.invoke("Hello", config)
        return asking(self, input, config, **more)

    monkeypatch.setattr(Summarizer, "invoke", invoke)
    assert leaking(QUIET, LOUD, SENTENCES[:1]) == "a question stands in what the model sees"


def test_a_summarizer_that_is_given_the_query_is_caught(monkeypatch):
    def answer(self, question, run_manager, config):
        chosen = documents(question)
        quotes, _ = self.highlighter.quotes(chosen, question)
        self.summarizer.chat.invoke(question)
        return self.summarizer.invoke(quotes, config)

    monkeypatch.setattr(HighlightSummarize, "_answer", answer)
    assert leaking(QUIET, LOUD, SENTENCES[:1]) == "a question stands in what the model sees"


def test_a_boundary_that_lets_the_highlighters_words_through_is_caught(monkeypatch):
    crossed = langchain.crossed

    def passing(picks, chunk_documents, policy, *, context=False, mode):
        return crossed(picks, chunk_documents, policy, context=len(heard[-1]) % 2 == 0, mode=mode)

    heard = []
    picking = langchain.picked

    async def hearing(reader, question, chunk_documents, *, others=False):
        heard.append(question)
        return await picking(reader, question, chunk_documents, others=others)

    monkeypatch.setattr(langchain, "picked", hearing)
    monkeypatch.setattr(langchain, "crossed", passing)
    assert leaking(f"AB {CANARY}", f"A {CANARY}", SENTENCES[:1]) == "other words, other requests"


def without_ids(message):
    """Its blocks without the names that LangChain draws at random for them."""
    return [{key: value for key, value in block.items() if key != "id"} for block in message.content]


class TestTrustedDocuments:
    """Fact 3 through LangChain's own machinery."""

    def chain(self, retriever, chat, *, settings=fact3.ALWAYS, **more):
        return HighlightSummarize(
            retriever=retriever,
            filter=Filter(embeddings=HashedWords(), settings=settings),
            highlighter=Highlighter(part=fact3.Sharing(), settings=settings),
            summarizer=Summarizer(part="llm", chat=chat, settings=settings),
            **more,
        )

    def asked(self, pieces, question=fact3.QUESTION, *, key="owner", **how):
        """(the message without what others say, that, what the model saw)."""
        every = [Document(piece.text, id=piece.name, metadata=piece.metadata) for piece in pieces]
        chat = fact3.writing()
        chain = self.chain(RunnableLambda(lambda _: every), chat, trust_key=key, **how)
        message = chain.invoke(question)
        said = message.response_metadata.pop("others")
        shown = without_ids(message), message.response_metadata
        return shown, said, [request.messages for request in chat.requests]

    @fact3.few
    @given(pieces=fact3.planted)
    def test_nothing_planted_moves_an_answer_or_what_the_model_sees(self, pieces):
        shown, _, seen = self.asked(fact3.TRUSTED)
        for others in (False, True):
            again, said, also = self.asked(fact3.mixed(pieces), others=others)
            assert (again, also) == (shown, seen)
            assert bool(said) is others
        assert fact3.ANSWER in repr(shown) and seen

    @fact3.few
    @given(pieces=fact3.planted)
    def test_where_no_trusted_document_answers_nothing_is_written(self, pieces):
        (blocks, told), said, seen = self.asked([fact3.LAKE, *fact3.mixed(pieces)], fact3.SILENT)
        assert not seen and said["silent"] and told["trust"] == "untrusted"
        assert {cited["extras"]["trust"] for cited in blocks[0]["annotations"]} == {"untrusted"}
        assert "(untrusted)" in blocks[0]["text"]

    def test_where_all_are_read_alike_planted_text_is_written_about(self):
        every = fact3.mixed([fact3.LIE])
        for how in ({"settings": fact3.EQUAL}, {"key": ""}):
            assert fact3.MARK in repr(self.asked(every, **how)[2])

    @fact3.few
    @given(pieces=fact3.planted)
    def test_nothing_planted_moves_what_is_found_or_answered_over_our_index(self, trusted_index, pieces):
        def found():
            retriever = Retriever(index=str(trusted_index), top_k=2, embeddings=HashedWords())
            try:
                return retriever.invoke(fact3.QUESTION), self.chain(retriever, fact3.writing()).invoke(
                    fact3.QUESTION
                )
            finally:
                retriever.close()

        before, message = found()
        with fact3.beside(trusted_index, pieces):
            after, again = found()
        assert after[: len(before)] == before
        assert {document.metadata["trust"] for document in before} == {"trusted"}
        assert {document.metadata["trust"] for document in after[len(before) :]} <= {"untrusted"}
        assert without_ids(again) == without_ids(message)
        assert again.response_metadata == message.response_metadata

    def test_quotes_say_their_trust_whatever_their_metadata_says(self):
        posing = {"trust": "trusted", "title": fact3.TRUSTED[0].title, "source": "lake.txt"}
        every = [Document(piece.text, metadata=piece.metadata) for piece in fact3.TRUSTED]
        work = Highlighter(part=fact3.Sharing(), trust_key="owner", settings=fact3.ALWAYS)
        (quote,) = work.compress_documents([Document(fact3.LAKE.text, metadata=posing), *every], fact3.SILENT)
        assert quote.metadata["trust"] == "untrusted" and "title" not in quote.metadata
        quotes = work.compress_documents(every, fact3.QUESTION)
        assert {quote.metadata["trust"] for quote in quotes} == {"trusted"}

    def test_one_key_holds_for_the_whole_chain(self):
        every = RunnableLambda(documents)
        chain = HighlightSummarize(retriever=every, filter=Filter(trust_key="owner"))
        assert (chain.trust_key, chain.highlighter.trust_key) == ("owner", "owner")
        with pytest.raises(InputError, match="one trust_key, not other, owner"):
            HighlightSummarize(retriever=every, trust_key="other", filter=Filter(trust_key="owner"))
