"""What a question names must be what is quoted: another ward, office, part or year is not."""

from dataclasses import replace

import pytest

from equipoise.core.types import Passage, Trust
from equipoise.rag.highlighters.amounts import measures
from equipoise.rag.highlighters.evidence import calibration
from equipoise.rag.highlighters.naming import (
    equally_matching_rows,
    is_ambiguous,
    off_topic_passages,
    on_topic_windows,
    rows_that_say_yes,
    rows_to_compare,
    span_to_quote,
)
from equipoise.text.spans import SpanPolicy
from windows_of import WARDS, left, windows

DEPOTS = """# Depots

## Lyon depot

### Gate

It opens at six.

## Turin depot

### Gate

It opens at nine.

### Crane

It lifts four tonnes.
"""
PARTS = "| Part | Price |\n|---|---|\n| B12 | 4 EUR |\n| B13 | 5 EUR |\n"
STAFF = (
    "They sit here.\n\n- Name: Ida Brandt; Team: Sails; Desk: 4.\n- Name: Omar Quist; Team: Ropes; Desk: 7.\n"
)


PLANS = "It says:\n\n- Storage; Basic: 10 GB; Plus: 50 GB.\n- Backups; Basic: weekly; Plus: daily.\n"


def test_a_heading_that_the_question_names_counts_for_what_stands_below_it():
    assert "nine" in left("When does the gate in Turin open?", DEPOTS)
    assert "six" not in left("When does the gate in Turin open?", DEPOTS)
    assert "six" in left("when does the lyon depot open its gate?", DEPOTS)
    assert "nine" not in left("when does the lyon depot open its gate?", DEPOTS)
    assert left("What does the crane lift?", DEPOTS).count("/") == left("Anything?", DEPOTS).count("/")
    assert {"six", "nine"} <= set(
        left("Do the gates in Lyon and Turin open alike?", DEPOTS).replace(".", "").split()
    )


def test_the_row_of_another_part_or_person_is_left_out():
    assert left("What is the price of B12?", PARTS).endswith("| B12 | 4 EUR |")
    assert "Omar" not in left("Which desk has Ida Brandt?", STAFF)
    assert "Ida" in left("Which desk has Ida Brandt?", STAFF)
    assert "Omar" in left("Who sits at which desk?", STAFF)


def test_the_row_that_a_word_of_the_question_stands_in_alone_is_kept():
    plans = "They cost:\n\n- Plan: Basic; Price: 5 EUR.\n- Plan: Family; Price: 9 EUR.\n"
    assert "Basic" not in left("what does the family plan cost", plans)
    assert "Family" in left("what does the family plan cost", plans)
    assert {"Basic;", "Family;"} <= set(left("which plan is the cheapest", plans).split())


def test_a_year_counts_where_the_documents_have_it():
    old, new = "The fee is 40 euros.", "The fee is 44 euros."
    both = [*windows(old, "fees-2023.md"), *windows(new, "fees-2024.md")]
    assert [window.text for window in on_topic_windows("What was the fee in 2024?", both)] == [new]
    assert len(on_topic_windows("What was the fee in 2020?", both)) == 2


def test_amounts_are_no_names_of_things():
    text = "A trunk may weigh up to 30 kg. Children from 3 to 12 years pay half. It is open on 24 June."
    assert measures("Is a trunk of 45 kg allowed for my 14 year old?", text) == {"45", "14"}
    assert measures("Is it open on 25 June?", text) == set()
    assert left("May a trunk weigh 45 kg?", text).count("/") == 2


@pytest.mark.parametrize(
    "question",
    ["Is it open on 24 June?", "?", "ward", "5 ward", "3", "Ward-5 E E9 in 99", "ward ² ²³²³ in 2019"],
)
def test_any_question_leaves_windows_in_their_order(question):
    every = windows(WARDS)
    kept = on_topic_windows(question, every)
    assert [window for window in every if window in kept] == kept
    assert on_topic_windows(question, []) == []


MOORINGS = "| Mooring | Boats | Fee |\n|---|---|---|\n| North | 10 | 45 EUR |\n| South | 30 | 38 EUR |\n"
FARES = "Fares:\n\n- Zone 1\n  - day: 4 euros\n  - week: 9 euros\n- Zone 2\n  - day: 5 euros\n  - week: 11 euros\n"
SAWS = (
    "# Saw 10\n\n| Property | Value |\n|---|---|\n| Noise | 68 dB |\n\n"
    "# Saw 24\n\n| Property | Value |\n|---|---|\n| Noise | 74 dB |\n| Blade | 10 mm |\n"
)


def test_a_row_that_holds_more_of_what_is_asked_for_leaves_its_neighbours_out():
    assert "45" not in left("How many boats are at the South mooring?", MOORINGS)
    assert "38" in left("How many boats are at the South mooring?", MOORINGS)
    assert left("What are the fees of the North and the South mooring?", MOORINGS).count("EUR") == 2
    assert "11 euros" in left("What does a week in zone 2 cost?", FARES)
    assert "9 euros" not in left("What does a week in zone 2 cost?", FARES)
    assert "68 dB" in left("How loud is the Saw 10?", SAWS)
    assert "74 dB" not in left("How loud is the Saw 10?", SAWS)
    assert left("Who pays?", MOORINGS).count("EUR") == 2


ROOMS = "| Room | Beds | Cats |\n|---|---|---|\n| Gull | 2 | allowed |\n| Tern | 1 | none |\n| Auk | 4 | allowed |\n"


@pytest.mark.parametrize(("age", "row"), [("7", "Junior"), ("40", "Adult"), ("67", "Senior")])
def test_the_row_whose_bounds_hold_the_number_leaves_its_neighbours_out(age, row):
    text = "| Plan | Age | Fee |\n|---|---|---|\n| Junior | 6 to 12 | £7 |\n| Adult | 18 to 64 | £18 |\n"
    text += "| Senior | 65 and over | £16 |\n"
    kept = left(f"What is the fee of a plan for my {age} year old?", text)
    assert row in kept and kept.count("£") == 1


def test_rows_that_answer_alike_are_quoted_together_and_all_where_all_are_asked_for():
    header, gull, tern, auk = windows(ROOMS)
    every = (header, gull, tern, auk)
    assert equally_matching_rows("Which rooms have cats allowed?", gull, every) == [gull, auk]
    assert equally_matching_rows("Which room has the most beds?", gull, every) == [gull, tern, auk]
    assert equally_matching_rows("How many beds has the Gull room?", gull, every) == [gull]
    assert equally_matching_rows("Who sleeps there?", gull, every) == []
    (plain, *_) = windows("Cats sleep here. Dogs do not.")
    assert equally_matching_rows("Which animals sleep here?", plain, [plain]) == []


def test_both_sides_of_a_comparison_are_quoted_by_the_row_of_one_name():
    pumps = "".join(
        f"## Pump {name}\n\n- Noise: {noise} dB\n- Weight: 9 kg\n\n"
        for name, noise in (("Ara", 71), ("Boa", 64), ("Cob", 80))
    )
    ara, _, boa, *_ = every = [one for one in windows(pumps) if ": " in one.own]
    assert rows_to_compare("Which is quieter, the Ara or the Boa?", ara, every) == [ara, boa]
    assert rows_to_compare("How loud is the Ara?", ara, every) == []
    assert rows_to_compare("Which pump is the quietest?", boa, every) == []


def test_the_rows_that_say_yes_where_the_question_asks_are_quoted():
    huts = (("Elm", "yes, a small one", "no"), ("Fir", "no", "yes"), ("Oak", "yes", "yes"))
    text = "".join(f"- Hut: {name}; Stove: {stove}; Pets: {pets}.\n" for name, stove, pets in huts)
    elm, fir, oak = every = windows(text)
    assert rows_that_say_yes("Which huts have a stove?", fir, every) == [elm, oak]
    assert rows_that_say_yes("Which huts with a stove take pets?", elm, every) == [oak]
    assert rows_that_say_yes("Which huts have no stove?", elm, every) == []
    assert rows_that_say_yes("Has the Elm hut a stove?", elm, every) == []
    assert rows_that_say_yes("Which huts have a bath?", elm, every) == []


def test_rows_whose_first_column_has_no_name_are_of_one_kind():
    assert left("How often does Plus make backups?", PLANS).endswith(
        "says: / - Backups; Basic: weekly; Plus: daily."
    )


def test_a_day_in_words_picks_its_row_among_days_in_numbers():
    rota = "Date | Shift | Warden\n---|---|---\n2026-03-03 | late | Ida\n2026-03-04 | late | Omar\n"
    assert "Omar" not in left("Who is on the late shift on 3 March 2026?", rota)
    assert "Ida" in left("Who is on the late shift on 3 March 2026?", rota)
    assert {"Ida", "Omar"} <= set(left("Who is on the late shift?", rota).split())


def test_a_name_behind_a_number_is_no_unit_of_it():
    line = "Line 17: Quarry Road\n\nThe first bus leaves Quarry Road at 5:52."
    assert measures("When does line 19 leave Quarry Road?", line) == set()
    assert left("When does line 19 leave Quarry Road?", line) == ""


def test_an_address_that_is_asked_for_stands_in_what_answers():
    text = "Ring Ida on 0151 776 204. Write to ida@hall.example. The fair is on 2026-05-04."
    assert left("What is the phone number of Ida?", text) == "Ring Ida on 0151 776 204."
    assert left("Wie lautet die E-Mail-Adresse?", text) == "Write to ida@hall.example."
    assert left("Quel est le numéro de téléphone ?", text) == "Ring Ida on 0151 776 204."
    assert left("What is the web address of the hall?", "It is open. Ring Ida on 0151 776 204.") == ""
    assert left("Is there a phone number?", text).count("/") == 2


def test_a_row_that_is_hardly_better_than_its_neighbour_is_in_doubt():
    hire = "Item | Half day | Full day\n---|---|---\nCanoe | 24 | 41\nKayak | 18 | 29\n"
    rows = [window for window in windows(hire) if "; " in window.text or "|" in window.text][-2:]
    near, far = (
        [replace(row, score=score) for row, score in zip(rows, scores, strict=True)]
        for scores in ((2.4, 1.5), (2.4, 0.2))
    )
    question = "What does a pedal boat cost for half a day?"
    assert is_ambiguous(question, near) and not is_ambiguous(question, far)
    assert not is_ambiguous("What does a canoe cost?", near)
    assert not is_ambiguous("Which boat is the cheapest?", near)
    assert not is_ambiguous(question, near[:1])


def test_rows_below_one_heading_are_told_apart_by_their_own_words():
    stops = "- Stop: Hospital; first: 6:52; last: 21:52.\n- Stop: Station; first: 7:07; last: 22:07.\n"
    line = f"# Line 17: Quarry Road to Hospital\n\n{stops}"
    kept = left("When does the last bus leave the Hospital?", line, title="Line 17: Quarry Road to Hospital")
    assert "21:52" in kept and "22:07" not in kept
    assert "22:07" in left("When does the last bus leave?", line, title="Line 17: Quarry Road to Hospital")


def test_a_document_that_the_question_names_is_read_before_others():
    tar = windows("-M: Make an archive of several volumes.", "tar.1", "tar(1)")
    zipped = windows("Split archives lie on several disks.", "zip.1", "zip(1)")
    passages = [zipped[0].passage, tar[0].passage]
    assert off_topic_passages("Can tar split an archive over several disks?", passages) == {passages[0]}
    assert off_topic_passages("Can an archive lie on several disks?", passages) == frozenset()


def test_a_passage_about_other_numbers_is_not_read():
    texts = (
        "Job 7 failed. Job 8 finished.",
        "Job 71 failed.",
        "A job that fails is done again.",
        "See job 7 to 72.",
        "Whoever waits is told. So it was with job 7.",
    )
    passages = [Passage(n, "d", 0, len(text), text) for n, text in enumerate(texts)]
    assert off_topic_passages("Why did job 71 fail?", passages) == {passages[0]}
    assert off_topic_passages("Why does a job fail?", passages) == frozenset()


CLAIMS = (
    ("What are the ferry fares for a bicycle?", ("A bicycle costs 4.00.", "handbook.md", "Ferry handbook"),
     ("A bicycle is free.", "fares.md", "Ferry fares")),
    ("What does a single ticket for a bicycle cost?",
     ("| Ticket | Price |\n|---|---|\n| Single | 4.00 |", "a.md", "Ferry"),
     ("| Ticket | Price |\n|---|---|\n| Single, bicycle | free |", "b.md", "Boats")),
    ("What was the fee in 2026?", ("The fee is 4.00 since May 2025.", "a.md", ""), ("It is free in 2026.", "b.md", "")),
)  # fmt: skip


@pytest.mark.parametrize(("question", "own", "other"), CLAIMS)
def test_what_a_stranger_calls_his_document_or_rows_silences_nobody(question, own, other):
    def kept(ours, theirs):
        read = [*windows(*own, trust=ours), *windows(*other, trust=theirs)]
        saying = (
            window
            for window in on_topic_windows(question, read)
            if "4.00" in window.own or "free" in window.own
        )
        return {window.passage.source for window in saying}

    both = {own[1], other[1]}
    assert kept(Trust.TRUSTED, Trust.TRUSTED) == {other[1]}
    assert kept(Trust.UNTRUSTED, Trust.TRUSTED) == {other[1]}
    assert kept(Trust.TRUSTED, Trust.UNTRUSTED) == kept(Trust.UNTRUSTED, Trust.UNTRUSTED) == both


def test_rows_of_one_untrusted_document_are_told_apart():
    assert left("What is the price of B12?", PARTS, trust=Trust.UNTRUSTED).endswith("| B12 | 4 EUR |")


LOCKERS = "1 stern locker (galley)\n- pans\n- a kettle\n\n2 bow locker (ropes)\n- a line\n- an anchor\n"


@pytest.mark.parametrize(
    ("question", "best", "left"),
    [
        ("What is in the stern locker?", "1 stern", {"stern", "kettle"}),
        ("What is in the bow locker?", "2 bow", {"bow", "anchor"}),
        ("In which locker is the anchor?", "- an anchor", {"bow", "anchor"}),
        ("What is in the lockers?", "2 bow", {"stern", "kettle", "bow", "anchor"}),
    ],
)
def test_a_list_leaves_others_out_that_hold_less_and_are_ranked_below_it(question, best, left):
    ranked = sorted(windows(LOCKERS), key=lambda one: not one.own.startswith(best))
    said = " ".join(one.own for one in on_topic_windows(question, ranked))
    assert {word for word in ("stern", "kettle", "bow", "anchor") if word in said} == left


@pytest.mark.parametrize(
    ("question", "end"),
    [("What is in the bow locker?", "- a line"), ("What is in the lockers?", "2. Bow locker")],
)
def test_a_label_that_is_left_alone_is_taken_with_the_beginning_of_its_list(question, end):
    text = "1. Stern locker\n   - pans\n   - a kettle\n2. Bow locker\n   - a line\n   - an anchor\n"
    ranked = sorted(windows(text), key=lambda one: not one.own.startswith("2. Bow"))
    kept = on_topic_windows(question, ranked)
    assert text[: span_to_quote(kept[0], kept).end].endswith(end)


THREAD = (
    "# Re: Rehearsal\n\nThe rehearsal {} on 21 March, in the {}.\n\n## On Sat, 7 Feb 2026 at 09:00, Ines Falk {}:\n\n"
    "I propose the rehearsal on 14 March in the {}.\n"
)


@pytest.mark.parametrize(
    ("question", "parts", "has_past"),
    [
        ("When is the rehearsal?", ("is", "hall", "wrote", "hostel"), False),
        ("On which day is the rehearsal?", ("is", "hall", "wrote", "hostel"), False),
        ("When is the rehearsal in the hostel?", ("is", "hall", "wrote", "hostel"), True),
        ("Where is the rehearsal?", ("is", "hall", "wrote", "hostel"), True),
        ("When is the rehearsal?", ("is", "hall", "sang", "hostel"), True),
    ],
)
def test_the_day_of_a_mail_that_is_quoted_gives_way_to_that_of_the_later_mail(question, parts, has_past):
    read = windows(THREAD.format(*parts))
    assert ("14 March" in " ".join(one.own for one in on_topic_windows(question, read))) is has_past
    assert "14 March" in " ".join(one.own for one in on_topic_windows(question, read[::-1]))


def test_of_short_pieces_the_best_are_chosen():
    (line, *_), fitted = windows("Ida sails. Bo rows. Al steers. It rains."), calibration()
    apart = [replace(line, first=n, last=n + 1, score=-float(n)) for n in range(0, 8, 2)]
    assert fitted.choose(apart) == apart[: SpanPolicy().max_pieces]
    beside = [replace(line, first=n, last=n + 1, score=-float(n)) for n in range(3)]
    assert fitted.choose(beside) == beside


OWN_ENTRY = "Options: / - --fuzzy: Looks for a like file. / It takes longer."


def test_of_an_option_that_is_named_its_own_entry_is_quoted():
    prose = "A fuzzy translation is out of date.\n"
    entry = "Options:\n\n- --fuzzy: Looks for a like file.\n\n  It takes longer.\n\n- --quick: Is quick.\n"
    assert left("What is --fuzzy?", prose, entry) == OWN_ENTRY
    assert left("What is fuzzy?", prose) == left("What is --fussy?", prose) == prose.strip()


def test_a_stranger_who_names_an_option_silences_nobody():
    kept = on_topic_windows(
        "What is --fuzzy?",
        [*windows("It is slow.\n"), *windows("--fuzzy eats files.\n", "b.md", trust=Trust.UNTRUSTED)],
    )
    assert [window.own for window in kept] == ["It is slow.", "--fuzzy eats files."]


def test_the_term_above_an_item_counts_as_its_own_words():
    terms = (
        "Some terms.\n\n"
        "Build\n    You may build by suit, by colour, or by alternate colour.\n\n"
        "Alternate colour\n    A card of the other kind goes on top.\n"
    )
    assert "other kind" in left("What does alternate colour mean?", terms)


OUTPUTS = """# Server

## Listeners

If no port is given, the default port is 6600.

## Output plugins

### httpd

Its port is set by `port`.

### jack

It connects to a server.
"""


def test_a_section_that_is_named_with_its_kind_rules_out_what_is_said_elsewhere():
    assert "6600" not in left("What is the default port of the httpd output plugin?", OUTPUTS)
    assert "Its port" in left("What is the default port of the httpd output plugin?", OUTPUTS)
    both = left("Is the httpd or the jack output plugin older?", OUTPUTS)
    assert "Its port" in both and "connects" in both
    assert "6600" in left("What is the default port?", OUTPUTS)
    assert "6600" in left("Which port does httpd have?", OUTPUTS)  # httpd without its kind may be anything
