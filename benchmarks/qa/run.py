"""The question answering benchmark: rows without texts, tables and meta in a folder here for each run.

    python benchmarks/qa/run.py [--data ../shared/data] [--out .equipoise/bench-qa] [--only NAME]

Resumes: what stands in the output folder is not asked again. squad2 is asked on the reporting articles only
(benchmarks/splits.py).
"""

import argparse
import shutil
import sys
import tomllib
from pathlib import Path

from equipoise.apps.bench_qa import qa
from equipoise.bench.qa import recorded
from equipoise.bench.results import encoded, read_rows, write_atomically

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from splits import FIT  # noqa: E402

PUBLISHED = ("results", "timings", "judgements", "comparisons")


def main() -> None:
    """Run what is missing, then publish."""
    arguments = _arguments()
    runs = tomllib.loads((HERE / "config.toml").read_text("utf-8"))["runs"]
    for name, run in runs.items():
        if arguments.only in (None, name):
            pipelines = ",".join(run.pop("pipelines"))
            out = arguments.out / name
            qa(pipelines=pipelines, without=",".join(sorted(FIT)), data=arguments.data, out=out, **run)
            publish(out, HERE / name)


def publish(out: Path, folder: Path) -> None:
    """Copy a run: ids and numbers of its rows, its tables and what it was run with. No text of the data."""
    folder.mkdir(exist_ok=True)
    for name in PUBLISHED:
        if rows := read_rows(out / f"{name}.jsonl", recorded.KEYS[name]):
            content = b"".join(encoded(recorded.without_text(row)) for row in rows)
            write_atomically(folder / f"{name}.jsonl", content)
    for name in ("tables.md", "meta.json"):
        shutil.copyfile(out / name, folder / name)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / ".equipoise" / "bench-qa")
    parser.add_argument("--only", help="one run of config.toml")
    return parser.parse_args()


if __name__ == "__main__":
    main()
