"""Sentence offsets: hand-made cases, then properties over any text."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import timing
from equipoise.core.errors import InputError
from equipoise.core.types import BlockKind
from equipoise.text.blocks import blocks
from equipoise.text.sentences import sentence_spans


def sentences(text, **options):
    return [text[start:end] for start, end in sentence_spans(text, **options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t ", []),
        ("One word", ["One word"]),
        ("It rains. We stay.", ["It rains.", "We stay."]),
        (
            "Dr. Smith lives in the U.S. He paid 3.14 dollars.",
            ["Dr. Smith lives in the U.S.", "He paid 3.14 dollars."],
        ),
        ("The U.S. Government agreed. It did.", ["The U.S. Government agreed.", "It did."]),
        ("See Fig. 3 and Eq. 5, e.g. there. Done.", ["See Fig. 3 and Eq. 5, e.g. there.", "Done."]),
        ("It cost approx. 5 km. Fine.", ["It cost approx. 5 km.", "Fine."]),
        ("Yes. It is.", ["Yes.", "It is."]),
        (
            "So it is (Smith et al. 2003). Next (see Fig. 1a). End.",
            ["So it is (Smith et al. 2003).", "Next (see Fig. 1a).", "End."],
        ),
        ('He said "I go. You stay." Then he left.', ['He said "I go. You stay."', "Then he left."]),
        ("He left. (Or so it seems.) We stayed.", ["He left.", "(Or so it seems.) We stayed."]),
        ("**Bold.** Next one.", ["**Bold.**", "Next one."]),
        ("It was -5 °C. Then it was 3 °C.", ["It was -5 °C.", "Then it was 3 °C."]),
        ("We use ASP.NET and Node.js. You too?", ["We use ASP.NET and Node.js.", "You too?"]),
        ("The end.Next one here.", ["The end.", "Next one here."]),
        ("中文句子。第二句！", ["中文句子。", "第二句！"]),
        ("Élan 😀 is good. So is\u00a0this.", ["Élan 😀 is good.", "So is\u00a0this."]),
    ],
)
def test_prose(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A hard\nwrapped line. Next\none", ["A hard\nwrapped line.", "Next\none"]),
        ("no full stop\n\nnext paragraph", ["no full stop", "next paragraph"]),
        ("no full stop\r\n \r\nnext\r\nparagraph", ["no full stop", "next\r\nparagraph"]),
        ("# Title\nText here", ["# Title", "Text here"]),
        ("Title\n=====\nText here", ["Title\n=====", "Text here"]),
        ("Intro:\n- one\n- two\n  goes on\n\nEnd", ["Intro:", "- one", "- two\n  goes on", "End"]),
        ("1. Install it.\n2. Run it.", ["1. Install it.", "2. Run it."]),
        ("He was born in\n12. That is odd.", ["He was born in\n12.", "That is odd."]),
        ("| a | b. C |\n|---|---|\n| c | d |", ["| a | b. C |", "|---|---|", "| c | d |"]),
        ("Run\n```py\nx = 1. \ny\n```\nDone", ["Run", "```py\nx = 1. \ny\n```", "Done"]),
        ("It ends here.\n3.2 Methods\nWe did it.", ["It ends here.", "3.2 Methods", "We did it."]),
        ("the value of pi is\n3.14 as you know", ["the value of pi is\n3.14 as you know"]),
        ("> quoted\n> text. More.\nAnswer", ["> quoted\n> text.", "More.", "Answer"]),
    ],
)
def test_lines_that_stand_on_their_own(text, expected):
    assert sentences(text) == expected


def test_a_long_sentence_is_cut_at_the_strongest_break_that_fits():
    text = "aaaa bbbb, cccc dddd; eeee ffff, gggg hhhh iiii"
    assert sentences(text, max_chars=32) == ["aaaa bbbb, cccc dddd;", "eeee ffff, gggg hhhh iiii"]
    assert sentences(text, max_chars=14) == ["aaaa bbbb,", "cccc dddd;", "eeee ffff,", "gggg hhhh iiii"]
    assert sentences("abcdefgh ij", max_chars=4) == ["abcd", "efgh", "ij"]


def test_an_impossible_length_is_refused():
    with pytest.raises(InputError, match="max_chars is 0"):
        sentence_spans("text", max_chars=0)


SIGNS = ".!?\"'“”()[]*_|#>-–—=~;:, \t\n\r\v\f\x1c\x85\xa0\u2028\u2029\u3000\u200d\ufeff\x00aB1é😀İŉ。！\ud800"
PIECES = st.sampled_from([*SIGNS, "\r\n", "\n\n", "3.4", "e\u0301", "Dr.", "approx.", "```", "- "])
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=40).map("".join))


@given(TEXTS, st.sampled_from([1, 2, 7, 600]))
@settings(max_examples=400, deadline=None)
def test_sentences_are_ordered_trimmed_bounded_and_cover_everything(text, max_chars):
    at = 0
    for start, end in sentence_spans(text, max_chars=max_chars):
        assert at <= start < end <= start + max_chars
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


def test_a_wide_space_before_an_initial_does_not_make_the_library_panic():
    text = 'B\u2028.«—\x85“\ufeffDr«!1"。😀('
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_no_sentence_crosses_a_blank_line_but_code(left, right):
    text = f"{left}\n\n{right}"
    assume(all(block.kind is not BlockKind.CODE for block in blocks(text)))
    for start, end in sentence_spans(text):
        assert end <= len(left) or start >= len(left) + 2


PROSE = 'The quick brown fox jumps over\nthe dog. Dr. Smith said "I am here." Then he left.\n\n'


@pytest.mark.parametrize(
    "unit", [PROSE, "a", ". ", '"a. ', "(", "1. ", ".\n", "\n", "|", "1.1 a ", "approx. ", " ;", "- a\n"]
)
def test_prose_and_repetitive_junk_take_linear_time(unit):
    def work(size):
        text = unit * (size // len(unit))
        return lambda: sentence_spans(text)

    assert timing.growth(work).ratio < timing.LINEAR


def test_a_german_date_is_not_torn():
    text = "Der Umzug findet am 23. April statt. Er dauert bis 2. März 2027. Frei ist Zimmer 4. Das war es."
    said = [text[start:end] for start, end in sentence_spans(text)]
    assert said[0] == "Der Umzug findet am 23. April statt."
    assert said[-1] == "Das war es." and said[1:-1] == [
        "Er dauert bis 2. März 2027.",
        "Frei ist Zimmer 4.",
    ]
