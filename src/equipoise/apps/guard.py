"""The outermost layer of the command line: whatever happens ends in an exit code and at most one clear line.

0 answered or refused, 2 bad input, 3 something failed, 130 interrupted, 141 nobody reads the output any more.
"""

import os
import sys
import traceback
from collections.abc import Callable

import typer

from equipoise.apps import streams
from equipoise.core.errors import EquipoiseError

DEBUG = "EQUIPOISE_DEBUG"
BAD_INPUT, FAILED, INTERRUPTED = 2, 3, 130

_USAGE: type[Exception] = typer.BadParameter.__mro__[2]
"""Root of the parser's own complaints; which package it stands in depends on the version of typer."""


def run(command: Callable[[], object]) -> int:
    """Do `command` and return the exit code: its own result where that is a number, 0 otherwise."""
    try:
        streams.prepare()
        code = command()
        if sys.stdout:
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort
        _write_nothing_more()
        return _explained(error)
    return code if isinstance(code, int) else 0


def _explained(error: Exception) -> int:
    """Say in one line what happened; the exit code."""
    from equipoise.apps import terminal  # noqa: PLC0415 - it takes rich, which a command that succeeds may not need

    if os.environ.get(DEBUG) == "1":
        terminal.tell("".join(traceback.format_exception(error)))
    if isinstance(error, _USAGE):
        return _misused(error)
    if isinstance(error, BrokenPipeError):
        return streams.GONE
    code = error.exit_code if isinstance(error, EquipoiseError) else FAILED
    terminal.complain("equipoise:", _sentence(error), style="red")
    return code


def _sentence(error: Exception) -> str:
    if isinstance(error, EquipoiseError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        about = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return f"{about}{error.strerror}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    return (
        f"this should not happen ({type(error).__name__}: {error}): please report it with what the same command "
        f"prints when {DEBUG}=1 is set"
    )


def _misused(error: Exception) -> int:
    """A command line that cannot be parsed; a group without a command shows its help."""
    from equipoise.apps import terminal  # noqa: PLC0415

    said = str(getattr(error, "format_message", error.__str__)())
    context = getattr(error, "ctx", None)
    if context is not None and said.strip() == context.get_help().strip():
        terminal.tell(said)
    else:
        hint = f" (see  {context.command_path} --help )" if context is not None else ""
        terminal.complain("equipoise:", f"{said}{hint}", style="red")
    return BAD_INPUT


def _write_nothing_more() -> None:
    """Where stdout cannot be written, keep the interpreter from trying once more at its end."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except (OSError, ValueError):
        streams.abandon_stdout()
