"""The full LLMail-Inject set (microsoft/llmail-inject-challenge), read with the `datasets` library.

Schema, as published: one submission a line in `data/raw_submissions_phase1.jsonl` and `..._phase2.jsonl`, with
`RowKey`, `subject`, `body`, `scenario` ("level2v": the number is the scenario, the letter defence and model) and
`objectives`, five flags as a JSON text. A submission succeeded where there are flags and all of them are true.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equipoise.core.errors import InputError
from equipoise_lab.bench.hub import HUB, rows
from equipoise_lab.evaluation.results import Row, encoded, write_atomically

FILES = tuple(f"{HUB}/microsoft/llmail-inject-challenge/data/raw_submissions_phase{n}.jsonl" for n in (1, 2))
NAME = "attacks.jsonl"
SCENARIOS = ("level1", "level2", "level3")
"""Those whose attackers want `redteam.hijack.CHALLENGE`; scenario 4 wants a number sent."""


def load(
    source: str | None = None, *, scenario: str = "level2", only_successful: bool = True
) -> list[dict[str, object]]:
    """Different submissions (by subject and body) to `scenario`, from `source` or where they are published.

    `scenario` is "level2" for all of scenario 2 or, say, "level2v" for one of its levels. Rows have the fields of
    the attack file of the benchmark: `id`, `subject`, `body`, `scenario`, `objectives`, `success_reported`.
    Raises MissingExtra without `datasets`, InputError for a source that cannot be read or has another schema,
    another scenario, and where nothing is left.
    """
    if not scenario.startswith(SCENARIOS):
        raise InputError(
            f"the scenario is {scenario!r}: write one of {', '.join(SCENARIOS)}, or a level of one"
        )
    attacks: dict[tuple[str, str], dict[str, object]] = {}
    for file in (source,) if source else FILES:
        try:
            for row in rows("json", file):
                if str(row["scenario"]).startswith(scenario):
                    made = _attack(row)
                    if made["success_reported"] or not only_successful:
                        attacks.setdefault((row["subject"], row["body"]), made)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}: the rows have another schema ({error!r}): check the file") from None
    if not attacks:
        raise InputError(
            f"{source or 'the data set'} has no such submission to {scenario}: choose another one"
        )
    return list(attacks.values())


def write(attacks: Sequence[Row], folder: Path) -> Path:
    """Write `attacks` for `equipoise bench hijack --attacks`; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / NAME, b"".join(encoded(row) for row in attacks))
    return folder / NAME


def _attack(row: Mapping[str, Any]) -> dict[str, object]:
    flags = row["objectives"]
    objectives = json.loads(flags) if isinstance(flags, str) else flags
    succeeded = bool(objectives) and all(objectives.values())
    return {
        "id": f"llmail-{row['RowKey']}",
        "subject": row["subject"] or "",
        "body": row["body"],
        "scenario": row["scenario"],
        "objectives": objectives,
        "success_reported": succeeded,
    }
