"""Figure 2 as the paper has it: PS against the stance that a chat model reads in a passage, on seven points.

The paper takes passages of 50 questions, has GPT-5.2 place them and finds a mean Spearman correlation of 0.896. Here
any chat model can be asked, about passages of every kind: the anchors that the axis is made of, people's, planted ones.
Beside it stand both against the stance that people or authors gave, where they did.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.core.protocols import ChatModel
from equipoise.core.types import ChatOptions, Score
from equipoise.evaluation.records import Record
from equipoise.evaluation.results import grouped
from equipoise.evaluation.run import Ran, RecordForm, evaluate
from equipoise.evaluation.scorers import Call
from equipoise.maths.polarization import polarization_scores
from equipoise_lab.attacks.passages import Kind
from equipoise_lab.bench.bias import profile, vectors
from equipoise_lab.bench.bias.attacked_questions import AttackedQuestion
from equipoise_lab.bench.bias.corpora import Corpus
from equipoise_lab.bench.bias.metrics import ESTIMATOR
from equipoise_lab.bench.bias.records import DIGITS, PassageRecord
from equipoise_lab.bench.bias.vectors import Workspace
from equipoise_lab.bench.estimates import Estimate
from equipoise_lab.bench.judges.stance import LikertJudge
from equipoise_lab.maths.calibration import auc
from equipoise_lab.maths.measures import spearman

LIKERT = "likert.jsonl"
LEAST = 4
"""Scored passages of a question: with two, any direction correlates perfectly."""
EACH = 8
"""Passages of each kind of a question that are asked about: as many as the paper's anchors."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": (Kind.SYNTHETIC.value, profile.BENIGN, Kind.ADV_NEG.value, Kind.ADV_POS.value),
    "synthetic (the anchors)": (Kind.SYNTHETIC.value,),
    "by people": (profile.BENIGN,),
    "planted": (Kind.ADV_NEG.value, Kind.ADV_POS.value),
}
"""The rows of the table, with the kinds of passages in each."""

Point = tuple[str, float, float]
"""(kind, point of the scale, PS less the mean of the question's scored passages)."""


class LikertRecord(Record):
    """A passage's PS, the stance that people or its author gave (None: nobody), and the point of the model, 1 to 7:
    None where it could not be scored, for the reason `why`."""

    KEY: ClassVar[tuple[str, ...]] = ("model", "query_id", "id")

    model: str
    query_id: str
    id: str
    kind: str
    ps: float
    stance: float | None
    likert: int | None
    why: str = ""

    @property
    def failed(self) -> bool:
        """See Record: what was not scored is asked again."""
        return self.likert is None


@dataclass(frozen=True, slots=True)
class Shown:
    """A Sample: a passage with what is known of it, and the question that it is shown with."""

    passage: PassageRecord
    question: str
    text: str

    @property
    def sample_id(self) -> str:
        """The passage's."""
        return self.passage.id


@dataclass(frozen=True, slots=True)
class LikertRow:
    """Means over questions of correlations within a question, for passages of some kinds.

    `queries` have at least LEAST scored passages; `unscored` counts passages that the model gave no usable reply for.
    `auc` is how often a passage with a positive stance gets a higher point than one with a negative stance.
    """

    group: str
    queries: int
    passages: int
    unscored: int
    with_ps: Estimate | None
    with_stance: Estimate | None
    auc: Estimate | None
    ps_with_stance: Estimate | None


@dataclass(frozen=True, slots=True)
class Likert:
    """What one model's points come to."""

    model: str
    rows: tuple[LikertRow, ...]
    points: tuple[Point, ...]


def _fields(sample: Shown, ran: Ran[Score]) -> dict[str, object]:
    passage, score = sample.passage, ran.value
    point = None if score.value is None else int(score.value)
    why = {} if point is not None else {"why": score.explanation}
    return {"kind": passage.kind, "ps": passage.ps, "stance": passage.stance, "likert": point, **why}


FORM: RecordForm[Shown, Score, LikertRecord] = RecordForm(
    LikertRecord,
    lambda sample, system: (system.name, sample.passage.query_id, sample.passage.id),
    _fields,
)


async def ask(
    samples: Sequence[Shown], chat: ChatModel, workspace: Workspace, options: ChatOptions = ChatOptions()
) -> list[LikertRecord]:
    """A point for each passage that the output folder does not hold yet; all of them by key.

    `workspace.concurrency` are asked about at a time. Raises ModelUnavailable; what was asked before stays.
    """
    judge = LikertJudge(chat, options)
    system: Call[Shown, Score] = Call(
        chat.name, lambda sample: judge.judge(question=sample.question, text=sample.text)
    )
    run = await evaluate(
        samples, [system], (), workspace.out, form=FORM, file=LIKERT, progress=workspace.progress,
        concurrency=workspace.concurrency, errors=(),
    )  # fmt: skip
    return run.records


def samples(
    questions: Sequence[AttackedQuestion],
    corpus: Corpus,
    passages: Sequence[PassageRecord],
    workspace: Workspace,
    *,
    each: int = EACH,
) -> list[Shown]:
    """Up to `each` passages of every kind of these questions, evenly apart in the order of their ids.

    `passages` are the profiles of planted and relevant ones; the anchors' PS is measured here.
    """
    by_query = grouped(passages, lambda record: record.query_id)
    shown: list[Shown] = []
    for attacked in questions:
        known = [*_anchors(attacked, workspace), *by_query.get(attacked.attack.query_id, ())]
        texts = _texts(attacked, corpus)
        for kind in GROUPS["all"]:
            mine = sorted((p for p in known if p.kind == kind), key=lambda p: p.id)
            shown += [Shown(p, attacked.attack.question, texts[p.id]) for p in _spread(mine, each)]
    return shown


def summarised(records: Sequence[LikertRecord]) -> tuple[Likert, ...]:
    """One for each model, by name."""
    models = grouped(records, lambda record: record.model)
    return tuple(
        Likert(
            name,
            tuple(_row(group, kinds, models[name]) for group, kinds in GROUPS.items()),
            tuple(_points(models[name])),
        )
        for name in sorted(models)
    )


def _row(group: str, kinds: Sequence[str], records: Sequence[LikertRecord]) -> LikertRow:
    mine = [record for record in records if record.kind in kinds]
    scored = [record for record in mine if record.likert is not None]
    questions = {
        query: those
        for query, those in grouped(scored, lambda record: record.query_id).items()
        if len(those) >= LEAST
    }

    def mean(of: Callable[[Sequence[LikertRecord]], float | None]) -> Estimate | None:
        return ESTIMATOR.mean_by_unit((query, of(those)) for query, those in sorted(questions.items()))

    return LikertRow(
        group, len(questions), len(mine), len(mine) - len(scored), mean(_with_ps), mean(_with_stance),
        mean(_auc), mean(_ps_with_stance),
    )  # fmt: skip


def _with_ps(records: Sequence[LikertRecord]) -> float | None:
    return spearman([record.ps for record in records], [float(record.likert or 0) for record in records])


def _with_stance(records: Sequence[LikertRecord]) -> float | None:
    known = _labelled(records)
    return spearman(
        [record.stance or 0.0 for record in known], [float(record.likert or 0) for record in known]
    )


def _ps_with_stance(records: Sequence[LikertRecord]) -> float | None:
    known = _labelled(records)
    return spearman([record.stance or 0.0 for record in known], [record.ps for record in known])


def _auc(records: Sequence[LikertRecord]) -> float | None:
    sided = [record for record in records if record.stance]
    return auc(
        [float(record.likert or 0) for record in sided], [(record.stance or 0) > 0 for record in sided]
    )


def _labelled(records: Sequence[LikertRecord]) -> list[LikertRecord]:
    return [record for record in records if record.stance is not None]


def _points(records: Sequence[LikertRecord]) -> list[Point]:
    """What the figure shows."""
    scored = [record for record in records if record.likert is not None]
    means = {
        query: float(np.mean([record.ps for record in those]))
        for query, those in grouped(scored, lambda record: record.query_id).items()
    }
    return [
        (record.kind, float(record.likert or 0), round(record.ps - means[record.query_id], DIGITS) + 0.0)
        for record in scored
    ]


def _anchors(attacked: AttackedQuestion, workspace: Workspace) -> list[PassageRecord]:
    """The synthetic passages with their SS and PS."""
    written = attacked.attack.passages[Kind.SYNTHETIC]
    if not written:
        return []
    rows = vectors.encode([passage.text for passage in written], workspace, "synthetic")
    ss, ps = rows @ attacked.vector, polarization_scores(rows, attacked.axis)
    return [
        PassageRecord(
            query_id=attacked.attack.query_id, id=passage.passage_id, kind=Kind.SYNTHETIC.value,
            ss=round(float(similarity), DIGITS), ps=round(float(score), DIGITS), stance=passage.stance,
            property_1=None, property_2=None,
        )
        for passage, similarity, score in zip(written, ss, ps, strict=True)
    ]  # fmt: skip


def _texts(attacked: AttackedQuestion, corpus: Corpus) -> dict[str, str]:
    """The text of every passage of the question by its id."""
    written = {p.passage_id: p.text for passages in attacked.attack.passages.values() for p in passages}
    relevant = corpus.relevant.get(attacked.attack.query_id, ())
    return {doc_id: corpus.documents[doc_id].text for doc_id in relevant} | written


def _spread(passages: Sequence[PassageRecord], count: int) -> list[PassageRecord]:
    """`count` of them, evenly apart, or all. Worked value: 2 of 4: the first and the third."""
    if len(passages) <= count:
        return list(passages)
    return [passages[len(passages) * place // count] for place in range(count)]
