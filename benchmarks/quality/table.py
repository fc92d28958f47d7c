"""first.jsonl as a table: every figure with its n and its 95% interval."""

from collections.abc import Callable, Sequence

import numpy as np

from equipoise.maths.statistics import bootstrap_interval, wilson

SEED = 20261121


def table(rows: Sequence[dict], runs: Sequence[str]) -> str:
    """Markdown, one row a run."""
    head = (
        "| run | n | evidence hit | answer hit | decline precision | decline recall | decline F1 "
        "| seconds | output tokens | replaced by quotes |"
    )
    lines = [head, "|" + "---|" * 10]
    for run in runs:
        mine = [row for row in rows if row["run"] == run]
        if mine:
            lines.append(f"| {run} | {len(mine)} | {' | '.join(cells(mine))} |")
    return "\n".join(lines) + "\n"


def cells(rows: Sequence[dict]) -> list[str]:
    """The figures of one run."""
    answerable = [row for row in rows if row["answerable"]]
    declined = [row for row in rows if row["declined"]]
    unanswerable = [row for row in rows if not row["answerable"]]
    answered = [row for row in rows if row["answered"]]
    quoted = any(row["highlights"] for row in rows)
    return [
        share(answerable, lambda row: row["evidence_hit"]) if quoted else "-",
        share(answerable, lambda row: row["answer_hit"]),
        share(declined, lambda row: not row["answerable"]),
        share(unanswerable, lambda row: row["declined"]),
        f1(rows),
        mean([row["seconds"] for row in rows], "{:.2f}"),
        mean([row["tokens"]["completion"] for row in rows], "{:.0f}"),
        share(answered, lambda row: not row["grounded"]),
    ]


def share(rows: Sequence[dict], hit: Callable[[dict], bool]) -> str:
    """`hits/n = rate [low, high]` by Wilson's interval."""
    hits = sum(bool(hit(row)) for row in rows)
    interval = wilson(hits, len(rows))
    return f"{hits}/{len(rows)} [{interval.low:.2f}, {interval.high:.2f}]" if interval else "-"


def f1(rows: Sequence[dict]) -> str:
    """F1 of declining, by bootstrap over questions."""
    pairs = np.array([[row["declined"], not row["answerable"]] for row in rows], dtype=float)
    draws = np.random.default_rng(SEED).integers(0, len(pairs), (4000, len(pairs)))
    low, high = np.quantile([_f1(pairs[draw]) for draw in draws], [0.025, 0.975])
    return f"{_f1(pairs):.2f} [{low:.2f}, {high:.2f}]"


def mean(values: Sequence[float], form: str) -> str:
    """Mean by bootstrap."""
    interval = bootstrap_interval(values, seed=SEED)
    if interval is None:
        return "-"
    low, high = form.format(interval.low), form.format(interval.high)
    return f"{form.format(interval.estimate)} [{low}, {high}]"


def _f1(pairs: np.ndarray) -> float:
    both = float((pairs[:, 0] * pairs[:, 1]).sum())
    total = float(pairs.sum())
    return 2 * both / total if total else 0.0
