"""A ward, a zone, a person, a time: what is said of one of a kind is no answer about another."""

import pytest

from windows_of import WARDS, left


def test_the_rule_of_one_ward_answers_for_no_other():
    assert (
        left("When may I visit ward 5?", WARDS) == "Visitors of ward 5 come after two. / Dogs stay outside."
    )
    assert "nobody" in left("When may I visit ward 3?", WARDS)
    assert "after two" not in left("When may I visit ward 3?", WARDS)
    assert left("When may I visit ward 4?", WARDS) == ""
    assert left("When may I visit the wards?", WARDS).count("/") == 3


def test_ranges_and_lists_of_numbers_hold_what_lies_between():
    text = "Zones 1 to 4 cost two euros. Zone 5 costs three. Rooms 7, 9 and 11 have a bath."
    assert left("What does zone 3 cost?", text).startswith("Zones 1 to 4 cost two euros.")
    assert "three" not in left("What does zone 3 cost?", text).split("/")[0]
    assert "bath" in left("Does room 9 have a bath?", text)


@pytest.mark.parametrize(
    "question", ["Does Dr Lee speak German?", "does dr lee speak german", "Does Dr. Ida Lee speak German?"]
)
def test_what_is_said_of_one_person_is_said_of_no_other(question):
    text = "Dr Ida Lee joined in 2012. She treats adults. Dr Omar Smith speaks German. He treats children. Tea is free."
    kept = left(question, text)
    assert kept == "Dr Ida Lee joined in 2012. / She treats adults."
    assert "German" in left("Does Dr Smith speak German?", text)
    assert left("Is the dr in?", text).count("/") == 4


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        (
            "How long is the notice period after probation?",
            "During probation the notice period is a week.",
            False,
        ),
        (
            "How long is the notice period after the probation?",
            "After probation it is a month, before it a week.",
            True,
        ),
        ("How long are parcels kept before they go back?", "A week, after which they go back.", True),
        ("What is the smallest pack size?", "The default pack size is 16 MiB.", False),
        ("What is the smallest pack size?", "The default pack size is 16 MiB, the minimum 4.", True),
        ("What is the default limit of packs?", "The default is 16.", True),
        ("What is for lunch on Tuesday?", "Monday lunch: cod and peas.", False),
        ("What is for lunch on Monday?", "Monday lunch: cod and peas.", True),
        ("Is there cod on Tuesday?", "Monday lunch: cod and peas.", True),
        ("What is for lunch on Tuesday?", "# Monday to Friday\n\nCod and peas.", True),
        ("What is for lunch on Tuesday?", "# Monday\n\nCod and peas.", False),
        ("What is for lunch on Tuesday?", "# Monday\n\nCod and peas, as on Tuesday.", True),
    ],
)
def test_what_says_the_opposite_is_no_answer(question, text, answers):
    assert bool(left(question, text)) == answers


def test_people_named_together_are_meant_together():
    text = "Mr Ash, Ms Bell and Dr Cole are on call. They sit upstairs. Mrs Dahl is not."
    assert left("Is Ms Bell on call?", text).endswith("They sit upstairs.")
    assert "Ash" not in left("Is Mrs Dahl on call?", text)


def test_bounds_and_references_name_nothing():
    text = "Nets are known as of release 3. Knots need release 2 or later. Ropes, see release 4, are long. All float."
    assert left("Do nets float in release 5?", text).count("/") == 3
    assert "Masts" not in left(
        "Do nets float in release 5?", "Masts came with release 4. Nets came with release 5."
    )
