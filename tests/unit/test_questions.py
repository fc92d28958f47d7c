"""Messages cut into their questions: what stays one, what is two, and what a later one carries along."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.text.questions import refers_back, split_questions
from timing import LINEAR, growth


def texts(message):
    return [question.text for question in split_questions(message)]


def wholes(message):
    return [question.whole for question in split_questions(message)]


@pytest.mark.parametrize(
    "message",
    [
        "Who wrote Emma and when?",
        "Who wrote Emma? And when?",
        "Who wrote Emma? Why?",
        "May I park here? Yes or no?",
        "Who opens the shop? You or me?",
        'Who said "What is truth? Who asks?" and when?',
        "Who said “What is truth? Who asks?” and when?",
        "Is the bridge open (or is it closed? who knows?) in May",
        'The essay "Is the Bridge Open?" was a finalist for what prize?',
        "Where is Dr. Who?",
        "What does https://a.example/b?c=d show?",
        "What is 3.5? ",
        "I live in Kent. I am a member. May I park here?",
        "Who wrote Emma? Please be brief.",
        "Who wrote Emma? Tell me what you know.",
        "Who wrote Emma? When you answer, be brief.",
        "Who wrote Emma? who wrote  emma?",
        "Which of these is allowed?\n1. dogs\n2. cats",
        "Which of these is allowed?\n- dogs\n- cats",
        "1. Who wrote Emma?",
        "Tell me about the bridge. It is long. How long?",
        "Hello? Anybody there?",
        "Ist die Brücke offen? Wer hat sie gebaut?",
        "",
        " ",
        "?",
        "???",
        "bridge length",
    ],
)
def test_one_question_is_the_message_itself(message):
    (only,) = split_questions(message)
    assert only.text == only.whole == message


@pytest.mark.parametrize(
    ("message", "questions"),
    [
        ("Who wrote Emma? When did it rain?", ["Who wrote Emma?", "When did it rain?"]),
        ("who wrote emma? when did it rain", ["who wrote emma?", "when did it rain"]),
        ("1) Who wrote Emma? 2) Where is Kent?", ["Who wrote Emma?", "Where is Kent?"]),
        ("Who wrote Emma? Is Kent far?\n2. Be brief.", ["Who wrote Emma?", "Is Kent far? 2. Be brief."]),
        ("1. Who wrote Emma\n2. When did it rain", ["Who wrote Emma", "When did it rain"]),
        ("- Who wrote Emma?\n- Parking for members?\n", ["Who wrote Emma?", "Parking for members?"]),
        ("1. Explain the fee\n2. Is it due\n   in May", ["Explain the fee", "Is it due in May"]),
        ('Who said "no"? What is "yes"?', ['Who said "no"?', 'What is "yes"?']),
        ("Who wrote Emma?? And who read the book?!", ["Who wrote Emma??", "And who read the book?!"]),
        ("Who wrote Emma?\n\nIs Kent far away?", ["Who wrote Emma?", "Is Kent far away?"]),
        ("Who wrote Emma? Is Kent far? Be brief.", ["Who wrote Emma?", "Is Kent far? Be brief."]),
        ("Hello? Who wrote Emma? Is Kent far?", ["Hello? Who wrote Emma?", "Is Kent far?"]),
        ("The fee is what? In Kent, who pays?", ["The fee is what?", "In Kent, who pays?"]),
        (
            "Who wrote Emma? I ask for a friend. Is Kent far?",
            ["Who wrote Emma?", "I ask for a friend. Is Kent far?"],
        ),
    ],
)
def test_several_questions(message, questions):
    assert texts(message) == questions


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("Who founded Acme? When did he die?", ["Who founded Acme?", "Who founded Acme? When did he die?"]),
        (
            "Who founded Acme? When did he die? Where is Kent? How far is it?",
            [
                "Who founded Acme?",
                "Who founded Acme? When did he die?",
                "Where is Kent?",
                "Where is Kent? How far is it?",
            ],
        ),
        (
            "Who founded Acme? When did he die? Where was he born?",
            [
                "Who founded Acme?",
                "Who founded Acme? When did he die?",
                "Who founded Acme? Where was he born?",
            ],
        ),
        (
            "I am a contractor. May I park here? Is lunch free?",
            ["I am a contractor. May I park here?", "I am a contractor. Is lunch free?"],
        ),
        ("Hello, good morning! May I park here? Is lunch free?", ["May I park here?", "Is lunch free?"]),
        (
            "About the Harlow bridge:\n1. How long is it?\n2. When was it opened?",
            ["About the Harlow bridge: How long is it?", "About the Harlow bridge: When was it opened?"],
        ),
        (
            "Please answer these questions:\n- Who wrote Emma?\n- Is Kent far?",
            ["Who wrote Emma?", "Is Kent far?"],
        ),
        ("1. Who runs Acme?\n2. How old is she?", ["Who runs Acme?", "Who runs Acme? How old is she?"]),
    ],
)
def test_what_a_question_carries_along(message, asked):
    assert wholes(message) == asked


@pytest.mark.parametrize(
    "question",
    [
        "When did he die?",
        "What do they cost?",
        "Who wrote it?",
        "How old was her son?",
        "When was its roof built?",
        "What year was his wife born?",
        "How many people live there?",
        "When was that?",
        "Who pays for these?",
        "Is the latter free?",
        "And who told them?",
        "When did he die? Please be brief.",
    ],
)
def test_pronouns_refer_back(question):
    assert refers_back(question)


@pytest.mark.parametrize(
    "question",
    [
        "When did Acme move its office?",
        "Did Ada say when she left?",
        "Is it possible to park?",
        "How long does it take to get a refund?",
        "What is the form that I need?",
        "What is open this week?",
        "Is there a fee?",
        "May I park here?",
        "What time is it?",
        "Does the shop close its doors at noon?",
        "The ferry is slow. Is it safe?",
        "The ferry to Kent: is it safe?",
        "",
    ],
)
def test_what_stands_alone(question):
    assert not refers_back(question)


def test_real_questions_stay_whole_and_real_pairs_come_apart(shared_data):
    rows = (shared_data / "squad2" / "questions.jsonl").read_text("utf-8").splitlines()
    asked = [" ".join(json.loads(row)["question"].split()) for row in rows]
    assert [question for question in asked if len(split_questions(question)) > 1] == []
    marked = [question for question in asked if question.endswith("?")]
    pairs = [list(pair) for pair in zip(marked[::7], marked[3::7], strict=False) if pair[0] != pair[1]]
    apart = sum(texts(" ".join(pair)) == pair for pair in pairs)
    assert apart / len(pairs) > 0.98


def test_what_is_said_first_is_not_copied_for_every_question():
    said = "The ferry to Kent is slow and wide. " * 500
    questions = split_questions(said + "Who pays the fee? Where is Kent? " * 2 + "Is lunch free?")
    assert len(questions) == 3
    assert len({id(question.before[0]) for question in questions}) == 1
    assert all(question.whole.endswith(f"wide. {question.text}") for question in questions)


@given(st.text(alphabet=st.sampled_from("who is it? When.A\n1)- \"'("), max_size=120) | st.text(max_size=60))
def test_nothing_is_invented_and_it_never_raises(message):
    questions = split_questions(message)
    assert questions
    if len(questions) == 1:
        assert questions[0].text == questions[0].whole == message
    flat = " ".join(message.split())
    for question in questions:
        assert len(questions) == 1 or question.text in flat
        assert question.whole.endswith(question.text)
    if len(questions) > 1:
        assert all(len(question.whole) <= len(message) for question in questions)


@pytest.mark.parametrize(
    "unit", ["a? ", "? ", "(? ", "who is it? ", "1. is it so?\n", '"a" ? ', "Who is he. "]
)
def test_time_grows_linearly_up_to_the_longest_question(unit):
    def work(size):
        message = (unit * size)[:size]
        return lambda: split_questions(message)

    assert growth(work, least=500, most=2_000).ratio < LINEAR
