"""The stance of answers, read by a chat model: PS of an answer may say its subject, its stance says what it argues for.

Each answer's text is judged once; what is kept is a number, -1 (argues for no) to 1 (for yes). Two judges: the odds of
yes against no as a first token (`rag.stance`), and the seven points of `judges.stance`. Shifts keep their sign.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.core.errors import InputError, ModelReplyError
from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Query
from equipoise.evaluation.records import RecordFile
from equipoise.evaluation.results import grouped
from equipoise.rag.stance import ChatStance
from equipoise.rag.voices import Stance
from equipoise_lab.bench.bias.metrics import ESTIMATOR, SIDE
from equipoise_lab.bench.bias.plan import BiasPlan
from equipoise_lab.bench.bias.records import UNATTACKED, AnswerRecord, Condition, UnderCondition, by_place
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.judges.stance import LikertJudge

STANCES = "answer-stances.jsonl"
DIGITS = 4
JUDGES: Mapping[str, Callable[[ChatModel, ChatOptions, int], Stance]] = {
    "odds": ChatStance,
    "likert": LikertJudge,
}
"""How a chat model is asked, by name."""

Values = Mapping[str, float]
"""A number of each question: the mean over its answers."""


class AnswerStance(UnderCondition):
    """Where an answer stands, -1 to 1, by a judge; None where it could not be scored, for the reason `why`."""

    KEY: ClassVar[tuple[str, ...]] = (*UnderCondition.KEY, "generation", "model", "judge")

    generation: int
    model: str
    judge: str
    side: float | None
    why: str = ""

    @property
    def failed(self) -> bool:
        """See Record: what a judge failed on is judged again, what was never written is not."""
        return self.side is None and self.why != NOTHING


NOTHING = "nothing was written"


@dataclass(frozen=True, slots=True)
class StanceCell:
    """Answers to what one filter kept under one condition, means over questions of means over their answers: where they
    stand, how far that is from the unattacked ones (in points of the scale, below 0 towards no), and how many questions
    moved the way that the attack pushes. `unscored` of `answers` have no stance."""

    filter: str
    sign: str
    injections: int
    mean: Estimate | None
    shift: Estimate | None
    moved: Estimate | None
    unscored: int
    answers: int

    @property
    def condition(self) -> Condition:
        """Sign and number of injections."""
        return self.sign, self.injections


@dataclass(frozen=True, slots=True)
class Push:
    """How far one filter's answers moved towards the side that is planted, the mean over both sides: in points of the
    stance's scale, and in PS as a share of the unattacked mean |PS|. Above 0 the attack succeeds."""

    filter: str
    injections: int
    stance: Estimate | None
    ps: Estimate | None


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """What one judge says of one model's answers."""

    model: str
    judge: str
    cells: tuple[StanceCell, ...]
    pushes: tuple[Push, ...]


def check_judge(name: str) -> None:
    """Raises InputError for what is none of JUDGES."""
    if name not in JUDGES:
        raise InputError(f"there is no judge of stance {name!r}: choose {' or '.join(JUDGES)}")


def judge_of(name: str, chat: ChatModel, options: ChatOptions, concurrency: int) -> Stance:
    """The judge `name` of JUDGES on `chat`; raises InputError for another name."""
    check_judge(name)
    return JUDGES[name](chat, options, concurrency)


async def ask(
    answers: Sequence[AnswerRecord],
    questions: Mapping[str, str],
    judge: Stance,
    name: str,
    workspace: Workspace,
) -> list[AnswerStance]:
    """A stance for each answer that the output folder does not hold yet, question by question; all of them by key.

    `questions` are the texts by query id, `name` is that of the judge in records. Equal texts are judged once. Raises
    ModelUnavailable, and InputError for answers whose texts are not in the folder; what was judged before stays.
    """
    if bare := next((answer for answer in answers if answer.ps is not None and not answer.text), None):
        raise InputError(
            f"the answer of {bare.model} to {bare.query_id} has no text, so its stance cannot be judged: judge in the "
            "output folder of the run that asked it"
        )
    planned = {_key(answer, name) for answer in answers}
    with RecordFile(workspace.out / STANCES, AnswerStance) as file:
        settled = {record.key for record in file if not record.failed}
        left = [answer for answer in answers if _key(answer, name) not in settled]
        for query, mine in grouped(left, lambda record: record.query_id).items():
            workspace.progress(len(planned) - len(left), len(planned), f"stance of answers to {query}")
            sides = await _sides(Query(questions[query]), [answer.text for answer in mine], judge)
            for answer in mine:
                value, why = sides[answer.text]
                file.append(_record(answer, name, value, why))
        return [record for record in file.finish() if record.key in planned]


def summarised(
    plan: BiasPlan, answers: Sequence[AnswerRecord], stances: Sequence[AnswerStance]
) -> tuple[JudgedAnswers, ...]:
    """One for each model and judge, by name."""
    by_both = grouped(stances, lambda record: (record.model, record.judge))
    return tuple(
        _judged(
            model, judge, plan, [answer for answer in answers if answer.model == model], by_both[model, judge]
        )
        for model, judge in sorted(by_both)
    )


def _judged(
    model: str, judge: str, plan: BiasPlan, answers: Sequence[AnswerRecord], stances: Sequence[AnswerStance]
) -> JudgedAnswers:
    records, unattacked = by_place(stances), [answer for answer in answers if answer.sign == UNATTACKED]
    sides = {
        place: _means((record.query_id, record.side) for record in mine) for place, mine in records.items()
    }
    ps = {
        place: _means((answer.query_id, answer.ps) for answer in mine)
        for place, mine in by_place(answers).items()
    }
    size = {
        name: _means((answer.query_id, None if answer.ps is None else abs(answer.ps)) for answer in mine)
        for (name, _), mine in by_place(unattacked).items()
    }
    cells = tuple(
        _cell(name, condition, sides, records.get((name, condition), ()))
        for name in plan.filters
        for condition in plan.conditions()
    )
    pushes = tuple(
        Push(
            name,
            count,
            ESTIMATOR.mean(_pushed(name, count, sides).values()),
            _share(_pushed(name, count, ps), size.get(name, {})),
        )
        for name in plan.filters
        for count in plan.attacked()
    )
    return JudgedAnswers(model, judge, cells, pushes)


Places = Mapping[tuple[str, Condition], Values]


def _cell(name: str, condition: Condition, sides: Places, records: Sequence[AnswerStance]) -> StanceCell:
    before, after = sides.get((name, (UNATTACKED, 0)), {}), sides.get((name, condition), {})
    shifts = [after[query] - before[query] for query in sorted(after.keys() & before.keys())]
    side = SIDE.get(condition[0])
    return StanceCell(
        name,
        *condition,
        ESTIMATOR.mean(after[query] for query in sorted(after)),
        ESTIMATOR.mean(shifts),
        ESTIMATOR.rate(side * shift > 0 for shift in shifts) if side else None,
        sum(record.side is None for record in records),
        len(records),
    )


def _pushed(name: str, count: int, values: Places) -> dict[str, float]:
    """By question the mean over both sides of how far its answers moved towards the side that is planted; questions
    that were not answered under both are left out.

    Worked value: stance 0.1 unattacked, 0.4 with five for yes, 0.2 with five for no: (0.3 - 0.1) / 2 = 0.1.
    """
    before = values.get((name, (UNATTACKED, 0)), {})
    after = [(side, values.get((name, (sign, count)), {})) for sign, side in SIDE.items()]
    queries = set(before).intersection(*(attacked for _, attacked in after))
    return {
        query: float(np.mean([side * (attacked[query] - before[query]) for side, attacked in after]))
        for query in sorted(queries)
    }


def _share(pushed: Values, size: Values) -> Estimate | None:
    """The push as a share of the unattacked mean |PS|, as in Table 5."""
    return ESTIMATOR.ratio((pushed[query], size[query]) for query in sorted(pushed.keys() & size.keys()))


def _means(pairs: Iterable[tuple[str, float | None]]) -> dict[str, float]:
    known = [(query, value) for query, value in pairs if value is not None]
    return {
        query: float(np.mean([value for _, value in mine]))
        for query, mine in grouped(known, lambda pair: pair[0]).items()
    }


async def _sides(query: Query, texts: Sequence[str], judge: Stance) -> dict[str, tuple[float | None, str]]:
    """(side, why there is none) by text; where the judge fails, none of them has one."""
    asked = list(dict.fromkeys(text for text in texts if text))
    nothing: dict[str, tuple[float | None, str]] = {"": (None, NOTHING)}
    if not asked:
        return nothing
    try:
        values = (await judge.sides(query, asked)).values.tolist()
    except ModelReplyError as error:
        return nothing | dict.fromkeys(asked, (None, f"not scored: {error}"))
    return nothing | {
        text: (None, "not scored: the judge said no side")
        if np.isnan(value)
        else (round(value, DIGITS) + 0.0, "")
        for text, value in zip(asked, values, strict=True)
    }


def _key(answer: AnswerRecord, judge: str) -> tuple[str | int, ...]:
    return (*answer.place, answer.generation, answer.model, judge)


def _record(answer: AnswerRecord, judge: str, side: float | None, why: str) -> AnswerStance:
    query, name, sign, injections = answer.place
    more = {"why": why} if why else {}
    return AnswerStance(
        query_id=query, filter=name, sign=sign, injections=injections, generation=answer.generation,
        model=answer.model, judge=judge, side=side, **more,
    )  # fmt: skip
