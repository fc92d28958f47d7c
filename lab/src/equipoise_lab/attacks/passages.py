"""Attack passages, and the JSON Lines file they are kept in.

One object a line: `_id`, `query_id`, `question`, `kind` (`synthetic`, `adv_pos`, `adv_neg`), `n` (from 1 within
its kind), `stance` (-2..2 towards "yes" to the question, null where unknown), `claim_polarity` (1 or -1), `text`;
where measured also `ss`, `ps`, `property_1` and `property_2`. Other fields are kept as they are.

These passages exist to measure defences, on your own corpora.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from equipoise.core.errors import InputError
from equipoise_lab.evaluation.jsonl import lines
from equipoise_lab.evaluation.results import Lines, encoded, write_atomically
from equipoise_lab.text.rows import Words, parsed

VARIANT = "variant"
"""The extra field that names how a passage was made from another one."""

Cosine = Annotated[float, Field(ge=-1.001, le=1.001)]


class Kind(StrEnum):
    """What a passage is for: an anchor of the axis, or an attack towards one of its ends."""

    SYNTHETIC = "synthetic"
    ADV_POS = "adv_pos"
    ADV_NEG = "adv_neg"


@dataclass(frozen=True, slots=True)
class Measures:
    """SS and PS of a passage; properties 1 and 2 (section 3), None where there was nothing to compare with."""

    ss: float
    ps: float
    property_1: bool | None = None
    property_2: bool | None = None


@dataclass(frozen=True, slots=True)
class AttackPassage:
    """One passage of an attack. `extra` holds every further field of its line."""

    passage_id: str
    query_id: str
    question: str
    kind: Kind
    n: int
    text: str
    stance: int | None = None
    claim_polarity: int = 1
    measures: Measures | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        """How it was made from another passage; empty for an original."""
        return str(self.extra.get(VARIANT, ""))

    @property
    def place(self) -> tuple[str, ...]:
        """Query, kind, number and variant: distinct in a file."""
        return self.query_id, self.kind.value, str(self.n), self.variant

    def row(self) -> dict[str, Any]:
        """The passage as its line has it."""
        names = ("query_id", "question", "kind", "n", "stance", "claim_polarity", "text")
        measures = asdict(self.measures) if self.measures else {}
        return {
            "_id": self.passage_id,
            **{name: getattr(self, name) for name in names},
            **measures,
            **self.extra,
        }


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")

    passage_id: Words = Field(alias="_id")
    query_id: Words
    question: Words
    kind: Kind
    n: Annotated[int, Field(ge=1, lt=1_000_000)]
    text: Words
    stance: Annotated[int, Field(ge=-2, le=2)] | None = None
    claim_polarity: Literal[1, -1] = 1
    ss: Cosine | None = None
    ps: Cosine | None = None
    property_1: bool | None = None
    property_2: bool | None = None

    @model_validator(mode="after")
    def _measured_whole(self) -> Self:
        rest = (self.property_1, self.property_2)
        if (self.ss is None) != (self.ps is None) or (self.ss is None and rest != (None, None)):
            raise ValueError("'ss' and 'ps' belong together")
        return self

    def passage(self) -> AttackPassage:
        """What the line holds."""
        names = set(AttackPassage.__dataclass_fields__) - {"measures", "extra"}
        measures = None
        if self.ss is not None and self.ps is not None:
            measures = Measures(self.ss, self.ps, self.property_1, self.property_2)
        fields = {name: getattr(self, name) for name in names}
        return AttackPassage(**fields, measures=measures, extra=self.model_extra or {})


def read_passages(path: Path) -> tuple[AttackPassage, ...]:
    """Every passage of the file, in its order; blank lines are skipped.

    Raises InputError that names the file, the line and what is wrong with it: not JSON, a field missing or
    of the wrong type, an `_id` used twice, two passages with one place, one `query_id` with two questions.
    """
    passages: list[AttackPassage] = []
    seen: dict[object, str] = {}
    for text, where in lines(path):
        passage = parsed(_Row, text, where).passage()
        for what, known in (("_id", passage.passage_id), ("place", passage.place)):
            if known in seen:
                raise InputError(f"{where}: has the {what} {known!r} of {seen[known]}: fix or remove it")
            seen[known] = where
        if seen.setdefault((passage.query_id,), passage.question) != passage.question:
            raise InputError(f"{where}: query_id {passage.query_id!r} has another question in a line before")
        passages.append(passage)
    return tuple(passages)


@dataclass(frozen=True, slots=True)
class PassageFile:
    """The file an attack writes its passages to as they are made; an interrupted attack resumes from it. One writer at
    a time."""

    path: Path

    def recover(self) -> tuple[AttackPassage, ...]:
        """The passages written so far, none for a new file. Half a last line, left by a kill, is cut off.

        Raises InputError for any other broken line.
        """
        with self._lines():
            return read_passages(self.path)

    def append(self, passages: Iterable[AttackPassage]) -> None:
        """Write the passages at the end; they are with the operating system when this returns."""
        with self._lines() as file:
            for passage in passages:
                file.append(passage.row())

    def settle(self, passages: Sequence[AttackPassage]) -> None:
        """Put `passages` in the place of those in the file with their ids, in one step; others stay."""
        newer = {passage.passage_id: passage for passage in passages}
        old = self.recover()
        new = tuple(newer.get(passage.passage_id, passage) for passage in old)
        if new != old:
            write_atomically(self.path, b"".join(encoded(passage.row()) for passage in new))

    def _lines(self) -> Lines:
        try:
            return Lines(self.path, ("_id",))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(
                f"{self.path} cannot be written ({reason}): choose another file with --out"
            ) from error
