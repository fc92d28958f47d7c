"""Which passages are coordinated."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.maths.coordinated import LEAST, ONE_SIDED, THRESHOLD, coordinated, likeness, suspects

ALL_ALIKE = np.ones((3, 3)) - np.eye(3)


def random_set(seed, count):
    rng = np.random.default_rng(seed)
    ratios = rng.normal(0.5, 2.0, (count, count))
    return likeness((ratios + ratios.T) / 2), rng.uniform(-1, 1, count)


def test_likeness_by_hand():
    alike = likeness([[9.0, 1.5, -3.0], [1.5, 9.0, 2.5], [-3.0, 2.5, 9.0]])
    assert alike.tolist() == [[0.0, 0.5, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.0]]


def test_three_by_one_author_on_one_side_are_a_group():
    yes, no = coordinated(ALL_ALIKE, [1, 1, 1])
    assert (yes.tolist(), no.tolist()) == ([True] * 3, [False] * 3)


def test_one_author_on_both_sides_is_none():
    assert not np.any(coordinated(ALL_ALIKE, [1, 1, -1]))


def test_two_are_none_however_alike():
    assert not np.any(coordinated(np.array([[0, 1], [1, 0]]) * 9.0, [1, 1]))
    assert not suspects(np.array([[0, 1], [1, 0]]) * 9.0).any()


def test_worked_values():
    assert coordinated(ALL_ALIKE, [1, 1, 0.4])[0].tolist() == [True] * 3
    assert not np.any(coordinated(ALL_ALIKE, [1, 1, -1]))


def test_what_one_author_wrote_without_a_side_goes_along_and_what_it_wrote_on_the_other_does_not():
    alike = np.ones((5, 5)) - np.eye(5)
    yes, no = coordinated(alike, [1, 1, 1, 0, -1])
    assert (yes.tolist(), no.any()) == ([True, True, True, True, False], False)


def test_weak_sides_that_agree_are_a_group_and_as_many_that_do_not_are_none():
    alike = np.ones((6, 6)) - np.eye(6)
    assert coordinated(alike, [0.3] * 6)[0].all()
    assert not np.any(coordinated(alike, [0.3, -0.3] * 3))
    assert not np.any(coordinated(alike, [0.1] * 6))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 20))
def test_only_suspects_matter(seed, count):
    """What is not asked for its side cannot change the result."""
    alike, sides = random_set(seed, count)
    asked = suspects(alike)
    assert np.array_equal(coordinated(alike, sides), coordinated(alike, np.where(asked, sides, 0.0)))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 20))
def test_order_and_the_sign_of_the_question_do_not_matter(seed, count):
    alike, sides = random_set(seed, count)
    order = np.random.default_rng(seed).permutation(count)
    yes, no = coordinated(alike, sides)
    turned = coordinated(alike[np.ix_(order, order)], sides[order])
    assert np.array_equal(turned, (yes[order], no[order]))
    assert np.array_equal(coordinated(alike, -sides), (no, yes))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 20))
def test_a_group_has_members_enough_each_with_weight(seed, count):
    alike, sides = random_set(seed, count)
    for group in coordinated(alike, sides):
        assert group.sum() == 0 or group.sum() >= LEAST
        assert all(alike[row].sum() >= THRESHOLD for row in np.flatnonzero(group))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 20))
def test_no_group_holds_what_is_clearly_on_the_other_side(seed, count):
    alike, sides = random_set(seed, count)
    yes, no = coordinated(alike, sides)
    assert (sides[yes] >= -ONE_SIDED).all()
    assert (sides[no] <= ONE_SIDED).all()
