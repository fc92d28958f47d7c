"""Fact 1 through LangChain's own machinery: no part of a question reaches the summarizer's model.

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

from equipoise.integrations import langchain, shared
from equipoise.integrations.langchain import Filter, Highlighter, HighlightSummarize, Summarizer
from equipoise.testing import DOCUMENTS
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

    def passing(picks, chunk_documents, policy, *, context=False):
        return crossed(picks, chunk_documents, policy, context=len(heard[-1]) % 2 == 0)

    heard = []
    proposed = langchain.proposed

    async def hearing(highlighter, question, chunk_documents):
        heard.append(question)
        return await proposed(highlighter, question, chunk_documents)

    monkeypatch.setattr(langchain, "proposed", hearing)
    monkeypatch.setattr(langchain, "crossed", passing)
    assert leaking(f"AB {CANARY}", f"A {CANARY}", SENTENCES[:1]) == "other words, other requests"
