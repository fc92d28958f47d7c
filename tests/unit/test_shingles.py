"""Near copies by word shingles."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.text.shingles import containment, near_copy, resemblance, shingles

TERMS = "You can return any item within 30 days of delivery if it is unused and in its box."
OWN_WORDS = "Whatever you bought may go back to the shop for thirty days, unused and packed as it came."
TEXTS = st.lists(st.sampled_from("a b c d e A, B. 1 2".split()), max_size=30).map(" ".join)  # noqa: SIM905


def test_by_hand():
    assert len(shingles("one two three four five six")) == 2
    assert resemblance({1, 2, 3}, {2, 3, 4}) == 0.5
    assert (containment({1, 2}, {2, 3, 4}), containment({2}, {2, 3, 4})) == (0.5, 1.0)
    assert resemblance(frozenset(), frozenset()) == containment(frozenset(), {1}) == 0.0


def test_shingles_are_the_same_in_every_process():
    code = "from equipoise.text.shingles import shingles; print(sorted(shingles('a b c d e f')))"
    told = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert told == {f"{sorted(shingles('a b c d e f'))}\n"}


@pytest.mark.parametrize(
    "other",
    [
        TERMS.upper(),
        TERMS.replace(" ", "\n  "),
        TERMS.replace("return", "re\u200bturn"),
        TERMS.replace("30", "３０"),
        TERMS.replace(" if", ", if").rstrip("."),
    ],
)
def test_case_space_punctuation_and_typography_do_not_count(other):
    assert shingles(other) == shingles(TERMS)
    assert near_copy(TERMS, other)


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        (TERMS, TERMS.replace("30", "90"), True),
        (TERMS, f"Official notice. {TERMS} See you soon.", True),
        (TERMS, f"{OWN_WORDS} {OWN_WORDS[::-1]} {TERMS} {OWN_WORDS}", True),
        (TERMS, OWN_WORDS, False),
        ("The fee is 60 euros.", "The fee is 60 euros.", True),
        ("The fee is 60 euros.", "For a new passport the fee is 60 euros, to be paid at the desk.", False),
        ("60 euros", "60 Euros!", True),
        ("60 euros", "60 dollars", False),
        ("Yes.", "yes", True),
        ("Yes.", "Yes, you can bring your own food.", False),
        ("", "", False),
        ("...", TERMS, False),
    ],
)
def test_near_copies(first, second, wanted):
    assert near_copy(first, second) is near_copy(second, first) is wanted


@given(TEXTS, TEXTS)
def test_shares_are_shares_and_near_copies_go_both_ways(first, second):
    mine, others = shingles(first), shingles(second)
    assert 0 <= resemblance(mine, others) <= min(containment(mine, others), containment(others, mine)) <= 1
    assert near_copy(first, second) is near_copy(second, first)


@given(TEXTS, st.integers(1, 8))
def test_a_text_is_like_itself(text, size):
    mine = shingles(text, size)
    assert resemblance(mine, mine) == (1.0 if text.strip() else 0.0)


def test_a_size_without_words_is_refused():
    with pytest.raises(ValueError, match="size"):
        shingles(TERMS, 0)
