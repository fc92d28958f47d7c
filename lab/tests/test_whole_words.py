"""Words stand where they are not cut in two."""

import pytest

from equipoise_lab.text.whole_words import cuts_a_word, place

DOCUMENT = "Ann won in May. NASA paid."


@pytest.mark.parametrize(
    ("words", "at"), [("Ann won", 0), ("NA", None), ("AS", None), ("NASA", 16), ("paid.", 21), ("", None)]
)
def test_a_place_cuts_no_word_in_two(words, at):
    assert place(words, DOCUMENT) == at


def test_a_later_whole_word_is_the_place():
    assert place("no", "I know no one.") == 7
    assert cuts_a_word("I know no one.", 3, 5)
    assert not cuts_a_word("I know no one.", 7, 9)
