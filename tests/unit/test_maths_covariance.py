"""Shrunken covariances and Eq. 12 where the plain inverse does not exist."""

import numpy as np
import pytest

from equipoise.maths.covariance import mahalanobis, shrunk_covariance

CROSS = [[2, 0], [-2, 0], [0, 1], [0, -1]]


def intensity(samples):
    """How far the covariance of the samples is shrunk, 0 to 1."""
    return 1 - shrunk_covariance(samples).weight


def dense(covariance, width):
    span = covariance.directions.T * covariance.eigenvalues @ covariance.directions
    return covariance.identity * np.eye(width) + covariance.weight * span


def test_intensity_by_hand():
    assert intensity(CROSS) == pytest.approx(1.0625 / 1.125)
    assert intensity([[1, 0], [-1, 0], [0, 1], [0, -1]]) == 1 / 4  # nothing to shrink: the floor of 1/n


def test_intensity_is_the_definition():
    rows = np.random.default_rng(2).standard_normal((6, 9)) * np.linspace(1, 4, 9)
    centred = rows - rows.mean(axis=0)
    plain = centred.T @ centred / 6
    target = np.trace(plain) / 9 * np.eye(9)
    distance = np.sum((plain - target) ** 2)
    noise = sum(np.sum((np.outer(x, x) - plain) ** 2) for x in centred) / 36
    assert intensity(rows) == pytest.approx(max(min(noise, distance) / distance, 1 / 6))


def test_ridge_by_hand():
    assert dense(shrunk_covariance(CROSS, shrinkage="ridge"), 2) == pytest.approx(np.diag([3.25, 1.75]))
    assert mahalanobis([[1, 0]], CROSS, shrinkage="ridge") == pytest.approx([np.sqrt(1 / 3.25)])


def test_two_samples_still_have_an_inverse():
    covariance = shrunk_covariance([[1, 0, 0], [-1, 0, 0]])
    assert dense(covariance, 3) == pytest.approx(np.diag([1 / 6 + 1 / 2, 1 / 6, 1 / 6]))


@pytest.mark.parametrize("shrinkage", ["ledoit-wolf", "ridge"])
@pytest.mark.parametrize("shape", [(4, 30), (12, 30), (40, 5)])
def test_distance_equals_the_dense_inverse(shrinkage, shape):
    rng = np.random.default_rng(7)
    samples, points = rng.standard_normal(shape), rng.standard_normal((6, shape[1]))
    inverse = np.linalg.inv(dense(shrunk_covariance(samples, shrinkage=shrinkage), shape[1]))
    away = points - samples.mean(axis=0)
    expected = np.sqrt(np.sum(away @ inverse * away, axis=1))
    assert mahalanobis(points, samples, shrinkage=shrinkage) == pytest.approx(expected)


def test_members_of_a_full_rank_cluster_are_at_root_mean_square_distance_about_root_d():
    samples = np.random.default_rng(1).standard_normal((600, 8))
    distances = mahalanobis(samples, samples)
    assert np.sqrt(np.mean(distances**2) / 8) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_a_cluster_of_one_place_is_infinitely_far_from_everything_else(copies):
    place = [0.3, 0.1, 0.7]
    assert mahalanobis([place, [1, 0, 0]], [place] * copies).tolist() == [0.0, np.inf]


def test_empty_sides():
    assert len(mahalanobis([], CROSS)) == 0
    with pytest.raises(ValueError, match="at least one sample"):
        shrunk_covariance([])
