"""The exact maximum independent set of a small graph."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.maths import independence
from equipoise.maths.independence import MOST, independence_number, independent


def graph(count, pairs):
    edges = np.zeros((count, count), np.bool_)
    for first, second in pairs:
        edges[first, second] = edges[second, first] = True
    return edges


def random_graph(seed, count, density):
    upper = np.triu(np.random.default_rng(seed).random((count, count)) < density, 1)
    return upper | upper.T


def by_trying(edges):
    """The first, in lexicographic order, of the largest independent sets."""
    rows = range(len(edges))
    for size in range(len(edges), 0, -1):
        for some in combinations(rows, size):
            if not edges[np.ix_(some, some)].any():
                return some
    return ()


def bound(count):
    """L(n) of the module's docstring."""
    leaves = [1, 1, 1, 1]
    while len(leaves) <= count:
        leaves.append(leaves[-1] + leaves[-4])
    return leaves[count]


def leaves_of(edges, monkeypatch):
    """How many leaves the search for the number has: it branches in two once for each further leaf."""
    calls = []
    size = independence._size

    def counted(neighbours, left):
        calls.append(left)
        return size(neighbours, left)

    monkeypatch.setattr(independence, "_size", counted)
    independence_number(edges)
    monkeypatch.undo()
    return (len(calls) + 1) // 2


@pytest.mark.parametrize(
    ("count", "pairs", "rows"),
    [
        (0, [], ()),
        (1, [], (0,)),
        (3, [(0, 1), (1, 2)], (0, 2)),
        (3, [(0, 1), (1, 2), (0, 2)], (0,)),
        (5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], (0, 2)),
        (5, [(0, row) for row in range(1, 5)], (1, 2, 3, 4)),
    ],
)
def test_by_hand(count, pairs, rows):
    assert independent(graph(count, pairs)) == rows
    assert independence_number(graph(count, pairs)) == len(rows)


def test_the_diagonal_is_not_read():
    assert independent(np.eye(4)) == (0, 1, 2, 3)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 100_000), count=st.integers(0, 10), density=st.floats(0, 1))
def test_it_is_the_first_of_the_largest(seed, count, density):
    edges = random_graph(seed, count, density)
    assert independent(edges) == by_trying(edges)
    assert independence_number(edges) == len(by_trying(edges))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 100_000), count=st.integers(1, 16), density=st.floats(0, 1))
def test_a_further_row_adds_one_or_nothing(seed, count, density):
    edges = random_graph(seed, count, density)
    assert independence_number(edges) - independence_number(edges[1:, 1:]) in (0, 1)


def test_a_copy_of_two_does_not_merge_them():
    assert independent(graph(3, [(0, 1), (0, 2)])) == (1, 2)


def hard_graphs():
    """Random graphs of each density, random regular ones, and products that branch at every row."""
    for seed in range(20):
        for degree in range(2, 12):
            yield random_graph(seed, MOST, degree / MOST)
    for seed in range(20):
        for degree in (3, 4, 5, 6):
            rng = np.random.default_rng(seed)
            turns = [rng.permutation(MOST) for _ in range(degree)]
            edges = graph(
                MOST, [pair for turn in turns for pair in enumerate(turn.tolist()) if len(set(pair)) > 1]
            )
            yield edges
    whole = np.ones((MOST, MOST), np.bool_)
    yield whole & ~np.eye(MOST, dtype=np.bool_)
    for part in (4, 5, 8):
        yield np.kron(np.eye(MOST // part + 1), np.ones((part, part)))[:MOST, :MOST] > 0


def test_the_search_stays_below_its_bound(monkeypatch):
    assert bound(24) == 1_252
    assert bound(MOST) == 16_493
    most = max(leaves_of(edges, monkeypatch) for edges in hard_graphs())
    assert most <= bound(MOST)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 100_000), count=st.integers(0, 14), density=st.floats(0, 1))
def test_the_bound_holds_for_every_size(seed, count, density):
    with pytest.MonkeyPatch.context() as patch:
        assert leaves_of(random_graph(seed, count, density), patch) <= bound(count)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (np.zeros((2, 3)), "square"),
        (np.zeros(4), "square"),
        ([[0, 1], [0, 0]], "symmetric"),
        (np.zeros((MOST + 1, MOST + 1)), "at most"),
    ],
)
def test_what_is_no_small_graph_is_refused(edges, said):
    with pytest.raises(ValueError, match=said):
        independent(edges)
