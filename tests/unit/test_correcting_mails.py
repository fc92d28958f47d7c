"""A reply corrects the mail that it replies to, and nothing that only shares a name with it."""

import pytest

from correcting import candidates, corrected, document
from equipoise.rag.corrections import found_in

TRIP = (
    "# Summer trip and new trainer\n\nHello all,\n\ntwo things for the newsletter.\n\n"
    "On 24 June the hall is open until 14:00.\n\n"
    "Our new trainer, Milan Vrba, begins on 3 June. He trains the juniors.\n"
)
SORRY = "Sorry, I got two things wrong in my mail:\n\n"
NEW = "Milan begins on 10 June, not on 3 June."
REPLY = (
    f"# Re: Summer trip and new trainer\n\n{SORRY}- On 24 June the hall is closed, not open until 14:00. "
    f"Dr Ostrander has the keys for latecomers.\n- {NEW}\n"
)
BEGINS = "Our new trainer, Milan Vrba, begins on 3 June."
OPEN = "On 24 June the hall is open until 14:00."


def old(*documents):
    return {old for old, _ in corrected(*documents)}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "dates.md",
            "# Dates\n\nQuiz night begins on 3 June. The talk is by Dr Ostrander, keys are needed.\n",
        ),
        ("team.md", "# Our team\n\nDr Milan Ostrander: medals and keys, since 2011.\n"),
        ("saturday.md", "# Halls\n\nThe small hall is open on Saturday until 14:00.\n"),
        ("things.md", "# News\n\nTwo things for the mail of the club.\n"),
    ],
)
def test_what_only_shares_a_name_or_a_value_with_a_correcting_reply_is_not_corrected(source, text):
    beside = document(source, text)
    assert corrected(document("re.md", REPLY), beside) == set()
    assert old(document("re.md", REPLY), beside, document("trip.md", TRIP)) == {BEGINS, OPEN}


def test_a_reply_corrects_beside_its_subject_what_has_all_that_it_says_with_the_wrong_value():
    strays = "# Re: Parking\n\nSorry, I made a mistake. Quiz night begins on 4 June, not on 3 June.\n"
    quiz = document("dates.md", "# Dates\n\nQuiz night begins on 3 June in the barn.\n")
    race = document("race.md", "# Races\n\nThe night race begins on 3 June in the barn.\n")
    assert old(document("re.md", strays), quiz, race) == {"Quiz night begins on 3 June in the barn."}
    assert old(document("re.md", strays + "\nSo be it.\n" * 200), quiz) == set()


def test_a_title_of_a_person_is_no_word_of_what_is_corrected():
    note = "Sorry, I got it wrong. Dr Ostrander has the keys for latecomers.\n"
    team = "# Our team\n\nDr Milan Ostrander: medals and surgery.\n"
    assert corrected(document("note.md", note), document("team.md", team)) == set()


def test_of_two_days_with_the_wrong_value_the_one_that_is_named_is_corrected():
    trip = TRIP.replace("14:00.", "14:00. On 30 June the hall is open until 14:00.")
    assert old(document("re.md", REPLY), document("trip.md", trip)) == {BEGINS, OPEN}


def test_what_is_attached_to_a_reply_is_corrected_by_it():
    text = "Sorry, I made a mistake. A week in zone Harbour costs 95 euros, not 90 euros.\n"
    prices = document("club/re.eml#prices.txt", "Marina\n\nFor guests a week in zone Harbour is 90 euros.\n")
    beside = document("club/prices.txt", prices.text)
    reply = document("club/re.eml", f"# Re: Your question\n\n{text}")
    assert set(found_in(candidates(reply, prices, beside))) == {"club/re.eml#prices.txt"}
