"""The figures of a fit of the reader, in Markdown: what would be shown, and whether it is right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.tables import interval
from equipoise_lab.maths.calibration import auc
from equipoise_lab.maths.measures import ndcg_at_k
from equipoise_lab.maths.statistics import wilson

KEEP, MOST = 7.0, 4
Row = dict[str, Any]


def chosen(row: Row, keep: float = KEEP, most: int = MOST) -> list[list[float]]:
    """The windows that would be highlighted; a window is its passage, first and last sentence, worth, and gold."""
    windows = row["windows"][:most]
    return [window for window in windows if window[3] >= windows[0][3] - keep]


def hit(row: Row) -> bool:
    """Whether one of them holds the answer."""
    return row["answerable"] and any(window[4] for window in chosen(row))


@dataclass(frozen=True)
class Asked:
    """A question with its rows, one for each part, and which of them were answered."""

    rows: tuple[Row, ...]
    shown: tuple[bool, ...]
    chance: float

    @property
    def answerable(self) -> bool:
        return bool(self.rows[0]["answerable"])

    @property
    def is_shown(self) -> bool:
        return any(self.shown)

    @property
    def is_right(self) -> bool:
        """Whether a part that was answered shows the answer."""
        return any(yes and hit(row) for row, yes in zip(self.rows, self.shown, strict=True))

    def first(self, ranks: int) -> bool:
        """Whether one of the first windows holds the answer."""
        return any(window[4] for row in self.rows for window in row["windows"][:ranks])


def asked(rows: Sequence[Row], chance: np.ndarray, shown: np.ndarray) -> list[Asked]:
    """The questions of the rows."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault((row["source"], row["group"], row["id"]), []).append(number)
    return [
        Asked(tuple(rows[n] for n in mine), tuple(shown[mine].tolist()), float(chance[mine].max()))
        for mine in groups.values()
    ]


def table(questions: Sequence[Asked], samples: Sequence[str]) -> str:
    """The figures in Markdown: all sets, each set, each kind of question, each data set of `samples`."""
    field = [question for question in questions if question.rows[0]["source"] == "field"]
    groups = {"field": field} | {
        name: [question for question in field if question.rows[0][key] == name]
        for key in ("group", "kind")
        for name in sorted({question.rows[0][key] for question in field})
    }
    groups |= {
        name: [question for question in questions if question.rows[0]["source"] == name] for name in samples
    }
    heads = (
        "n|with answer|right quote|wrong quote|wrongly refused|refused, without|AUC|best window|three windows"
    )
    heads += "|quotes, right ones of them, sentences|decline F1|hit@1, @3, nDCG@5 before|after"
    lines = [f"| | {heads.replace('|', ' | ')} |", "|" + "---|" * (heads.count("|") + 2)]
    return "\n".join([*lines, *(_line(name, some) for name, some in groups.items() if some)]) + "\n"


def _line(name: str, questions: Sequence[Asked]) -> str:
    have = [question for question in questions if question.answerable]
    lack = [question for question in questions if not question.answerable]
    declined, wrong = (sum(not question.is_shown for question in some) for some in (lack, have))
    f1 = 2 * declined / max(1, declined + wrong + len(lack)) if lack else None
    parts = [row for question in have for row in question.rows]
    cells = [
        str(len(questions)),
        str(len(have)),
        _rate([question.is_right for question in have]),
        _share([question.is_shown and not question.is_right for question in have]),
        _share([not question.is_shown for question in have]),
        _rate([not question.is_shown for question in lack]),
        _number(
            auc(
                np.array([question.chance for question in questions]),
                np.array([int(question.answerable) for question in questions]),
            )
        ),
        _share([question.first(1) for question in have]),
        _share([question.first(3) for question in have]),
        _quotes(parts),
        _number(f1),
        _ranks([row["retrieved"] for row in parts]),
        _ranks([row["reranked"] for row in parts]),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _quotes(rows: Sequence[Row]) -> str:
    """What would be shown of answerable questions, each mean of them: windows, the right share, sentences."""
    shown = [chosen(row) for row in rows if row["windows"]]
    if not shown:
        return "–"
    lengths = (sum(window[2] - window[1] for window in some) for some in shown)
    right = (sum(window[4] for window in some) / len(some) for some in shown)
    return ", ".join(_number(float(np.mean(list(each)))) for each in (map(len, shown), right, lengths))


def _rate(values: Sequence[bool]) -> str:
    """A share with its 95% interval (Wilson)."""
    return interval(Estimate.of(wilson(sum(values), len(values)))) if values else "–"


def _ranks(rows: Sequence[Sequence[bool]]) -> str:
    return ", ".join(
        _number(float(np.mean(list(column)))) for column in zip(*map(_measures, rows), strict=True)
    )


def _measures(gold: Sequence[bool]) -> Iterator[float]:
    yield float(any(gold[:1]))
    yield float(any(gold[:3]))
    ranks = [rank for rank, is_gold in enumerate(gold, 1) if is_gold]
    yield ndcg_at_k(ranks, 5, total=len(ranks)) or 0.0


def _share(values: Any) -> str:  # noqa: ANN401
    return _number(float(np.mean(values))) if len(values) else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
