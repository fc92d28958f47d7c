"""`equipoise.testing`: every part of ours holds what it checks, and a part that breaks a promise is told which."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from equipoise.core.settings import Settings
from equipoise.core.types import ChatReply, Filtered, Flag, Proposal, Span, Summary, Trust
from equipoise.corpus.store import Store
from equipoise.models.crossencoder import CrossEncoder
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.models.scripted import ScriptedChat
from equipoise.rag import others
from equipoise.rag.build import FILTERS, RETRIEVERS, SUMMARIZERS, make, retriever_in
from equipoise.rag.components import Components
from equipoise.rag.filters import NoFilter
from equipoise.rag.highlighters import sentence
from equipoise.rag.highlighters.reader import ReaderHighlighter
from equipoise.rag.highlighters.sentence import SentenceHighlighter
from equipoise.rag.retrieval import HybridRetriever
from equipoise.testing import (
    check_chat_model,
    check_encoder,
    check_filter,
    check_highlighter,
    check_reranker,
    check_retriever,
    check_summarizer,
)
from hashed_words import HashedWords

ENCODER, RERANKER = EmbeddedEncoder(), CrossEncoder()
SENTENCE = SentenceHighlighter(ENCODER, sentence.calibration())
SETTINGS = Settings.model_validate({"filter": {"nli": "none"}})


class TestOurs:
    @pytest.mark.parametrize("encoder", [ENCODER, HashedWords()])
    def test_encoders(self, encoder):
        check_encoder(encoder)

    def test_the_reranker(self):
        check_reranker(RERANKER)

    @pytest.mark.parametrize("name", RETRIEVERS)
    def test_retrievers(self, name):
        check_retriever(
            lambda store, encoder: retriever_in(name, Components(SETTINGS, store, encoder), Trust.TRUSTED)
        )

    @pytest.mark.parametrize("name", others.known("filter", FILTERS))
    def test_filters(self, name, tmp_path):
        with Store.open(tmp_path / "index.db", create=True) as store:
            check_filter(make("filter", FILTERS, name, Components(SETTINGS, store, ENCODER)))

    @pytest.mark.parametrize("highlighter", [SENTENCE, ReaderHighlighter()])
    def test_highlighters(self, highlighter):
        check_highlighter(highlighter)

    @pytest.mark.parametrize("name", SUMMARIZERS)
    def test_summarizers(self, name):
        chat = ScriptedChat(lambda _: '{"answer": "It is 212 metres long."}')
        check_summarizer(make("summarizer", SUMMARIZERS, name, Components(SETTINGS, None, ENCODER, chat)))

    def test_a_model_that_ignores_the_schema(self):
        check_chat_model(ScriptedChat(lambda _: "hello"))


@dataclass
class Encodes:
    how: object
    name: str = "broken"
    dimensions: int = 384

    def encode(self, texts):
        return self.how(ENCODER.encode(texts))


@dataclass
class Scores:
    how: object
    name: str = "broken"

    def scores(self, question, texts):
        return self.how(RERANKER.scores(question, texts))


@dataclass
class Retrieves:
    inner: HybridRetriever
    how: object

    def retrieve(self, query, *, k):
        return self.how(self.inner.retrieve(query, k=max(k, 3)), k)


@dataclass
class Filters:
    how: object

    async def filter(self, query, candidates, *, k):
        return self.how(await NoFilter().filter(query, candidates, k=k), candidates)


@dataclass
class Highlights:
    how: object

    async def highlight(self, query, passages):
        return self.how(await SENTENCE.highlight(query, passages))


class Says:
    name = "says"

    def __init__(self, say):
        self.say, self.count = say, 0

    async def complete(self, messages, *, schema=None, options=None):
        self.count += 1
        return self.say(self, messages)


class Writes:
    def __init__(self, *answers):
        self.answers = list(answers)

    async def summarize(self, highlights, *, tags=frozenset()):
        self.answers.append(self.answers.pop(0))
        return Summary(self.answers[-1])


def retrieves(how):
    return lambda: check_retriever(
        lambda store, encoder: Retrieves(HybridRetriever(store.partition(Trust.TRUSTED), encoder), how),
        ENCODER,
    )


def grows(chat, messages):
    messages.append(messages[0])
    return ChatReply("hello", "says")


COUNT = [0]


def other_every_time(proposal):
    COUNT[0] += 1
    return replace(proposal, probability=0.5 + COUNT[0] / 1_000)


BROKEN = {
    "has the methods of Encoder": lambda: check_encoder(object()),
    "every row has length 1": lambda: check_encoder(Encodes(lambda rows: rows * 2)),
    "rows are float32": lambda: check_encoder(Encodes(lambda rows: rows.astype(np.float64))),
    "encode gives (n, dimensions)": lambda: check_encoder(Encodes(lambda rows: rows[:, :3])),
    "a row depends on its text alone": lambda: check_encoder(Encodes(lambda rows: np.roll(rows, 1, axis=0))),
    "scores gives (n,)": lambda: check_reranker(Scores(lambda scores: scores[:, None])),
    "scores are finite": lambda: check_reranker(Scores(lambda scores: scores * np.nan)),
    "the text that answers has the highest": lambda: check_reranker(Scores(lambda scores: -scores)),
    "a score depends on its text alone": lambda: check_reranker(Scores(lambda scores: np.sort(scores)[::-1])),
    "at most k = 1 passages are found": retrieves(lambda candidates, k: candidates),
    "each passage is found once": retrieves(lambda candidates, k: candidates.take([0] * k)),
    "the best comes first": retrieves(
        lambda candidates, k: candidates.take(list(range(len(candidates)))[:k][::-1])
    ),
    "is among `documents`": retrieves(lambda candidates, k: replace(candidates.take([0]), documents={})),
    "finds the bridge first": retrieves(lambda candidates, k: candidates.take([len(candidates) - 1])),
    "at most k = 2 passages are kept": lambda: check_filter(Filters(lambda done, came: Filtered(came))),
    "in the order they came": lambda: check_filter(
        Filters(lambda done, came: Filtered(done.kept.take(list(range(len(done.kept)))[::-1])))
    ),
    "kept or flagged, not both": lambda: check_filter(
        Filters(lambda done, came: Filtered(done.kept, tuple(Flag(p, "why", 0.0) for p in came.passages)))
    ),
    "each of the first k passages": lambda: check_filter(Filters(lambda done, came: Filtered(came.take([])))),
    "a flag has a reason": lambda: check_filter(
        Filters(lambda done, came: Filtered(came.take([]), tuple(Flag(p, "", 0.0) for p in came.passages)))
    ),
    "spans lie inside the passages": lambda: check_highlighter(
        Highlights(lambda proposal: Proposal((Span("bridge", 0, 9_999),)))
    ),
    "a probability is between 0 and 1": lambda: check_highlighter(
        Highlights(lambda proposal: replace(proposal, probability=1.5))
    ),
    "give the same proposal": lambda: check_highlighter(Highlights(other_every_time)),
    "is answered by": lambda: check_highlighter(Highlights(lambda proposal: Proposal(()))),
    "at temperature 0": lambda: check_chat_model(Says(lambda chat, _: ChatReply(f"{chat.count}", "says"))),
    "the messages stay as they were": lambda: check_chat_model(Says(grows)),
    "an answer has words": lambda: check_summarizer(Writes(" .")),
    "the same quotes give the same answer": lambda: check_summarizer(Writes("One.", "Two.")),
}


@pytest.mark.parametrize("promise", BROKEN)
def test_a_broken_promise_is_named(promise):
    with pytest.raises(AssertionError) as raised:
        BROKEN[promise]()
    assert promise in str(raised.value)
    assert str(raised.value).startswith("broken promise: ")


def test_a_highlighter_that_finds_other_things_is_checked_without_the_answer():
    check_highlighter(Highlights(lambda proposal: Proposal(())), finds=False)
