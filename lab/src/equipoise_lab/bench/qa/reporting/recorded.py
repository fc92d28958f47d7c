"""What a run left in its folder: typed records by file, of one data set or of all, with or without their text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from equipoise.core.errors import InputError
from equipoise.evaluation.records import Record, read_records
from equipoise_lab.bench.qa.records import ComparisonRecord, Judgement, OfPipeline, QaRecord, QaTiming

META = "meta.json"
RECORDS: Mapping[str, type[Record]] = {
    "results": QaRecord,
    "timings": QaTiming,
    "judgements": Judgement,
    "comparisons": ComparisonRecord,
}
"""The files of a run, and what stands in each."""

P = TypeVar("P", bound=OfPipeline)


@dataclass(frozen=True, slots=True)
class Run:
    """Records by file; a file that is not there has none. `several` are the (data set, pipeline) that more than one
    model ran."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    results: Sequence[QaRecord] = ()
    timings: Sequence[QaTiming] = ()
    judgements: Sequence[Judgement] = ()
    comparisons: Sequence[ComparisonRecord] = ()
    several: frozenset[tuple[str, str]] = frozenset()

    def datasets(self) -> list[str]:
        """The names of all data sets that a record is about, sorted."""
        every = (self.results, self.timings, self.judgements, self.comparisons)
        return sorted({record.dataset for records in every for record in records})

    def of(self, dataset: str) -> "Run":
        """The records of one data set."""
        return replace(
            self,
            results=[record for record in self.results if record.dataset == dataset],
            timings=[record for record in self.timings if record.dataset == dataset],
            judgements=[record for record in self.judgements if record.dataset == dataset],
            comparisons=[record for record in self.comparisons if record.dataset == dataset],
        )

    def system(self, record: OfPipeline) -> str:
        """The pipeline's name, with the model where another model ran the same pipeline."""
        several = (record.dataset, record.pipeline) in self.several
        return f"{record.pipeline} [{record.model}]" if several else record.pipeline

    def by_system(self, records: Iterable[P]) -> dict[str, list[P]]:
        """The records of each system, sorted by name."""
        groups: dict[str, list[P]] = {}
        for record in records:
            groups.setdefault(self.system(record), []).append(record)
        return {name: groups[name] for name in sorted(groups)}


def read(folder: Path) -> Run:
    """All files of a run, one record for each key, the last: a run that was killed may have asked again.

    Raises InputError where there are no results, or for a line that is no such record.
    """
    files: dict[str, list[Any]] = {
        name: read_records(folder / f"{name}.jsonl", record) for name, record in RECORDS.items()
    }
    if not any(files.values()):
        raise InputError(f"{folder} holds no results.jsonl: run  equipoise bench qa --out {folder}  first")
    models: dict[tuple[str, str], set[str]] = {}
    for record in files["results"]:
        models.setdefault((record.dataset, record.pipeline), set()).add(record.model)
    several = frozenset(place for place, names in models.items() if len(names) > 1)
    return Run(_meta(folder / META), **files, several=several)


def _meta(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        meta = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}): delete it or repair it") from None
    if not isinstance(meta, dict):
        raise InputError(f"{path} is no JSON object: delete it or repair it")
    return meta
