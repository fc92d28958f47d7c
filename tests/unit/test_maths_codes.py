"""Codes of four bits by hand, and their products against those of the vectors."""

import numpy as np
import pytest

from equipoise.maths.codes import STEP, coded, products


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_codes_by_hand():
    assert coded(np.array([[0.5, 0.5, -0.5, 0.5]], np.float32)).tolist() == [[0x5A, 0xAA]]
    assert coded(np.array([[1.0, -1.0, 0.0]], np.float32)).tolist() == [[0x8D, 0x02]]
    assert coded(np.empty((0, 384), np.float32)).shape == (0, 192)


def test_values_beyond_the_last_step_are_the_last_step():
    row = np.zeros((1, 384), np.float32)
    row[0, 0], row[0, 1], row[0, 192] = 1, -1, -1
    assert coded(row)[0, :3].tolist() == [0x0F, 0x80, 0x88]


def test_products_by_hand():
    """With d = 4 a step is 0.1676 wide and stands for its middle: steps 10 and 5 are 0.419 and -0.419."""
    row = np.array([[0.5, 0.5, -0.5, 0.5]], np.float32)
    vector = np.array([1, 0, 0, 0], np.float32)
    assert products(coded(row), vector) == pytest.approx([2.5 * STEP / 2], abs=1e-6)
    assert products(coded(row), vector[::-1]) == pytest.approx([2.5 * STEP / 2], abs=1e-6)
    assert products(coded(row), np.roll(vector, 2)) == pytest.approx([-2.5 * STEP / 2], abs=1e-6)


@pytest.mark.parametrize("dimensions", [3, 64, 101, 384])
@pytest.mark.parametrize("rows", [1, 1024, 3000])
def test_products_are_near_those_of_the_vectors(rows, dimensions):
    """The error of a product has about the standard deviation 0.107 / sqrt(d), 0.107 being that of one normal value."""
    rng = np.random.default_rng(rows)
    matrix = unit(rng.standard_normal((rows, dimensions)))
    (vector,) = unit(rng.standard_normal((1, dimensions)))
    error = products(coded(matrix), vector) - matrix @ vector
    assert np.abs(error).max() < 6 * 0.107 / np.sqrt(dimensions)


def test_equal_rows_have_equal_products_wherever_they_stand():
    rng = np.random.default_rng(2)
    (row,), (vector,) = (unit(rng.standard_normal((1, 384))) for _ in range(2))
    assert len(set(products(coded(np.tile(row, (2500, 1))), vector).tolist())) == 1
