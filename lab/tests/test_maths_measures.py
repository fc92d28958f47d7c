"""Measures by hand, against scipy, and what they say when there is nothing to measure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from equipoise_lab.maths import measures as ms


def test_shares_and_recalls_by_hand():
    assert ms.share_at_k([1, 0, 1, 0, 0, 1], 5) == pytest.approx(0.4)
    assert ms.share_at_k([True, False], 5) == 0.2, "an empty seat is nobody's"
    assert ms.share_at_k([], 5) == 0.0
    assert ms.recall_at_k([1, 0, 1], 3, total=4) == 0.5
    assert ms.recall_at_k([1, 0, 1], 1, total=4) == 0.25


def test_nothing_to_measure_is_none():
    assert ms.recall_at_k([0, 0], 5, total=0) is None
    assert ms.recall_at_k([], 5, total=3) == 0.0
    assert ms.spearman([1], [1]) is None
    assert ms.spearman([1, 2], [3, 3]) is None


def test_spearman_by_hand_and_with_ties():
    assert ms.spearman([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    assert ms.spearman([1, 2, 3], [30, 20, 10]) == pytest.approx(-1)
    assert ms.spearman([1, 1, 2], [1, 2, 3]) == pytest.approx(np.sqrt(0.75))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_spearman_is_scipys(pairs):
    first, second = zip(*pairs, strict=True)
    ours = ms.spearman(first, second)
    if ours is None:
        assert len(set(first)) == 1 or len(set(second)) == 1
    else:
        assert ours == pytest.approx(stats.spearmanr(first, second).statistic, abs=1e-9)


def test_unusable_input_is_named():
    with pytest.raises(ValueError, match="hits must hold only true and false"):
        ms.share_at_k([0.5], 1)
    with pytest.raises(ValueError, match="k must be at least 1"):
        ms.share_at_k([1], 0)
    with pytest.raises(ValueError, match="total counts all that exist"):
        ms.recall_at_k([1, 1], 2, total=1)
    with pytest.raises(ValueError, match="same number of rows"):
        ms.spearman([1, 2], [1])


labelled = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=30)


def test_auc_counts_pairs_and_ties_half():
    assert ms.auc([1, 2, 2, 3], [0, 0, 1, 1]) == pytest.approx(3.5 / 4)
    assert ms.auc([0.3, 0.3], [1, 0]) == 0.5
    assert ms.auc([2, 1], [0, 1]) == 0.0
    assert ms.auc([1, 2], [1, 1]) is None
    assert ms.auc([], []) is None


@given(labelled)
def test_auc_is_the_share_of_pairs_in_order(rows):
    high = [score for score, label in rows if label]
    low = [score for score, label in rows if not label]
    pairs = [(a > b) + 0.5 * (a == b) for a in high for b in low]
    expected = sum(pairs) / len(pairs) if pairs else None
    assert ms.auc(*zip(*rows, strict=True)) == (None if expected is None else pytest.approx(expected))


def test_bad_labels_are_refused():
    with pytest.raises(ValueError, match="same number of rows"):
        ms.auc([1.0], [1, 0])
    with pytest.raises(ValueError, match="only true and false"):
        ms.auc([1.0], [0.5])
