"""Paired tests and agreement: which items count, which test is made, what Holm does."""

import random

import numpy as np
import pytest

from equipoise_lab.bench.judges.agreement import agreement
from equipoise_lab.bench.paired import compare_all, times_highest

pytest.importorskip("scipy")


def items(*values):
    return {f"i{number}": value for number, value in enumerate(values)}


BINARY = {"a": items(1, 1, 1, 1, 1, 1, 0, 0), "b": items(0, 0, 0, 0, 0, 1, 1, None), "c": items(*[1] * 8)}


def test_binary_values_by_hand():
    ab, ac, bc = compare_all(BINARY, seed=0, resamples=499)
    assert (ab.first, ab.second, ab.test) == ("a", "b", "McNemar")
    assert (ab.n, ab.left_out) == (7, 1)
    assert ab.difference == pytest.approx(4 / 7)
    assert ab.p == pytest.approx(0.21875)  # 5 to 1 discordant
    assert (ac.p, ac.n) == (0.5, 8)  # 0 to 2
    assert bc.p == pytest.approx(2 / 32)  # 0 to 5
    assert [row.p_holm for row in (ab, ac, bc)] == pytest.approx([2 * 0.21875, 0.5, 3 * 2 / 32])
    assert ab.interval.n == 7
    assert ab.interval.low <= ab.difference <= ab.interval.high


def test_grades_by_hand():
    scores = {"x": items(1.0, 2.0, 3.0), "y": items(0.0, 0.0, 0.0)}
    (row,) = compare_all(scores, seed=0, resamples=499)
    assert (row.test, row.difference, row.p, row.p_holm) == ("permutation", 2.0, 0.25, 0.25)


def test_a_value_between_0_and_1_makes_all_tests_permutations():
    rows = compare_all(BINARY | {"d": items(*[0.5] * 8)}, seed=0, resamples=99)
    assert {row.test for row in rows} == {"permutation"}
    assert len(rows) == 6


def test_unscored_is_left_out_and_never_nought():
    scores = {"a": items(1, None, 1), "b": items(1, 1, None) | {"other": 0}}
    (row,) = compare_all(scores, seed=0, resamples=99)
    assert (row.n, row.left_out, row.difference, row.p) == (1, 3, 0.0, 1.0)


def test_a_pair_without_common_items_has_no_numbers_and_no_part_in_holm():
    scores = {"a": items(1, 0, 1), "b": items(0, 0, 0), "c": {"elsewhere": 1}}
    ab, ac, bc = compare_all(scores, seed=0, resamples=99)
    assert (ac.n, ac.left_out, ac.difference, ac.interval, ac.p, ac.p_holm) == (0, 4, None, None, None, None)
    assert bc.p is None
    assert ab.p_holm == ab.p == 0.5


def test_the_order_of_items_and_pipelines_does_not_matter():
    drawn = random.Random(5)
    scores = {name: {f"i{n}": drawn.choice([None, 1.0, 2.0, 3.0]) for n in range(30)} for name in "abc"}
    turned = {name: dict(sorted(scores[name].items(), reverse=True)) for name in "cab"}
    assert compare_all(turned, seed=1, resamples=199) == compare_all(scores, seed=1, resamples=199)
    assert compare_all({}, seed=0) == compare_all({"a": items(1)}, seed=0) == []


def test_a_real_difference_is_found_and_none_is_not():
    rng = np.random.default_rng(0)
    base = rng.normal(5, 1, 60)
    scores = {
        "a": items(*base),
        "b": items(*(base - 0.8 + rng.normal(0, 0.5, 60))),
        "c": items(*rng.permutation(base)),
    }
    ab, ac, _ = compare_all(scores, seed=0, resamples=999)
    assert ab.p_holm < 0.01
    assert ab.interval.low > 0
    assert ac.p > 0.9  # the same mean


def test_times_highest_by_hand():
    scores = {"a": items(1, 0, 3, None), "b": items(1, 1, -1, 5), "c": items(0, 0, -2, 1)}
    assert times_highest(scores) == {"a": 2, "b": 2, "c": 0}
    assert times_highest({"a": items(-1), "b": items(-2)}) == {"a": 1, "b": 0}
    assert times_highest({}) == {}


def test_agreement_by_hand():
    labels = items(*[1] * 25, *[0] * 25, None)
    judge = items(*[1] * 20, *[0] * 5, *[1] * 10, *[0] * 15, 1)
    agreed = agreement(judge, labels, kind="nominal", seed=0, resamples=300)
    assert (agreed.n, agreed.left_out) == (50, 1)
    assert agreed.same.estimate == pytest.approx(0.7)
    assert agreed.kappa.estimate == pytest.approx(0.4)
    # alpha: 15 pairs differ; 55 ones, 45 noughts
    assert agreed.alpha.estimate == pytest.approx(1 - 99 * 30 / (2 * 55 * 45))
    assert agreed.same.low == pytest.approx(0.7 - 1.96 * np.sqrt(0.21 / 50), abs=0.04)
    assert agreed.kappa.low < 0.4 < agreed.kappa.high
    assert agreed == agreement(judge, labels, kind="nominal", seed=0, resamples=300)
    turned = dict(reversed(judge.items()))
    assert agreed == agreement(turned, labels, kind="nominal", seed=0, resamples=300)


def test_grades_that_miss_by_little_agree_more_than_those_that_miss_by_much():
    grades = items(0, 1, 2, 3, 3, 2, 1, 0)
    near, far = items(1, 1, 2, 3, 2, 2, 1, 0), items(3, 1, 2, 3, 0, 2, 1, 0)
    close, apart = (agreement(grades, other, kind="ordinal", seed=0, resamples=50) for other in (near, far))
    assert close.same == apart.same
    assert close.kappa.estimate > apart.kappa.estimate
    assert close.alpha.estimate > apart.alpha.estimate


def test_agreement_of_nothing_and_of_constants():
    nothing = agreement(items(None, 1), {"other": 1}, kind="nominal", seed=0)
    assert (nothing.n, nothing.left_out, nothing.same, nothing.kappa) == (0, 3, None, None)
    same = agreement(items(1, 1), items(1, 1), kind="nominal", seed=0, resamples=20)
    assert (same.same.estimate, same.kappa, same.alpha) == (1.0, None, None)
