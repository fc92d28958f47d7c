"""Text from outside, made safe to show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.text.visible import MAX_TITLE, flowing, title, visible

DANGEROUS = "\x1b\x07\x08\r\x7f\x9b\u202e\u2066\u200b\u200f\ufeff\u2028\u2029\u0085"


@pytest.mark.parametrize("c", DANGEROUS)
def test_a_character_that_acts_is_seen_and_is_gone_from_titles(c):
    assert c not in visible(f"a{c}b")
    assert visible(f"a{c}b").startswith("a\\")
    assert title(f"a{c}b") == "a b"


@pytest.mark.parametrize("text", ["a\nb\tc", "Grüße", "日本語", "می‌خواهم", "👩‍👩‍👧", "[/x] :lock: \\"])
def test_ordinary_text_stays(text):
    assert visible(text) == text


def test_a_title_is_one_line_of_limited_length():
    assert title("  Fees\n- quote  ") == "Fees - quote"
    assert title("x" * MAX_TITLE) == "x" * MAX_TITLE
    assert title("x" * (MAX_TITLE + 1)) == "x" * (MAX_TITLE - 1) + "…"
    assert len(title("ab " * 100_000)) <= MAX_TITLE
    assert title(" " * 5_000 + "late") == "…"


@given(st.text())
def test_nothing_that_acts_is_left_and_titles_are_stable(text):
    assert visible(visible(text)) == visible(text)
    assert title(title(text)) == title(text)
    assert "\n" not in title(text)


@pytest.mark.parametrize(
    ("text", "flows"),
    [
        ("> It is\n> so.", "It is so."),
        ("a >b\n\n c", "a >b c"),
        (">> deep\n>quote", "deep quote"),
        ("x > y\u2028> z", "x > y z"),
        ("", ""),
    ],
)
def test_a_quote_flows_on_one_line_without_the_marks_of_a_quotation(text, flows):
    assert flowing(text) == flows
