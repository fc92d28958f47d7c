"""The command line: which commands there are. Each is imported when it is called, so that help comes at once.

Exit codes: 0 answered or refused, 2 bad input, 3 something failed.
"""

import gc
import os
import sys
from importlib import import_module, metadata
from importlib.metadata import EntryPoint
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from equipoise.apps import guard
from equipoise.core import plugins
from equipoise.core.errors import InputError

COMMANDS = {
    "index": ("indexing", "Read documents into the index."),
    "watch": ("indexing", "Index files and folders, and again whenever something in them changes."),
    "sources": (
        "sources",
        "Sites, buckets, repositories and mailboxes that the index follows: list, sync, remove.",
    ),
    "worker": (
        "worker",
        "Keep an index in Postgres up to date with its sources, beside any number of other workers.",
    ),
    "ask": ("asking", "Answer one question with verbatim quotes, or say why not."),
    "search": ("asking", "Find passages; nothing is answered."),
    "highlight": ("highlight", "Find the sentences in some texts that answer a question, without an index."),
    "chat": ("asking", "Ask one question after another."),
    "serve": ("serve", "Answer questions over HTTP, by API and web page."),
    "mcp": ("mcp", "Serve the documents to programs that speak MCP."),
    "keys": ("serve", "Keys for a server, with rate limits and daily budgets: create, list, revoke."),
    "documents": ("documents", "The documents of an index: list, show, remove, trust."),
    "status": ("status", "Show what would answer a question now: index, encoder, language model, settings."),
    "doctor": ("doctor", "Check index, models, endpoint, disk and settings, and say what to do."),
    "store": ("store", "The index as a whole: copy it to another kind of store."),
    "models": ("models", "Language models: fetch local ones, choose which one answers."),
    "init": ("init", "Write a commented settings file into the current folder."),
    "config": ("config", "Show the settings, and consent to a folder's settings file: show, trust, untrust."),
    "cache": ("cache", "The indexes that --docs made: list, clear."),
    "scan": (
        "scan",
        "Scan documents for instructions to a model, tool calls, links, hidden text, promises, secrets and copies.",
    ),
    "budget": (
        "budget",
        "Count the different inputs one question can force on the summarizer, and what each setting saves.",
    ),
    "certify": (
        "certify",
        "Try every input that one question can force on the summarizer, and check every answer by rules.",
    ),
}
"""For each command: the module beside this one whose `app` has it, or is its group, and its line in the help."""
PLUGINS: plugins.Group = "equipoise.commands"
MOVED = ("attack", "bench", "lab", "train", "ebi")
"""Commands that were part of this package and are now in `plugins.LAB`."""


class Commands(TyperGroup):
    """The commands of COMMANDS and those of other packages, each imported when it is asked for by its name."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 (typer brings a click of its own)
        """Their names, in the order of the table."""
        return [*COMMANDS, *_others()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        """The command itself, None where there is none of that name. Raises InputError for one of another package
        that cannot be loaded, and for one that is in the package `plugins.LAB` alone."""
        if cmd_name in COMMANDS:
            app = import_module(f"{__package__}.{COMMANDS[cmd_name][0]}").app
        else:
            app = plugins.load(PLUGINS, cmd_name)
        if app is None and cmd_name in MOVED:
            raise InputError(f"{cmd_name!r} is a command of {plugins.LAB}: run  pip install {plugins.LAB}")
        if app is None:
            return None
        if not isinstance(app, typer.Typer):
            raise InputError(
                f"the command {cmd_name!r} of another package is not a typer.Typer: see docs/extensions.md"
            )
        group: Any = typer.main.get_group(app)
        command = group.commands.get(cmd_name, group)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the table of commands as help, without importing any of them."""
        rows = [(name, said) for name, (_, said) in COMMANDS.items()]
        rows += [(name, f"From {plugins.package_of(point)}.") for name, point in _others().items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _others() -> dict[str, EntryPoint]:
    """The commands of other packages, without those that have the name of one of ours."""
    return {name: point for name, point in plugins.found(PLUGINS).items() if name not in COMMANDS}


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,  # help texts hold [/NAME]
    help="Ask your documents; answers rest on quotes.",
)


COLLECT_AFTER = 50_000
"""New objects between two collections of garbage, instead of Python's 700: what a command imports stays anyway."""


def program() -> None:
    """What the shell starts: `main`, with few collections of garbage, and without the threads that numpy starts when it
    is imported (benchmarks/LOG.md, "A command's start")."""
    gc.set_threshold(COLLECT_AFTER)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        main()
    finally:
        gc.freeze()  # spares a last collection: the process ends


def main() -> None:
    """Entry point: every error is one line on stderr."""
    sys.exit(guard.run(lambda: app(prog_name="equipoise", standalone_mode=False)))


def _version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"equipoise {metadata.version('equipoise')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda wanted: _version(wanted=wanted),
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error was raised.")] = False,
) -> None:
    """Ask your documents; answers rest on quotes."""
    if debug:
        os.environ[guard.DEBUG] = "1"
