"""A word of a question that the best window speaks against, or says otherwise."""

import pytest

from equipoise.core.types import Passage
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.highlighters.erasure import AGAINST, MOST_GAIN, shift
from equipoise.rag.highlighters.reading import Window

BARGES = "The hull of each barge is painted every second spring."
REFUNDS = "Refunds are paid within nine working days."


@pytest.fixture(scope="module")
def reranker():
    return CrossEncoder(threads=2)


def window(text, title=""):
    return Window(Passage(0, "d", 0, len(text), text, title, "harbour.txt"), 0, len(text), 0, 1)


@pytest.mark.parametrize(
    ("question", "text", "speaks_against"),
    [
        ("How much is the ticket for children?", "The ticket for adults is 12 euros.", True),
        ("How often is the hull of a barge painted?", BARGES, False),
        ("What does a green bucket cost?", "A red bucket costs 4 euros.", True),
        # a degree that numbers answer, where things are compared
        ("Which fan is quieter, the Breeze 20 or the Zephyr 30?", "The Breeze 20 is a desk fan.", False),
        # neither what a yes or no answers, nor what is no sentence that a word can be left out of
        ("Does a green bucket cost 4 euros?", "A red bucket costs 4 euros.", False),
        ("green bucket cost", "A red bucket costs 4 euros.", False),
    ],
)
def test_a_word_that_the_window_speaks_against_is_told(reranker, question, text, speaks_against):
    moved = shift(question, window(text), reranker)
    assert moved <= -AGAINST if speaks_against else moved >= 0.0


def test_a_word_that_the_window_says_otherwise_speaks_for_it(reranker):
    assert 0 < shift("How do I get my money back after a refund?", window(REFUNDS), reranker) <= MOST_GAIN
    assert shift("how do i get my money back", window(REFUNDS), reranker) == 0.0  # nothing in common


def test_in_another_language_half_of_the_words_must_stand_there_in_whole_or_in_parts(reranker):
    kurse = window("- Spanisch für Anfänger: 120 Euro", "Kurse")
    assert shift("Was kostet der Spanischkurs?", kurse, reranker) == MOST_GAIN
    assert shift("Was kostet der Töpferkurs?", kurse, reranker) == 0.0
    assert shift("Wie oft wird der Mast gestrichen?", window(BARGES), reranker) == 0.0


def test_numbers_and_words_that_stand_above_are_left_alone(reranker):
    assert shift("Is 37 painted?", window(BARGES), reranker) == 0.0
    fair = "The autumn fair is on 4 October."
    assert shift("When is the spring fair?", window(fair, "Spring"), reranker) == 0.0


def test_a_row_or_field_that_has_all_that_is_asked_for_speaks_for_itself(reranker):
    boat = window("Boat: Tern; Berth: 14; Fuel: diesel", "Boats")
    assert shift("What is the berth of the Tern?", boat, reranker) == MOST_GAIN
    assert shift("Which berth number?", window("Berth number: 14"), reranker) == MOST_GAIN
    assert shift("What does the Tern boat cost?", boat, reranker) == 0.0  # the field could have any name
    assert shift("Where is the berth?", boat, reranker) == 0.0  # of which boat
    assert shift("Whose hull is painted?", window(BARGES), reranker) == 0.0  # a sentence
