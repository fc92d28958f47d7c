"""What judges said of single answers: distributions, who was rated highest, and how guesses go with it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.bench.paired import times_highest
from equipoise.bench.qa import metrics
from equipoise.bench.qa.reporting.intervals import LEVEL, mean
from equipoise.bench.qa.reporting.measures import by_system, value
from equipoise.bench.results import Row, as_json, grouped
from equipoise.maths.statistics import wilson

Rows = Sequence[Row]


def ratings(judgements: Rows, results: Rows) -> list[dict[str, Any]]:
    """One object for each judge and its model: mean, distribution and wins by system, and what is missing."""
    found = grouped(judgements, lambda row: (row["judge"], str(row["judge_model"])))
    systems = sorted({row["contender"] for row in results})
    return [
        {
            "judge": judge,
            "model": model,
            "judges_itself": model in {str(row["model"]) for row in results},
            **_rated(found[judge, model], systems),
        }
        for judge, model in sorted(found)
    ]


def correlations(results: Rows, judgements: Rows) -> list[dict[str, Any]]:
    """Pearson of a system's guess K-precision with each performance of its answers (Figure 9).

    Performances are the judges' ratings, and the answers' recall of the reference. `points` are (K-precision,
    performance, how many lie there).
    """
    found = []
    for name, rows in by_system(results).items():
        guesses = {
            row["item_id"]: guess for row in rows if (guess := value(row, "guess_k_precision")) is not None
        }
        mine = [row for row in judgements if row["contender"] == name]
        for performance, values in sorted(_performances(rows, mine).items()):
            points = [(guesses[item], values[item]) for item in sorted(guesses.keys() & values.keys())]
            if points:
                xs, ys = [p[0] for p in points], [p[1] for p in points]
                pearson = as_json(metrics.pearson(xs, ys, level=LEVEL))
                what = {"contender": name, "performance": performance}
                found.append({**what, "pearson": pearson, "points": _places(points)})
    return found


def _places(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    return [[x, y, count] for (x, y), count in sorted(Counter(points).items())]


def _performances(rows: Rows, judgements: Rows) -> dict[str, dict[str, float]]:
    found = {"answer recall": {r["item_id"]: v for r in rows if (v := value(r, "answer_recall")) is not None}}
    for row in judgements:
        if row["value"] is not None:
            name = f"{row['judge']} by {row['judge_model']}"
            found.setdefault(name, {})[row["item_id"]] = float(row["value"])
    return found


def _rated(rows: Rows, systems: Sequence[str]) -> dict[str, Any]:
    by = {name: [row for row in rows if row["contender"] == name] for name in systems}
    known = {
        name: {row["item_id"]: float(row["value"]) for row in mine if row["value"] is not None}
        for name, mine in by.items()
    }
    judged = {name: values for name, values in known.items() if by[name]}
    return {
        "unscored": {name: len(by[name]) - len(known[name]) for name in systems},
        "mean": {name: mean(values.values()) for name, values in judged.items()},
        "distribution": {name: _distribution(values) for name, values in judged.items()},
        "highest": _highest(judged),
    }


def _distribution(values: Mapping[str, float]) -> dict[str, int]:
    """How often each rating was given, the lowest rating first."""
    return {f"{rating:g}": count for rating, count in sorted(Counter(values.values()).items())}


def _highest(known: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Who had the highest rating, ties included (Figure 3), on the questions that all were rated on."""
    common = len(set.intersection(*(set(values) for values in known.values()))) if known else 0
    won = times_highest(known)
    return {
        "n": common,
        "wins": {
            name: {"count": n, "share": as_json(wilson(n, common, level=LEVEL))} for name, n in won.items()
        },
    }
