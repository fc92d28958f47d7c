"""`equipoise lab`: the benchmarks of a checkout, by name."""

import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from equipoise.apps.options import group
from equipoise.core.errors import InputError

app = group("The benchmarks of this repository: run one, or make its page from the rows that are published.")

PLACE = Path("benchmarks")
PASSED = {"allow_extra_args": True, "ignore_unknown_options": True}
NameArgument = Annotated[
    str,
    typer.Argument(help="A folder of benchmarks/ (qa), or a script in one (bias/own); results: all pages."),
]


@app.command(context_settings=PASSED)
def run(context: typer.Context, name: NameArgument) -> None:
    """Measure what is missing, and publish. Options of the script itself come last: `-- --help` lists them."""
    _script(name, context.args)


@app.command()
def table(name: NameArgument) -> None:
    """Make the page of a benchmark again from its published rows, byte for byte."""
    _script(name, [] if name == "results" else ["--table"])


def _script(name: str, arguments: list[str]) -> None:
    """Run a script of the folder benchmarks/ as its own main program."""
    places = (PLACE / name / "run.py", PLACE / f"{name}.py")
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        known = sorted(place.parent.name for place in PLACE.glob("*/run.py"))
        said = f"choose among {', '.join(known)}" if known else "run this in a checkout of equipoise"
        raise InputError(f"there is no benchmark {name!r}: {said}")
    sys.argv = [str(file), *arguments]
    sys.path.insert(0, str(file.parent))
    runpy.run_path(str(file), run_name="__main__")
