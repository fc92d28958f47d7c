"""Authors learnt: the quadratic form is the log of a ratio of two Gaussian densities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from equipoise.maths.authorship import CLIP
from equipoise_lab.maths.authorship import learnt


def passages(seed=0, writers=60, each=5, values=6, own=2.0):
    """Styles and writers: every writer has a mean of their own, `own` times as far apart as their passages are."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((writers, values)) * own
    rows = np.repeat(means, each, axis=0) + rng.standard_normal((writers * each, values))
    return rows, [f"w{n}" for n in range(writers) for _ in range(each)]


def test_the_ratio_is_that_of_the_two_densities():
    rows, writers = passages()
    model = learnt(rows, writers, dimensions=3)
    points = model.project(rows)
    total = np.cov(points.T, bias=True)
    names = np.unique(writers, return_inverse=True)[1]
    means = np.stack([points[names == n].mean(axis=0) for n in range(60)])
    apart = points - means[names]
    within = apart.T @ apart / (len(points) - 60)
    between = total - within
    total = between + within
    same = np.block([[total, between], [between, total]])
    zeros = np.zeros(3)
    x, y = points[0], points[7]
    expected = multivariate_normal(np.zeros(6), same).logpdf(np.concatenate([x, y]))
    expected -= multivariate_normal(zeros, total).logpdf(x) + multivariate_normal(zeros, total).logpdf(y)
    assert model.ratios(rows)[0, 7] == pytest.approx(expected, abs=1e-6)


def test_passages_of_writers_never_seen_are_told_apart():
    model = learnt(*passages(seed=0))
    rows, writers = passages(seed=1)
    ratios = model.ratios(rows)
    same = np.array(writers)[:, None] == np.array(writers)
    above = np.triu(np.ones_like(same), 1)
    assert np.median(ratios[same & above]) > 0 > np.median(ratios[~same & above])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_ratios_are_symmetric_and_depend_on_the_pair_alone(seed):
    model = learnt(*passages(seed=2))
    rows = np.random.default_rng(seed).standard_normal((8, 6)) * 3
    ratios, order = model.ratios(rows), np.random.default_rng(seed).permutation(8)
    assert np.allclose(ratios, ratios.T)
    assert np.allclose(model.ratios(rows[order]), ratios[np.ix_(order, order)])
    assert np.allclose(model.ratios(rows[:3]), ratios[:3, :3])


def test_a_value_that_never_varies_says_nothing():
    rows, writers = passages()
    flat = np.column_stack([rows, np.full(len(rows), 7.0)])
    assert np.allclose(learnt(flat, writers, dimensions=6).ratios(flat), learnt(rows, writers).ratios(rows))


def test_one_odd_value_is_held_in_bounds():
    rows, writers = passages()
    model = learnt(rows, writers)
    odd, edge = rows[:2].copy(), rows[:2].copy()
    odd[0, 0], edge[0, 0] = 1e12, model.mean[0] + CLIP * model.scale[0]
    assert np.allclose(model.ratios(odd), model.ratios(edge))


@pytest.mark.parametrize("writers", [["a", "b", "c"], ["a", "a", "a"]])
def test_what_cannot_be_learnt_from_is_refused(writers):
    with pytest.raises(ValueError, match="two writers are needed"):
        learnt(np.eye(3), writers)
