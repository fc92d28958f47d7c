"""Claims and their supporters, and what planted rows cannot do to them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.maths.corroboration import ClaimRows, claims
from equipoise.maths.independence import independence_number


def mask(count, pairs):
    edges = np.zeros((count, count), np.bool_)
    for first, second in pairs:
        edges[first, second] = edges[second, first] = True
    return edges


def symmetric(draw, count):
    """A random symmetric mask; its density is drawn, too, so that full and empty ones come up."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    upper = np.triu(rng.random((count, count)) < draw(st.floats(0, 1)), 1)
    return upper | upper.T


@st.composite
def attacks(draw):
    """(agreement, dependent, apart or None, order, honest): the first rows are honest, the rest are planted. What
    honest rows have among themselves and what planted rows have is drawn apart."""
    honest, planted = draw(st.integers(1, 12)), draw(st.integers(0, 8))
    count = honest + planted
    masks = []
    for _ in range(3):
        whole = symmetric(draw, count)
        whole[:honest, :honest] = symmetric(draw, honest)
        masks.append(whole)
    agreement, dependent, apart = masks
    apart = (apart & ~agreement) if draw(st.booleans()) else draw(st.sampled_from([apart, None]))
    order = draw(st.permutations(range(count)))
    return agreement, dependent, apart, order, honest


def of_honest(agreement, dependent, honest, row):
    """How many independent honest rows agree with `row`; itself counts where it is honest."""
    rows = [other for other in range(honest) if other == row or agreement[row, other]]
    return independence_number(dependent[np.ix_(rows, rows)]) if rows else 0


def test_worked_value():
    agreement = mask(4, [(0, 1), (0, 2), (1, 2)])
    assert claims(agreement, mask(4, [(1, 2)]), range(4)) == (ClaimRows((0, 1, 2), 2), ClaimRows((3,), 1))


def test_no_rows_have_no_claims():
    assert claims(np.zeros((0, 0)), np.zeros((0, 0)), ()) == ()


def test_rows_that_agree_with_the_same_are_one_claim_worded_by_the_best():
    everything = np.ones((3, 3))
    assert claims(everything, np.zeros((3, 3)), (2, 0, 1)) == (ClaimRows((2, 0, 1), 3),)


def test_copies_are_one_supporter():
    everything = np.ones((3, 3))
    assert claims(everything, everything, range(3)) == (ClaimRows((0, 1, 2), 1),)


def test_a_planted_row_between_two_answers_hides_neither():
    """0 and 1 say one thing, 2 and 3 another, and 4 is planted to agree with all."""
    agreement = mask(5, [(0, 1), (2, 3), *((row, 4) for row in range(4))])
    apart = mask(5, [(0, 2), (0, 3), (1, 2), (1, 3)])
    for contradictions in (None, apart):
        shown = claims(agreement, np.zeros((5, 5)), (4, 0, 1, 2, 3), contradictions)
        assert shown == (ClaimRows((4, 0, 1, 2, 3), 5), ClaimRows((0, 4, 1), 3), ClaimRows((2, 4, 3), 3))


def test_paraphrases_of_which_one_pair_was_missed_are_one_claim_if_nothing_contradicts():
    agreement = mask(3, [(0, 1), (1, 2)])
    assert claims(agreement, np.zeros((3, 3)), range(3), np.zeros((3, 3))) == (ClaimRows((1, 0, 2), 3),)
    assert len(claims(agreement, np.zeros((3, 3)), range(3))) == 3


@settings(max_examples=600, deadline=None)
@given(attacks())
def test_what_honest_rows_say_is_shown_with_as_many_supporters(attack):
    """The first part of the theorem."""
    agreement, dependent, apart, order, honest = attack
    shown = claims(agreement, dependent, order, apart)
    differs = ~agreement if apart is None else apart & ~agreement
    for row in range(honest):
        assert any(
            row in claim.rows
            and claim.supporters >= of_honest(agreement, dependent, honest, row)
            and not any(differs[row, other] for other in claim.rows if other != row)
            for claim in shown
        )


@settings(max_examples=600, deadline=None)
@given(attacks())
def test_planted_rows_raise_a_count_by_their_number_at_most(attack):
    """The second part."""
    agreement, dependent, apart, order, honest = attack
    for claim in claims(agreement, dependent, order, apart):
        planted = sum(row >= honest for row in claim.rows)
        assert claim.supporters <= of_honest(agreement, dependent, honest, claim.rows[0]) + planted


@settings(max_examples=300, deadline=None)
@given(attacks())
def test_the_unattacked_result_stays_in_the_attacked_one(attack):
    """Each claim that is shown without planted rows has its representative in a shown claim with as many."""
    agreement, dependent, apart, order, honest = attack
    own = slice(honest)
    alone = claims(
        agreement[own, own],
        dependent[own, own],
        [row for row in order if row < honest],
        None if apart is None else apart[own, own],
    )
    shown = claims(agreement, dependent, order, apart)
    for before in alone:
        holding = [claim for claim in shown if before.rows[0] in claim.rows]
        assert max(claim.supporters for claim in holding) >= before.supporters


@settings(max_examples=300, deadline=None)
@given(attacks())
def test_a_claim_with_two_that_contradict_hides_neither(attack):
    """The third part: both are shown, or stand in other claims."""
    agreement, dependent, apart, order, honest = attack
    shown = claims(agreement, dependent, order, apart)
    differs = ~agreement if apart is None else apart & ~agreement
    for torn in shown:
        for row in set(torn.rows[1:]) & set(range(honest)):
            if differs[row, [other for other in torn.rows if other != row]].any():
                assert any(row in claim.rows for claim in shown if claim is not torn)


@settings(max_examples=200, deadline=None)
@given(attacks())
def test_the_most_supported_come_first_and_a_claim_has_its_agreeing_rows(attack):
    agreement, dependent, apart, order, _ = attack
    shown = claims(agreement, dependent, order, apart)
    assert all(first.supporters >= second.supporters for first, second in pairwise(shown))
    for claim in shown:
        assert {row for row in order if agreement[claim.rows[0], row]} == set(claim.rows[1:])
        assert 1 <= claim.supporters <= len(claim.rows)


@pytest.mark.parametrize(
    ("agreement", "dependent", "order", "apart", "said"),
    [
        (np.zeros((2, 2)), np.zeros((3, 3)), (0, 1), None, "dependent"),
        (np.zeros((2, 2)), np.zeros((2, 2)), (0, 1), np.zeros((3, 3)), "apart"),
        (np.zeros((2, 2)), np.zeros((2, 2)), (0, 0), None, "order"),
        (np.zeros((2, 2)), np.zeros((2, 2)), (0,), None, "order"),
        ([[0, 1], [0, 0]], np.zeros((2, 2)), (0, 1), None, "symmetric"),
    ],
)
def test_what_does_not_fit_is_refused(agreement, dependent, order, apart, said):
    with pytest.raises(ValueError, match=said):
        claims(agreement, dependent, order, apart)
