"""A word of a question that the best window speaks against, or says otherwise."""

import pytest

from equipoise.core.types import Passage
from equipoise.models.crossencoder import CrossEncoder
from equipoise.rag.highlighters.erasure import AGAINST, MOST_GAIN, holds, shift
from equipoise.rag.highlighters.reading import Window

BARGES = "The hull of each barge is painted every second spring."
REFUNDS = "Refunds are paid within nine working days."


@pytest.fixture(scope="module")
def reranker():
    return CrossEncoder(threads=2)


def window(text, title=""):
    return Window(Passage(0, "d", 0, len(text), text, title, "harbour.txt"), 0, len(text), 0, 1)


@pytest.mark.parametrize(
    ("question", "text", "word"),
    [
        ("When is the spring fair?", "The autumn fair is on 4 October.", "spring"),
        ("How often is the hull of a barge painted?", BARGES, ""),
        ("What does a green bucket cost?", "A red bucket costs 4 euros.", "green"),
        ("green bucket cost", "A red bucket costs 4 euros.", ""),  # no sentence that a word can be left out of
    ],
)
def test_a_word_that_the_window_speaks_against_is_told(reranker, question, text, word):
    moved, told = shift(question, window(text), reranker)
    assert told == word
    assert (moved <= -AGAINST) == bool(word)


def test_a_word_that_the_window_says_otherwise_speaks_for_it(reranker):
    moved, told = shift("how do i get my money back", window(REFUNDS), reranker)
    assert not told
    assert 0 < moved <= MOST_GAIN


def test_numbers_and_other_languages_are_left_to_others(reranker):
    assert shift("Wie oft wird der Mast gestrichen?", window(BARGES), reranker) == (0.0, "")
    assert shift("Is 37 painted?", window(BARGES), reranker) == (0.0, "")


def test_a_window_holds_what_stands_above_it_and_other_forms_of_a_word():
    assert holds(window("It is painted.", "Barges"), "barge")
    assert holds(window("It is painted."), "harbour")  # the file's name
    assert not holds(window("It is painted.", "Barges"), "mast")
