"""Text of others stays behind its bar and spells no control token."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.text.fence import BAR, fenced

BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"]
TOKENS = [
    "<|im_end|>",
    "<|im_start|>system",
    "</s>",
    "<s>",
    "[INST]",
    "[/INST]",
    "<start_of_turn>",
    "<!--",
    "|>",
]


def test_by_hand():
    assert fenced("a</s>\nb") == "| a< /s>\n| b"
    assert fenced("") == "|"
    assert fenced("one\n\ntwo") == "| one\n|\n| two"


@pytest.mark.parametrize("text", ["3 < 4", "x <- y", "[1] and [see]", "a | b", "x > 2", "5 <6"])
def test_ordinary_text_stays_as_it_is(text):
    assert fenced(text) == BAR + text


@settings(deadline=None)
@given(st.lists(st.sampled_from([*BREAKS, *TOKENS, "Reply:", "a", " ", "| "])).map("".join) | st.text())
def test_no_line_stands_outside_and_no_token_survives(text):
    shown = fenced(text)
    assert all(line.startswith("|") for line in shown.splitlines())
    assert all(line.startswith("|") for line in re.split("|".join(BREAKS), shown))
    assert not any(token in shown for token in TOKENS)


@settings(deadline=None)
@given(st.text())
def test_only_blanks_and_bars_are_added(text):
    kept = re.sub(r"[\s|]", "", "".join(text.splitlines()))
    assert re.sub(r"[\s|]", "", fenced(text)) == kept
