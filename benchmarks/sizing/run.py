"""What a deployment needs, by passages: the tables of docs/operations.md, made from what the benchmarks left.

    python benchmarks/sizing/run.py --measure    # first the bytes of an index, into index.json
    python benchmarks/sizing/run.py [--check]

Rows up to the largest number of passages that `benchmarks/speed` searched are measured there; the others are drawn on
in a straight line, from the last measured row or the last two, and say so. With --check nothing is written, and it
fails where the page is not what it would be.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "operations.md"
INDEX = HERE / "index.json"
BEGIN, END = "<!-- sizing: made by `python benchmarks/sizing/run.py` -->", "<!-- end of sizing -->"
EXTRAPOLATED = (10_000_000, 1_000_000_000)
HEAD = """| passages | index on disk | indexing, 2 cores | memory for search | hybrid search | |
| --- | --- | --- | --- | --- | --- |"""
RATES = """| processes | reader | questions a second, p95 under 250 ms | memory |
| --- | --- | --- | --- |"""

Row = Mapping[str, Any]


def main() -> None:
    """Measure, write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    if wanted.measure:
        INDEX.write_text(json.dumps(measured(), indent=2) + "\n", "utf-8")
    before = PAGE.read_text("utf-8")
    after = made(before)
    if not wanted.check:
        PAGE.write_text(after, "utf-8")
    elif before != after:
        sys.exit("docs/operations.md is not what the benchmarks say: run  python benchmarks/sizing/run.py")


def measured() -> dict[str, int]:
    """Passages and bytes of an index of examples/sqlite, after its log was written back."""
    from equipoise import Library  # noqa: PLC0415 - the page is made without the package

    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        with Library.create(path) as library:
            library.index(ROOT / "examples" / "sqlite")
            passages = library.pending()[1]
        return {"passages": passages, "bytes": path.stat().st_size}


def made(page: str) -> str:
    """`page` with its tables made anew."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


def tables() -> str:
    """Both tables, by passages and by processes."""
    speed = json.loads((HERE.parent / "speed" / "results.json").read_text("utf-8"))
    index = json.loads(INDEX.read_text("utf-8"))
    served = (HERE.parent / "serve" / "results.jsonl").read_text("utf-8").splitlines()
    rate = speed["pages"]["whole indexing, passages a second"]
    rows = [*speed["search"], *(extrapolated(speed["search"], number) for number in EXTRAPOLATED)]
    by_size = [
        line(row, rate, index["bytes"] / index["passages"]) for row in rows if row["passages"] >= 10_000
    ]
    return "\n".join([HEAD, *by_size, "", *by_processes([json.loads(text) for text in served])])


def extrapolated(rows: Sequence[Row], passages: int) -> Row:
    """A row for more passages than were measured: milliseconds on the line through the last two rows, memory in
    proportion to the last one.

    Worked value: 10 ms at 100 passages and 20 ms at 200 give 40 ms at 400.
    """
    first, last = rows[-2:]
    slope = (last["hybrid"] - first["hybrid"]) / (last["passages"] - first["passages"])
    return {
        "passages": passages,
        "hybrid": last["hybrid"] + slope * (passages - last["passages"]),
        "memory_mb": last["memory_mb"] * passages / last["passages"],
        "extrapolated": True,
    }


def line(row: Row, rate: float, size: float) -> str:
    """A row of the first table; `rate` is in passages a second, `size` in bytes a passage."""
    number = row["passages"]
    cells = (
        f"{number:,}",
        amount(number * size),
        duration(number / rate),
        amount(row["memory_mb"] * 1e6) if row["memory_mb"] >= 1 else "under 1 MB",
        f"{row['hybrid']:,.0f} ms" if row["hybrid"] < 10_000 else f"{row['hybrid'] / 1000:,.0f} s",
        "**extrapolated**" if row.get("extrapolated") else "search measured",
    )
    return f"| {' | '.join(cells)} |"


def by_processes(rows: Sequence[Row]) -> list[str]:
    """The second table."""
    lines = [RATES]
    for rate in (row for row in rows if row["what"] == "highest rate"):
        same = [row for row in rows if (row["workers"], row["reader"]) == (rate["workers"], rate["reader"])]
        [memory] = [row["megabytes"] for row in same if row["what"] == "memory"]
        held = str(rate["rate"]) if rate["rate"] else f"fewer than 1 (p95 {rate['next_p95_ms']:.0f} ms at 1)"
        lines.append(f"| {rate['workers']} | {rate['reader']} | {held} | {memory} MB |")
    return lines


def amount(size: float) -> str:
    """Bytes in the largest unit that leaves at least one. Worked value: 2.65e9 is 2.6 GB."""
    unit, name = next((u, n) for u, n in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1, "bytes")) if size >= u)
    return f"{size / unit:,.1f} {name}" if size < 100 * unit else f"{size / unit:,.0f} {name}"


def duration(seconds: float) -> str:
    """Seconds in the largest unit that leaves at least two. Worked value: 7,200 is 2 hours."""
    units = ((86_400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))
    unit, name = next(((u, n) for u, n in units if seconds >= 2 * u), units[-1])
    return f"{seconds / unit:,.0f} {name}"


if __name__ == "__main__":
    main()
