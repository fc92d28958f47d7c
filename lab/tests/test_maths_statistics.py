"""Intervals and tests against values worked out by hand or printed in textbooks."""

import warnings

import numpy as np
import pytest

from equipoise_lab.maths import statistics as sx


def test_bootstrap_of_a_large_normal_sample_is_the_textbook_interval():
    values = np.random.default_rng(0).standard_normal(400)
    interval = sx.bootstrap_interval(values, seed=1, resamples=4000)
    error = 1.96 * values.std() / 20
    assert interval.value == pytest.approx(values.mean(), abs=1e-6)
    assert interval.low == pytest.approx(values.mean() - error, abs=0.015)
    assert interval.high == pytest.approx(values.mean() + error, abs=0.015)
    assert interval == sx.bootstrap_interval(values, seed=1, resamples=4000)
    assert interval != sx.bootstrap_interval(values, seed=2, resamples=4000)


def test_bootstrap_repeats_within_a_unit_do_not_narrow_it():
    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    plain = sx.bootstrap_interval(values, seed=3, resamples=999)
    repeated = sx.bootstrap_interval(
        np.repeat(values, 4), units=list("aaaabbbbccccddddeeee"), seed=3, resamples=999
    )
    assert plain == repeated
    assert repeated.n == 5


def test_bootstrap_averages_within_units_of_different_size():
    interval = sx.bootstrap_interval([1, 3, 10], units=["a", "a", "b"], seed=0, resamples=99)
    assert interval.value == pytest.approx(6.0)


def test_bootstrap_of_little_or_constant_data_is_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sx.bootstrap_interval([], seed=0) is None
        assert sx.bootstrap_interval([2.0], seed=0) == sx.Estimate(2.0, 2.0, 2.0, 1)
        assert sx.bootstrap_interval([1, 1, 1], seed=0) == sx.Estimate(1.0, 1.0, 1.0, 3)
        skewed = sx.bootstrap_interval([0, 0, 0, 0, 1], seed=0, resamples=499)
        assert 0 <= skewed.low <= 0.2 <= skewed.high <= 1
    with pytest.raises(ValueError, match="units and values"):
        sx.bootstrap_interval([1, 2], units=["a"], seed=0)


def test_ratio_interval_by_hand():
    interval = sx.ratio_interval([1.0, 1.0], [2.0, 2.0], seed=1)
    assert (interval.value, interval.low, interval.high, interval.n) == (0.5, 0.5, 0.5, 2)
    interval = sx.ratio_interval([1.0, 3.0], [2.0, 2.0], seed=1)  # draws: 1/2, 1, 1, 3/2
    assert (interval.value, interval.low, interval.high) == (1.0, 0.5, 1.5)
    assert interval == sx.ratio_interval([1.0, 3.0], [2.0, 2.0], seed=1)


def test_ratio_interval_leaves_out_draws_without_a_denominator():
    interval = sx.ratio_interval([1.0, 0.0], [2.0, 0.0], seed=1)
    assert (interval.value, interval.low, interval.high) == (0.5, 0.5, 0.5)
    assert sx.ratio_interval([], [], seed=1) is None
    assert sx.ratio_interval([1.0], [0.0], seed=1) is None
    with pytest.raises(ValueError, match="numerators and denominators"):
        sx.ratio_interval([1.0], [1.0, 2.0], seed=1)


def test_drawn_counts_draw_every_unit_as_often():
    counts = sx.drawn_counts(4, seed=5, resamples=2000)
    assert counts.shape == (2000, 4)
    assert (counts.sum(axis=1) == 4).all()
    assert counts.mean(axis=0) == pytest.approx([1.0] * 4, abs=0.1)
    assert counts.var() == pytest.approx(0.75, abs=0.05)  # binomial: 4 * 1/4 * 3/4
    assert (counts == sx.drawn_counts(4, seed=5, resamples=2000)).all()
    assert sx.drawn_counts(1, seed=5, resamples=3).tolist() == [[1]] * 3


def test_percentile_intervals_by_hand():
    (interval,) = sx.percentile_intervals([1.0], [[0.0], [1.0], [2.0]], n=7, level=0.5)
    assert interval == sx.Estimate(1.0, 0.5, 1.5, 7)
    held, none = sx.percentile_intervals([3.0, np.nan], [[0.0, 1.0], [np.nan, 1.0]], n=2)
    assert (held.low, held.high) == (0.0, 3.0)
    assert none is None
    (alone,) = sx.percentile_intervals([3.0], [[np.nan]], n=2)
    assert (alone.low, alone.high) == (3.0, 3.0)


def test_a_logistic_regression_by_hand():
    y = np.array([1.0, 1.0, 1.0, 0.0])
    assert sx.logistic(np.zeros((4, 1)), y, weight=1.0, ridge=1.0) == pytest.approx([np.log(3), 0], abs=1e-4)
    assert sx.logistic(np.zeros((4, 1)), y, weight=[1, 1, 1, 3], ridge=1.0) == pytest.approx([0, 0], abs=1e-4)
    x = np.array([[1.0], [1.0], [0.0], [0.0]])
    free, held = (sx.logistic(x, y, weight=1.0, ridge=ridge)[1] for ridge in (0.01, 10.0))
    assert free > 10 * held > 0
