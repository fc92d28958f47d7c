"""What a run left in its folder: rows by file, of one data set or of all, with or without their text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.bench.qa import metrics
from equipoise.bench.qa.rows import COMPARISON_KEY, FAILED, JUDGEMENT_KEY, KEY
from equipoise.bench.results import Row, read_rows
from equipoise.core.errors import InputError

META = "meta.json"
KEYS = {
    "results": KEY,
    "timings": KEY,
    "judgements": JUDGEMENT_KEY,
    "comparisons": COMPARISON_KEY,
}
TEXTS = ("question", "answer", "highlighted", "gold_text", "guesses", "references", "explanation")


@dataclass(frozen=True, slots=True)
class Run:
    """Rows by file; a file that is not there has none. Rows of the first three name their "contender"."""

    meta: dict[str, Any]
    results: Sequence[Row] = ()
    timings: Sequence[Row] = ()
    judgements: Sequence[Row] = ()
    comparisons: Sequence[Row] = ()

    def datasets(self) -> list[str]:
        """The names of all data sets that a row is about, sorted."""
        return sorted({row["dataset"] for name in KEYS for row in getattr(self, name)})

    def of(self, dataset: str) -> "Run":
        """The rows of one data set."""
        return Run(
            self.meta,
            *([row for row in getattr(self, name) if row["dataset"] == dataset] for name in KEYS),
        )

    def systems(self) -> list[str]:
        """The names of what was compared, sorted."""
        return sorted({row["contender"] for row in self.results})


def read(folder: Path) -> Run:
    """All files of a run. Raises InputError where there are no results, or for a line that is no such row."""
    found = {name: read_rows(folder / f"{name}.jsonl", key) for name, key in KEYS.items()}
    found |= {name: _last(found[name], key) for name, key in KEYS.items()}
    if not any(found.values()):
        raise InputError(f"{folder} holds no results.jsonl: run  equipoise bench qa --out {folder}  first")
    several = _several_models(found["results"])
    for name in ("results", "timings", "judgements"):
        found[name] = [{**row, "contender": _system(row, several)} for row in found[name]]
    return Run(_meta(folder / META), **found)


def without_text(row: Row) -> Row:
    """The row with ids and numbers alone, as it may be published; of any file.

    What a report needs of the text is kept: how highlights and gold passage contain each other and what was
    decided ("passage_relation" and "decided" in `scores`). Of a reason the detail behind the colon goes.
    """
    kept = {name: value for name, value in row.items() if name not in TEXTS}
    if kept.get("reason"):
        kept["reason"] = kept["reason"].partition(":")[0]
    if "scores" in row:
        derived = {"passage_relation": passage_relation(row), "decided": decided(row)}
        kept["scores"] = {**row["scores"], **{k: v for k, v in derived.items() if v is not None}}
    return kept


def passage_relation(row: Row) -> str | None:
    """How the highlights contain the gold passage: "both" (equal), "superstring", "substring", "neither", or
    "nothing" where nothing was highlighted. None without a gold passage and for failed rows."""
    if row["outcome"] == FAILED or not row["gold"]:
        return None
    if not row["highlights"]:
        return "nothing"
    if (stored := row["scores"].get("passage_relation")) is not None:
        return str(stored)
    return str(metrics.relation(row["highlighted"], row["gold_text"])) if row.get("gold_text") else None


def decided(row: Row) -> str | None:
    """Which of yes, no and maybe the answer says; None where there is no such question, or it says none."""
    if row.get("decision") is None or row["outcome"] != "answered":
        return None
    if (stored := row["scores"].get("decided")) is not None:
        return str(stored)
    return metrics.decided(row.get("answer", ""), row.get("tags", ()))


def _last(rows: Sequence[Row], key: Sequence[str]) -> list[Row]:
    """One row for each key, the last: a run that was killed may have asked again. In the order of the keys."""
    found = {tuple(row[name] for name in key): row for row in rows}
    return [found[place] for place in sorted(found)]


def _several_models(rows: Sequence[Row]) -> set[tuple[str, str]]:
    """The (data set, pipeline) that more than one model ran."""
    models: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        models.setdefault((row["dataset"], row["pipeline"]), set()).add(str(row["model"]))
    return {place for place, names in models.items() if len(names) > 1}


def _system(row: Row, several: set[tuple[str, str]]) -> str:
    """The pipeline's name, with the model where another model ran the same pipeline."""
    name: str = row["pipeline"]
    return f"{name} [{row['model']}]" if (row["dataset"], name) in several else name


def _meta(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}): delete it or repair it") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is no JSON object: delete it or repair it")
    return found
