"""Equations 2 to 5, by hand and by property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from equipoise.maths import polarization as po

VECTORS = arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(1, 6)),
    elements=st.floats(-1, 1, allow_subnormal=False).map(lambda x: x + 2.0),
)


def test_axis_is_the_direction_of_largest_variance():
    axis = po.polarization_axis([[0, 1], [2, 1], [4, 1]])
    assert axis == pytest.approx([1, 0])


def test_axis_solves_equation_2_in_both_shapes():
    rng = np.random.default_rng(3)
    for shape in ((5, 30), (30, 5)):
        anchors = rng.standard_normal(shape)
        axis = po.polarization_axis(anchors)
        _, _, directions = np.linalg.svd(anchors - anchors.mean(axis=0))
        assert abs(axis @ directions[0]) == pytest.approx(1)
        assert np.linalg.norm(axis) == pytest.approx(1)


def test_sign_is_the_largest_component_and_the_first_of_equals():
    assert po.polarization_axis([[1, 1], [1, 5], [1, 9]]) == pytest.approx([0, 1])
    tied = po.polarization_axis([[3, 1], [1, 3], [2, 2]])
    assert tied == pytest.approx([np.sqrt(0.5), -np.sqrt(0.5)])


def test_towards_turns_the_axis_and_an_orthogonal_one_does_not():
    anchors = [[0, 1], [2, 1], [4, 1]]
    assert po.polarization_axis(anchors, towards=[-1, 7]) == pytest.approx([-1, 0])
    assert po.polarization_axis(anchors, towards=[0, 7]) == pytest.approx([1, 0])


@pytest.mark.parametrize("anchors", [np.empty((0, 3)), [[1, 2, 3]], [[0.1, 0.2, 0.7]] * 5])
def test_no_variance_gives_the_zero_axis(anchors):
    axis = po.polarization_axis(anchors)
    assert not axis.any()
    assert axis.shape == (3,)


def test_scores_by_hand():
    assert po.polarization_scores([[0.6, 0.8], [0, 1]], [1, 0]) == pytest.approx([0.6, 0])
    assert len(po.polarization_scores([], [1, 0])) == 0


@given(VECTORS)
def test_local_consistency(embeddings):
    """Eq. 5: PS never differ by more than the embeddings do."""
    scores = po.polarization_scores(embeddings, po.polarization_axis(embeddings))
    apart = np.linalg.norm(embeddings[:, None] - embeddings[None], axis=2)
    assert np.all(np.abs(scores[:, None] - scores[None]) <= apart + 1e-9)


@given(VECTORS, st.randoms(use_true_random=False))
def test_scores_follow_their_rows(embeddings, random):
    axis = po.polarization_axis(embeddings)
    order = list(range(len(embeddings)))
    random.shuffle(order)
    assert np.array_equal(
        po.polarization_scores(embeddings[order], axis), po.polarization_scores(embeddings, axis)[order]
    )


def test_a_rotation_changes_scores_in_sign_only():
    rng = np.random.default_rng(5)
    for _ in range(20):
        embeddings = rng.standard_normal((9, 6))
        turn, _ = np.linalg.qr(rng.standard_normal((6, 6)))
        before = po.polarization_scores(embeddings, po.polarization_axis(embeddings))
        after = po.polarization_scores(embeddings @ turn, po.polarization_axis(embeddings @ turn))
        assert np.allclose(before, after) or np.allclose(before, -after)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0], [np.nan, 1]], "anchors holds NaN or infinity in row 1"),
        ([[1, 0], [1, 1], [np.inf, 1]], "in row 2"),
        ([[1, 0], [0, 0]], "row 1 is the zero vector"),
        ([1, 2], "two-dimensional"),
        (np.empty((2, 0)), "width 0"),
    ],
)
def test_unusable_rows_are_named(rows, message):
    with pytest.raises(ValueError, match=message):
        po.polarization_axis(rows)


def test_wrong_widths_are_errors():
    with pytest.raises(ValueError, match="2 dimensions and the axis has 3"):
        po.polarization_scores([[1, 0]], [1, 0, 0])
