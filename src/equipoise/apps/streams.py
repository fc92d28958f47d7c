"""The standard streams, made safe before anything is printed. Loads nothing: every start goes through here."""

import io
import os
import sys

GONE = 141
"""Exit code where the reader of a pipe has gone: 128 + SIGPIPE, as of other tools."""


def prepare() -> None:
    """Makes the standard streams safe: none closed (a file would get its number), none that fails for a letter."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, this one
    for stream, errors in (
        (sys.stdin, "replace"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def abandon_stdout() -> None:
    """What is left to write goes nowhere, so that the interpreter's end does not complain about it."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.close(sink)
