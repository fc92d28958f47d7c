"""Words, numbers and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import timing
from equipoise.text.tokens import STOP_WORDS, content_words, names, numbers, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was -5 °C, not 5.", ["it", "was", "-5", "c", "not", "5"]),
        ("−3.14 and (-2)", ["-3.14", "and", "-2"]),
        ("pages 3-5 of B-5", ["pages", "3", "5", "of", "b", "5"]),
        ("1,000 m, 1,234.5; 1,2,3", ["1000", "m", "1234.5", "1", "2", "3"]),
        ("3rd 5km 1980s", ["3rd", "5km", "1980s"]),
        ("don’t well-known", ["don't", "well", "known"]),
        ("the U.S. Army, e.g. Straße", ["the", "us", "army", "eg", "strasse"]),
        ("東京 is big", ["東", "京", "is", "big"]),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_content_words_are_words_without_stop_words():
    assert content_words("The gold is not in the U.K., it's here") == ["gold", "uk"]
    assert all(word == word.casefold() for word in STOP_WORDS)


def test_numbers_are_those_written_in_digits():
    assert numbers("In 1,000 cases −5, three, 3-4 and x2") == ["1000", "-5", "3", "4"]


def test_names_do_not_begin_sentences_unless_they_are_acronyms():
    text = "He met Anna in New York. Paris is far. NASA said: Good. I'm in the U.S. now, Anna."
    assert names(text) == ["Anna", "New", "York", "NASA", "U.S."]
    assert names('"The end," I said. “Gold and Ice.”') == ["Ice"]


@given(st.text(max_size=200))
def test_any_text_has_words(text):
    assert all(word and word == word.strip() for word in words(text))
    assert set(numbers(text)) <= set(words(text))
    assert all(name in text for name in names(text))


@pytest.mark.parametrize("unit", ["a", "1", "1,", "1,000", "a.", "a'", "-1", "1.", "A ", "I'"])
def test_long_junk_takes_time_in_proportion(unit):
    def read(size):
        junk = unit * (size // len(unit)) + "a"
        return lambda: (words(junk), names(junk))

    assert timing.growth(read).ratio < timing.LINEAR
