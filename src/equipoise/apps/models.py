"""`equipoise models`: local models on this disk, and which one answers."""

from importlib.util import find_spec
from typing import Annotated

import typer

from equipoise.apps import progress
from equipoise.apps.options import group
from equipoise.apps.terminal import Terminal, one_line
from equipoise.core import settings as layers
from equipoise.core.errors import InputError, ModelUnavailable
from equipoise.models import weights
from equipoise.rag import build, chats

app = group("Language models: fetch local ones, choose which one answers.")

COST = "Without a graphics card it takes from some seconds to minutes for an answer."


@app.command("list")
def listing() -> None:
    """The local models, and which of them are on this disk."""
    folder = layers.load().settings.model.folder
    rows = [
        (
            row.weights.name,
            row.weights.role,
            f"{row.weights.size / 1e6:,.0f} MB",
            row.weights.licence,
            "yes" if row.path else "no",
        )
        for row in weights.listing(folder=folder)
    ]
    Terminal().table(("name", "role", "size", "licence", "here"), rows)


@app.command("pull")
def pull(name: Annotated[str, typer.Argument(help="A name from `equipoise models list`.")]) -> None:
    """Fetch a local model; resumes where it stopped."""
    folder = layers.load().settings.model.folder
    with progress.download(name) as report:
        path = weights.pull(name, folder=folder, progress=report)
    Terminal().print(f"{name}: {path}")


@app.command("use")
def use(
    name: Annotated[
        str,
        typer.Argument(
            help="A name from `equipoise models list`, openai/NAME, azure/DEPLOYMENT, none or auto."
        ),
    ],
) -> None:
    """Choose which model writes answers, in your own settings; none: quotes only, auto: an endpoint you have set."""
    current = layers.load().settings.model
    known = weights.read_catalogue().get(name)
    if known and known.role == "encoder":
        raise InputError(
            f"{name} reads documents, it writes no answers: run  equipoise index FOLDER --encoder {name}"
        )
    chosen = f"local/{name}" if known else name
    build.check_llm(chosen)
    if chosen.startswith("local"):
        _refuse_unless_here(chosen.partition("/")[2] or chats.DEFAULT_LOCAL, current)
    path = layers.keep("model.llm", chosen)
    said = {"none": "Answers are quotes", "auto": "Answers are written where an endpoint is set"}
    what = said.get(chosen, f"Answers are written by {one_line(chosen)}")
    Terminal().print(f"{what} from now on ({one_line(str(path))}).")
    if chosen.startswith("local"):
        Terminal().print(f"{COST} Back to quotes:  equipoise models use none")


def _refuse_unless_here(name: str, current: layers.ModelSettings) -> None:
    if weights.find(name, folder=current.folder) is None:
        raise ModelUnavailable(f"{name} is not on this disk: run  equipoise models pull {name}")
    if not find_spec("xllamacpp"):
        raise ModelUnavailable("local models need an extra: run  pip install 'equipoise[local]'")
