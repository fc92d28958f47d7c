"""Kappa and alpha against textbook values, and alpha against another implementation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from equipoise_lab.maths.agreement import cohen_kappa, krippendorff_alpha

try:
    import evalica
    import pandas
except ImportError:
    evalica = None

FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C."""


def raters(table):
    """The two columns of ratings of a contingency table."""
    pairs = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    return np.array(pairs).T


def test_kappa_by_hand():
    first, second = raters([[20, 5], [10, 15]])
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    first, second = raters([[25, 35], [5, 35]])  # 60% the same: chance 0.3 * 0.6 + 0.7 * 0.4
    assert cohen_kappa(first, second) == pytest.approx((0.6 - 0.46) / 0.54)


def test_weighted_kappa_by_hand():
    """Pairs (0,0), (1,1), (2,2), (0,2): each value of the first by each of the second has the shares below."""
    first, second = [0, 1, 2, 0], [0, 1, 2, 2]
    # first: 1/2, 1/4, 1/4; second: 1/4, 1/4, 1/2. Expected |i - j|: (2*1 + 2*2*2 + 1*1 + 1*2 + 1*2 + 1*1) / 16
    assert cohen_kappa(first, second, weights="linear") == pytest.approx(1 - (2 / 4) / (16 / 16))
    # expected squares: (2*1 + 4*4 + 1*1 + 2*1 + 1*4 + 1*1) / 16
    assert cohen_kappa(first, second, weights="quadratic") == pytest.approx(1 - (4 / 4) / (26 / 16))
    assert cohen_kappa(first, second) == pytest.approx((0.75 - 5 / 16) / (11 / 16))


def test_weights_are_the_distances_of_the_values_themselves():
    """A grade that nobody gave still lies between the others."""
    assert cohen_kappa([1, 1, 10], [1, 10, 10], weights="linear") == pytest.approx(
        cohen_kappa([0, 0, 1], [0, 1, 1])
    )


@pytest.mark.parametrize(("first", "second"), [([], []), ([1, 1], [1, 1])])
def test_where_nothing_could_differ_there_is_no_agreement(first, second):
    assert cohen_kappa(first, second) is None
    assert krippendorff_alpha([first, second]) is None


def test_one_rater_who_never_varies_agrees_by_chance_only():
    assert cohen_kappa([1, 1, 1, 1], [1, 1, 0, 1]) == pytest.approx(0.0)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_example(level, alpha):
    assert krippendorff_alpha(FOUR_OBSERVERS, level=level) == pytest.approx(alpha, abs=5e-4)


def test_alpha_by_hand():
    """Krippendorff (2011), section A: two observers, ten units, binary."""
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha([first, second]) == pytest.approx(1 - 19 * 4 / (14 * 6))
    assert krippendorff_alpha([[1, 2, 3], [2, 3, 4]]) == pytest.approx(-2 / 13)
    assert krippendorff_alpha([[1, 2, 3], [2, 3, 4]], level="interval") == pytest.approx(6 / 11)


def test_items_with_one_rating_count_for_nothing():
    with_more = [[1, 2, 1, None], [1, 1, None, None]]
    assert krippendorff_alpha(with_more) == krippendorff_alpha([[1, 2], [1, 1]])
    assert krippendorff_alpha([[1, None], [None, 1]]) is None
    assert krippendorff_alpha([[None], [None]]) is None


@pytest.mark.parametrize("ratings", [[1, 2, 3], [[1, np.inf], [1, 2]]])
def test_what_is_no_table_of_ratings(ratings):
    with pytest.raises(ValueError, match="ratings must be"):
        krippendorff_alpha(ratings)


TABLES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 4), st.integers(1, 8)),
    elements=st.sampled_from([0.0, 1.0, 3.0, np.nan]),
)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@settings(deadline=None)
@given(table=TABLES)
def test_alpha_is_that_of_another_implementation(level, table):
    if evalica is None:
        pytest.skip("evalica is not installed")
    alpha = krippendorff_alpha(table, level=level)
    if alpha is not None:
        assert alpha == pytest.approx(evalica.alpha(pandas.DataFrame(table), distance=level).alpha)
    assert alpha is None or alpha <= 1.0


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_agreement_is_symmetric_and_full_with_oneself(pairs):
    first, second = zip(*pairs, strict=True)
    for weights in ("equal", "linear", "quadratic"):
        assert cohen_kappa(first, second, weights=weights) == pytest.approx(
            cohen_kappa(second, first, weights=weights)
        )
        assert cohen_kappa(first, first, weights=weights) in (None, 1.0)
    assert krippendorff_alpha([first, first]) in (None, pytest.approx(1.0))
