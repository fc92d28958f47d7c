"""Makes the standard streams safe before anything is printed. Imports little, since every start goes through here."""

import io
import os
import sys

GONE = 141
"""Exit code where the reader of a pipe has gone: 128 + SIGPIPE, as of other tools."""


def prepare() -> None:
    """Opens closed standard streams, so that no file gets their number, and makes all of them take any character."""
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
    """Discards what is left to write, so that the interpreter does not complain at its end."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.close(sink)
