"""Placing quotations: exact, normalised, fuzzy, and never slowly."""

import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.fuzz import partial_ratio, ratio

import timing
from equipoise.text.align import MAX_FUZZY_CHARS, Alignment, Method, align, align_any
from equipoise.text.normal import normalise

TEXT = "He said: “It’s -5 °C — cold\nand well-known.” The ﬁrst exam-\nple shows gold, and 5 °C later."
PROSE = (
    "The miners came by train from the coast in the spring of 1851. They found little gold but stayed, "
    "built a church and a school, and planted apple trees along the river. When the war ended the town "
    "had two thousand people, a newspaper and a bank, and nobody spoke of gold any more."
)


def placed(quotation, text=TEXT, **options):
    match = align(quotation, text, **options)
    return match and (text[match.start : match.end], str(match.method))


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [
        ("well-known", ("well-known", "exact")),
        ("  well-known\n", ("well-known", "exact")),
        ("It's -5 °C - cold and", ("It’s -5 °C — cold\nand", "normalised")),
        ('"-5 °C"', ("-5 °C", "normalised")),
        ("−5 °C", ("-5 °C", "normalised")),
        ("-6 °C", None),
        ("- the first", ("The ﬁrst", "normalised")),
        ("• ...The first example shows gold!", ("The ﬁrst exam-\nple shows gold", "normalised")),
        ("1. The first", ("The ﬁrst", "normalised")),
        ("shows go\u00adld", ("shows gold", "normalised")),
        ("the last", None),
        ("", None),
        (" \n", None),
        ('"..."', None),
    ],
)
def test_exact_and_normalised(quotation, expected):
    assert placed(quotation) == expected


def test_a_minus_sign_is_never_eaten():
    assert align("-5 °C", "It was 5 °C and then -5 °C.") == Alignment(21, 26, Method.EXACT)
    assert align("“-5 °C”", "It was 5 °C here.") is None


def test_bounds_are_respected_and_offsets_count_from_the_beginning():
    text = "gold, gold, gold"
    assert align("gold", text, 1) == Alignment(6, 10, Method.EXACT)
    assert align("gold", text, 1, 9) is None
    assert align("Gold", text, 7) == Alignment(12, 16, Method.NORMALISED)


def test_a_slightly_wrong_copy_is_found():
    wrong = "They found litle gold but stayed and built a church and a school, and planted apple trees along"
    match = align(wrong, PROSE)
    assert match.method is Method.FUZZY
    assert 95 <= match.score < 100
    assert PROSE[match.start : match.end].startswith("They found little")
    assert PROSE[match.start : match.end].endswith("trees along")
    assert align(wrong, PROSE, threshold=99.5) is None
    assert align(wrong, PROSE, fuzzy=False) is None


def test_another_text_is_not_found():
    assert (
        align("They lost all their silver and left, burned a church and a school, and cut the trees", PROSE)
        is None
    )


def test_exact_in_a_later_text_wins_over_normalised_in_an_earlier_one():
    assert align_any("the gold", ["The gold.", "For the gold."]) == (1, Alignment(4, 12, Method.EXACT))
    assert align_any("the  gold", ["x", "The gold."]) == (1, Alignment(0, 8, Method.NORMALISED))
    assert align_any("gold", ["gold, gold", "b"], [(3, None), (0, None)]) == (
        0,
        Alignment(6, 10, Method.EXACT),
    )
    assert align_any("gold", []) is None


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_copy_with_few_errors_is_placed_where_it_came_from(data):
    start = data.draw(st.integers(0, len(PROSE) - 120))
    copy = list(PROSE[start : start + data.draw(st.integers(100, 120))])
    for _ in range(data.draw(st.integers(0, 2))):
        copy[data.draw(st.integers(4, len(copy) - 5))] = data.draw(st.sampled_from(["", "x", "zz"]))
    match = align("".join(copy), PROSE)
    assert match is not None
    assert abs(match.start - start) <= 5
    assert ratio("".join(copy), PROSE[match.start : match.end]) >= 95


def test_it_finds_what_partial_ratio_finds():
    chance = random.Random(5)
    near = missed = 0
    for _ in range(300):
        start = chance.randrange(len(PROSE) - 60)
        copy = list(PROSE[start : start + chance.randint(20, 150)])
        for _ in range(chance.randint(1, 10)):
            copy[chance.randrange(len(copy))] = chance.choice(["", "x", "zz", " "])
        quotation = "".join(copy).strip(" .,")
        if partial_ratio(quotation, PROSE) >= 95:
            near += 1
            missed += align(quotation, PROSE) is None
    assert near > 50
    assert missed == 0


ODD = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from([*"ab-−.'\"“ \n\u00adﬁ…İŉ5•*", "\ud800"]), max_size=60).map("".join),
)


@given(ODD, ODD, st.integers(-5, 70), st.one_of(st.none(), st.integers(-5, 70)))
@settings(max_examples=300, deadline=None)
def test_any_input_gives_a_place_inside_or_none(quotation, text, start, end):
    match = align(quotation, text, start, end)
    low, high, _ = slice(start, end).indices(len(text))
    assert match is None or (low <= match.start < match.end <= high)


@given(ODD)
@settings(max_examples=200, deadline=None)
def test_normal_offsets_lead_back(text):
    normal = normalise(text)
    assert len(normal.offsets) == len(normal.text)
    assert list(normal.offsets) == sorted(normal.offsets)
    for i, character in enumerate(normal.text):
        start, end = normal.original(i, i + 1)
        assert end == start + 1
        if text[start] in "ﬀﬁﬂﬃﬄ":
            assert character in unicodedata.normalize("NFKC", text[start])  # a ligature is several letters
        elif character.isalnum():
            assert text[start] == character


@pytest.mark.parametrize(
    ("quotation", "text"),
    [
        ("a" * 5000, "a" * 50_000),
        ("a" * 4999 + "b", "a" * 50_000),
        ("a" * 2500 + "b" + "a" * 2499, "a" * 50_000),
        ("ab" * 2500 + "b", "ab" * 25_000),
        (("a" * 99 + "b") * 50, ("a" * 99 + "c") * 500),
        (("a" * 19 + "b") * 250, ("a" * 19 + "c") * 2500),
        (("a" * 7 + "b") * 600, ("a" * 8 + "b") * 6000),
        (" a" * 2500, " a  " * 12_000 + "b"),
        ('"' * 5000, 'a"' * 25_000),
        ("a-\n" * 1700 + "c", "a- \n" * 12_500),
        ("gold is the " * 400 + "x", "gold the is " * 4000),
        ("a" * MAX_FUZZY_CHARS + "b", "a" * 50_000),
        ("ab" * 100_000, "abc" * 30_000),
    ],
)
def test_repetitive_text_does_not_freeze_it(quotation, text):
    """Quadratic here means minutes: twice both may take four times the time, not eight."""

    def work(size):
        both = quotation[: len(quotation) * size // 4], text[: len(text) * size // 4]
        return lambda: align(*both)

    assert timing.growth(work, least=1, most=2, bound=6).ratio < 6
