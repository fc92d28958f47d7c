"""What asks nothing of documents, and short questions that must never be taken for it."""

from pathlib import Path

import pytest

from equipoise.text.small_talk import asked, is_small_talk
from equipoise.text.tokens import words

FIXTURES = Path(__file__).parents[1] / "fixtures"


def lines(name):
    return (FIXTURES / name).read_text("utf-8").splitlines()


def nothing(text):
    """Documents that have every word."""
    return ()


def everything(text):
    """Documents that have none."""
    return words(text)


def test_small_talk_is_told_by_itself():
    missed = [said for said in lines("small_talk.txt") if not is_small_talk(said, everything)]
    assert len(missed) <= 0.05 * len(lines("small_talk.txt")), missed


@pytest.mark.parametrize("heard", [nothing, everything])
def test_no_short_question_is_taken_for_small_talk(heard):
    assert [said for said in lines("short_questions.txt") if not asked(said, heard)] == []


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("Hi! How are you? When do you open?", "When do you open?"),
        ("Hi, when do you open?", "Hi, when do you open?"),
        ("Is the pool open? Thanks!", "Is the pool open?"),
        ("Danke. Wann öffnet ihr? Tschüss!", "Wann öffnet ihr?"),
        ("Hello there. Thank you!", ""),
        ("When do you open?  And when\ndo you close?", "When do you open?  And when\ndo you close?"),
    ],
)
def test_what_is_asked_beside_small_talk_is_left(message, left):
    assert asked(message, nothing) == left


@pytest.mark.parametrize("typed", ["joke", "asdf", "abc", "123", "what is the weather like", "x"])
def test_words_that_the_documents_have_are_questions(typed):
    assert is_small_talk(typed, everything)
    assert not is_small_talk(typed, nothing)


@pytest.mark.parametrize("typed", ["Hello", "hellooo!!", "HELLO", "thank you", "test"])
def test_a_greeting_is_one_whatever_the_documents_have(typed):
    assert is_small_talk(typed, nothing)


@pytest.mark.parametrize("typed", ["qwert", "asdfasdf", "lkjh", "zzzz", "dfdfdf", "xkcdqrt", "asldkfjg"])
def test_a_hand_on_the_keyboard_is_no_question(typed):
    assert is_small_talk(typed, everything)


@pytest.mark.parametrize(
    "typed", ["nginx", "https", "rhythm", "Angstschweiß", "couscous", "mkdir", "hjkl", "2024"]
)
def test_odd_words_are_questions(typed):
    assert not is_small_talk(typed, everything)


def test_a_long_message_says_something():
    assert not is_small_talk("thanks " * 41, everything)
    assert is_small_talk("thanks " * 40, everything)
