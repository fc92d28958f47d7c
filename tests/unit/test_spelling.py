"""Misspelt words of a question are read as words of the documents; right ones never change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.core import sync
from equipoise.core.results import Answer
from equipoise.core.settings import QuestionSettings, Settings
from equipoise.core.types import Trust
from equipoise.corpus.indexing import index
from equipoise.corpus.spelling import (
    by_texts,
    corrected,
    feasts,
    meant,
    near,
    near_stems,
    parted,
    strange,
    unknown,
)
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder, english_words
from equipoise.rag import build
from equipoise.rag.components import Components
from timing import LINEAR, growth

ENCODER = EmbeddedEncoder()
TEXT = (
    "The sluice at Brennerode is opened when the reservoir rises above nine metres. "
    "Maintenance of the turbines takes place every second September. "
    "Accounting is done by the accounts office, which has an account for each boat. "
    "Kayaks and inflatable boats are allowed below the weir only."
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dam")
    (folder / "dam.txt").write_text(TEXT)
    with Store.open(folder / "s.db", create=True) as opened:
        index([folder / "dam.txt"], opened, ENCODER)
        yield opened


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is the sluise opened?", {"sluise": "sluice"}),
        ("When does maintainance of the turbines hapen?", {"maintainance": "maintenance", "hapen": "happen"}),
        ("How high may the resevoir be?", {"resevoir": "reservoir"}),
        ("Where are kayacks and infaltable boats alowed?",
         {"kayacks": "kayaks", "infaltable": "inflatable", "alowed": "allowed"}),
        ("What is opend in BRENERODE?", {"opend": "opened"}),  # a name
        ("WHEN IS THE RESEVOIR FULL?", {"RESEVOIR": "reservoir"}),
        ("Which acount has a boat?", {"acount": "account"}),
        ("When is the sluice opened?", {}),
        ("Are houses or ducks sold there?", {}),  # words of English that the documents have not
        ("Does Zigbee or XMPP work?", {}),
        ("Can I bake where one can account for kayacking?", {}),  # bake: "baked" is known
        ("slu 12 nine9 ???", {}),
        ("Is it ninie or thirtieth, seconde or nina?", {}),  # no number is misspelt, and nothing is read as one
    ],
)  # fmt: skip
def test_a_word_that_nobody_knows_is_the_nearest_one_of_the_documents(store, question, expected):
    assert dict(store.partition(Trust.TRUSTED).corrections(question, english_words())) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("diffrence betwen harmonic and inharmonic", {"diffrence": "difference", "betwen": "between"}),
        (
            "is ther a grafical mantenance screen",
            {"ther": "their", "grafical": "graphical", "mantenance": "maintenance"},
        ),
        ("how do i acces it onley once", {"acces": "access", "onley": "only"}),
        (
            "wifi modem for a vegan with varnish, toner and a backend to debug?",
            {},
        ),  # words that few lists have
        ("What is calibrated to XRKA, or to onReddirect?", {}),  # names are as they are
    ],
)
def test_a_word_that_the_documents_lack_is_the_nearest_one_of_english(store, question, expected):
    assert dict(store.partition(Trust.TRUSTED).corrections(question, english_words())) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("wat dose teh weir do wen menny boats pass", {"wat": "what", "teh": "the", "wen": "when", "menny": "many"}),
        ("wich boat evry day", {"wich": "which", "evry": "every"}),
        ("how meny thing shoud I pay taht tehy want", {"meny": "many", "shoud": "should", "taht": "that",
                                                       "tehy": "they"}),
        ("Does ssh or wal work with a hat, and can Wen or WAT?", {}),  # names, and words that mean something
        ("dam resevoir nein", {"resevoir": "reservoir"}),
    ],
)  # fmt: skip
def test_the_small_words_of_english_are_read_as_they_were_meant(store, question, expected):
    assert dict(store.partition(Trust.TRUSTED).corrections(question, english_words())) == expected


def test_a_small_word_stays_where_a_document_has_it_or_the_language_is_another(tmp_path):
    (tmp_path / "dose.txt").write_text("The first dose is given in the morning.")
    with Store.open(tmp_path / "s.db", create=True) as opened:
        index([tmp_path / "dose.txt"], opened, ENCODER)
        assert opened.partition(Trust.TRUSTED).corrections("wich dose", english_words()) == (
            ("wich", "which"),
        )
        assert opened.partition(Trust.TRUSTED).corrections("wich dose", {}) == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which init system does the hive use?", {}),
        ("Is there a menu for the diet, or only toner, wool and a coin for the byte node?", {}),
        ("What is CACHEDIR, and where is TURBINEDIR?", {}),
        ("What does --no-resevoir do in sluise.conf, /etc/sluise or `sluise`?", {}),
        ("Wie viel Wasser hat die Sluise nicht?", {"Sluise": "sluice"}),  # as the documents write it
        (
            "Wann wird die Dose geoeffnet und der sluise geputzt?",
            {},
        ),  # a verb that is near to a word of the documents
        ("Combien de graphicals sont très grands dans la ville ?", {}),
        ("Does Turbane sell boats?", {}),
    ],
)
def test_identifiers_plain_words_names_and_other_languages_stay(store, question, expected):
    assert dict(store.partition(Trust.TRUSTED).corrections(question, english_words())) == expected


def test_who_spells_by_ear_is_understood():
    assert near("kalibrate", ["calibrate", "celebrate"]) == ["calibrate"]
    assert near("scrue", ["screw", "score"]) == ["screw"]
    assert near_stems("kalibrate", ["calibr", "celebr"]) == ["calibr"]
    assert near("hurdy", ["hard"]) == near("tofu", ["tefa"]) == []  # the same consonants are not enough


def test_the_nearest_word_has_the_fewest_slips_then_likely_ones_then_the_most_passages():
    counts = {"cart": 1, "card": 9, "chart": 99, "cat": 3}
    assert meant("cartt", counts, counts.get) == "cart"
    assert meant("carf", counts, counts.get) == "card"
    assert meant("carz", counts, counts.get) == ""  # no hand makes that slip
    assert meant("crat", counts, counts.get) == "cart"
    assert (
        meant("wich", ["with", "which"], {"with": 9, "which": 1}.get) == "which"
    )  # a letter is left out more often
    assert meant("xxxx", counts, counts.get) == meant("x", [], counts.get) == ""


def test_an_umlaut_may_be_written_in_two_letters(tmp_path):
    (tmp_path / "amt.txt").write_text(
        "Jürgensmeyer prüft die Straßengebühr. Frau Boehm nimmt das Steuergeld."
    )
    with Store.open(tmp_path / "s.db", create=True) as store:
        index([tmp_path / "amt.txt"], store, ENCODER)
        part = store.partition(Trust.TRUSTED)
        asked, other = (
            part.corrections(question, english_words())
            for question in (
                "Kennt Herr Juergensmeyer die Strassengebuehr und Frau Böhm?",
                "Wer nimmt das Steuergeld?",
            )
        )
    assert other == ()
    assert asked == (
        ("Juergensmeyer", "jürgensmeyer"),
        ("Strassengebuehr", "straßengebühr"),
        ("Böhm", "boehm"),
    )


def test_two_letters_of_an_english_word_are_no_umlaut(tmp_path):
    (tmp_path / "yard.txt").write_text("Do not mention the yard. Go there by ship.")
    with Store.open(tmp_path / "s.db", create=True) as store:
        index([tmp_path / "yard.txt"], store, ENCODER)
        part = store.partition(Trust.TRUSTED)
        assert part.corrections("When does she leave, and who goes?", english_words()) == ()


def test_a_misspelt_word_is_near_to_the_beginning_of_its_stem():
    assert near_stems("calibraton", ["calibr", "cat", "collabor"]) == ["calibr"]
    assert near_stems("x", []) == []


def test_a_word_that_doubles_its_last_letter_before_an_ending_is_known():
    ranks = english_words()
    assert by_texts("Who stops dogs hogging the lane, and bogging it?", ["hugging"], ranks) == ()
    assert by_texts("the comming writter", [], ranks) == (("comming", "coming"), ("writter", "writer"))


def test_a_slip_leaves_the_first_letter():
    assert near("webmail", ["email"]) == []
    assert near("hteir", ["their"]) == ["their"]


def test_words_that_no_document_has_are_told(store):
    out_of_corpus = store.partition(Trust.TRUSTED).out_of_corpus("Is the Zigbee sluice opened in december?")
    assert out_of_corpus == ("zigbee", "december")
    assert strange(out_of_corpus, english_words()) == ("zigbee",)
    assert store.partition(Trust.TRUSTED).out_of_corpus("") == ()


def test_only_whole_words_change():
    assert corrected("An opend, opendoor 'opend'?", [("opend", "opened")]) == "An opened, opendoor 'opened'?"


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_text_has_corrections_that_are_words_of_it(store, text):
    corrections = store.partition(Trust.TRUSTED).corrections(text, english_words())
    assert all(
        typed in text and (right in TEXT.lower() or right in english_words()) for typed, right in corrections
    )
    assert len(unknown(text, ())) <= 8


def test_time_grows_linearly_with_the_question(store):
    def work(size):
        text = "sluise " * (size // 7)
        return lambda: store.partition(Trust.TRUSTED).corrections(text, english_words())

    assert growth(work, least=1_000, most=64_000).ratio < LINEAR


@pytest.mark.parametrize("spelling", [True, False])
def test_the_question_is_searched_for_and_read_as_it_was_meant(store, spelling):
    chosen = Settings(question=QuestionSettings(spelling=spelling))
    pipeline = build.pipeline("hs", Components(chosen, store, ENCODER))
    result = sync.run(pipeline.ask("When is maintainance of the trubines?"))
    read = (("maintainance", "maintenance"), ("trubines", "turbines"))
    assert result.trace.spelling == (read if spelling else ())
    if spelling:
        assert isinstance(result, Answer)
        assert "every second September" in result.text


@pytest.mark.parametrize(
    ("text", "question", "read", "shown"),
    [
        ("On 24 and 31 December the office closes at noon.", "When does the office close on Christmas Eve?",
         (("Christmas Eve", "24 December"),), "closes at noon"),
        ("Das Büro ist am 31.12. bis 12 Uhr besetzt.", "Bis wann ist das Büro an Silvester besetzt?",
         (("Silvester", "31. Dezember"),), "bis 12 Uhr"),
        ("On Christmas Eve the office closes at noon.", "When does the office close on Christmas Eve?",
         (), "closes at noon"),
    ],
)  # fmt: skip
def test_a_day_that_has_a_name_is_found_by_its_date_where_no_document_has_the_name(
    tmp_path, text, question, read, shown
):
    (tmp_path / "office.txt").write_text(f"{text}\n\nThe lift is serviced on 3 May.\n", "utf-8")
    with Store.open(tmp_path / "docs.db", create=True) as own:
        index([tmp_path / "office.txt"], own, ENCODER)
        result = sync.run(build.pipeline("hs", Components(Settings(), own, ENCODER)).ask(question))
    assert result.trace.spelling == read
    assert isinstance(result, Answer)
    assert shown in result.text


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("chrİstmas", "25 December"),
        ("Chrıstmas Eve", "24 December"),
        ("ſilvester", "31. Dezember"),
        ("New Year’s Eve", "31 December"),
    ],
)
def test_a_name_in_letters_that_are_alike_but_for_their_case_is_a_day_too(name, day):
    assert feasts(f"Open on {name}, on {name}?", str.split) == [(name, day)]
    assert feasts(f"Open on {name}?", lambda name: ()) == []


def test_a_number_apart_from_its_unit_is_read_as_the_documents_write_it():
    text, known = "a 32 bit or 32-bit one of 5 kg", {"32bit", "5", "5kg"}
    pairs = parted(text, lambda word: word not in known)
    assert pairs == [("32 bit", "32bit"), ("32-bit", "32bit")]
    assert corrected(text, pairs) == "a 32bit or 32bit one of 5 kg"


def test_a_refusal_names_the_words_that_were_typed(store):
    pipeline = build.pipeline("hs", Components(Settings(), store, ENCODER))
    result = sync.run(pipeline.ask("Which wardrobbe is opened above nine metres?"))
    assert dict(result.trace.spelling) == {"wardrobbe": "wardrobe"}
    assert result.trace.unheard == ("wardrobbe",)
