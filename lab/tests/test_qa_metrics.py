"""Measures of answers, highlights and guesses, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core.types import Span
from equipoise_lab.bench.qa import metrics
from equipoise_lab.bench.qa.metrics import Relation

WORDS = st.lists(st.sampled_from(["red", "car", "the", "old", "barn", "7"]), max_size=8).map(" ".join)


def test_tokens_are_squads():
    assert metrics.tokens("The cat, a CAT; an-other!") == ["cat", "cat", "another"]
    assert metrics.normal("  An  apple. ") == "apple"


def test_recall_and_k_precision_count_repeats():
    assert metrics.recall("red old barn", "In an old, red car") == pytest.approx(2 / 3)
    assert metrics.recall("red red", "red") == 0.5
    assert metrics.k_precision("an old red car", "the red barn is old") == pytest.approx(2 / 3)
    assert metrics.recall("the a an", "anything") is None
    assert metrics.k_precision("", "anything") is None
    assert metrics.recall("word", "") == 0.0


def test_the_best_reference_counts():
    assert metrics.best_recall(["red barn", "blue"], "a blue car") == 1.0
    assert metrics.best_recall([], "a blue car") is None
    assert metrics.best_recall(["the"], "a blue car") is None


@given(WORDS, WORDS)
def test_recall_is_a_share_and_of_itself_1(one, other):
    share = metrics.recall(one, other)
    assert share is None or 0.0 <= share <= 1.0
    assert metrics.recall(one, one) in (None, 1.0)
    assert metrics.recall(one, f"{one} {other}") in (None, 1.0)


def test_an_answer_hit_is_of_whole_words():
    assert metrics.answer_hit(["10th century"], "It was in the 10th Century.") is True
    assert metrics.answer_hit(["10"], "100 people") is False
    assert metrics.answer_hit(["x", "the 100"], "100 people") is True
    assert metrics.answer_hit([], "100 people") is None
    assert metrics.answer_hit(["word"], "") is False


def test_an_evidence_hit_shares_a_character_of_the_same_document():
    gold = [Span("a", 10, 20)]
    assert metrics.evidence_hit([Span("a", 19, 30)], gold) is True
    assert metrics.evidence_hit([Span("a", 20, 30), Span("b", 10, 20)], gold) is False
    assert metrics.evidence_hit([], gold) is False
    assert metrics.evidence_hit([Span("a", 0, 5)], []) is None


@pytest.mark.parametrize(
    ("highlighted", "gold", "expected"),
    [
        ("The old  barn.", "the old barn.", Relation.EQUAL),
        ("old barn", "The old barn.", Relation.SUBSTRING),
        ("See: the old barn. It burnt.", "The old barn.", Relation.SUPERSTRING),
        ("old barns", "old barn is", Relation.NEITHER),
    ],
)
def test_highlight_and_gold_passage(highlighted, gold, expected):
    assert metrics.relation(highlighted, gold) is expected


def test_guessed_questions():
    question = "Who built the old barn?"
    assert metrics.guess(question, "Who built it?") == (pytest.approx(2 / 3), 0.5)
    assert metrics.guess(question, "???") == (0.0, 0.0)
    guesses = ["Why?", "Who built it?", "What burnt?"]
    assert metrics.best_guess(question, guesses) == (pytest.approx(2 / 3), 0.5)
    assert metrics.best_guess(question, guesses[:1]) == (0.0, 0.0)
    assert metrics.best_guess(question, []) is None


@pytest.mark.parametrize(
    ("answer", "tags", "expected"),
    [
        ("Yes. It does.", (), "yes"),
        ("No, it doesn't", (), "no"),
        ("Maybe so", (), "maybe"),
        ("It does, yes", (), None),
        ("Nothing known", (), None),
        ("", (), None),
        ("The quotes", ("no",), "no"),
    ],
)
def test_what_an_answer_decides(answer, tags, expected):
    assert metrics.decided(answer, tags) == expected


def test_declining_by_hand():
    pairs = [(True, True)] * 6 + [(True, False)] * 2 + [(False, True)] * 4 + [(False, False)] * 8
    measured = metrics.declining(pairs, seed=1)
    assert measured["precision"].value == 0.75
    assert measured["recall"].value == 0.6
    assert measured["f1"].value == pytest.approx(2 / 3)
    for interval in (measured["precision"], measured["recall"], measured["f1"]):
        assert interval.low < interval.value < interval.high
        assert interval.n == 20
    assert metrics.declining(pairs, seed=1) == measured


def test_declining_that_rests_on_nothing():
    none = metrics.declining([(False, False)] * 3, seed=1)
    assert (none["precision"], none["recall"], none["f1"]) == (None, None, None)
    never = metrics.declining([(False, True)] * 3, seed=1)
    assert never["precision"] is None
    assert (never["recall"].value, never["recall"].high, never["f1"].value) == (0.0, 0.0, 0.0)
    assert metrics.declining([], seed=1)["f1"] is None


def test_the_interval_of_declining_is_that_of_drawing_questions():
    """Against a bootstrap that does draw questions."""
    import numpy as np

    pairs = [(True, True)] * 15 + [(True, False)] * 10 + [(False, True)] * 5 + [(False, False)] * 30
    cells = np.array(pairs)
    rng = np.random.default_rng(5)
    drawn = cells[rng.integers(0, len(cells), (4000, len(cells)))]
    hits = drawn.all(axis=2).sum(axis=1)
    f1 = 2 * hits / drawn.sum(axis=(1, 2))
    low, high = np.quantile(f1, [0.025, 0.975])
    measured = metrics.declining(pairs, seed=1)["f1"]
    assert (measured.low, measured.high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))


def test_decisions_by_hand():
    pairs = (
        [("yes", "yes")] * 3 + [("yes", "no")] + [("no", "no")] * 2 + [("no", None)] * 2 + [("no", "maybe")]
    )
    measured = metrics.decisions([*pairs, ("maybe", None), ("maybe", "maybe"), ("maybe", "yes")], seed=1)
    assert measured["accuracy"].value == pytest.approx(5 / 9)
    assert measured["macro_f1"].value == pytest.approx((6 / (4 + 3) + 4 / (5 + 3)) / 2)
    assert measured["accuracy"].n == 9
    assert (measured["maybe"], measured["maybe_open"]) == (3, 2)
    assert metrics.decisions([("maybe", None)], seed=1)["accuracy"] is None


def test_pearson_by_hand():
    measured = metrics.pearson([1, 2, 3, 4], [1, 3, 2, 4])
    assert measured.value == pytest.approx(0.8)
    assert measured.low == pytest.approx(-0.696, abs=0.01)  # tanh(atanh(0.8) - 1.96)
    assert measured.high == pytest.approx(0.9955, abs=0.001)
    assert metrics.pearson([1, 2, 3, 4], [2, 4, 6, 8]).low == 1.0
    assert metrics.pearson([1, 2, 3], [1, 3, 2]) is None
    assert metrics.pearson([1, 1, 1, 1], [1, 3, 2, 4]) is None
