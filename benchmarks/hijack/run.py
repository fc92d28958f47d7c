"""The tool hijack benchmark: results, summary and table beside this file.

    python benchmarks/hijack/run.py [--data data] [--out .equipoise/bench-hijack] [--llm NAME] [--limit N]

Resumes: what stands in the output folder is not asked again, and replies are kept in its replies.db. Only ids,
flags and counts are copied here, no text.
"""

import argparse
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from equipoise.bench.hijack import bench, report
from equipoise.bench.hijack.bench import Place
from equipoise.bench.hijack.cases import Choice
from equipoise.bench.hijack.runner import RESULTS, HijackPlan
from equipoise.bench.results import encoded
from equipoise.core import settings as layers
from equipoise.core import sync
from equipoise.corpus.store import Store
from equipoise.models.encoder import EmbeddedEncoder
from equipoise.rag import build
from equipoise.rag.components import Components

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Ask what is missing, then write the table."""
    arguments = _arguments()
    config = tomllib.loads((HERE / "config.toml").read_text("utf-8"))
    choice = Choice(config["prompts"], config["look_alikes"], config["seed"])
    plan = HijackPlan(
        tuple(config["pipelines"]),
        choice,
        config["emails"],
        config["concurrency"],
        arguments.limit,
        arguments.again,
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    flags = {
        "model.llm": arguments.llm or config["llm"],
        "model.slots": config["concurrency"],
        "model.replay": str(arguments.out / "replies.db"),
    }
    settings = layers.load(flags, environment={}, folder=HERE).settings
    with Store.open(arguments.out / "index.db", create=True) as store:
        components = Components(settings, store, EmbeddedEncoder(), build.chat_model(settings.model))
        place = Place(arguments.data, arguments.out)
        summary = sync.run(bench.bench(plan, place, components, _say))
    rows = [json.loads(line) for line in (arguments.out / RESULTS).read_text("utf-8").splitlines()]
    (HERE / RESULTS).write_bytes(b"".join(encoded(_without_words(row)) for row in rows))
    summary["errors"] = [_without_words(row) for row in summary["errors"]]
    (HERE / "summary.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (HERE / "table.md").write_text(_page(summary), "utf-8")


def _without_words(row: dict[str, Any]) -> dict[str, Any]:
    """The row without what an error said: that may quote a model or name a place on this machine."""
    return row | {"detail": ""}


def _page(summary: dict[str, Any]) -> str:
    cases = ", ".join(f"{source} {count}" for source, count in summary["cases"].items())
    return (
        f"# The tool hijack benchmark\n\n`make bench-hijack`: {summary['config']['llm']}. Cases: {cases}. Intervals "
        "are 95%, exact (Clopper-Pearson); the paper's numbers are in italics. How far ours may differ from them, "
        f"and why, stands in `README.md`.\n\n{report.markdown(summary).rstrip()}\n"
    )


def _say(done: int, total: int, what: str) -> None:
    if done % 10 == 0:
        print(f"{done}/{total} {what}", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    root = HERE.parents[1]
    parser.add_argument("--data", type=Path, default=root / "data")
    parser.add_argument("--out", type=Path, default=root / ".equipoise" / "bench-hijack")
    parser.add_argument("--llm", help="another model than config.toml names")
    parser.add_argument("--limit", type=int, help="the first so many cases of each source")
    parser.add_argument("--again", action="store_true", help="ask once more what ended with an error")
    return parser.parse_args()


if __name__ == "__main__":
    main()
