"""Sign bits by hand and against plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.maths.signs import differing, fewest, sign_bits


def test_bits_by_hand():
    assert sign_bits(np.array([[0.5, -0.5, 0.1]], np.float32)).tolist() == [[0b101]]
    wide = np.full((2, 65), -1.0, np.float32)
    wide[1, 64] = 1.0
    assert sign_bits(wide).tolist() == [[0, 0], [0, 1]]
    assert sign_bits(np.empty((0, 384), np.float32)).shape == (6, 0)


@pytest.mark.parametrize("dimensions", [3, 64, 100, 384])
@pytest.mark.parametrize("rows", [1, 70, 40_000])
def test_differing_signs_are_counted(rows, dimensions):
    rng = np.random.default_rng(rows)
    matrix = rng.standard_normal((rows, dimensions), np.float32)
    vector = rng.standard_normal(dimensions).astype(np.float32)
    expected = ((matrix > 0) != (vector > 0)).sum(axis=1)
    assert np.array_equal(differing(sign_bits(matrix), vector), expected)


def test_fewest_by_hand():
    counts = np.array([3, 1, 2, 2], np.uint16)
    assert fewest(counts, 2).tolist() == [1, 2]
    assert fewest(counts, 4).tolist() == fewest(counts, 9).tolist() == [0, 1, 2, 3]


@given(st.lists(st.integers(0, 384), min_size=2, max_size=200), st.data())
def test_fewest_are_the_first_of_a_stable_order(values, data):
    counts = np.array(values, np.uint16)
    k = data.draw(st.integers(1, len(values) - 1))
    assert fewest(counts, k).tolist() == sorted(np.argsort(counts, kind="stable")[:k].tolist())


def test_a_large_set_is_looked_through_by_a_sample():
    counts = np.random.default_rng(3).integers(100, 280, 100_000).astype(np.uint16)
    for k in (1, 500, 99_999):
        assert fewest(counts, k).tolist() == np.sort(np.argsort(counts, kind="stable")[:k]).tolist()
