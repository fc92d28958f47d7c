"""What is kept of a question and a pipeline, of a judge and an answer, of two answers that were compared.

Nothing in a record of an answer depends on the clock or on the replay cache. Published records have no texts.
"""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from equipoise.evaluation.records import Record, Value
from equipoise_lab.bench.qa import metrics

ANSWERED, DECLINED, FAILED = "answered", "declined", "failed"
HIGHLIGHTS_ALONE = " (highlights)"
"""Behind a pipeline's name in comparisons: its highlights alone as the answer (section 7.1)."""

TEXTS = ("question", "answer", "highlighted", "gold_text", "guesses", "references", "explanation")
"""Fields that published records do not have."""

Place = tuple[str, int, int]
"""(doc_id, start, end)."""


class Used(BaseModel):
    """Calls and tokens, replayed calls counted as calls: the same whether a reply is fresh or not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: int
    prompt_tokens: int
    completion_tokens: int


class OfPipeline(Record):
    """Base of what is about one question and one pipeline, run by one language model ("none")."""

    KEY: ClassVar[tuple[str, ...]] = ("dataset", "item_id", "pipeline", "model")

    dataset: str
    item_id: str
    pipeline: str
    model: str

    @property
    def sample_id(self) -> str:
        """See `bench.scorers.Sample`: answers are what judges are run on."""
        return f"{self.item_id} {self.pipeline}"


class QaRecord(OfPipeline):
    """What one pipeline made of one question, and its scores.

    `outcome` is answered, declined or failed; `reason` why not answered, a failure's with its error after a colon.
    `probability` is that the documents answer (0 to 1), None where it was not estimated.
    """

    question: str = ""
    answerable: bool | None = None
    decision: str | None = None
    outcome: str
    reason: str | None = None
    answer: str = ""
    references: tuple[str, ...] = ()
    grounded: bool | None = None
    probability: float | None = None
    tags: tuple[str, ...] = ()
    highlights: tuple[Place, ...] = ()
    highlighted: str = ""
    dropped: int = 0
    gold: tuple[Place, ...] = ()
    gold_text: str = ""
    guesses: tuple[str, ...] = ()
    usage: Used | None = None
    scores: dict[str, Value] = Field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """See Record."""
        return self.outcome == FAILED

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.outcome == ANSWERED

    @property
    def declined(self) -> bool:
        """Whether the pipeline refused."""
        return self.outcome == DECLINED

    @property
    def said(self) -> str | None:
        """The answer; None for a question that was declined or failed."""
        return self.answer if self.answered else None

    def score(self, name: str) -> float | None:
        """A score; None where it was not measured."""
        value = self.scores.get(name)
        return None if value is None else float(value)

    @property
    def passage_relation(self) -> str | None:
        """How the highlights contain the gold passage: "both" (equal), "superstring", "substring", "neither", or
        "nothing" where nothing was highlighted. None without a gold passage and for failed questions."""
        if self.failed or not self.gold:
            return None
        if not self.highlights:
            return "nothing"
        if (stored := self.scores.get("passage_relation")) is not None:
            return str(stored)
        return str(metrics.relation(self.highlighted, self.gold_text)) if self.gold_text else None

    @property
    def decided(self) -> str | None:
        """Which of yes, no and maybe the answer says; None where there is no such question, or it says none."""
        if self.decision is None or not self.answered:
            return None
        if (stored := self.scores.get("decided")) is not None:
            return str(stored)
        return metrics.decided(self.answer, self.tags)


class QaTiming(OfPipeline):
    """Seconds of a question that was really asked, as a whole and by stage."""

    seconds: float
    stages: dict[str, float]


class Judgement(OfPipeline):
    """What a judge says of an answer: `value` on its rubric's scale, None where it could not be scored."""

    KEY: ClassVar[tuple[str, ...]] = (*OfPipeline.KEY, "judge", "judge_model")

    judge: str
    judge_model: str
    value: float | None
    explanation: str = ""

    @property
    def settled(self) -> bool:
        """See Record: what was not scored is asked again."""
        return self.value is not None

    @property
    def rater(self) -> str:
        """Judge and model."""
        return f"{self.judge} by {self.judge_model}"


class ComparisonRecord(Record):
    """What a judge says of two answers in one order; `verdict` is None where it could not be scored."""

    KEY: ClassVar[tuple[str, ...]] = ("dataset", "item_id", "first", "second", "order", "judge_model")

    dataset: str
    item_id: str
    first: str
    second: str
    order: str
    judge_model: str
    verdict: str | None
    explanation: str = ""

    @property
    def settled(self) -> bool:
        """See Record: what was not scored is asked again."""
        return self.verdict is not None


def without_text(record: Record) -> Record:
    """The record with ids and numbers alone, as it may be published.

    What a report needs of the text is kept: how highlights and gold passage contain each other and what was
    decided ("passage_relation" and "decided" in `scores`). Of a reason the detail behind the colon goes.
    """
    kept = {name: value for name, value in record.row().items() if name not in TEXTS}
    if kept.get("reason"):
        kept["reason"] = kept["reason"].partition(":")[0]
    if isinstance(record, QaRecord):
        derived = {"passage_relation": record.passage_relation, "decided": record.decided}
        kept["scores"] = {**record.scores, **{k: v for k, v in derived.items() if v is not None}}
    return type(record).model_validate(kept)
