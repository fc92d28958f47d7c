"""How far judges agree: models that rate the same answers, and models or orders that compare the same pairs."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from equipoise.bench.judges import agreement as pairs
from equipoise.bench.judges.comparison import Order, Verdict
from equipoise.bench.qa.reporting.intervals import LEVEL, SEED
from equipoise.bench.results import Row, as_json, grouped
from equipoise.maths.agreement import Level

KINDS: Mapping[str, Level] = {"correctness": "nominal", "comparison": "nominal"}
"""What the values of a judge are; those of all others are grades ("ordinal")."""

Ratings = Mapping[str, float | None]
"""By item and system, or item and pair, as one name; None: not scored."""


def agreement(judgements: Sequence[Row], comparisons: Sequence[Row]) -> list[dict[str, Any]]:
    """Same verdict, Cohen's kappa and Krippendorff's alpha of each two raters of a judge.

    Raters of comparisons are a judging model in one order: the two orders of one model are two raters.
    """
    found = []
    for judge, rows in sorted(grouped(judgements, lambda row: str(row["judge"])).items()):
        found += _agreed(judge, {name: _rated(mine) for name, mine in _by_model(rows).items()})
    orders = {
        f"{model}, {order}": _compared(mine, order)
        for model, mine in _by_model(comparisons).items()
        for order in (Order.AS_IS, Order.SWAPPED)
    }
    return found + _agreed("comparison", {name: values for name, values in orders.items() if values})


def _agreed(judge: str, raters: Mapping[str, Ratings]) -> list[dict[str, Any]]:
    found = []
    for first, second in combinations(sorted(raters), 2):
        kind = KINDS.get(judge, "ordinal")
        both = pairs.agreement(raters[first], raters[second], kind=kind, seed=SEED, level=LEVEL)
        values = {name: as_json(getattr(both, name)) for name in ("same", "kappa", "alpha")}
        counts = {"n": both.n, "left_out": both.left_out}
        found.append({"judge": judge, "raters": [first, second], **counts, **values})
    return found


def _by_model(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return grouped(rows, lambda row: str(row["judge_model"]))


def _rated(rows: Sequence[Row]) -> Ratings:
    return {json.dumps([row["item_id"], row["contender"]]): row["value"] for row in rows}


def _compared(rows: Sequence[Row], order: Order) -> Ratings:
    codes = {str(verdict): float(number) for number, verdict in enumerate(Verdict)}
    return {
        json.dumps([row["item_id"], row["first"], row["second"]]): codes.get(str(row["verdict"]))
        for row in rows
        if row["order"] == order
    }
