"""Fact 1 of the design: what the summarizer's model receives is a function of (corpus, spans, tags) alone.

Questions, and everything a highlighter's model writes, are arbitrary here (hypothesis); the corpus is fixed.
The whole pipeline runs: real store, real canonicalisation, real prompts; only the two models are scripted. Compared is
everything that ScriptedChat records: messages, schema, options, number and order of the requests.
"""

import json

import pytest
from blind import (
    CANARY,
    GUESSES,
    Ranked,
    Spans,
    arbitrary_spans,
    ask,
    check,
    indexed,
    junk,
    often,
    questions,
    quotations,
    relaxed,
    same,
)
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.types import Span, Tag
from equipoise.models.scripted import ScriptedChat
from equipoise.rag.boundary import spans_of
from equipoise.rag.highlighters.indexed import IndexedHighlighter
from equipoise.rag.highlighters.structured import StructuredHighlighter
from equipoise.rag.summarizers.llm import request
from equipoise.text.spans import SpanPolicy
from equipoise_lab.methods.baseline import BaselineHighlighter
from equipoise_lab.methods.span import SpanHighlighter
from equipoise_lab.methods.two_step import TwoStepHighlighter

ASKING = [IndexedHighlighter, StructuredHighlighter, BaselineHighlighter, TwoStepHighlighter, SpanHighlighter]
numbers = st.lists(st.integers(-5, 200), max_size=12)


@relaxed()
@given(
    question=questions.map(lambda text: f"Is this {text}?"),
    numbers=often(numbers.map(lambda some: [3, *some[:2]]), numbers),
    first=often(st.just("yes"), st.just("no") | junk),
    verdict=st.sampled_from(["yes", "no"]) | junk | questions,
)
def test_indexed_with_any_numbers_and_any_verdict(library, question, numbers, first, verdict):
    says = {
        "Task: Do the sentences": first,
        "Task: Which sentences": json.dumps({"sentences": numbers}),
        "Task: According to": verdict,
    }
    check(library, *ask(library, indexed(says), question))


def test_the_verdict_of_a_model_crosses_as_a_tag_and_as_nothing_else(library):
    says = {"Task: Do": "yes", "Task: Which": '{"sentences": [1]}', "Task: According": f"yes, {CANARY}"}
    result, requests = ask(library, indexed(says), "Is this so?")
    assert result.trace.tags == (Tag.YES,)
    check(library, result, requests)


@relaxed()
@given(data=st.data(), question=questions, answer=often(questions, junk))
def test_structured_with_any_extracts(library, data, question, answer):
    reply = json.dumps({"answer": answer, "text_extracts": data.draw(quotations(library))})
    highlighter = StructuredHighlighter(ScriptedChat(lambda _: reply))
    check(library, *ask(library, highlighter, question))


@relaxed()
@given(data=st.data(), question=questions, answer=often(questions, junk))
def test_two_steps_with_any_answer_and_any_extracts(library, data, question, answer):
    extracts = data.draw(quotations(library))
    chat = ScriptedChat([answer, *[json.dumps({"text_extracts": extracts})] * 2])
    check(library, *ask(library, TwoStepHighlighter(chat), question))


@relaxed()
@given(data=st.data(), question=questions)
def test_span_with_any_first_and_last_words(library, data, question):
    store, _ = library
    words = "\n".join(store.document(doc_id).text for doc_id in store.doc_ids()).split()
    ends = st.sampled_from(words) | junk | questions
    extracts = data.draw(st.lists(st.fixed_dictionaries({"start": ends, "end": ends}), max_size=5))
    extracts += [ends_of(text) for text in data.draw(quotations(library))]
    reply = json.dumps({"answer": "It is so.", "text_extracts": extracts})
    check(library, *ask(library, SpanHighlighter(ScriptedChat(lambda _: reply)), question))


def ends_of(text):
    """A quotation by its first and last words."""
    words = text.split()
    return {"start": " ".join(words[:4]), "end": " ".join(words[-4:])}


@relaxed()
@given(question=questions, reply=junk | questions)
@pytest.mark.parametrize("kind", ASKING)
def test_any_model_output_at_all(library, kind, question, reply):
    check(library, *ask(library, kind(ScriptedChat(lambda _: reply)), question))


@relaxed()
@given(question=questions)
@pytest.mark.parametrize("kind", ASKING[1:])
def test_a_model_that_repeats_the_question_gets_nothing_through(library, kind, question):
    extract = {"start": question, "end": question} if kind is SpanHighlighter else question
    quoted = json.dumps({"answer": question, "text_extracts": [extract]})
    reply = f"- {question}" if kind is BaselineHighlighter else quoted
    result, requests = ask(library, kind(ScriptedChat(lambda _: reply)), question)
    check(library, result, requests)


@relaxed()
@given(data=st.data(), first=questions, second=questions)
def test_equal_spans_give_identical_bytes_for_different_questions(library, data, first, second):
    spans = data.draw(arbitrary_spans(library))
    shuffled = data.draw(st.permutations(spans))
    result, sent = ask(library, Spans(tuple(spans)), first)
    two, resent = ask(library, Spans(tuple(shuffled)), second)
    check(library, result, sent)
    assert result.highlights == two.highlights
    assert same(sent, resent)


@relaxed()
@given(data=st.data(), first=questions, second=questions, most=st.integers(1, 3))
def test_of_ranked_spans_the_best_are_read_in_the_order_of_documents(library, data, first, second, most):
    spans = data.draw(arbitrary_spans(library))
    policy = SpanPolicy(max_spans=most, max_pieces=1)
    result, sent = ask(library, Ranked(tuple(spans)), first, policy=policy)
    two, resent = ask(library, Ranked((*spans, *spans)), second, policy=policy)
    check(library, result, sent)
    assert result.highlights == two.highlights and same(sent, resent)
    chosen = spans_of(result.highlights)
    assert len(chosen) <= most and list(chosen) == sorted(chosen)
    # a set of this form might have been proposed as it is: the order of scores adds no choice
    again, resent = ask(library, Spans(chosen), second, policy=policy)
    assert again.highlights == result.highlights and same(sent, resent)


def test_the_best_span_is_quoted_wherever_it_stands(library):
    store, _ = library
    every = [Span(id_, *span) for id_ in sorted(store.doc_ids()) for span in store.document(id_).sentences]
    long = [
        span for span in every if len(store.document(span.doc_id).text[span.start : span.end].split()) > 9
    ]
    for best, other in ((long[0], long[-1]), (long[-1], long[0])):
        result, _ = ask(library, Ranked((best, other)), "Who?", policy=SpanPolicy(max_spans=1))
        assert spans_of(result.highlights) == (best,)
        assert [(one.reason, one.span) for one in result.trace.dropped] == [
            ("over the limit of spans", other)
        ]


@relaxed()
@given(data=st.data(), question=questions)
def test_the_cut_up_attack_gets_nothing_through(library, data, question):
    """Paper, section 8.2: an extract per word, words picked from anywhere in the corpus.

    No sentence of this corpus is a single word: a whole short sentence may be highlighted, and counts in the
    control budget like any other.
    """
    store, _ = library
    document = store.document(data.draw(st.sampled_from(sorted(store.doc_ids()))))
    words = data.draw(st.lists(st.sampled_from(document.text.split()), min_size=1, max_size=8))
    starts = [document.text.index(word) for word in words]
    spans = tuple(Span(document.doc_id, s, s + len(w)) for s, w in zip(starts, words, strict=True))
    result, requests = ask(library, Spans(spans), question)
    by_word, sent = ask(library, quoting(words), question)
    for outcome, received in ((result, requests), (by_word, sent)):
        assert not outcome.highlights
        assert not received
    assert len(result.trace.dropped) == len(set(spans))


def quoting(words):
    reply = json.dumps({"answer": " ".join(words), "text_extracts": words})
    return StructuredHighlighter(ScriptedChat(lambda _: reply))


@pytest.mark.parametrize("tags", [frozenset(), frozenset({Tag.YES}), frozenset({Tag.NO})])
def test_a_tag_changes_the_request_only_by_its_own_line(library, tags):
    store, _ = library
    document = store.document(sorted(store.doc_ids())[0])
    start, end = max(document.sentences, key=lambda s: s[1] - s[0])
    result, _ = ask(library, Spans((Span(document.doc_id, start, end),)), "anything")
    plain = request(result.highlights, frozenset(), guesses=GUESSES)
    tagged = request(result.highlights, tags, guesses=GUESSES)
    added = [m.content.removeprefix(p.content) for m, p in zip(tagged, plain, strict=True)]
    assert added == ["", "".join(f"\n\nThe answer to the question is: {tag.value}." for tag in tags)]
