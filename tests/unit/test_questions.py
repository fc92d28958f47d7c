"""Messages cut into their questions: what stays one, what is two, and what a later one carries along."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.text.questions import EARLIER, MAX_QUESTION, STORY, Question, one_question, split_questions
from timing import LINEAR, growth


def texts(message):
    return [question.text for question in split_questions(message)]


def wholes(message, before=()):
    return [question.whole for question in split_questions(message, before)]


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


OF_MALI = "Who is the president of Mali?"


@pytest.mark.parametrize(
    ("before", "whole"),
    [
        ([], "And who elects him?"),
        ([OF_MALI], f"{OF_MALI} And who elects him?"),
        ([OF_MALI, "And where does he live?", "Why?"], f"{OF_MALI} And who elects him?"),
        ([OF_MALI, "Thanks!", "", " ", "Hello!"], f"{OF_MALI} And who elects him?"),
        (["Who wrote Emma?", OF_MALI], f"{OF_MALI} And who elects him?"),
        (["And who elects him?", "Why?"], "And who elects him?"),
        ([f"Who wrote Emma? {OF_MALI} How old is he?"], f"{OF_MALI} And who elects him?"),
        (
            ["I am old. May I vote? Who counts the votes?"],
            "I am old. Who counts the votes? And who elects him?",
        ),
        (["king of Jordan"], "king of Jordan And who elects him?"),
        ([OF_MALI, "x" * 5000], f"{OF_MALI} And who elects him?"),
    ],
)
def test_a_follow_up_is_read_with_the_last_question_of_the_session_that_stands_alone(before, whole):
    question = one_question("And who elects him?", before)
    assert (question.text, question.whole) == ("And who elects him?", whole)
    assert question.whole == wholes("And who elects him?", before)[0]


IN_LERWICK = "What are the opening hours in Lerwick?"
IN_KIRKWALL = "What are the opening hours in Kirkwall?"


@pytest.mark.parametrize(
    ("before", "earlier"),
    [
        ([IN_LERWICK, "and in Kirkwall?"], IN_KIRKWALL),
        ([IN_LERWICK, "and in kirkwall?"], "What are the opening hours in kirkwall?"),
        ([IN_LERWICK, "In Kirkwall?", "what's the phone number there?"], IN_KIRKWALL),
        ([IN_LERWICK, "And in Paris?", "what about Kirkwall?", "on Saturday?"], IN_KIRKWALL),
        ([IN_LERWICK, "and in August?", "And on Sundays?", "Hello!"], IN_LERWICK),
        ([IN_LERWICK, "and in Kirkwall?", OF_MALI], OF_MALI),
        (["How much is the Standard plan?", "What about the Plus plan?"], "How much is the Plus plan?"),
        (["How much is the Standard plan?", "What about the price?"], "How much is the Standard plan?"),
        (["Can I pay with card?", "and with cash?"], "Can I pay with cash?"),
        (["When is the pool open?", "And in Kirkwall?"], "When is the pool open in Kirkwall?"),
    ],
)
def test_a_follow_up_is_read_with_what_the_one_before_it_named(before, earlier):
    assert one_question("What does it cost?", before).before == (earlier,)


def test_what_stands_alone_is_read_alone_whatever_was_asked_before():
    for message in (
        "Who wrote Emma?",
        "page size",
        "I live in Kent. Is it far?",
        "Who wrote Emma? Where is Kent?",
    ):
        assert split_questions(message, [OF_MALI]) == split_questions(message)
        assert one_question(message, [OF_MALI]) == Question(message)


def test_of_several_questions_the_first_may_follow_an_earlier_message():
    asked = wholes("And who elects him? How long does he serve? Where is Kent? How far is it?", [OF_MALI])
    assert asked == [
        f"{OF_MALI} And who elects him?",
        f"{OF_MALI} How long does he serve?",
        "Where is Kent?",
        "Where is Kent? How far is it?",
    ]
    assert wholes("About the bridge:\n1. How long is it?\n2. Who built it?", [OF_MALI])[0] == (
        "About the bridge: How long is it?"
    )


def test_without_room_for_both_the_earlier_question_is_left_out():
    long = f"Who is the president of Mali{'!' * (MAX_QUESTION - 60)}?"
    room = MAX_QUESTION - len(long) - 1
    fits, over = "Why?".rjust(room), "Why?".rjust(room + 1)
    assert len(one_question(fits, [long]).whole) == MAX_QUESTION
    assert one_question(over, [long]).whole == over


def test_a_session_remembers_so_many_messages():
    for chats in (EARLIER - 1, EARLIER):
        question = one_question("And who elects him?", [OF_MALI, *["Why?"] * chats])
        assert (question.before == (OF_MALI,)) == (chats < EARLIER)


@given(st.lists(st.text(alphabet="who is it? WhenA.\n1)", max_size=60), max_size=4), st.text(max_size=60))
def test_nothing_but_what_was_typed_is_read(before, message):
    for question in split_questions(message, before):
        flat = " ".join([*before, message]).split()
        assert set(question.whole.split()) <= {*flat}
        assert len(question.whole) <= MAX_QUESTION
        assert question.whole.endswith(question.text)


def test_real_questions_stay_whole_and_real_pairs_come_apart(sample_data):
    rows = (sample_data / "squad2" / "questions.jsonl").read_text("utf-8").splitlines()
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


def test_of_a_story_the_sentences_that_ask_are_read():
    before = "Hello, we moved here in March with three children and an old boat that my uncle built and that leaks. "
    after = " My wife says that she paid something in advance when she called, but the paper is lost. Regards, Tom"
    story = f"{before}What does a mooring cost for a week?{after}"
    assert len(story.split()) > STORY
    assert one_question(story).text == "What does a mooring cost for a week?"
    told = f"{before}Now he asks whether the mooring may be sublet.{after} Can you tell me?"
    assert one_question(told).text == "Now he asks whether the mooring may be sublet."
    assert one_question(before + before + after).text == before + before + after
