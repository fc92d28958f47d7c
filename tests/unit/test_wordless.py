"""Whether a text says anything that could be asked."""

import pytest

from equipoise.text.small_talk import asked
from equipoise.text.tokens import says_something
from wordless import WORDLESS


@pytest.mark.parametrize("text", WORDLESS)
def test_nothing_is_said_without_a_word(text):
    assert not says_something(text)
    assert asked(text, lambda text: ()) == ""


@pytest.mark.parametrize("text", ["NFS", "水", "Ök?", "<b>when</b>?", "12", "is a < b?"])
def test_a_word_says_something(text):
    assert says_something(text)
