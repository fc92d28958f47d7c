"""Makes docs/papers.md of papers.toml and of the results that its rows name: how many questions each of them holds."""

import json
import tomllib
from pathlib import Path

from equipoise_lab.bench.tables import grid

HERE = Path(__file__).resolve().parent
SAID = tomllib.loads((HERE / "papers.toml").read_text("utf-8"))
HEAD = ("paper", "what", "code", "run", "deviation", "status")
UNITS = ("item_id", "query_id", "question", "case_id", "sample", "id")
"""What rows of results are about, the first that they have."""


def page() -> str:
    """docs/papers.md."""
    parts = [SAID["intro"]]
    for paper in SAID["paper"]:
        rows = [(*row[:3], _runs(row[3]), *row[4:]) for row in paper["rows"]]
        parts += [f"## {paper['title']}", paper["said"], grid(HEAD, rows)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _runs(names: str) -> str:
    """Links to results, or to tests, with what they hold; a dash for none."""
    shown = []
    for name in names.split():
        if name.startswith(("tests/", "lab/")):
            shown.append(f"`{name}`")
        else:
            shown.append(f"[{name}](../benchmarks/{name}){held(HERE / name)}")
    return ", ".join(shown) or "–"


def held(path: Path) -> str:
    """How many questions, prompts or passages the rows of a file are about."""
    if path.suffix != ".jsonl":
        return ""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    unit = next((name for name in UNITS if name in rows[0]), None)
    return f", n = {len({row[unit] for row in rows})}" if unit else ""
