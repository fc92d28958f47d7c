"""Rankings by hand, whatever the order of the file, and on the counts the paper prints."""

import itertools
import random

import numpy as np
import pytest

from equipoise.core.errors import InputError
from equipoise_lab.bench import layouts
from equipoise_lab.bench.judges.comparison import Preference
from equipoise_lab.bench.judges.ranking import Match, standings, win_matrix
from equipoise_lab.maths.elo import elo

FIRST, SECOND, TIE, NEITHER = Preference

RAG, SQUAD, BASELINE, STRUCTURED, REPLIQA = range(5)
TABLE_9 = {
    "RepliQA": (
        17955,
        [
            [0, 13123, 1076, 1926, 6753],
            [2389, 0, 532, 629, 2469],
            [12297, 15325, 0, 2184, 8856],
            [13292, 15464, 4510, 0, 9089],
            [8089, 10792, 1511, 2913, 0],
        ],
        [0.32, 0.08, 0.54, 0.59, 0.32],
    ),
    "BioASQ": (
        4719,
        [
            [0, 3837, 746, 437, 2924],
            [542, 0, 290, 140, 921],
            [3427, 3919, 0, 955, 3465],
            [3776, 4185, 1306, 0, 3682],
            [1338, 2343, 531, 261, 0],
        ],
        [0.42, 0.10, 0.62, 0.69, 0.24],
    ),
}
"""H&S, Table 9 (questions, wins of row over column) and the wins of Table 2."""


def matches(*games):
    return [Match(f"q{number}", *game) for number, game in enumerate(games)]


def by_name(rows):
    return {row["contender"]: row for row in rows}


def test_one_game_by_hand():
    high, low = standings(matches(("a", "b", SECOND)), seed=0, resamples=20)
    assert (high["contender"], low["contender"]) == ("b", "a")
    assert (high["elo"].value, low["elo"].value) == (1002.0, 998.0)
    assert (high["win_rate"].value, low["win_share"].value) == (1.0, 0.0)


def test_two_wins_by_hand():
    rows = standings(matches(("a", "b", FIRST), ("b", "a", SECOND)), seed=0, resamples=20)
    second_gain = 4 * (1 - 1 / (1 + 10 ** (-4 / 400)))
    assert rows[0]["elo"].value == pytest.approx(1002 + second_gain)
    assert rows[0]["elo"].n == 2


def test_a_win_each_leaves_both_where_they_were():
    rows = standings(matches(("a", "b", FIRST), ("a", "b", SECOND)), seed=0, resamples=50)
    assert [row["elo"].value for row in rows] == pytest.approx([1000.0, 1000.0])
    assert rows[0]["win_rate"].value == 0.5
    assert rows[0]["elo"].low < 1000 < rows[0]["elo"].high


def test_elo_updates_by_hand():
    first, second = np.array([0, 1]), np.array([1, 2])
    orders = np.array([[0, 1], [1, 0], [0, -1]])
    ratings = elo(first, second, [1.0, 0.5], orders, players=3, k=10)
    gain = 10 * (0.5 - 1 / (1 + 10 ** (5 / 400)))  # 995 against 1000
    assert ratings[0] == pytest.approx([1005, 995 + gain, 1000 - gain])
    assert ratings[1] == pytest.approx([1005, 995, 1000])
    assert ratings[2] == pytest.approx([1005, 995, 1000])


SOME = [
    Match(f"q{question}", first, second, verdict)
    for question in range(12)
    for (first, second), verdict in zip(
        [("a", "b"), ("c", "a"), ("b", "c"), ("a", "d")],
        random.Random(question).choices([FIRST, SECOND, TIE, NEITHER, None], [5, 3, 2, 1, 1], k=4),
        strict=True,
    )
]


def turned(match):
    verdict = None if match.verdict is None else match.verdict.mirrored()
    return Match(match.question_id, match.second, match.first, verdict)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_file_and_of_the_names_does_not_matter(seed):
    shuffled = [turned(match) if index % 3 else match for index, match in enumerate(SOME)]
    random.Random(seed).shuffle(shuffled)
    assert standings(shuffled, seed=7, resamples=40) == standings(SOME, seed=7, resamples=40)
    assert win_matrix(shuffled) == win_matrix(SOME)


def test_seeds_matter_and_repeat():
    assert standings(SOME, seed=1, resamples=40) == standings(SOME, seed=1, resamples=40)
    assert standings(SOME, seed=1, resamples=40) != standings(SOME, seed=2, resamples=40)


def test_batches_change_nothing(monkeypatch):
    whole = standings(SOME, seed=1, resamples=40)
    monkeypatch.setattr("equipoise_lab.bench.judges.ranking.BATCH", 1)
    assert standings(SOME, seed=1, resamples=40) == whole


def test_ties_neither_and_unscored_are_counted_apart():
    games = [("a", "b", FIRST), ("a", "b", TIE), ("a", "b", NEITHER), ("a", "b", None), ("b", "a", FIRST)]
    rows = by_name(standings(matches(*games), seed=0, resamples=20))
    each = {"wins": 1, "losses": 1, "ties": 1, "neither": 1, "unscored": 1, "scored": 4}
    assert rows["a"].items() >= each.items()
    assert rows["a"]["win_rate"].value == 0.5
    assert rows["a"]["win_share"].value == 0.25
    assert win_matrix(matches(*games)) == {"a": {"b": each}, "b": {"a": each}}


def test_a_pipeline_without_a_deciding_match_is_rated_by_its_ties_alone():
    rows = by_name(
        standings(matches(("a", "b", FIRST), ("c", "a", NEITHER), ("c", "b", None)), seed=0, resamples=20)
    )
    assert (rows["c"]["elo_decided"], rows["c"]["win_rate"]) == (None, None)
    assert rows["c"]["win_share"].value == 0.0
    assert 1000 < rows["c"]["elo"].value < rows["a"]["elo"].value == rows["a"]["elo"].value
    assert rows["a"]["elo"].value < rows["a"]["elo_decided"].value == 1002


@pytest.mark.parametrize("end", [TIE, NEITHER])
def test_ties_and_both_bad_are_half_a_point_in_the_papers_elo_and_nothing_beside_it(end):
    """a beats b, then b and c are tied: 998 against 1000, so 4 * (0.5 - 1 / (1 + 10^(2 / 400))) for b; the other way
    round nothing moves. The mean of both orders."""
    rows = by_name(standings(matches(("a", "b", FIRST), ("b", "c", end)), seed=0, resamples=20))
    gain = 4 * (0.5 - 1 / (1 + 10 ** (2 / 400))) / 2
    assert [rows[name]["elo"].value for name in "abc"] == pytest.approx([1002, 998 + gain, 1000 - gain])
    assert [rows[name]["elo_decided"] and rows[name]["elo_decided"].value for name in "abc"] == [
        1002,
        998,
        None,
    ]


def test_no_matches_and_unscored_ones_only():
    assert standings([], seed=0) == []
    rows = standings(matches(("a", "b", None)), seed=0, resamples=5)
    assert [(row["contender"], row["elo"], row["win_share"]) for row in rows] == [
        ("a", None, None),
        ("b", None, None),
    ]


def test_a_match_with_oneself_is_refused():
    with pytest.raises(InputError, match="a is compared with itself on 'q0'"):
        standings(matches(("a", "a", TIE)), seed=0)


def test_intervals_are_over_questions_and_not_over_matches():
    """Ten copies of every match of a question say nothing new."""
    once = [Match(f"q{n}", "a", "b", FIRST if n % 3 else SECOND) for n in range(30)]
    rows, copied = (by_name(standings(games, seed=4, resamples=400))["a"] for games in (once, once * 10))
    assert copied["win_rate"] == rows["win_rate"]
    assert rows["win_rate"].low == pytest.approx(2 / 3 - 1.96 * np.sqrt(2 / 9 / 30), abs=0.04)


@pytest.mark.parametrize("name", TABLE_9)
def test_with_ties_elo_is_nearer_to_what_table_2_prints(name):
    """The games of Table 9 in orders of ours: the paper's own order is not known."""
    printed, games = layouts.data("qa", "paper"), []
    fights = printed["table_9"][name]
    names = list(fights)
    for one, other in itertools.combinations(range(5), 2):
        (won, tied), (lost, _) = fights[names[one]][names[other]], fights[names[other]][names[one]]
        games += [
            (one, other, score) for score, n in ((1, won), (0.5, tied), (0, lost)) for _ in range(n // 10)
        ]
    first, second, scores = map(np.array, zip(*games, strict=True))
    wanted = [printed["table_2"][name][who][1] for who in names]
    rng, far = np.random.default_rng(0), {}
    for ties in (True, False):
        some = np.flatnonzero(ties | (scores != 0.5))
        orders = np.stack([rng.permutation(some) for _ in range(20)])
        far[ties] = np.abs(elo(first, second, scores, orders, players=5).mean(axis=0) - wanted).mean()
    assert far[True] < far[False]


@pytest.mark.parametrize("name", TABLE_9)
def test_win_share_is_what_table_2_calls_wins(name):
    """They are shares of all comparisons: ties are not counted as wins, but in the denominator."""
    questions, wins, printed = TABLE_9[name]
    assert np.sum(wins, axis=1) / (4 * questions) == pytest.approx(printed, abs=0.005)
