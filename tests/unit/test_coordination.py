"""Two questions in one sentence, cut at the "and" between them; what is one question stays one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.text.questions import LONGEST, MOST, coordinated, split_questions


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How long may I stay, and who pays?", ["How long may I stay?", "who pays?"]),
        (
            "Where are drafts kept and how many copies does it make?",
            ["Where are drafts kept?", "how many copies does it make?"],
        ),
        (
            "Who signs the lease, and into which folder should the copy go?",
            ["Who signs the lease?", "into which folder should the copy go?"],
        ),
        (
            "At which age may I vote, and how long before the election do I register?",
            ["At which age may I vote?", "how long before the election do I register?"],
        ),
        ("What is the fee, and is it due in May?", ["What is the fee?", "is it due in May?"]),
        ("Can I park here, and what does it cost?", ["Can I park here?", "what does it cost?"]),
        (
            "What is a lien and what is a pledge and how do they differ?",
            ["What is a lien?", "what is a pledge?", "how do they differ?"],
        ),
        (
            "How is the rate set, and also which bank number is refused?",
            ["How is the rate set?", "which bank number is refused?"],
        ),
    ],
)
def test_each_part_is_a_question(question, parts):
    assert list(coordinated(question)) == parts


@pytest.mark.parametrize(
    "question",
    [
        "Where and when was it first found?",
        "How do I find out how the tool works and what it does?",
        "Who knows how it is paid and when it ends?",
        "Who may sign, and may revoke, a lease?",
        "What happens to salt and pepper?",
        "Who wrote Emma and when?",
        "I ask who came, and who was late?",
        "Colonialism is caused by financial and what other reasons?",
        "Tell me what he said and what is true",
        "What do you do when it rains, and who knows what happens?",
        "",
    ],
)
def test_what_is_one_question_stays_one(question):
    assert coordinated(question) == (question,)


def test_a_part_that_refers_back_is_asked_with_the_one_before_it():
    first, second = split_questions("What are eRNAs, and what is their function?")
    assert (first.whole, second.whole) == ("What are eRNAs?", "What are eRNAs? what is their function?")


def test_a_statement_before_both_goes_with_both():
    message = "I live abroad. How long may I stay, and who pays?"
    assert [question.text for question in split_questions(message)] == [message]


@given(st.text(st.sampled_from("and what is, how who?.do it AND"), max_size=200))
def test_no_word_is_lost(question):
    parts = coordinated(question)
    kept = " ".join(parts).replace("?", " ").replace(",", " ").split()
    words = question.replace("?", " ").replace(",", " ").split()
    assert len(parts) <= MOST
    assert [word for word in words if word.casefold() not in ("and", "also")] == [
        word for word in kept if word.casefold() not in ("and", "also")
    ]


def test_what_is_longer_than_a_sentence_stays_together():
    question = f"How long may a {'very ' * LONGEST}patient guest stay, and who pays?"
    assert coordinated(question) == (question,)
