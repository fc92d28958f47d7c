"""Intervals of a rate against values worked out by hand."""

import pytest
from scipy import stats

from equipoise_lab.maths import rates


def test_clopper_pearson_by_hand():
    interval = rates.clopper_pearson(0, 10)
    assert (interval.value, interval.low, interval.n, interval.hits) == (0.0, 0.0, 10, 0)
    assert interval.high == pytest.approx(1 - 0.025**0.1, abs=1e-6)
    assert rates.clopper_pearson(10, 10).low == pytest.approx(0.025**0.1, abs=1e-6)


def test_clopper_pearson_covers_at_least_its_level():
    for rate in (0.05, 0.3, 0.5):
        chance = stats.binom.pmf(range(13), 12, rate)
        inside = [
            rates.clopper_pearson(k, 12).low <= rate <= rates.clopper_pearson(k, 12).high for k in range(13)
        ]
        assert chance[inside].sum() >= 0.95


def test_wilson_by_hand():
    z = 1.959963984540054
    half = z / (10 + z**2) * (10 / 4 + z**2 / 4) ** 0.5
    interval = rates.wilson(5, 10)
    assert (interval.low, interval.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    assert interval.low < rates.wilson(5, 10, level=0.5).low


@pytest.mark.parametrize("method", [rates.clopper_pearson, rates.wilson])
def test_no_trials_and_impossible_counts(method):
    assert method(0, 0) is None
    for successes, trials in ((3, 2), (-1, 5), (0, -1)):
        with pytest.raises(ValueError, match="not possible"):
            method(successes, trials)
    with pytest.raises(ValueError, match="level must be"):
        method(1, 2, level=95)
