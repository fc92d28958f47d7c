"""Fact 1 for whole messages: several questions, and earlier ones of a session."""

import json
from dataclasses import replace

from blind import (
    CANARY,
    SUMMARY,
    Spans,
    arbitrary_spans,
    check,
    expected,
    indexed,
    junk,
    pipeline,
    questions,
    relaxed,
    same,
)
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core import sync
from equipoise.core.errors import InputError
from equipoise.core.results import Answer
from equipoise.models.scripted import ScriptedChat

FOLLOW_UPS = ["And why?", "Who elects him?", "What about France? And how is it done? Who pays for that?"]


@relaxed()
@given(
    data=st.data(),
    typed=st.sampled_from(FOLLOW_UPS) | questions,
    before=st.lists(questions.map(lambda text: f"What is {text}?") | questions | junk, max_size=4),
    context=st.booleans(),
)
def test_what_came_before_in_a_session_changes_no_byte(library, data, typed, before, context):
    """Equal spans, other earlier questions: as parameters, and asked of the same pipeline for real."""
    spans = tuple(data.draw(arbitrary_spans(library)))
    chat = ScriptedChat(lambda _: SUMMARY)
    session = replace(pipeline(library, Spans(spans), chat, context=context), most=5)
    alone = answered(session, typed)
    first = chat.requests[:]
    chat.requests.clear()
    for number, question in enumerate(before):
        answered(session, question, before[:number])
    chat.requests.clear()
    following = answered(session, typed, before)
    assert same(first, chat.requests)
    assert CANARY not in repr(chat.requests)
    assert (alone and alone.highlights) == (following and following.highlights)
    if isinstance(following, Answer) and not following.sub_answers:
        check(library, following, chat.requests)


def answered(pipeline, question, before=()):
    """The result, None where the question cannot be asked."""
    try:
        return sync.run(pipeline.ask(question, before=before))
    except InputError:
        return None


@relaxed()
@given(typed=st.integers(1, 30), number=st.integers(1, 9), first=st.sampled_from(["yes", "no"]))
def test_earlier_questions_reach_the_highlighter_and_nobody_else(library, typed, number, first):
    before = [f"Who is the mayor of {CANARY}{n}?" for n in range(typed)]
    says = {"Task: Do": first, "Task: Which": json.dumps({"sentences": [number]})}
    highlighter, chat = indexed(says), ScriptedChat(lambda _: SUMMARY)
    result = answered(pipeline(library, highlighter, chat), "And who elects him?", before)
    assert result.trace.read_as == f"{before[-1]} And who elects him?"
    assert result.trace.read_as in repr(highlighter.chat.requests)
    assert not [word for word in before[:-1] if word in repr(highlighter.chat.requests)]
    check(library, result, chat.requests)


@relaxed()
@given(data=st.data(), typed=st.lists(questions, min_size=2, max_size=3), context=st.booleans())
def test_several_questions_are_as_blind_as_one(library, data, typed, context):
    """Equal spans are summarized once, as for one question; nothing typed is in the joined answer."""
    spans = tuple(data.draw(arbitrary_spans(library)))
    message = " ".join(f"What is {' '.join(text.split())} about?" for text in typed)
    chat = ScriptedChat(lambda _: SUMMARY)
    inner = pipeline(library, Spans(spans), chat, context=context)
    try:
        result = sync.run(replace(inner, most=5).ask(message))
    except InputError:
        assert chat.requests == []
        return
    answered = [
        answer for answer in (part.result for part in result.sub_answers) if isinstance(answer, Answer)
    ]
    answered = answered if result.sub_answers else [result] * isinstance(result, Answer)
    assert len({answer.highlights for answer in answered}) == len(chat.requests) <= 1
    assert same(chat.requests, [expected(answer.highlights) for answer in answered[:1]])
    for answer in answered:
        assert [item.span for item in answer.highlights.items] == [
            item.span for item in result.highlights.items
        ]
    assert CANARY not in (result.text if isinstance(result, Answer) else result.detail)
