"""Pipelines ranked by pairwise comparisons (H&S, section 6.1: Table 2, Figure 2, Table 9), with intervals.

Matches are put into one canonical order first, so the order of a file never matters. "Neither is acceptable" is no
tie: it ranks nobody and is counted apart, as is what could not be scored. Intervals are percentile bootstraps over
questions, since the matches of one question are not independent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.core.errors import InputError
from equipoise.maths.checks import Floats, Rows
from equipoise.maths.rates import Interval
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


@dataclass(frozen=True, slots=True)
class Tally:
    """How the matches of one pipeline ended. `neither`: no answer was acceptable. `unscored` count nowhere else."""

    wins: int = 0
    losses: int = 0
    ties: int = 0
    neither: int = 0
    unscored: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(a + b for a, b in zip(self.counts(), other.counts(), strict=True)))

    def counts(self) -> tuple[int, int, int, int, int]:
        """In the order of the fields."""
        return self.wins, self.losses, self.ties, self.neither, self.unscored

    @property
    def scored(self) -> int:
        """All but the unscored."""
        return sum(self.counts()) - self.unscored


@dataclass(frozen=True, slots=True)
class Standing:
    """One row of the ranking; every interval has the number of questions as n.

    `win_rate` is wins / (wins + losses); `win_share` is wins / all scored matches, which is what the paper's
    Table 2 prints (its 59% is 42,355 of 4 x 17,955). `elo` has mean 1000 over the
    pipelines. None where no match decides it.
    """

    name: str
    tally: Tally
    win_rate: Interval | None
    win_share: Interval | None
    elo: Interval | None


def win_matrix(matches: Iterable[Match]) -> dict[str, dict[str, Tally]]:
    """The tally of each pipeline (row) against each other one (column): Figure 2 and Table 9. Names sorted."""
    matrix: dict[str, dict[str, Tally]] = {}
    for match in canonical(matches):
        for side in (match, _turned(match)):
            row = matrix.setdefault(side.first, {})
            row[side.second] = row.get(side.second, Tally()) + _ENDS[side.verdict]
    return {me: dict(sorted(row.items())) for me, row in sorted(matrix.items())}


def standings(
    matches: Iterable[Match],
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = 1000,
) -> list[Standing]:
    """All pipelines, the highest Elo first; [] for no matches.

    Ties are left out of Elo as in the paper. Raises InputError for a match of a pipeline with itself.
    """
    ordered = canonical(matches)
    games = _games(ordered)
    if not games.names:
        return []
    drawn = drawn_counts(len(games.questions), seed=seed, resamples=resamples)
    whole = np.ones_like(drawn[:1])
    columns = [
        (_win_rates(games, whole), _win_rates(games, drawn)),
        (_win_shares(games, whole), _win_shares(games, drawn)),
        (_elos(games, whole, ORDERS, seed), _elos(games, drawn, DRAWN_ORDERS, seed)),
    ]
    intervals = [
        percentile_intervals(point[0], draws, n=len(games.questions), level=level) for point, draws in columns
    ]
    tallies = {name: sum(row.values(), Tally()) for name, row in win_matrix(ordered).items()}
    rows = [
        Standing(name, tallies[name], *values) for name, *values in zip(games.names, *intervals, strict=True)
    ]
    return sorted(rows, key=lambda row: (-(row.elo.estimate if row.elo else -np.inf), row.name))


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


_ENDS: Mapping[Preference | None, Tally] = {
    Preference.FIRST: Tally(wins=1),
    Preference.SECOND: Tally(losses=1),
    Preference.TIE: Tally(ties=1),
    Preference.NEITHER: Tally(neither=1),
    None: Tally(unscored=1),
}
_POINTS: Mapping[Preference | None, float] = {
    Preference.FIRST: 1.0,
    Preference.SECOND: 0.0,
}


@dataclass(frozen=True, slots=True, eq=False)
class _Games:
    """The matches as numbers. Games (m,) are the matches that rank: who played, the first one's points, the
    question. By question and player (q, p): wins, losses, scored matches and games played."""

    names: tuple[str, ...]
    questions: tuple[str, ...]
    first: Rows
    second: Rows
    points: Floats
    question: Rows
    wins: Counts
    losses: Counts
    scored: Counts
    played: Counts


def _games(matches: Sequence[Match]) -> _Games:
    names = tuple(sorted({name for match in matches for name in (match.first, match.second)}))
    questions = tuple(sorted({match.question_id for match in matches}))
    player = {name: number for number, name in enumerate(names)}
    place = {question: number for number, question in enumerate(questions)}
    wins, losses, scored, played = np.zeros((4, len(questions), len(names)), dtype=np.int64)
    rows: list[tuple[int, int, int, float]] = []
    for match in matches:
        at, left, right = place[match.question_id], player[match.first], player[match.second]
        scored[at, [left, right]] += match.verdict is not None
        if match.verdict in _POINTS:
            rows.append((at, left, right, _POINTS[match.verdict]))
            played[at, [left, right]] += 1
            wins[at, [left, right]] += [match.verdict is Preference.FIRST, match.verdict is Preference.SECOND]
            losses[at, [left, right]] += [
                match.verdict is Preference.SECOND,
                match.verdict is Preference.FIRST,
            ]
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    question, first, second = table[:, :3].astype(np.intp).T
    return _Games(names, questions, first, second, table[:, 3], question, wins, losses, scored, played)


def _win_rates(games: _Games, counts: Counts) -> Floats:
    """(b, p) for draws of questions (b, q): wins / (wins + losses), NaN where both are 0."""
    return _ratio(counts @ games.wins, counts @ (games.wins + games.losses))


def _win_shares(games: _Games, counts: Counts) -> Floats:
    """(b, p): wins / scored matches, NaN where there are none."""
    return _ratio(counts @ games.wins, counts @ games.scored)


def _ratio(top: Counts, bottom: Counts) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(top / bottom)


def _elos(games: _Games, counts: Counts, orders: int, seed: int) -> Floats:
    """(b, p): mean Elo over random orders of the games drawn, NaN for a player without a game.

    Every order is played backwards as well, so that two games with opposite ends leave both at 1000.
    """
    rng = np.random.default_rng(seed)
    step = max(1, BATCH // (orders * max(1, len(games.points))))
    means = []
    for start in range(0, len(counts), step):
        batch = [_orders(games, row, orders // 2, rng) for row in counts[start : start + step]]
        table = np.full((len(batch), orders, max(part.shape[1] for part in batch)), -1)
        for place, part in enumerate(batch):
            table[place, :, : part.shape[1]] = part
        chains = table.reshape(len(batch) * orders, -1)
        played = ratings.elo(games.first, games.second, games.points, chains, players=len(games.names))
        means.append(played.reshape(len(batch), orders, -1).mean(axis=1))
    return _only_players(np.concatenate(means), games, counts)


def _orders(games: _Games, counts: Counts, half: int, rng: np.random.Generator) -> Rows:
    """(2 half, length) orders of the games of the questions drawn, each as often as its question was."""
    drawn = np.repeat(np.arange(len(games.points)), counts[games.question])
    shuffled = rng.permuted(np.tile(drawn, (half, 1)), axis=1)
    return np.concatenate([shuffled, shuffled[:, ::-1]])


def _only_players(values: Floats, games: _Games, counts: Counts) -> Floats:
    return np.where(counts @ games.played > 0, values, np.nan)
