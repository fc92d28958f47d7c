"""Intervals of a rate against values worked out by hand."""

import pytest
from scipy import stats

from equipoise_lab.maths import rates


def test_clopper_pearson_by_hand():
    interval = rates.clopper_pearson(0, 10)
    assert (interval.estimate, interval.low, interval.n) == (0.0, 0.0, 10)
    assert interval.high == pytest.approx(1 - 0.025**0.1)
    assert rates.clopper_pearson(10, 10).low == pytest.approx(0.025**0.1)


def test_clopper_pearson_covers_at_least_its_level():
    for rate in (0.05, 0.3, 0.5):
        chance = stats.binom.pmf(range(13), 12, rate)
        inside = [
            rates.clopper_pearson(k, 12).low <= rate <= rates.clopper_pearson(k, 12).high for k in range(13)
        ]
        assert chance[inside].sum() >= 0.95


def test_no_trials_and_impossible_counts():
    assert rates.clopper_pearson(0, 0) is None
    for successes, trials in ((3, 2), (-1, 5), (0, -1)):
        with pytest.raises(ValueError, match="not possible"):
            rates.clopper_pearson(successes, trials)
    with pytest.raises(ValueError, match="level must be"):
        rates.clopper_pearson(1, 2, level=95)
