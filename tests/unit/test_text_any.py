"""No function over text raises, whatever the text is: half characters, zeros, a million times the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_text import FUNCTIONS

CHARACTERS = st.characters() | st.characters(
    categories=("Cs", "Cc", "Cf", "Zl", "Zp", "Zs", "Nd", "No", "Mn")
)
SIGNS = (
    "\"'“”‘’«»()[]{}.,;:!?-–−*#|>`~\\/@%0123456789 \t\n\r\0\x85\u2028\u2029\ud800\udfff\u200b\ufeffßŉİﬁ中。"
)
PIECES = (
    "\r\n",
    "one ",
    "hundred ",
    "million ",
    "and ",
    "U.S.",
    "Dr. ",
    "who ",
    "is it? ",
    "send_email(",
    "NONE",
    "a",
)
MARKS = st.sampled_from([*SIGNS, *PIECES])
TEXTS = st.text(CHARACTERS, max_size=80) | st.lists(MARKS, max_size=60).map("".join)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_no_function_over_text_raises(name, text):
    FUNCTIONS[name][0](text)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("unit", ["1", "\0", "\ud800"])
def test_nor_does_it_on_a_million_times_one_character(name, unit):
    FUNCTIONS[name][0](unit * 1_000_000)
