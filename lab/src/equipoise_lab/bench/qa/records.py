"""What is kept of a question and a pipeline, of a judge and an answer, of two answers that were compared.

Nothing in a record of an answer depends on the clock or on the replay cache. Published records have no texts.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from equipoise.core.errors import InputError
from equipoise_lab.bench.qa import metrics
from equipoise_lab.evaluation.records import Record, Value, read_records

META = "meta.json"
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
        """See `evaluation.run.Sample`: answers are what judges are run on."""
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

    KEY: ClassVar[tuple[str, ...]] = (
        "dataset",
        "item_id",
        "first",
        "second",
        "order",
        "judge_model",
        "prompt",
    )

    dataset: str
    item_id: str
    first: str
    second: str
    order: str
    judge_model: str
    prompt: str
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


RECORDS: Mapping[str, type[Record]] = {
    "results": QaRecord,
    "timings": QaTiming,
    "judgements": Judgement,
    "comparisons": ComparisonRecord,
}
"""The files of a run, and what stands in each."""


@dataclass(frozen=True, slots=True)
class QaFiles:
    """What a run left in its folder: records by file; one that is not there has none. `several` are the (data set,
    pipeline) that more than one model ran."""

    meta: Mapping[str, Any]
    files: Mapping[str, list[Any]]
    several: frozenset[tuple[str, str]] = frozenset()

    def datasets(self) -> list[str]:
        """The names of all data sets that a record is about, sorted."""
        return sorted({record.dataset for records in self.files.values() for record in records})

    def of(self, dataset: str) -> "QaFiles":
        """The records of one data set."""
        kept = {n: [one for one in records if one.dataset == dataset] for n, records in self.files.items()}
        return replace(self, files=kept)

    def by_system(self, file: str) -> dict[str, list[Any]]:
        """The records of each system, sorted by name: the pipeline's, with the model where another one ran it too."""
        groups: dict[str, list[Any]] = {}
        for record in self.files[file]:
            several = (record.dataset, record.pipeline) in self.several
            name = f"{record.pipeline} [{record.model}]" if several else record.pipeline
            groups.setdefault(name, []).append(record)
        return {name: groups[name] for name in sorted(groups)}


def read(folder: Path) -> QaFiles:
    """All files of a run, one record for each key, the last: a run that was killed may have asked again.

    Raises InputError where there are no results, or for a line that is no such record.
    """
    files: dict[str, list[Any]] = {
        name: read_records(folder / f"{name}.jsonl", record) for name, record in RECORDS.items()
    }
    if not any(files.values()):
        raise InputError(f"{folder} holds no results.jsonl: run  equipoise bench qa --out {folder}  first")
    ran = {(one.dataset, one.pipeline, one.model) for one in files["results"]}
    counted = Counter(place[:2] for place in ran)
    return QaFiles(meta(folder / META), files, frozenset(place for place, n in counted.items() if n > 1))


def meta(path: Path) -> dict[str, Any]:
    """What a run was about; nothing where there is no such file. Raises InputError for one that cannot be read."""
    if not path.exists():
        return {}
    try:
        said = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}): move it away or repair it") from None
    if not isinstance(said, dict):
        raise InputError(f"{path} is no JSON object: move it away or repair it")
    return said
