"""What a judge said of pairs of answers: rankings, the matrix of pairs, and highlighters alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.bench.judges import ranking
from equipoise.bench.judges.comparison import (
    Comparison,
    Order,
    Verdict,
    Vote,
    combined,
    consistency,
    first_place_share,
)
from equipoise.bench.judges.ranking import Match
from equipoise.bench.qa.reporting.intervals import LEVEL, SEED, share
from equipoise.bench.qa.rows import HIGHLIGHTS_ALONE
from equipoise.bench.results import Row, as_json, grouped

Rows = Sequence[Row]


def battles(comparisons: Rows, results: Rows) -> list[dict[str, Any]]:
    """One object for each judging model: standings and matrix, highlighters alone, how steady it was."""
    answering = {str(row["model"]) for row in results}
    found = grouped(comparisons, lambda row: str(row["judge_model"]))
    return [
        {"model": model, "judges_itself": model in answering, **_of_judge(found[model])}
        for model in sorted(found)
    ]


def _of_judge(rows: Rows) -> dict[str, Any]:
    by_pair = _comparisons(rows)
    matches = [Match(item, first, second, found.verdict) for (item, first, second), found in by_pair.items()]
    whole = [match for match in matches if not _alone(match)]
    return {
        "n": len({match.question_id for match in matches}),
        "unscored": sum(match.verdict is None for match in matches),
        "standings": _standings(whole),
        "matrix": _matrix(whole),
        "alone": _against_highlights([match for match in matches if _alone(match)]),
        "same_verdict_in_both_orders": as_json(consistency(by_pair.values())),
        "first_shown_wins": as_json(first_place_share(by_pair.values())),
    }


def _comparisons(rows: Rows) -> dict[tuple[str, str, str], Comparison]:
    """One verdict for each question and pair, names sorted; both orders that differ make a tie."""
    votes: dict[tuple[str, str, str], list[Vote]] = {}
    for row in sorted(rows, key=lambda row: (str(row["item_id"]), str(row["order"]))):
        verdict = Verdict(row["verdict"]) if row["verdict"] is not None else None
        swapped = row["order"] == Order.SWAPPED
        first, second = row["first"], row["second"]
        if first > second:
            first, second, swapped = second, first, not swapped
            verdict = verdict.mirrored() if verdict else None
        votes.setdefault((row["item_id"], first, second), []).append(Vote(verdict, "", swapped))
    return {pair: combined(said) for pair, said in votes.items()}


def _standings(matches: Sequence[Match]) -> list[dict[str, Any]]:
    return [
        {
            "contender": row.name,
            **_tally(row.tally),
            **{name: as_json(getattr(row, name)) for name in ("win_share", "win_rate", "elo", "strength")},
        }
        for row in ranking.standings(matches, seed=SEED, level=LEVEL)
    ]


def _matrix(matches: Sequence[Match]) -> dict[str, dict[str, dict[str, int]]]:
    found = ranking.win_matrix(matches)
    return {me: {other: _tally(tally) for other, tally in row.items()} for me, row in found.items()}


def _tally(tally: ranking.Tally) -> dict[str, int]:
    return {name: getattr(tally, name) for name in ("wins", "losses", "ties", "neither", "unscored")} | {
        "scored": tally.scored
    }


def _against_highlights(matches: Sequence[Match]) -> dict[str, dict[str, Any]]:
    """Shares of preferences for a pipeline over its own highlighter alone (Figure 5), by pipeline."""
    found: dict[str, list[str]] = {}
    for match in matches:
        for whole, part, wins in (
            (match.first, match.second, Verdict.FIRST),
            (match.second, match.first, Verdict.SECOND),
        ):
            if part == whole + HIGHLIGHTS_ALONE and match.verdict is not None:
                verdict = match.verdict
                ends = {wins: "pipeline", wins.mirrored(): "highlights"}
                found.setdefault(whole, []).append(ends.get(verdict, str(verdict)))
    return {name: _preferences(said) for name, said in sorted(found.items())}


def _preferences(said: Sequence[str]) -> dict[str, Any]:
    kinds = ("pipeline", "highlights", "tie", "neither")
    shares: Mapping[str, Any] = {kind: share(one == kind for one in said) for kind in kinds}
    return {"n": len(said), **shares}


def _alone(match: Match) -> bool:
    return HIGHLIGHTS_ALONE in match.first or HIGHLIGHTS_ALONE in match.second
