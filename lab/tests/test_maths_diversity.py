"""The rankings BiasDef is compared with: hand examples, brute force, and what they promise."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise_lab.maths import diversity as dv

ALIKE = np.array([[1, 0.95, 0.1], [0.95, 1, 0.2], [0.1, 0.2, 1]])


def unit_rows(seed, rows, width):
    vectors = np.random.default_rng(seed).standard_normal((rows, width))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_mmr_by_hand():
    assert dv.mmr([0.9, 0.8, 0.5], ALIKE, k=3).tolist() == [0, 2, 1]
    assert dv.mmr([0.9, 0.8, 0.5], ALIKE, k=2, trade_off=1.0).tolist() == [0, 1]
    assert dv.mmr([0.9, 0.8, 0.5], ALIKE, k=2, trade_off=0.0).tolist() == [0, 2]


def test_mmr_penalises_the_nearest_chosen_row_not_the_last_one():
    alike = np.array([[1, 0, 0.9, 0], [0, 1, 0, 0.2], [0.9, 0, 1, 0], [0, 0.2, 0, 1]])
    assert dv.mmr([0.9, 0.8, 0.7, 0.5], alike, k=3).tolist() == [0, 1, 3]


def test_mmr_can_follow_negative_similarities():
    alike = np.array([[1, -0.8, 0.0], [-0.8, 1, 0], [0.0, 0, 1]])
    assert dv.mmr([0.9, 0.1, 0.4], alike, k=2).tolist() == [0, 1]


@given(st.integers(0, 50), st.integers(1, 8))
def test_mmr_ranks_every_row_once(seed, rows):
    vectors = unit_rows(seed, rows, 4)
    ranked = dv.mmr(vectors[:, 0], vectors @ vectors.T, k=rows + 3)
    assert sorted(ranked.tolist()) == list(range(rows))
    assert ranked[0] == np.argmax(vectors[:, 0])


def test_conflicts_are_symmetric_without_a_diagonal():
    assert dv.conflict_matrix([[0.9, 0.8], [0.2, 0.9]]) == pytest.approx(np.array([[0, 0.5], [0.5, 0]]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        dv.conflict_matrix([[0, 1.5], [0, 0]])


def test_smart_kernel_by_hand():
    alike, conflict = np.array([[1, 0.4], [0.4, 1]]), np.array([[0, 1], [1, 0]])
    kernel = dv.smart_kernel([1, 0.5], alike, conflict, sharpness=np.log(2))
    assert kernel == pytest.approx(np.array([[1, 0.4], [0.4, 0.25]]))


@given(st.integers(0, 1000), st.floats(0, 10))
def test_without_conflicts_smart_is_a_plain_determinantal_process(seed, sharpness):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((6, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    relevance, alike = rng.uniform(0, 1, 6), rows @ rows.T
    kernel = dv.smart_kernel(relevance, alike, np.zeros((6, 6)), sharpness=sharpness)
    assert kernel == pytest.approx(relevance[:, None] * alike * relevance, abs=1e-9)


def test_smart_kernel_has_no_negative_eigenvalues():
    conflict = 1 - np.eye(3)
    conflict[0, 1] = conflict[1, 0] = 0
    kernel = dv.smart_kernel([1, 1, 1], np.ones((3, 3)), conflict, sharpness=5.0)
    assert np.linalg.eigvalsh(kernel)[0] >= -1e-12
    assert kernel == pytest.approx(kernel.T)


def test_smart_avoids_a_contradiction_between_equally_good_passages():
    alike = np.full((3, 3), 0.6) + 0.4 * np.eye(3)
    conflict = np.zeros((3, 3))
    conflict[0, 1] = conflict[1, 0] = 1.0
    relevance = [0.9, 0.89, 0.88]
    assert dv.greedy_map(dv.smart_kernel(relevance, alike, conflict), k=2).tolist() == [0, 2]
    assert dv.greedy_map(dv.smart_kernel(relevance, alike, np.zeros((3, 3))), k=2).tolist() == [0, 1]


def test_greedy_map_by_hand():
    kernel = [[4, 3.9, 0], [3.9, 4, 0], [0, 0, 1]]
    assert dv.greedy_map(kernel, k=3).tolist() == [0, 2, 1]
    assert dv.greedy_map([[1, 1], [1, 1]], k=2).tolist() == [0]
    assert dv.greedy_map(np.zeros((2, 2)), k=2).tolist() == []


def test_greedy_map_is_the_best_set_on_a_diagonal_kernel():
    weights = np.array([3.0, 7, 1, 5, 6])
    best = max(combinations(range(5), 3), key=lambda rows: np.prod(weights[list(rows)]))
    assert sorted(dv.greedy_map(np.diag(weights), k=3).tolist()) == sorted(best)


def test_greedy_map_equals_the_plain_greedy_search():
    for seed in range(20):
        factor = np.random.default_rng(seed).standard_normal((7, 9))
        kernel = factor @ factor.T
        chosen: list[int] = []
        for _ in range(5):
            rest = [row for row in range(7) if row not in chosen]
            chosen.append(
                max(rest, key=lambda row: np.linalg.det(kernel[np.ix_([*chosen, row], [*chosen, row])]))
            )
        assert dv.greedy_map(kernel, k=5).tolist() == chosen


def test_noisy_queries_have_noise_of_the_stated_length():
    query = np.array([3.0, 4.0, 0, 0])
    copies = dv.noisy_queries(query, 6, rng=np.random.default_rng(1), noise=0.5)
    assert np.linalg.norm(copies - query, axis=1) == pytest.approx(np.full(6, 2.5))
    assert dv.noisy_queries(query, 2, rng=np.random.default_rng(1), noise=0.0) == pytest.approx(
        np.array([query, query])
    )


def test_brra_without_noise_is_the_top_k_and_with_a_seed_repeats_itself():
    rows = unit_rows(4, 60, 8)
    query = rows[7] + 0.3 * rows[9]
    expected = np.argsort(-(rows @ query))[:5]
    assert dv.brra(query, rows, k=5, rng=np.random.default_rng(0), noise=0.0).tolist() == expected.tolist()
    first, second = (dv.brra(query, rows, k=5, rng=np.random.default_rng(3)) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_brra_ranks_by_frequency_before_rank():
    """One copy, turned by the noise to (1, -1): row 1 is found by both queries, at ranks 2 and 2."""

    class Down(np.random.Generator):
        def standard_normal(self, size):
            return np.tile([0.0, -1.0], (size[0], 1))

    rng = Down(np.random.PCG64(0))
    rows = np.array([[1.0, 0.1], [1.0, -0.4], [0.1, -1.0], [0.7, -0.9]])
    ranked = dv.brra([1.0, 0.0], rows, k=4, rng=rng, copies=1, depth=2)
    assert ranked.tolist() == [1, 0, 3]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_are_all_returned(rows):
    vectors = unit_rows(0, rows, 3)
    alike = vectors @ vectors.T
    everything = list(range(rows))
    assert sorted(dv.mmr(vectors[:, 0], alike, k=5)) == everything
    assert sorted(dv.brra([1, 0, 0], vectors, k=5, rng=np.random.default_rng(0))) == everything


def test_unusable_input_is_named():
    with pytest.raises(ValueError, match="relevance holds NaN or infinity at row 1"):
        dv.mmr([1, np.nan], np.eye(2), k=1)
    with pytest.raises(ValueError, match=r"similarity must be of shape \(2, 2\)"):
        dv.mmr([1, 1], np.eye(3), k=1)
    with pytest.raises(ValueError, match="k must be at least 1"):
        dv.mmr([1], [[1]], k=0)
    with pytest.raises(ValueError, match="trade_off must be between"):
        dv.mmr([1], [[1]], k=1, trade_off=2)
    with pytest.raises(ValueError, match="conflict must be of shape"):
        dv.smart_kernel([1, 1], np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="embeddings row 0 is the zero vector"):
        dv.brra([1, 0], [[0, 0]], k=1, rng=np.random.default_rng(0))
