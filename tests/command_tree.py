"""The commands that the command line has, all of them imported."""

import typer

from equipoise.apps import cli


def root():
    return typer.main.get_command(cli.app)


def commands_in(command):
    """Its commands by name; none for what is no group."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else ()
    return {name: command.get_command(None, name) for name in names}
