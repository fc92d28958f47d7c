"""A reply corrects the mail that it replies to, not its own copy of it, and nothing that only shares a name with it."""

from dataclasses import replace
from email.message import EmailMessage

import pytest

from correcting import candidates, corrected, document
from equipoise import Answer, Library
from equipoise.core.types import Trust
from equipoise.rag.corrections import find_corrections, without_copies

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
ON = "\nOn Mon, 4 May 2026 at 08:10, Jana Vrba wrote:\n\n"
OUTLOOK = "\n-----Original Message-----\n\n"
BEGINS = "Our new trainer, Milan Vrba, begins on 3 June."
OPEN = "On 24 June the hall is open until 14:00."
JUNIORS = "He trains the juniors."
COPY = TRIP.partition("\n\n")[2]


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


@pytest.mark.parametrize("mark", [ON, OUTLOOK, "\nFrom: Jana Vrba\n\n"])
def test_a_reply_that_quotes_a_mail_below_corrects_the_mail_too(mark):
    long = COPY + "So be it.\n\n" * 200 if mark == ON else COPY
    reply = document("re.md", REPLY + mark + long)
    trip = document("trip.md", TRIP)
    marks = find_corrections(candidates(reply, trip))
    for one in (reply, trip):
        assert {one.text[mark.start : mark.end] for mark in marks[one.doc_id]} == {BEGINS, OPEN}


def test_a_mail_with_another_subject_corrects_the_one_that_it_quotes():
    oops = document("oops.md", REPLY.replace("Re: Summer trip and new trainer", "Oops") + ON + COPY)
    assert "trip.md" in find_corrections(candidates(oops, document("trip.md", TRIP)))


@pytest.mark.parametrize(("author", "is_one"), [("jana", True), ("eve", False), ("", False)])
def test_nobody_corrects_or_takes_out_another_s_mail_by_quoting_it(author, is_one):
    theirs = document("re.md", REPLY + ON + COPY, trust=Trust.UNTRUSTED, author=author)
    jana = document("trip.md", TRIP, trust=Trust.UNTRUSTED, author="jana" if author else "")
    assert ("trip.md" in find_corrections(candidates(theirs, jana))) is is_one
    for trip in (jana, document("trip.md", TRIP)):
        both = candidates(theirs, trip)
        read = without_copies(both, find_corrections(both)).passages
        assert read[1] == both.passages[1]
        assert (read[0] == both.passages[0]) is not (is_one and trip is jana)


def test_the_original_is_read_in_place_of_the_copy_that_corrects_it():
    both = candidates(
        document("re.md", f"{REPLY}\n{JUNIORS}\n{ON}{COPY}\nOnly here.\n"), document("trip.md", TRIP)
    )
    whole = [replace(one, readings=tuple((unit,) for unit in one.sentences)) for one in both.passages]
    both = replace(both, passages=tuple(whole))
    reply, trip = without_copies(both, find_corrections(both)).passages
    assert reply.readings == tuple((unit,) for unit in reply.sentences)
    left = [reply.text[start:end] for start, end in reply.sentences]
    assert any(NEW in one for one in left)
    assert left[-1] == "Only here."
    assert not any(one in {BEGINS, OPEN} for one in left)
    assert left.count(JUNIORS) == 1
    assert trip == both.passages[1]
    alone = both.take([0])
    assert without_copies(alone, find_corrections(alone)).passages == alone.passages


def mail(subject, body):
    made = EmailMessage()
    made["From"], made["Subject"] = "Jana Vrba <jana@club.example>", subject
    made.set_content(body)
    return bytes(made)


def test_the_mail_is_quoted_with_the_reply_that_corrects_it(tmp_path):
    quoted = "".join(f"> {line}\n" for line in COPY.split("\n"))
    (tmp_path / "trip.eml").write_bytes(mail("Summer trip and new trainer", COPY))
    reply = REPLY.partition("\n\n")[2] + ON.rstrip() + "\n" + quoted
    (tmp_path / "re.eml").write_bytes(mail("Re: Summer trip and new trainer", reply))
    with Library.create(tmp_path / "index.db") as library:
        library.index(tmp_path)
        answer = library.ask("When does the new trainer begin?")
    assert isinstance(answer, Answer)
    assert any(item.correction and NEW in item.text for item in answer.quotes)
    (was,) = (item for item in answer.quotes if "begins on 3 June" in item.text)
    assert (was.source.endswith("trip.eml"), was.corrected.endswith("re.eml")) == (True, True)


def test_what_is_attached_to_a_reply_is_corrected_by_it():
    text = "Sorry, I made a mistake. A week in zone Harbour costs 95 euros, not 90 euros.\n"
    prices = document("club/re.eml#prices.txt", "Marina\n\nFor guests a week in zone Harbour is 90 euros.\n")
    beside = document("club/prices.txt", prices.text)
    reply = document("club/re.eml", f"# Re: Your question\n\n{text}")
    assert set(find_corrections(candidates(reply, prices, beside))) == {"club/re.eml#prices.txt"}
