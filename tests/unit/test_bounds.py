"""What a text says of a number without naming it, of a word in a part of it, and of one item of a list."""

import numpy as np
import pytest

from equipoise.core.types import Passage, Query
from equipoise.rag.highlighters.amounts import dates, is_within_bounds, missing_numbers
from equipoise.rag.highlighters.evidence import FEATURES, features
from equipoise.rag.highlighters.reading import read, windows_of


class Same:
    """A reranker to whom all texts are alike."""

    name = "same"

    def scores(self, question, texts):
        return np.zeros(len(texts))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("304", "Dogs are not allowed in rooms 301 to 306."),
        ("5", "for 3.5–6 kg"),
        ("1200", "1,000 bis 1,500 Stück"),
        ("70", "Members over 67 pay half."),
        ("12", "ab 11 Jahren"),
        ("20", "bags of up to £30"),
        ("16", "anyone younger than 18"),
        ("67", "Age: 65 and over"),
        ("67", "seniors (65+)"),
        ("67", "65 Jahre und älter"),
        ("10", "children, 12 years or younger"),
        ("900", "£800 to £1,499"),
    ],
)
def test_bounds_speak_of_the_numbers_between_them(number, text):
    assert is_within_bounds(number, text)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("307", "Dogs are not allowed in rooms 301 to 306."),
        ("60", "Members over 67 pay half."),
        ("40", "bags of up to £30"),
        ("600", "Call 0800-555-0142."),
        ("3", "since version 2.1.4 - 5.0.1"),
        ("4.0.1", "since version 3 to 5"),
        ("31", "open from 05:00 to 22:30"),
        ("2028", "from 2020 to 2030"),
        ("304b", "Dogs are not allowed in rooms 301 to 306."),
        ("64", "Age: 65 and over"),
        ("13", "children, 12 years or younger"),
    ],
)
def test_bounds_say_nothing_of_others(number, text):
    assert not is_within_bounds(number, text)


def absent(question, text, **more):
    reading = read(Query(question), (Passage(0, "d", 0, len(text), text),), Same(), Same())
    told = dict(zip(FEATURES, features(Query(question, **more), reading, 0.0).tolist(), strict=True))
    return told["anything_absent"]


def test_a_number_between_bounds_is_not_absent():
    text = "Dogs are not allowed in rooms 301 to 306."
    assert absent("May my dog sleep in 304?", text, out_of_corpus=("304",)) == 0.0
    assert absent("May my dog sleep in 404?", text, out_of_corpus=("404",)) == 1.0
    assert absent("Is it open on 31 December?", "Up to 32 kg.", out_of_corpus=("31",)) == 1.0


def test_an_unknown_word_made_of_one_that_is_there_is_not_absent():
    said = {"out_of_corpus": ("limescale",), "unknown": ("limescale",)}
    assert absent("Does it get rid of limescale?", "Vinegar takes scale off.", **said) == 0.0
    assert absent("Does it get rid of limescale?", "Vinegar takes rust off.", **said) == 1.0
    said = {"out_of_corpus": ("removedfromserver",), "unknown": ("removedfromserver",)}
    assert absent("When is it removedfromserver?", "It is removed from the server.", **said) == 1.0


def test_no_window_reaches_into_a_numbered_item():
    text = "1. Travel vaccinations on Tuesdays and Thursdays.\n\n2. Delivery costs three pounds a parcel."
    (first, second) = windows_of("What is it?", {Passage(0, "d", 0, len(text), text): 0.0}, Same())
    assert {first.own, second.own} == set(text.split("\n\n"))


LEAFLET = """Children from 6 to 12 years: one spray. Adults: two. Keep it below 25 °C.
The drum takes 8 kg, the large one 12 kg. It is not carried between 7 and 9."""
ALTER = "Kinder von 6 bis 12 Jahren zahlen die Hälfte."
ROTA = "Date: 2026-03-03; Shift: late\nDate: 2026-03-04; Shift: early\nClosed from 1 October to 31 March. 6 staff."


@pytest.mark.parametrize(
    ("question", "text", "numbers"),
    [
        ("How many sprays may a 9 year old take?", LEAFLET, []),
        ("How many sprays may a 4 year old take?", LEAFLET, ["4"]),
        ("May a 4 year old take it?", LEAFLET, []),
        ("Was zahlt ein Kind mit 4 Jahren?", ALTER, []),
        ("How much does a child of 4 Jahren pay?", ALTER, ["4"]),
        ("What does a trunk of 45 kg cost?", "A trunk may weigh up to 30 kg.", []),
        ("What does a wash of 10 kg cost?", LEAFLET, []),
        ("What does a wash of 16 kg cost?", LEAFLET, ["16"]),
        ("Can I take it at 8 in the morning?", LEAFLET, []),
        ("Who is there on 3 March 2026?", ROTA, []),
        ("Wer ist am 4. März da?", ROTA, []),
        ("Who is there on 6 April?", ROTA, ["6"]),
        ("Is it open on November 5th?", ROTA, []),
    ],
)
def test_numbers_of_a_question_that_a_text_says_nothing_of(question, text, numbers):
    assert missing_numbers(question, text) == numbers


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("3 March, the 4th of May, June 5", {(3, 3), (5, 4), (6, 5)}),
        ("am 3. März, 1er juin, 15 août", {(3, 3), (6, 1), (8, 15)}),
        ("2026-03-04 and 24.12.2025", {(3, 4), (12, 24)}),
        ("03/04/2026", {(3, 4), (4, 3)}),
        ("You may 4 times, version 3.4.5, 10.20.30.40, March 2026", set()),
    ],
)
def test_days_are_read_as_they_are_written(text, days):
    assert dates(text) == days
