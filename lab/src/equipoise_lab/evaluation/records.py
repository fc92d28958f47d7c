"""Records: what one system made of one sample, typed, one line of JSON each.

A benchmark declares its record as a class; the fields stand in a line in the order of the class. What was never set
is not written, so a line that is read and written again keeps its bytes.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from equipoise.core.closing import Closing
from equipoise.core.errors import InputError
from equipoise_lab.evaluation.results import Key, Lines, encoded, read_rows

Value = bool | int | float | str | None
"""What a scorer may leave in a record; None: not scored, never 0."""


class Record(BaseModel):
    """Base of all records. KEY names the fields that tell the records of a file apart."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="constants")

    KEY: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> Key:
        """The values of KEY."""
        return tuple(getattr(self, name) for name in self.KEY)

    @property
    def failed(self) -> bool:
        """Whether an error ended the run, so that nothing was measured."""
        return False

    @property
    def settled(self) -> bool:
        """Whether it needs no second run."""
        return not self.failed

    def lacks(self, scorers: Iterable[str]) -> bool:
        """Whether a scorer had no say in it, because it came later than the record."""
        return False

    def row(self) -> dict[str, Any]:
        """The fields that were set, in order, as JSON has them."""
        return self.model_dump(mode="json", exclude_unset=True)

    @classmethod
    def read(cls, row: object, where: str) -> Self:
        """The record of a row. Raises InputError that begins with `where` for one that cannot be used."""
        try:
            return cls.model_validate(row)
        except ValidationError as error:
            raise InputError(f"{where}: {_reason(error)}: move the file away") from None


R = TypeVar("R", bound=Record)


class SampleRecord(Record):
    """The record of a benchmark that declares none of its own: the scores of one system on one sample.

    `error` is empty, or says what ended the run; then there are no scores. `facts` is the outcome as JSON has it.
    `unscored` says of each score that is None why, where the scorer does.
    """

    KEY: ClassVar[tuple[str, ...]] = ("sample", "system")

    sample: str
    system: str
    error: str = ""
    facts: dict[str, Any] = Field(default_factory=dict)
    scores: dict[str, Value] = Field(default_factory=dict)
    unscored: dict[str, str] = Field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return bool(self.error)

    def lacks(self, scorers: Iterable[str]) -> bool:
        return not self.failed and any(name not in self.scores for name in scorers)

    def score(self, name: str) -> float | None:
        """A score; None where there is none. Flags stay flags."""
        value = self.scores.get(name)
        return float(value) if isinstance(value, str) else value


class RecordFile(Closing, Generic[R]):
    """An open file of records that is its own state (see `results.Lines`)."""

    def __init__(self, path: Path, record: type[R]) -> None:
        """Read what is there. Raises InputError with file and line for what is no such record."""
        self._lines = Lines(path, record.KEY)
        self._records = {row.key: row for row in _read(path, record)}

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def __contains__(self, key: Key) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[R]:
        """In the order of the keys."""
        return (self._records[key] for key in sorted(self._records))

    def append(self, record: R) -> None:
        """Keep `record`: it outlives the process when this returns."""
        self._lines.append(record.row())
        self._records[record.key] = record

    def finish(self) -> list[R]:
        """Put the file in the order of the keys, at once or not at all, and return its records."""
        self._lines.finish()
        return list(self)


def read_records(path: Path, record: type[R]) -> list[R]:
    """The records of a file by their keys, the last of each; none where there is no file. Raises InputError."""
    by_key = {row.key: row for row in _read(path, record)}
    return [by_key[key] for key in sorted(by_key)]


def _read(path: Path, record: type[R]) -> Iterator[R]:
    """In the order of the file."""
    for number, row in enumerate(read_rows(path, record.KEY), 1):
        yield record.read(row, f"{path}:{number}")


def content(records: Sequence[Record]) -> bytes:
    """The bytes of a file of these records."""
    return b"".join(encoded(record.row()) for record in records)


def without_text(records: Iterable[R]) -> list[R]:
    """The same records as they are published: ids and numbers, no `text`."""
    return [
        record.model_validate(record.model_dump(exclude={"text"}, exclude_unset=True)) for record in records
    ]


def _reason(error: ValidationError) -> str:
    """What is wrong with a row, by its first error."""
    first = error.errors(include_url=False)[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"a row without {name!r}"
    if first["type"] == "extra_forbidden":
        return f"{name!r} is no field of a row of this version"
    return (
        f"not a row of results ({name}: {first['msg']})" if name else f"not a row of results ({first['msg']})"
    )
