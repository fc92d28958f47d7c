"""How processor time grows with the length of hostile input: every form of file and text that the tests know.

    python benchmarks/growth/run.py > benchmarks/growth/table.md

2 is linear time, 4 quadratic. The same forms, with bounds, are in tests/unit/test_loader_growth.py and
test_text_growth.py; this prints what they measure.
"""

import os
import platform
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import load
from hostile_files import ENDED, HOSTILE
from hostile_text import CASES
from timing import LEAST, Growth, growth


def read(file: tuple[str, bytes]) -> None:
    """Load a file, or be told why not."""
    try:
        load(Path(file[0]), file[1])
    except UnreadableFile:
        return


def row(kind: str, form: str, measured: Growth) -> str:
    """A line of the table; what takes less than LEAST has no ratio."""
    ratio = (
        f"{measured.doubled / measured.seconds:.1f}"
        if measured.seconds >= LEAST
        else f"under {LEAST * 1000:.0f} ms"
    )
    times = f"{measured.seconds * 1000:,.0f} | {measured.doubled * 1000:,.0f}"
    return f"| {kind} | {form} | {measured.size:,} | {times} | {ratio} |"


def main() -> None:
    """Print the table, row by row."""
    print("# Growth of processor time with the length of hostile input\n")
    print(
        "`make bench-growth`. n is the size a form is made with (characters, elements, rows); milliseconds of processor"
    )
    print(f"time, best of up to five. {os.cpu_count()} processors, Python {platform.python_version()}.\n")
    print("| what | form | n | ms at n | ms at 2n | ratio |")
    print("|---|---|---|---|---|---|")
    for form, make in ((form, make) for form, make in HOSTILE.items() if form not in ENDED):
        suffix = Path(make(1)[0]).suffix.removeprefix(".")
        print(
            row(suffix, form, growth(lambda n, make=make: partial(read, make(n)), least=1_000, most=256_000)),
            flush=True,
        )
    for name, (work, make) in CASES.items():
        kind, _, form = name.partition(": ")
        print(
            row(kind, f"`{form}`", growth(lambda n, work=work, make=make: partial(work, make(n)))), flush=True
        )


if __name__ == "__main__":
    main()
