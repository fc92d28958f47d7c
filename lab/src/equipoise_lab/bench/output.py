"""What a run leaves for people: summary.json, tables.md and figures."""

import json
from collections.abc import Mapping
from pathlib import Path

from equipoise_lab.bench.layouts import as_json
from equipoise_lab.evaluation.results import write_atomically

SUMMARY, TABLES, FIGURES = "summary.json", "tables.md", "figures"


def as_text(summary: object) -> str:
    """The numbers of a run as the text of summary.json."""
    return json.dumps(as_json(summary), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write(out: Path, summary: object, markdown: str) -> None:
    """Write summary.json and tables.md into `out`, each at once or not at all."""
    for name, text in ((SUMMARY, as_text(summary)), (TABLES, markdown)):
        write_atomically(out / name, text.encode("utf-8"))


def write_figures(out: Path, figures: Mapping[str, str]) -> None:
    """Write SVG texts by name into the folder `figures` of `out`."""
    (out / FIGURES).mkdir(parents=True, exist_ok=True)
    for name, svg in figures.items():
        write_atomically(out / FIGURES / f"{name}.svg", svg.encode("utf-8"))
