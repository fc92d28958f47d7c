import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.maths.similarity import near_duplicates, top_k


def array(rows):
    return np.array(rows, np.float32)


def test_the_best_rows_come_first_and_equal_ones_in_row_order():
    matrix = array([[0, 1], [1, 0], [0.6, 0.8], [1, 0]])
    rows, products = top_k(matrix, array([1, 0]), 3)
    assert rows.tolist() == [1, 3, 2]
    assert products.tolist() == pytest.approx([1, 1, 0.6])


def test_asking_for_more_than_there_is_gives_all():
    rows, products = top_k(array([[1, 0], [0, 1]]), array([0, 2]), 9)
    assert rows.tolist() == [1, 0]
    assert products.tolist() == [2, 0]


def test_no_rows_and_no_k_give_nothing():
    assert len(top_k(np.empty((0, 2), np.float32), array([1, 0]), 3)[0]) == 0
    assert len(top_k(array([[1, 0]]), array([1, 0]), 0)[0]) == 0


@pytest.mark.parametrize(
    ("matrix", "vector", "k", "says"),
    [
        ([[1, 0]], [0, 0], 1, "zero"),
        ([[1, 0]], [np.nan, 0], 1, "not finite"),
        ([[1, 0]], [np.inf, 0], 1, "not finite"),
        ([[np.nan, 0]], [1, 0], 1, "matrix has values"),
        ([[1, 0]], [1, 0, 0], 1, "do not fit"),
        ([[1, 0]], [1, 0], -1, "k is -1"),
    ],
)
def test_what_cannot_be_ranked_is_refused(matrix, vector, k, says):
    with pytest.raises(ValueError, match=says):
        top_k(array(matrix), array(vector), k)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=60), st.integers(1, 70))
def test_agrees_with_a_full_stable_sort(values, k):
    matrix = array([[v, 1] for v in values])
    rows, products = top_k(matrix, array([1, 0]), k)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert rows.tolist() == expected
    assert products.tolist() == [values[i] for i in expected]


def test_near_duplicates_by_hand():
    alike = np.full((4, 4), 0.1)
    alike[0, 2] = alike[2, 0] = 0.9
    alike[2, 3] = alike[3, 2] = 0.8
    assert near_duplicates(alike, 0.8) == [[0, 2, 3]]
    assert near_duplicates(alike, 0.85) == [[0, 2]]
    assert near_duplicates(alike, 0.95) == []
    assert near_duplicates(alike, np.where(alike == 0.9, 0.95, 0.8)) == [[2, 3]]
    assert near_duplicates(np.empty((0, 0)), 0.8) == []


@given(st.integers(0, 12), st.integers(0, 1000))
def test_near_duplicates_are_the_same_groups_in_any_order(count, seed):
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((count, count)), 1)
    alike, order = half + half.T, rng.permutation(count)
    groups = near_duplicates(alike, 0.85)
    moved = near_duplicates(alike[np.ix_(order, order)], 0.85)
    assert sorted(sorted(int(order[place]) for place in group) for group in moved) == groups
    inside = [place for group in groups for place in group]
    assert len(inside) == len(set(inside))
    for place in range(count):
        assert (place in inside) == bool((alike[place] >= 0.85).any())
