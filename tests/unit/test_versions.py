"""Of several versions of one document the newest answers, and an older one is named as such."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from equipoise import Answer, Library
from equipoise.core.types import Document, Trust
from equipoise.rag.versions import Edition, edition, newest_versions, undated

BODY = (
    "# Travel\n\nWhoever uses a private car is paid {} cents per kilometre. A night in a hotel may cost up to {} euros"
    " with breakfast. Dearer rooms need the consent of the head of department beforehand.\n"
)


def document(source, *values, text=BODY, **more):
    return Document(source, text.format(*values), source, more.pop("title", "Travel"), **more)


def newest(*documents):
    return {old: new.doc_id for old, new in newest_versions({one.doc_id: one for one in documents}).items()}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("travel-2022.md", "travel-2024.md"),
        ("travel-2024-03.md", "travel-2024-11.md"),
        ("v1/travel.md", "v2/travel.md"),
        ("travel_v1.9.md", "travel_v1.10.md"),
        ("Travel version 2 (2025).md", "Travel version 3 (2024).md"),
        ("2023/travel.md", "2024/travel.md"),
    ],
)
def test_the_address_says_which_is_newer(older, newer):
    assert newest(document(newer, 38, 150), document(older, 30, 110)) == {older: newer}


def test_so_does_metadata_and_what_a_document_says_of_itself():
    said = "Version {}\n\n" + BODY
    assert newest(
        document("a.md", "1.0", 30, 110, text=said), document("b.md", "2.0", 38, 150, text=said)
    ) == {"a.md": "b.md"}
    old = document("travel-a.md", 30, 110, metadata={"version": "1"})
    assert edition(old) == Edition((1,), ())
    assert edition(document("x.md", 1, 1, metadata={"date": date(2024, 5, 1)})) == Edition((), (2024, 5, 1))


def test_what_is_no_version_of_another():
    minutes = "# Minutes\n\nThe roof was discussed, and Ann will call three firms before the next meeting.\n"
    others = "# Minutes\n\nMost of the time went into the summer party, whose music Bert finds too loud.\n"
    assert (
        newest(document("minutes-2024-01.md", text=minutes), document("minutes-2024-02.md", text=others))
        == {}
    )
    assert newest(document("room-1.md", 30, 110), document("room-2.md", 38, 150)) == {}
    assert newest(document("travel-2022.md", 30, 110), document("visa-2024.md", 38, 150)) == {}
    assert newest(document("travel-2022.md", 30, 110), document("travel-2022.md", 38, 150)) == {}


@pytest.mark.parametrize(
    ("author", "other", "is_one"), [("ann", "ann", True), ("ann", "bob", False), ("", "", False)]
)
def test_nobody_makes_another_s_document_old(author, other, is_one):
    mine = document("travel-2022.md", 30, 110, trust=Trust.UNTRUSTED, author=author)
    theirs = document("travel-2024.md", 38, 150, trust=Trust.UNTRUSTED, author=other)
    assert newest(mine, theirs) == ({mine.doc_id: theirs.doc_id} if is_one else {})
    assert newest(replace(mine, trust=Trust.TRUSTED, author=""), replace(theirs, author="")) == {}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("policies")
    for year, cents, euros in ((2022, 30, 110), (2024, 35, 135), (2025, 38, 150)):
        said = f"Valid from 1 January {year}.\n\n" + BODY.format(cents, euros)
        (folder / f"travel-{year}.md").write_text(said, "utf-8")
    with (folder / "travel-2022.md").open("a") as file:
        file.write("\n## Bicycles\n\nWhoever comes by bicycle is paid 5 cents per kilometre.\n")
    with Library.create(folder / "index.db") as made:
        made.index(folder)
        yield made


def quoted(answer):
    assert isinstance(answer, Answer)
    return {item.source.rpartition("/")[2]: item for item in answer.highlights.items}


def test_the_newest_answers_and_the_older_ones_are_named(library):
    answer = library.ask("How much may a night in a hotel cost?")
    assert set(quoted(answer)) == {"travel-2025.md"}
    assert "150 euros" in answer.text
    flagged = {flag.passage.source.rpartition("/")[2]: flag.reason for flag in answer.trace.flagged}
    assert set(flagged) == {"travel-2022.md", "travel-2024.md"}
    assert all("travel-2025.md" in reason for reason in flagged.values())


def test_what_only_the_older_one_says_is_quoted_as_such(library):
    (item,) = quoted(library.ask("How much is paid to whoever comes by bicycle?")).values()
    assert "5 cents" in item.text
    assert item.newer.endswith("travel-2025.md")


def test_an_older_one_that_is_asked_for_answers(library):
    answer = library.ask("How many cents per kilometre were paid for a private car in 2022?")
    assert set(quoted(answer)) == {"travel-2022.md"}
    assert "30 cents" in answer.highlights.items[0].text


def test_versions_do_not_depend_on_the_order_of_candidates():
    documents = [document(f"travel-{year}.md", year, year) for year in (2020, 2021, 2022, 2023)]
    rng = np.random.default_rng(0)
    expected = {one.doc_id: "travel-2023.md" for one in documents[:3]}
    for _ in range(10):
        assert newest(*(documents[row] for row in rng.permutation(4))) == expected


@pytest.mark.parametrize(
    ("question", "absent", "read"),
    [
        ("What is the current mileage rate?", ("current", "rate"), "What is the mileage rate?"),
        ("What is the current of the pump?", ("pump",), "What is the current of the pump?"),
        ("What's the latest?", ("latest",), "What's the latest?"),
        ("Wie hoch ist die aktuelle Pauschale?", ("aktuelle",), "Wie hoch ist die Pauschale?"),
    ],
)
def test_a_question_for_what_is_valid_now_is_read_without_saying_so(question, absent, read):
    assert undated(question, absent) == read
