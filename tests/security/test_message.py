"""Fact 1 for a message of several questions: the summarizer's requests are a function of the set of span groups.

Not of the order of the questions, of how often one is repeated, or of their words; and the limits hold for the message.
"""

import json
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equipoise.core import sync
from equipoise.core.errors import ModelUnavailable
from equipoise.core.results import Answer, Reason
from equipoise.core.types import Document, Proposal, Span, Tag, Trust
from equipoise.corpus.indexing import prepare
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.boundary import spans_of
from equipoise.rag.filters import NoFilter
from equipoise.rag.pipeline import HighlightSummarize
from equipoise.rag.retrieval import HybridRetriever
from equipoise.rag.summarizers.llm import LlmSummarizer, request
from equipoise.text.questions import Question
from equipoise.text.spans import DropReason, SpanPolicy
from hashed_words import HashedWords
from library_texts import TEXTS

SUMMARY = json.dumps({"guessed_questions": ["What is said?"], "answer": "Something is said."})


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """(store, encoder) over the same texts, with an encoder that costs nothing."""
    encoder = HashedWords(64)
    documents = [Document(name, text, name, name) for name, text in TEXTS.items()]
    with Store.open(tmp_path_factory.mktemp("library") / "index.db", create=True) as store:
        store.bind_encoder(encoder)
        store.add_documents(prepare(documents, encoder))
        yield store, encoder


POLICY = SpanPolicy(max_spans=4, max_sentences=6)
WORDS = ["kale", "fees", "the voucher", "beans in bed 1", "parking", "holidays", "zqxCANARYjvk"]


@dataclass
class Table:
    """A highlighter that returns the proposal of each question."""

    proposals: dict
    asked: list = field(default_factory=list)

    async def highlight(self, query, passages):
        self.asked.append(query.text)
        return self.proposals[query.text]


def pipeline(library, proposals, chat, *, policy=POLICY, context=False):
    store, encoder = library
    return HighlightSummarize(
        HybridRetriever(store.partition(Trust.TRUSTED), encoder),
        NoFilter(),
        k=50,
        candidates=50,
        snapshot=store.snapshot,
        highlighter=Table(proposals),
        summarizer=LlmSummarizer(chat, guesses=1),
        policy=policy,
        context=context,
    )


def ask(library, proposals, questions, say=lambda _: SUMMARY, **more):
    """How the questions ended, and everything the summarizer's model was sent."""
    chat = ScriptedChat(say)
    return sync.run(
        pipeline(library, proposals, chat, **more).ask_all([*map(Question, questions)])
    ), chat.requests


def sentences(library):
    store, _ = library
    return [Span(d, *s) for d in store.doc_ids() for s in store.document(d).sentences]


def relaxed():
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=30, deadline=None, suppress_health_check=checks)


def groups(library):
    tags = st.sampled_from([frozenset(), frozenset({Tag.YES}), frozenset({Tag.NO})])
    spans = st.lists(st.sampled_from(sentences(library)), max_size=6).map(tuple)
    return st.lists(st.builds(lambda s, t: Proposal(s, tags=t), spans, tags), min_size=1, max_size=4)


def said(requests):
    return repr(requests).encode()


@relaxed()
@given(data=st.data(), context=st.booleans())
def test_order_repetition_and_words_of_the_questions_change_no_request(library, data, context):
    proposals = data.draw(groups(library))
    more = data.draw(st.lists(st.sampled_from(proposals), max_size=3))
    shuffled = data.draw(st.permutations([*proposals, *more]))
    once, sent = ask_each(library, proposals, "", context=context)
    twice, resent = ask_each(library, shuffled, data.draw(st.sampled_from(WORDS)), context=context)
    assert said(sent) == said(resent)
    assert spans(once) == spans(twice)
    for proposal, result in zip(shuffled, twice.results, strict=True):
        alike = once.results[proposals.index(proposal)]
        assert (type(result), result.highlights) == (type(alike), alike.highlights)


def spans(result):
    return spans_of(result.highlights)


def ask_each(library, proposals, words, **more):
    """One question for each proposal, each in words of its own."""
    table = {f"About {words} question {n}": proposal for n, proposal in enumerate(proposals)}
    return ask(library, table, list(table), **more)


@relaxed()
@given(data=st.data())
def test_the_limits_hold_for_the_message(library, data):
    store, _ = library
    asked, requests = ask_each(library, data.draw(groups(library)), "")
    assert len(asked.highlights) <= POLICY.max_spans
    quoted = {
        " ".join(store.document(i.doc_id).text[start:end].split())
        for result in asked.results
        for i in spans_of(result.highlights)
        for start, end in store.document(i.doc_id).sentences
        if i.start <= start and end <= i.end
    }
    assert len(quoted) <= POLICY.max_sentences
    different = {
        (result.highlights, result.trace.tags) for result in asked.results if isinstance(result, Answer)
    }
    assert len(requests) == len(different)
    ordered = [request(h, frozenset(t), guesses=1) for h, t in sorted(different, key=place)]
    assert [sent.messages for sent in requests] == ordered


def place(group):
    highlights, tags = group
    return [(item.span, item.spans) for item in highlights.items], tags


def test_what_the_message_has_no_room_for_is_said_with_its_reason(library):
    garden = [span for span in sentences(library) if span.doc_id == busiest(library)]
    every = {f"Question {n}": Proposal((garden[3 * n],)) for n in range(6)}
    asked, requests = ask(library, every, list(every))
    answers, refusals = asked.results[:4], asked.results[4:]
    assert all(isinstance(result, Answer) for result in answers)
    assert [refusal.reason for refusal in refusals] == [Reason.TOO_MANY_QUOTES] * 2
    for number, refusal in enumerate(refusals, 4):
        (dropped,) = refusal.trace.dropped
        assert (dropped.reason, dropped.span) == (DropReason.OVER_THE_MESSAGE, garden[3 * number])
    assert len(requests) == 4


def busiest(library):
    store, _ = library
    return max(store.doc_ids(), key=lambda doc_id: len(store.document(doc_id).sentences))


def test_adjacent_quotes_of_three_questions_are_one_highlight_in_whatever_order(library):
    garden = [span for span in sentences(library) if span.doc_id == busiest(library)][:3]
    questions = ["What is dug over?", "Who may pick beans?", "Who pays at the gate?"]
    table = dict(zip(questions, map(Proposal, [(s,) for s in garden]), strict=True))
    texts = set()
    for typed in (questions, questions[::-1]):
        chat = ScriptedChat(lambda messages: json.dumps(
            {"guessed_questions": ["What?"], "answer": messages[-1].content.split("- ")[-1]}
        ))  # fmt: skip
        result = sync.run(replace(pipeline(library, table, chat), most=5).ask(" ".join(typed)))
        (item,) = result.highlights.items
        assert item.chosen == (Span(garden[0].doc_id, garden[0].start, garden[2].end),)
        assert [part.question for part in result.sub_answers] == typed
        texts.add(result.text)
    (text,) = texts
    paragraph = library[0].document(garden[0].doc_id).text[garden[0].start : garden[2].end]
    assert text == " ".join(paragraph.split())  # which each of the three quotes shows


@pytest.mark.parametrize("at", [0, 1])
def test_a_summary_that_fails_fails_its_questions_and_no_others(library, at):
    garden = [span for span in sentences(library) if span.doc_id == busiest(library)]
    first, last = Proposal((garden[0],)), Proposal((garden[9],))
    table = {"a": last, "b": first, "c": last}
    lines = [SUMMARY, SUMMARY]
    lines[at] = ModelUnavailable("the endpoint is down")
    replies = iter(lines)
    asked, requests = ask(library, table, list(table), say=lambda _: next(replies))
    assert len(requests) == 2
    failed = [not isinstance(result, Answer) for result in asked.results]
    assert failed == [at == 1, at == 0, at == 1]
    assert sum(result.trace.usage.calls for result in asked.results) == 1
