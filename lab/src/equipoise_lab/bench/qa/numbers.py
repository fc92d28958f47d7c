"""All numbers of a run, by data set, as summary.json has them: every measure with its interval and n.

Numbers are plain; estimates are `Estimate`. Failed questions said neither yes nor no: they are left
out of every measure but the counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from equipoise_lab.bench.estimates import Estimator
from equipoise_lab.bench.judges import ranking
from equipoise_lab.bench.judges.comparison import (
    INFORMED,
    Comparison,
    Order,
    Preference,
    Vote,
    combined,
    consistency,
    first_place_share,
)
from equipoise_lab.bench.judges.ranking import Match
from equipoise_lab.bench.qa import metrics
from equipoise_lab.bench.qa.records import (
    HIGHLIGHTS_ALONE,
    RECORDS,
    ComparisonRecord,
    Judgement,
    QaFiles,
    QaRecord,
    QaTiming,
)
from equipoise_lab.evaluation.results import grouped
from equipoise_lab.maths.rates import wilson

ESTIMATOR = Estimator(0.95, seed=20261121, resamples=4_000)

SHARES = ("evidence_hit", "answer_hit", "decision_correct")
MEANS = (
    "answer_recall",
    "answer_k_precision",
    "answer_k_precision_documents",
    "highlight_recall",
    "highlight_k_precision",
    "guess_recall",
    "guess_k_precision",
    "guess_first_recall",
    "guess_first_k_precision",
)
RELATIONS = ("both", "superstring", "substring", "neither", "nothing")
"""Of the highlights to the gold passage; "nothing" was highlighted."""
WORST = 3
"""Guesses shown of each system (Table 7)."""
BASE = "vanilla"
"""What costs are compared with: of several models the first by name."""

Numbers = dict[str, Any]
Records = Sequence[QaRecord]
BySystem = Mapping[str, Sequence[Judgement]]


def summarise(run: QaFiles) -> Numbers:
    """Every data set of a run, by name."""
    return {
        "meta": run.meta,
        "level": ESTIMATOR.level,
        "rows": {name: len(run.files[name]) for name in RECORDS},
        "datasets": {name: section(run.of(name)) for name in run.datasets()},
    }


def section(run: QaFiles) -> Numbers:
    """The numbers of one data set; empty where nothing could be measured."""
    results, timings = run.files["results"], run.by_system("timings")
    by, judged = run.by_system("results"), run.by_system("judgements")
    items = {record.item_id: record.answerable for record in results}
    models = {record.model for record in results}
    base = next((name for name in by if name.split(" [")[0] == BASE), None)
    spent = {name: _used(records, timings.get(name, [])) for name, records in by.items()}
    return {
        "n": len(items),
        "answerable": sum(known is True for known in items.values()),
        "unanswerable": sum(known is False for known in items.values()),
        "contenders": list(by),
        "counts": {name: counts(records) for name, records in by.items()},
        "measures": {name: measures(records) for name, records in by.items()},
        "declining": _each(by, declining),
        "decisions": _each(by, decisions),
        "relations": _each(by, relations),
        "worst_guesses": _each(by, worst_guesses),
        "cost": {name: _cost(used, spent[base] if base else None) for name, used in spent.items()},
        "ratings": ratings(judged, list(by), models),
        "correlations": correlations(by, judged),
        "battles": battles(run.files["comparisons"], models),
    }


def _each(by: Mapping[str, Records], measure: Callable[[Records], Any]) -> Numbers:
    """The measure of each system that has one."""
    return {name: value for name, records in by.items() if (value := measure(records))}


def counts(records: Records) -> Numbers:
    """Records, outcomes, reasons of what was declined or failed, and records without a value by measure."""
    reasons = Counter(record.reason.partition(":")[0] for record in records if record.reason)
    return {
        "rows": len(records),
        "answered": sum(record.answered for record in records),
        "declined": sum(record.declined for record in records),
        "failed": sum(record.failed for record in records),
        "reasons": dict(sorted(reasons.items())),
        "dropped": sum(record.dropped for record in records),
        "unscored": {name: sum(one.score(name) is None for one in records) for name in (*SHARES, *MEANS)},
        "models": sorted({record.model for record in records}),
    }


def measures(records: Records) -> Numbers:
    """Every score's mean or share, the share of answers that were grounded, and of answers at all. Plain RAG has no
    quotes to be checked against: it is not scored as grounded."""
    return {
        "answered": ESTIMATOR.share(record.answered for record in records if not record.failed),
        "grounded": ESTIMATOR.share(one.grounded for one in records if one.answered and one.highlights),
        **{name: ESTIMATOR.share(record.score(name) for record in records) for name in SHARES},
        **{name: ESTIMATOR.mean(record.score(name) for record in records) for name in MEANS},
    }


def declining(records: Records) -> Numbers | None:
    """Precision, recall and F1 of declining (Table 3); None without questions that cannot be answered."""
    known = [record for record in records if record.answerable is not None and not record.failed]
    pairs = [(record.declined, not record.answerable) for record in known]
    if not any(unanswerable for _, unanswerable in pairs):
        return None
    return metrics.declining(pairs, seed=ESTIMATOR.seed, level=ESTIMATOR.level)


def decisions(records: Records) -> Numbers | None:
    """Accuracy and macro-F1 of yes and no, and what became of maybe; None without such questions."""
    asked = [(one.decision, one.decided) for one in records if one.decision is not None and not one.failed]
    return metrics.decisions(asked, seed=ESTIMATOR.seed, level=ESTIMATOR.level) if asked else None


def relations(records: Records) -> Numbers | None:
    """How many highlights contain the gold passage or lie in it (Figure 6); `either` is the share that does. None
    without gold passages, or for a system that never highlights."""
    kinds = [kind for record in records if (kind := record.passage_relation) is not None]
    if not kinds or not any(record.highlights for record in records):
        return None
    either = ESTIMATOR.share(sorted((kind in RELATIONS[:3] for kind in kinds), reverse=True))
    return {"n": len(kinds), **{name: kinds.count(name) for name in RELATIONS}, "either": either}


def worst_guesses(records: Records) -> list[Numbers]:
    """The worst guesses (Table 7), worst first: by K-precision, then recall, then id."""
    names = ("guess_k_precision", "guess_recall")
    guesses = [
        {"item_id": record.item_id} | {name: record.score(name) for name in names} for record in records
    ]
    guesses = [guess for guess in guesses if guess[names[0]] is not None]
    return sorted(guesses, key=lambda one: (one[names[0]], one[names[1]] or 0.0, one["item_id"]))[:WORST]


def _used(records: Records, timings: Sequence[QaTiming]) -> dict[str, dict[str, float]]:
    """Seconds (of fresh calls alone), tokens and calls by question, without failed ones, which ended early."""
    done = [record for record in records if not record.failed]
    items = {record.item_id for record in done}
    used = {"seconds": {timing.item_id: timing.seconds for timing in timings if timing.item_id in items}}
    for name in ("prompt_tokens", "completion_tokens", "calls"):
        used[name] = {record.item_id: float(getattr(record.usage, name)) for record in done if record.usage}
    return used


def _cost(
    used: Mapping[str, Mapping[str, float]], base: Mapping[str, Mapping[str, float]] | None
) -> dict[str, Numbers]:
    """Mean, median, and the ratio of sums to the base on the questions that both have (Table 4)."""
    return {
        name: {
            "mean": ESTIMATOR.mean(mine.values()),
            "median": ESTIMATOR.mean(mine.values(), np.median),
            "ratio": ESTIMATOR.ratio(
                (mine[one], base[name][one]) for one in sorted(mine.keys() & base[name].keys())
            )
            if base and base[name]
            else None,
        }
        for name, mine in used.items()
    }


def caption(said: Mapping[str, Any]) -> str:
    """`judged by MODEL`, whether it saw the reference and examples, and whether that model judges itself."""
    informed = " with the reference and examples" if said.get("informed") else ""
    itself = ", judged by the same model that answered" if said["judges_itself"] else ""
    return f"judged by {said['model']}{informed}{itself}"


def ratings(by: BySystem, systems: Sequence[str], models: set[str]) -> list[Numbers]:
    """One for each judge and its model: mean, how often each rating was given, wins by system, and what is missing;
    `models` are those that answered."""
    raters = sorted({(one.judge, one.judge_model) for mine in by.values() for one in mine})
    return [_rating(rater, by, systems, models) for rater in raters]


def _rating(rater: tuple[str, str], by: BySystem, systems: Sequence[str], models: set[str]) -> Numbers:
    mine = {
        name: [one for one in by.get(name, ()) if (one.judge, one.judge_model) == rater] for name in systems
    }
    known = {
        name: {one.item_id: one.value for one in said if one.value is not None} for name, said in mine.items()
    }
    judged = {name: values for name, values in known.items() if mine[name]}
    given = {name: sorted(Counter(values.values()).items()) for name, values in judged.items()}
    return {
        "judge": rater[0],
        "model": rater[1],
        "judges_itself": rater[1] in models,
        "unscored": {name: len(mine[name]) - len(known[name]) for name in systems},
        "mean": {name: ESTIMATOR.mean(values.values()) for name, values in judged.items()},
        "distribution": {name: {f"{value:g}": n for value, n in pairs} for name, pairs in given.items()},
        "highest": _highest(judged),
    }


def _highest(known: Mapping[str, Mapping[str, float]]) -> Numbers:
    """Who had the highest rating, ties included (Figure 3), on the questions that all systems were rated on."""
    common = set.intersection(*(set(values) for values in known.values())) if known else set()
    best = {item: max(values[item] for values in known.values()) for item in common}
    won = {name: sum(known[name][item] == best[item] for item in common) for name in sorted(known)}
    return {
        "n": len(common),
        "wins": {
            name: {"count": count, "share": wilson(count, len(common), level=ESTIMATOR.level)}
            for name, count in won.items()
        },
    }


def correlations(by: Mapping[str, Records], judged: BySystem) -> list[Numbers]:
    """Pearson of a system's guess K-precision with performances of its answers (Figure 9): the judges' ratings, and the
    answers' recall of the reference. `points` are [K-precision, performance, how many lie there]."""
    measured = []
    for name, records in by.items():
        performances = {"answer recall": _scored(records, "answer_recall")}
        for one in judged.get(name, ()):
            if one.value is not None:
                performances.setdefault(one.rater, {})[one.item_id] = one.value
        guesses = _scored(records, "guess_k_precision")
        for performance, values in sorted(performances.items()):
            points = [(guesses[item], values[item]) for item in sorted(guesses.keys() & values.keys())]
            if points:
                pearson = metrics.pearson(
                    [x for x, _ in points], [y for _, y in points], level=ESTIMATOR.level
                )
                measured.append(
                    {
                        "contender": name,
                        "performance": performance,
                        "pearson": pearson,
                        "points": [[x, y, count] for (x, y), count in sorted(Counter(points).items())],
                    }
                )
    return measured


def _scored(records: Records, name: str) -> dict[str, float]:
    return {record.item_id: value for record in records if (value := record.score(name)) is not None}


def battles(comparisons: Sequence[ComparisonRecord], models: set[str]) -> list[Numbers]:
    """One for each judging model: standings and matrix, highlighters alone, how steady it was; `models` are those that
    answered."""
    by_judge = grouped(comparisons, lambda record: (record.judge_model, record.prompt))
    return [_battle(*judge, judge[0] in models, by_judge[judge]) for judge in sorted(by_judge)]


def _battle(model: str, prompt: str, itself: bool, records: Sequence[ComparisonRecord]) -> Numbers:
    by_pair = _comparisons(records)
    matches = [Match(*pair, comparison.verdict) for pair, comparison in by_pair.items()]
    alone = [match for match in matches if HIGHLIGHTS_ALONE in match.first + match.second]
    whole = [match for match in matches if match not in alone]
    return {
        "model": model,
        "informed": prompt == INFORMED,
        "judges_itself": itself,
        "n": len({match.question_id for match in matches}),
        "unscored": sum(match.verdict is None for match in matches),
        "standings": ranking.standings(whole, seed=ESTIMATOR.seed, level=ESTIMATOR.level),
        "matrix": ranking.win_matrix(whole),
        "alone": _against_highlights(alone),
        "same_verdict_in_both_orders": consistency(by_pair.values()),
        "first_shown_wins": first_place_share(by_pair.values()),
    }  # fmt: skip


def _comparisons(records: Iterable[ComparisonRecord]) -> dict[tuple[str, str, str], Comparison]:
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


def _against_highlights(matches: Sequence[Match]) -> dict[str, Numbers]:
    """Shares of preferences for a pipeline over its own highlighter alone (Figure 5), by pipeline."""
    outcomes: dict[str, list[str]] = {}
    for match in matches:
        for whole, part, wins in (
            (match.first, match.second, Preference.FIRST),
            (match.second, match.first, Preference.SECOND),
        ):
            if part == whole + HIGHLIGHTS_ALONE and match.verdict is not None:
                ends = {wins: "pipeline", wins.mirrored(): "highlights"}
                outcomes.setdefault(whole, []).append(ends.get(match.verdict, str(match.verdict)))
    kinds = ("pipeline", "highlights", "tie", "neither")
    return {
        name: {"n": len(said)} | {kind: ESTIMATOR.share(end == kind for end in said) for kind in kinds}
        for name, said in sorted(outcomes.items())
    }
