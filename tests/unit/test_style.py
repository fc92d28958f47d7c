"""How a text is written, in numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.text.style import LONGEST, NAMES, style


def value(name, text):
    return style(text)[NAMES.index(name)]


def test_the_worked_value():
    text = "No! It isn't."
    assert value("word length", text) == pytest.approx((2 + 2 + 5) / 3)
    assert value("sentence length", text) == 1.5
    assert value("spread of sentence lengths", text) == 0.5
    assert value("types per token", text) == 1.0
    assert value("contractions", text) == pytest.approx(100 / 3)
    assert value("mark !", text) == pytest.approx(100 / len(text))
    assert value("mark '’‘", text) == pytest.approx(100 / len(text))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("capitals", "The NATO and a UN body met", 200 / 7),
        ("spacing faults", "one , two,three four", 2 * 100 / 4),
        ("lower-case starts", "It is. so it is. And so on.", 100 / 8),
        ("digits", "in 1999", 400 / 7),
        ("beyond ASCII", "“café”", 100 / 6),
    ],
)
def test_each_habit_by_hand(name, text, expected):
    assert value(name, text) == pytest.approx(expected)


def test_marks_of_one_kind_count_together():
    assert value("mark -–—", "a - b – c — d") == pytest.approx(300 / 13)


@given(st.text())
def test_any_text_has_finite_values_in_their_number(text):
    values = style(text)
    assert len(values) == len(NAMES) == 23
    assert all(abs(number) < 1e6 for number in values)


def test_what_stands_beyond_the_first_characters_is_not_looked_at():
    text = "A sentence. " * (LONGEST // 12 + 1)
    assert style(text) == style(text + "!!! ??? $$$")
