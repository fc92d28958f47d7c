"""How far judges agree: models that rate the same answers, and models or orders that compare the same pairs."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from equipoise.bench.judges.comparison import Order, Verdict
from equipoise.bench.qa.intervals import Estimate, resampled
from equipoise.bench.results import Row, grouped
from equipoise.maths.agreement import cohen_kappa, krippendorff_alpha

NOMINAL = ("correctness",)
"""Judges whose values are kinds; the values of the others are on a scale."""

Values = Mapping[tuple[str, ...], float]


def agreement(judgements: Sequence[Row], comparisons: Sequence[Row]) -> list[dict[str, Any]]:
    """Krippendorff's alpha of all models of a judge, and Cohen's kappa of each two raters.

    Raters of a comparison are the judging models, and for one model the two orders. n counts what both rated.
    """
    found = []
    for judge, rows in sorted(grouped(judgements, lambda row: row["judge"]).items()):
        raters = {str(name): _rated(mine) for name, mine in _by_model(rows).items()}
        found += _agreed(str(judge), raters, nominal=judge in NOMINAL)
    orders = {
        f"{model}, {order}": _compared([row for row in mine if row["order"] == order])
        for model, mine in _by_model(comparisons).items()
        for order in (Order.AS_IS, Order.SWAPPED)
    }
    return found + _agreed(
        "comparison", {name: values for name, values in orders.items() if values}, nominal=True
    )


def _agreed(what: str, raters: Mapping[str, Values], *, nominal: bool) -> list[dict[str, Any]]:
    if len(raters) < 2:
        return []
    names = sorted(raters)
    level, weights = ("nominal", "equal") if nominal else ("ordinal", "quadratic")
    table = _table([raters[name] for name in names])
    rows = [_row(what, "Krippendorff's alpha", names, table, lambda x: krippendorff_alpha(x.T, level=level))]  # type: ignore[arg-type]
    for pair in combinations(range(len(names)), 2):
        both = table[:, pair]
        both = both[~np.isnan(both).any(axis=1)]
        kappa = _row(
            what,
            "Cohen's kappa",
            [names[one] for one in pair],
            both,
            lambda x: cohen_kappa(x[:, 0], x[:, 1], weights=weights),  # type: ignore[arg-type]
        )
        rows.append(kappa)
    return rows


def _row(what: str, measure: str, names: Sequence[str], table: Any, compute: Any) -> dict[str, Any]:  # noqa: ANN401
    found: Estimate = resampled(compute, table) if len(table) else None
    return {"judge": what, "measure": measure, "raters": list(names), "value": found}


def _table(raters: Sequence[Values]) -> Any:  # noqa: ANN401
    """(items, raters), NaN where one did not rate; items that fewer than two rated are left out."""
    items = sorted(set().union(*raters))
    table = np.array([[values.get(item, np.nan) for values in raters] for item in items]).reshape(
        -1, len(raters)
    )
    return table[(~np.isnan(table)).sum(axis=1) > 1]


def _by_model(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return {str(name): found for name, found in grouped(rows, lambda row: row["judge_model"]).items()}


def _rated(rows: Sequence[Row]) -> Values:
    return {
        (row["item_id"], row["contender"]): float(row["value"]) for row in rows if row["value"] is not None
    }


def _compared(rows: Sequence[Row]) -> Values:
    codes = {str(verdict): float(number) for number, verdict in enumerate(Verdict)}
    return {
        (row["item_id"], row["first"], row["second"]): codes[row["verdict"]]
        for row in rows
        if row["verdict"] is not None
    }
