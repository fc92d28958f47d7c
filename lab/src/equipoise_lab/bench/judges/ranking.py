"""Pipelines ranked by pairwise comparisons (H&S, section 6.1: Table 2, Figure 2, Table 9), with intervals.

Matches are put into one canonical order first, so the order of a file never matters. Elo is that of the paper's code
(FastChat's `compute_elo`): a tie, and "neither is acceptable", is half a point for each; beside it Elo over decided
matches alone. What could not be scored is counted apart. Intervals are percentile bootstraps over
questions, since the matches of one question are not independent.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.core.errors import InputError
from equipoise.maths.checks import Floats, Rows
from equipoise_lab.bench.judges.comparison import Preference
from equipoise_lab.maths import elo as ratings
from equipoise_lab.maths.statistics import Counts, drawn_counts, percentile_intervals

ORDERS = 100
"""Orders of the games that an Elo rating is the mean of; in bootstrap draws DRAWN_ORDERS of them."""

DRAWN_ORDERS = 10
BATCH = 4_000_000
"""Numbers held at once for Elo ratings of bootstrap draws."""


@dataclass(frozen=True, slots=True)
class Match:
    """One comparison of the pipelines `first` and `second`; `verdict` is None where it could not be scored."""

    question_id: str
    first: str
    second: str
    verdict: Preference | None


ENDS: Mapping[Preference | None, str] = {
    Preference.FIRST: "wins",
    Preference.SECOND: "losses",
    Preference.TIE: "ties",
    Preference.NEITHER: "neither",
    None: "unscored",
}
"""How a match ended for the first of its two."""

POINTS = {"wins": 1.0, "losses": 0.0, "ties": 0.5, "neither": 0.5}
"""For the first of two, by the end of their match."""

Tally = dict[str, int]
"""How the matches of one pipeline ended; `scored` are all but the unscored."""


def tally(ends: Iterable[str]) -> Tally:
    """How often each end of ENDS came."""
    counted = Counter(ends)
    made = {name: counted[name] for name in ENDS.values()}
    return made | {"scored": sum(made.values()) - made["unscored"]}


def win_matrix(matches: Iterable[Match]) -> dict[str, dict[str, Tally]]:
    """The tally of each pipeline (row) against each other one (column): Figure 2 and Table 9. Names sorted."""
    ends: dict[str, dict[str, list[str]]] = {}
    for side in _sides(canonical(matches)):
        ends.setdefault(side.first, {}).setdefault(side.second, []).append(ENDS[side.verdict])
    return {me: {other: tally(row[other]) for other in sorted(row)} for me, row in sorted(ends.items())}


def standings(
    matches: Iterable[Match], *, seed: int, level: float = 0.95, resamples: int = 1000
) -> list[dict[str, Any]]:
    """All pipelines (`contender`) with their tallies, the highest Elo first; [] for no matches.

    Every interval has the number of questions as n, and is None where no match decides it. `win_rate` is wins / (wins +
    losses); `win_share` is wins / all scored matches, which is what the paper's Table 2 prints (its 59% is 42,355 of
    4 x 17,955). `elo` counts all scored matches, `elo_decided` wins and losses alone; both have mean 1000 over the
    pipelines. Raises InputError for a match of a pipeline with itself.
    """
    ordered = canonical(matches)
    names = sorted({name for match in ordered for name in (match.first, match.second)})
    questions = {name: row for row, name in enumerate(sorted({match.question_id for match in ordered}))}
    players = {name: column for column, name in enumerate(names)}
    if not names:
        return []

    decided = _games(ordered, ("wins", "losses"), questions, players)
    every = _games(ordered, ("wins", "losses", "ties", "neither"), questions, players)
    wins = _counted(ordered, ("wins",), questions, players)
    drawn = drawn_counts(len(questions), seed=seed, resamples=resamples)
    whole = np.ones_like(drawn[:1])
    columns = {
        f"win_{name}": (_ratio(whole @ wins, whole @ some.played), _ratio(drawn @ wins, drawn @ some.played))
        for name, some in (("share", every), ("rate", decided))
    } | {
        name: (_elos(some, whole, ORDERS, seed), _elos(some, drawn, DRAWN_ORDERS, seed))
        for name, some in (("elo", every), ("elo_decided", decided))
    }
    intervals = {
        name: percentile_intervals(point[0], draws, n=len(questions), level=level)
        for name, (point, draws) in columns.items()
    }
    ends = {name: [ENDS[side.verdict] for side in _sides(ordered) if side.first == name] for name in names}
    rows = [
        {"contender": name, **tally(ends[name]), **{column: some[n] for column, some in intervals.items()}}
        for n, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: (-(row["elo"].value if row["elo"] else -np.inf), row["contender"]))


def canonical(matches: Iterable[Match]) -> list[Match]:
    """The matches with the smaller name first, in one order for the same matches in any order.

    Raises InputError for a match of a pipeline with itself.
    """
    turned = [match if match.first < match.second else _turned(match) for match in matches]
    for match in turned:
        if match.first == match.second:
            raise InputError(
                f"{match.first} is compared with itself on {match.question_id!r}: remove that comparison"
            )
    return sorted(turned, key=lambda m: (m.question_id, m.first, m.second, m.verdict or ""))


def _turned(match: Match) -> Match:
    verdict = None if match.verdict is None else match.verdict.mirrored()
    return Match(match.question_id, match.second, match.first, verdict)


def _sides(matches: Iterable[Match]) -> Iterator[Match]:
    """Each match as both of its pipelines see it."""
    return (side for match in matches for side in (match, _turned(match)))


@dataclass(frozen=True, slots=True, eq=False)
class _Games:
    """The matches that rank as numbers (m,): the question, who played, the first one's points. `played` (q, p) are the
    games by question and player."""

    question: Rows
    first: Rows
    second: Rows
    points: Floats
    played: Counts


def _counted(
    matches: Sequence[Match], ends: Collection[str], questions: Mapping[str, int], players: Mapping[str, int]
) -> Counts:
    """(questions, players): how many matches ended so for each."""
    table = np.zeros((len(questions), len(players)), dtype=np.int64)
    for side in _sides(matches):
        table[questions[side.question_id], players[side.first]] += ENDS[side.verdict] in ends
    return table


def _games(
    matches: Sequence[Match], ends: Collection[str], questions: Mapping[str, int], players: Mapping[str, int]
) -> _Games:
    """The matches that ended so."""
    some = [match for match in matches if ENDS[match.verdict] in ends]
    places = [(questions[m.question_id], players[m.first], players[m.second]) for m in some]
    question, first, second = np.array(places, dtype=np.intp).reshape(-1, 3).T
    points = np.array([POINTS[ENDS[match.verdict]] for match in some])
    return _Games(question, first, second, points, _counted(matches, ends, questions, players))


def _ratio(top: Counts, bottom: Counts) -> Floats:
    """(b, p), NaN where there is nothing below."""
    with np.errstate(invalid="ignore"):
        return np.asarray(top / bottom)


def _elos(games: _Games, counts: Counts, orders: int, seed: int) -> Floats:
    """(b, p): mean Elo over random orders of the games drawn, NaN for a player without a game.

    Every order is played backwards as well, so that two games with opposite ends leave both at 1000.
    """
    rng = np.random.default_rng(seed)
    step = max(1, BATCH // (orders * max(1, len(games.points))))
    means, players = [], games.played.shape[1]
    for start in range(0, len(counts), step):
        batch = [_orders(games, row, orders // 2, rng) for row in counts[start : start + step]]
        table = np.full((len(batch), orders, max(part.shape[1] for part in batch)), -1)
        for place, part in enumerate(batch):
            table[place, :, : part.shape[1]] = part
        chains = table.reshape(len(batch) * orders, -1)
        played = ratings.elo(games.first, games.second, games.points, chains, players=players)
        means.append(played.reshape(len(batch), orders, -1).mean(axis=1))
    return np.where(counts @ games.played > 0, np.concatenate(means), np.nan)


def _orders(games: _Games, counts: Counts, half: int, rng: np.random.Generator) -> Rows:
    """(2 half, length) orders of the games of the questions drawn, each as often as its question was."""
    drawn = np.repeat(np.arange(len(games.points)), counts[games.question])
    shuffled = rng.permuted(np.tile(drawn, (half, 1)), axis=1)
    return np.concatenate([shuffled, shuffled[:, ::-1]])
