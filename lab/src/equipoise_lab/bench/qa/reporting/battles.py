"""What a judge said of pairs of answers: rankings, the matrix of pairs, and highlighters alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.evaluation.results import grouped
from equipoise.maths.rates import Interval
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.judges import ranking
from equipoise_lab.bench.judges.comparison import (
    Comparison,
    Order,
    Preference,
    Vote,
    combined,
    consistency,
    first_place_share,
)
from equipoise_lab.bench.judges.ranking import Match, Standing, Tally
from equipoise_lab.bench.qa.records import HIGHLIGHTS_ALONE, ComparisonRecord
from equipoise_lab.bench.qa.reporting.measures import ESTIMATOR
from equipoise_lab.bench.qa.reporting.ratings import caption


@dataclass(frozen=True, slots=True)
class Preferences:
    """Shares of preferences for a pipeline over its own highlighter alone (Figure 5)."""

    n: int
    pipeline: Estimate | None
    highlights: Estimate | None
    tie: Estimate | None
    neither: Estimate | None


@dataclass(frozen=True, slots=True)
class Battle:
    """One judging model: standings and matrix, highlighters alone, how steady it was."""

    model: str
    judges_itself: bool
    n: int
    unscored: int
    standings: list[Standing]
    matrix: Mapping[str, Mapping[str, Tally]]
    alone: Mapping[str, Preferences]
    same_verdict_in_both_orders: Interval | None
    first_shown_wins: Interval | None

    @property
    def caption(self) -> str:
        """Who judged."""
        return caption(self.model, itself=self.judges_itself)


def battles(comparisons: Sequence[ComparisonRecord], models: set[str]) -> list[Battle]:
    """One for each judging model; `models` are those that answered."""
    by_model = grouped(comparisons, lambda record: record.judge_model)
    return [_battle(model, model in models, by_model[model]) for model in sorted(by_model)]


def _battle(model: str, itself: bool, records: Sequence[ComparisonRecord]) -> Battle:
    by_pair = _comparisons(records)
    matches = [
        Match(item, first, second, comparison.verdict)
        for (item, first, second), comparison in by_pair.items()
    ]
    whole = [match for match in matches if not _alone(match)]
    return Battle(
        model,
        itself,
        len({match.question_id for match in matches}),
        sum(match.verdict is None for match in matches),
        ranking.standings(whole, seed=ESTIMATOR.seed, level=ESTIMATOR.level),
        ranking.win_matrix(whole),
        _against_highlights([match for match in matches if _alone(match)]),
        consistency(by_pair.values()),
        first_place_share(by_pair.values()),
    )


def _comparisons(records: Sequence[ComparisonRecord]) -> dict[tuple[str, str, str], Comparison]:
    """One verdict for each question and pair, names sorted; both orders that differ make a tie."""
    votes: dict[tuple[str, str, str], list[Vote]] = {}
    for record in sorted(records, key=lambda record: (record.item_id, record.order)):
        verdict = Preference(record.verdict) if record.verdict is not None else None
        first, second, swapped = record.first, record.second, record.order == Order.SWAPPED
        if first > second:
            first, second, swapped = second, first, not swapped
            verdict = verdict.mirrored() if verdict else None
        votes.setdefault((record.item_id, first, second), []).append(Vote(verdict, "", swapped))
    return {pair: combined(said) for pair, said in votes.items()}


def _against_highlights(matches: Sequence[Match]) -> dict[str, Preferences]:
    """By pipeline."""
    outcomes: dict[str, list[str]] = {}
    for match in matches:
        for whole, part, wins in (
            (match.first, match.second, Preference.FIRST),
            (match.second, match.first, Preference.SECOND),
        ):
            if part == whole + HIGHLIGHTS_ALONE and match.verdict is not None:
                ends = {wins: "pipeline", wins.mirrored(): "highlights"}
                outcomes.setdefault(whole, []).append(ends.get(match.verdict, str(match.verdict)))
    return {name: _preferences(said) for name, said in sorted(outcomes.items())}


def _preferences(said: Sequence[str]) -> Preferences:
    kinds = ("pipeline", "highlights", "tie", "neither")
    pipeline, highlights, tie, neither = (ESTIMATOR.share(end == kind for end in said) for kind in kinds)
    return Preferences(len(said), pipeline, highlights, tie, neither)


def _alone(match: Match) -> bool:
    return HIGHLIGHTS_ALONE in match.first or HIGHLIGHTS_ALONE in match.second
