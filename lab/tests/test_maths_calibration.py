"""Calibration and selective answering, against values computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise_lab.maths import calibration
from equipoise_lab.maths.calibration import Bin, Threshold

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


def test_brier():
    assert calibration.brier([0.8, 0.4], [1, 0]) == pytest.approx(0.1)
    assert calibration.brier([], []) is None


def test_reliability_and_expected_calibration_error():
    bins = calibration.reliability([0.2, 0.4, 0.9], [0, 1, 1], 2)
    assert bins == (
        Bin(0.0, 0.5, 2, pytest.approx(0.3), 0.5),
        Bin(0.5, 1.0, 1, pytest.approx(0.9), 1.0),
    )
    assert calibration.expected_calibration_error([0.2, 0.4, 0.9], [0, 1, 1], 2) == pytest.approx(1 / 6)
    assert calibration.expected_calibration_error([], [], 2) is None


def test_bins_are_closed_below_and_the_last_holds_one():
    assert [b.low for b in calibration.reliability([0.0, 0.5, 1.0], [0, 1, 1], 2)] == [0.0, 0.5]
    assert [b.n for b in calibration.reliability([0.0, 0.5, 1.0], [0, 1, 1], 2)] == [1, 2]
    assert calibration.reliability([0.3], [1], 10)[0].low == pytest.approx(0.3)


@given(labelled, st.integers(1, 12))
def test_every_prediction_is_in_one_bin(rows, bins):
    scores, labels = zip(*((score / 20, label) for score, label in rows), strict=True)
    table = calibration.reliability(scores, labels, bins)
    assert sum(each.n for each in table) == len(rows)
    assert all(each.low - 1e-9 <= each.confidence <= each.high + 1e-9 for each in table)
    assert 0.0 <= calibration.expected_calibration_error(scores, labels, bins) <= 1.0


def test_risk_coverage():
    coverages, risks = calibration.risk_coverage([0.1, 0.8, 0.9], [0, 1, 0])
    assert coverages == pytest.approx([1 / 3, 2 / 3, 1])
    assert risks == pytest.approx([0, 1 / 2, 1 / 3])
    assert calibration.aurc([0.1, 0.8, 0.9], [0, 1, 0]) == pytest.approx(5 / 18)
    assert calibration.aurc([], []) is None


def test_equal_confidences_share_their_errors():
    for errors in ([1, 0, 0, 0], [0, 0, 1, 0]):
        _, risks = calibration.risk_coverage([0.5, 0.5, 0.5, 0.1], errors)
        assert risks == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 4])


@given(labelled, st.randoms())
def test_the_curve_does_not_depend_on_the_order(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    first = calibration.risk_coverage(*zip(*rows, strict=True))[1]
    second = calibration.risk_coverage(*zip(*shuffled, strict=True))[1]
    assert first == pytest.approx(second)
    assert first[-1] == pytest.approx(np.mean([label for _, label in rows]))


def test_f1():
    assert calibration.f1([1, 1, 0], [1, 0, 1]) == 0.5
    assert calibration.f1([0], [0]) is None
    assert calibration.f1([1], [0]) is None
    assert calibration.f1([0], [1]) == 0.0


def test_best_threshold_declines_what_lies_below():
    assert calibration.best_threshold([0.1, 0.4, 0.8], [0, 1, 1]) == Threshold(0.25, 1.0)
    # declining 0.2 and 0.3 finds 1 of 1 with 1 too many (2/3); declining 0.2 alone finds nothing
    assert calibration.best_threshold([0.2, 0.3, 0.9], [1, 0, 1]) == Threshold(pytest.approx(0.6), 2 / 3)


def test_best_threshold_at_the_ends():
    everything = calibration.best_threshold([0.5, 1.0], [0, 0])
    assert everything.value > 1.0
    assert everything.score == 1.0
    assert calibration.best_threshold([0.5], [1]) is None
    accuracy = calibration.best_threshold(
        [0.5, 0.6], [1, 1], lambda said, truth: float((said == truth).mean())
    )
    assert accuracy == Threshold(0.0, 1.0)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration.brier([1.5], [1])
    with pytest.raises(ValueError, match="as many rows"):
        calibration.auc([1.0], [1, 0])
    with pytest.raises(ValueError, match="only true and false"):
        calibration.aurc([1.0], [0.5])
