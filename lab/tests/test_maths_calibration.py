"""The area under the ROC curve, against values computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise_lab.maths import calibration

labelled = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=30)


def test_auc_counts_pairs_and_ties_half():
    assert calibration.auc([1, 2, 2, 3], [0, 0, 1, 1]) == pytest.approx(3.5 / 4)
    assert calibration.auc([0.3, 0.3], [1, 0]) == 0.5
    assert calibration.auc([2, 1], [0, 1]) == 0.0
    assert calibration.auc([1, 2], [1, 1]) is None
    assert calibration.auc([], []) is None


@given(labelled)
def test_auc_is_the_share_of_pairs_in_order(rows):
    high = [score for score, label in rows if label]
    low = [score for score, label in rows if not label]
    pairs = [(a > b) + 0.5 * (a == b) for a in high for b in low]
    expected = sum(pairs) / len(pairs) if pairs else None
    assert calibration.auc(*zip(*rows, strict=True)) == (
        None if expected is None else pytest.approx(expected)
    )


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="as many rows"):
        calibration.auc([1.0], [1, 0])
    with pytest.raises(ValueError, match="only true and false"):
        calibration.auc([1.0], [0.5])
