"""What is corrected is quoted with its correction, or this in its place; texts about corrections correct nothing."""

from dataclasses import replace
from email.message import EmailMessage
from pathlib import PurePath

import numpy as np
import pytest

from correcting import candidates, corrected, document
from equipoise import Answer, Library
from equipoise.core.results import Refusal
from equipoise.core.types import Flag, Trust
from equipoise.corpus import partition
from equipoise.rag.corrections import find_corrections
from equipoise.rag.retrieval import candidates as made_candidates
from equipoise.rag.versions import with_corrections
from equipoise.text.corrections import correction_words_at, correction_words_of, day_in

RENTAL = (
    "# Boat rental\n\n## 1. Prices\n\nA rowing boat costs 12 euros an hour. A pedal boat costs 15 euros an hour.\n\n"
    "## 2. Deposit\n\nThe deposit for a dinghy is 60 euros. It is paid back on the day of return.\n"
)
"""What is corrected below."""


OLD = "The deposit for a dinghy is 60 euros."


@pytest.mark.parametrize(
    ("heading", "new"),
    [
        ("## Correction of 21 July", "The deposit for a dinghy is 80 euros, not 60."),
        ("## Errata", "The deposit for a dinghy is 80 euros."),
        ("## Amendment 1", "In section 2 the deposit is 80 euros instead of 60 euros."),
        ("Correction:", "The deposit for a dinghy is 80 euros."),
        ("", "Section 2 is replaced by: A dinghy needs a deposit of 80 euros."),
    ],
)
def test_a_part_of_a_document_corrects_what_stands_before_it(heading, new):
    text = RENTAL + f"\n{heading}" + (" " if heading.endswith(":") else "\n\n") + new + "\n"
    found = {old for old, by in corrected(document("rental.md", text)) if "80 euros" in by}
    assert OLD in found
    assert not any("boat costs" in old for old in found)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("new.md", "# Correction of 21 July\n\nThe deposit for a dinghy is 80 euros.\n"),
        ("new.md", "# Re: Correction: boat rental\n\nThe deposit for a dinghy is 80 euros, not 60.\n"),
        ("errata.txt", "Note\n\nThe deposit for a dinghy is 80 euros.\n"),
        ("new.md", "# Erratum\n\nIn section 2 of “Boat rental”, read 80 euros instead of 60 euros.\n"),
        (
            "new.md",
            "# Notice\n\nThis notice corrects the boat rental.\n\nThe deposit for a dinghy is 80 euros.\n",
        ),
    ],
)
def test_a_document_corrects_the_one_beside_it(source, text):
    found = corrected(document(f"club/{source}", text), document("club/rental.md", RENTAL))
    assert {old for old, by in found if "80 euros" in by} == {OLD}
    assert corrected(document(f"other/{source}", text), document("club/rental.md", RENTAL)) == set()


@pytest.mark.parametrize(
    "text",
    [
        "# Corrections\n\nAn article about the bridge misstated its height. It is 324 metres, not 330.\n",
        "# Corrections policy\n\nThe deposit for a dinghy is 80 euros, not 60.\n",
        "# Error correction codes\n\nThe deposit for a dinghy is 80 euros, not 60.\n",
        "# Correction of errors\n\nThe deposit for a dinghy is 80 euros, not 60.\n",
        "# Correction to the campsite\n\nThe deposit for a dinghy is 80 euros, not 60.\n",
        "# Correction of 21 July\n\nThe deposit for a dinghy stays 60 euros.\n",
        "# Deposits\n\nThe deposit for a dinghy is 80 euros, not 60.\n",
    ],
)
def test_what_corrects_nothing_here(text):
    assert corrected(document("new.md", text), document("rental.md", RENTAL)) == set()


@pytest.mark.parametrize(("author", "is_one"), [("ann", True), ("bob", False), ("", False)])
def test_nobody_corrects_another_s_document(author, is_one):
    text = "# Correction of 21 July\n\nThe deposit for a dinghy is 10 euros, not 60.\n"
    theirs = document("new.md", text, trust=Trust.UNTRUSTED, author=author)
    ann = document("rental.md", RENTAL, trust=Trust.UNTRUSTED, author="ann" if author else "")
    assert bool(corrected(theirs, ann)) is is_one
    assert corrected(theirs, document("rental.md", RENTAL)) == set()


def test_of_two_corrections_the_later_one_is_the_last_word():
    later = "\n## Correction of 3 August 2026\n\nThe deposit for a dinghy is 85 euros.\n"
    earlier = "\n## Correction of 21 July 2026\n\nThe deposit for a dinghy is 80 euros.\n"
    found = corrected(document("rental.md", RENTAL + later + earlier))
    assert {(old[-9:-1], new[-9:-1]) for old, new in found} == {
        ("60 euros", "80 euros"),
        ("60 euros", "85 euros"),
        ("80 euros", "85 euros"),
    }


def test_days_and_words():
    assert str(day_in("Berichtigung vom 21. Juli 2026")) == "2026-07-21"
    assert str(day_in("Correction (July 21, 2026)")) == "2026-07-21"
    assert day_in("Correction of 41 July 2026") is None
    assert correction_words_of(document("a.md", "# Berichtigung der Hausordnung\n\nText.\n"))
    plain = document("a.md", RENTAL)
    assert not any(correction_words_at(plain, start) for start, _ in plain.sentences)


def test_the_passage_of_a_correction_is_kept_unless_it_was_taken_out():
    found = candidates(
        document("rental.md", RENTAL), document("a.md", "# A\n\nText.\n"), document("b.md", "# B\n\nText.\n")
    )
    text = "# Correction of 21 July\n\nThe deposit for a dinghy is 80 euros.\n"
    both = candidates(*found.documents.values(), document("new.md", text))
    marks = find_corrections(both)
    told = {key: replace(both.documents[key], corrected=of) for key, of in marks.items()}
    both = replace(both, documents={**both.documents, **told})
    kept = with_corrections(both.take([0, 1, 2]), both, (), 3)
    assert [one.source for one in kept.passages] == ["rental.md", "a.md", "new.md"]
    flag = Flag(both.passages[3], "planted", 1.0)
    assert with_corrections(both.take([0, 1]), both, (flag,), 3).passages == both.passages[:2]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Asks a folder with the files given."""

    def asked(files, question):
        folder = tmp_path_factory.mktemp("corrected")
        for name, text in files.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        with Library.create(folder / "index.db") as library:
            library.index(folder)
            return library.ask(question)

    return asked


DEPOSIT = "How much is the deposit for a dinghy?"


def test_the_correction_answers_in_place_of_what_it_says_anew(ask):
    text = "# Correction of 21 July\n\nThe deposit for a dinghy is 80 euros.\n"
    answer = ask({"rental.md": RENTAL, "new.md": text}, DEPOSIT)
    assert isinstance(answer, Answer)
    (item,) = answer.quotes
    assert "80 euros" in item.text
    assert item.correction
    assert any(flag.reason.startswith("corrected by") for flag in answer.trace.flagged)


def test_the_correction_is_quoted_beside_what_it_only_speaks_of(ask):
    text = "Erratum\n\nIn section 2 of “Boat rental”, read 80 euros instead of 60 euros.\n"
    answer = ask({"rental.md": RENTAL, "erratum.txt": text}, DEPOSIT)
    old, new = answer.quotes[:2]
    assert "60 euros" in old.text and old.corrected.endswith("erratum.txt") and not old.correction
    assert "read 80 euros" in new.text and new.correction and not new.corrected
    assert answer.to_dict()["highlights"][0].keys() & {"corrected", "correction"}


KAYAKS = {
    f"club{n}.md": f"# Club {n}\n\nHow much the deposit is, club {n} says at the counter.\n"
    for n in range(25)
}
"""More like the question than what answers it."""


def test_it_is_found_among_many_documents_that_are_more_like_the_question(ask):
    text = "Erratum\n\nIn section 2 of “Boat rental”, read 80 euros in place of 60 euros.\n"
    answer = ask({"rental.md": RENTAL, "erratum.txt": text} | KAYAKS, DEPOSIT)
    (old,) = (item for item in answer.quotes if item.text.startswith("The deposit for a dinghy is 60"))
    assert old.corrected.endswith("erratum.txt")
    assert any("read 80 euros" in item.text and item.correction for item in answer.quotes)


@pytest.mark.parametrize(
    ("trust", "found"), [(Trust.TRUSTED, {"d.md", "erratum.md"}), (Trust.UNTRUSTED, {"d.md"})]
)
def test_only_trusted_corrections_are_looked_for(tmp_path, trust, found):
    (tmp_path / "d.md").write_text("Ships sail.\n\n" * 200)
    (tmp_path / "erratum.md").write_text("# Erratum\n\nRead 80 euros in place of 60 euros.\n")
    (tmp_path / "policy.md").write_text("# Corrections policy\n\nWhat is wrong is corrected at once.\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "errata.md").write_text("# Errata\n\nRead 9 euros in place of 6 euros.\n")
    with Library.create(tmp_path / "index.db") as library:
        library.index(tmp_path, trust=trust)
        part = library.store.partition(trust)
        ranking = [hit for hit in part.bm25("ships", 3) if hit]
        made = made_candidates(part, ranking, np.zeros(384, np.float32))
    assert {PurePath(passage.source).name for passage in made.passages} == found
    assert len(made) == len(ranking)


def test_a_german_one_in_the_same_file(ask):
    text = (
        "# Hausordnung\n\n## § 4 Waschküche\n\nDie Benutzung der Waschmaschine kostet 2,50 Euro.\n\nDer Schlüssel liegt"
        " beim Hausmeister.\n\nBerichtigung vom 21. Juli: Die Benutzung der Waschmaschine kostet 3,50 Euro.\n"
    )
    answer = ask({"hausordnung.md": text}, "Was kostet die Benutzung der Waschmaschine?")
    assert "3,50 Euro" in answer.text
    assert all("3,50" in item.text or item.corrected for item in answer.quotes if "2,50" in item.text)


def test_a_mail_corrects_what_is_attached_to_it(ask):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@club.example", "Correction: price list of the marina"
    mail.set_content("Dear all,\n\nin the price list a week in zone Harbour costs 95 euros, not 90.\n\nAnn\n")
    prices = "Marina price list\n\nA week in zone Harbour costs 90 euros.\n"
    mail.add_attachment(prices, filename="prices.txt")
    answer = ask({"mail.eml": bytes(mail)}, "How much does a week in zone Harbour cost?")
    assert any("95 euros" in item.text and item.correction for item in answer.quotes)
    assert all(item.corrected for item in answer.quotes if "costs 90 euros." in item.text)


def test_two_questions_of_one_message_keep_what_is_corrected_with_its_correction(ask):
    text = "# Correction of 21 July\n\nThe deposit for a dinghy is 80 euros.\n"
    answer = ask({"rental.md": RENTAL, "new.md": text}, f"{DEPOSIT} And what does a pedal boat cost?")
    assert not isinstance(answer, Refusal)
    assert "80 euros" in answer.text
    assert "60 euros" not in answer.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "note.txt",
            "Dear members,\n\nplease note: the deposit in section 2 is 80 euros, not 60.\n\nThe board\n",
        ),
        ("note.txt", "In section 2 read 80 for 60.\n"),
        (
            "note.txt",
            "Hello Tim,\n\nthe deposit for a dinghy is wrong, it should be 80, not 60. Tell them.\n",
        ),
        ("note.txt", "There was a mistake: the deposit for a dinghy is not 60, but 80 euros.\n"),
        ("note.txt", "Sorry, we made a mistake. The deposit for a dinghy is 80 euros.\n"),
        ("note.txt", "Dear all,\n\nCorrection: the deposit for a dinghy is 80 euros.\n"),
        (
            "note.md",
            "# For the office\n\nPlease note that a dinghy needs a deposit of 80 euros instead of 60 euros.\n",
        ),
    ],
)
def test_a_note_without_a_title_corrects_what_lies_beside_it(name, text):
    rental = document("club/rental.md", RENTAL)
    assert {old for old, _ in corrected(document(f"club/{name}", text), rental)} == {OLD}
    assert corrected(document(f"other/{name}", text), rental) == set()
    assert corrected(document(f"club/{name}", text + "\nSo be it.\n" * 200), rental) == set()
    same = RENTAL + "\n" + text.rpartition("# For the office")[2]
    assert OLD in {old for old, _ in corrected(document("club/rental.md", same))}


@pytest.mark.parametrize(
    "text",
    [
        "Please note: dogs for a dinghy are allowed in zone 8, not in zone 60.\n",
        "Please note: the fee for a locker is 8 euros, not 60.\n",
        "Please note: in section 1 read 80 for 60.\n",
        "The deposit for a dinghy is the thing: 80 euros, not 60.\n",
        "Please note: a dinghy needs a deposit of 80 euros, not 50.\n",
        RENTAL.replace("60", "80") + "\nPlease note: the deposit for a dinghy is 80 euros, not 60.\n",
    ],
)
def test_a_note_that_corrects_nothing_beside_it(text):
    assert corrected(document("note.txt", text), document("rental.md", RENTAL)) == set()


def test_a_date_is_corrected_like_an_amount():
    feast = document("feast.md", "# Feast\n\nThe harvest feast is on 12 September in the barn.\n")
    says = "The harvest feast is on 19 September{}.\n"
    for text in (
        "# Correction\n\n" + says.format(""),
        "Please note: " + says.format(", not on 12 September"),
    ):
        assert len(corrected(document("new.md", text), feast)) == 1
    told = document("feast.md", "# Feast\n\nThe harvest feast is on 19 September in the barn.\n")
    assert corrected(document("new.md", "# Correction\n\n" + says.format("")), told) == set()


NOTE = "Dear all,\n\nplease note: in section 2 it must be 80 and not 60.\n"


def test_a_note_is_found_among_many_documents_that_are_more_like_the_question(ask):
    answer = ask({"rental.md": RENTAL, "to-all.txt": NOTE} | KAYAKS, DEPOSIT)
    (old,) = (item for item in answer.quotes if item.text.startswith("The deposit for a dinghy is 60"))
    assert old.corrected.endswith("to-all.txt")
    assert any("it must be 80" in item.text for item in answer.quotes)


@pytest.mark.parametrize(("most", "found"), [(2, {"d.md", "to-all.txt"}), (1, {"d.md"})])
def test_notes_are_looked_for_where_they_are_few_and_say_a_found_amount_to_be_wrong(
    tmp_path, monkeypatch, most, found
):
    monkeypatch.setattr(partition, "NOTICED", most)
    (tmp_path / "d.md").write_text("Ships sail at 60 knots.\n\n" * 200)
    (tmp_path / "to-all.txt").write_text(NOTE)
    (tmp_path / "more.txt").write_text("Please note: it must be 7 and not 8.\n")
    (tmp_path / "long.txt").write_text(NOTE + "So be it.\n\n" * 200)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "to-all.txt").write_text(NOTE)
    with Library.create(tmp_path / "index.db") as library:
        library.index(tmp_path)
        part = library.store.partition(Trust.TRUSTED)
        made = made_candidates(part, part.bm25("ships", 3), np.zeros(384, np.float32))
    assert {PurePath(passage.source).name for passage in made.passages} == found
