"""All output to the terminal: text from outside is never read as markup, and its control characters are escaped.

Every command prints through `Terminal`, which reads no markup and no emoji names, so that what documents, file
names, questions and endpoints hold is shown as it is. Styles are objects (`styled`), not tags in a string.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from equipoise.apps.streams import GONE, abandon_stdout
from equipoise.text.visible import visible

INDENT = "    "
MAX_LINE = 4000
UNBOUNDED = 1_000_000
"""The width where there is no terminal: lines are never wrapped there."""


class Terminal(Console):
    """A console on stdout or stderr. A string is printed as it is, with control characters escaped."""

    def __init__(self, *, errors: bool = False) -> None:
        super().__init__(stderr=errors, markup=False, emoji=False, highlight=False)
        self.soft_wrap = errors or not self.is_terminal  # an error's line can be copied in one piece
        if not self.is_terminal:
            self.width = UNBOUNDED

    def render_str(self, text: str, **how: Any) -> Text:  # noqa: ANN401
        """`text` with control characters escaped; rich calls this for every string that it prints."""
        return super().render_str(
            visible(text), **how | {"markup": False, "emoji": False, "highlight": False}
        )

    def on_broken_pipe(self) -> None:
        """Exit quietly if nobody reads stdout any more; what cannot be written to stderr is dropped."""
        if self.stderr:
            return
        abandon_stdout()
        raise SystemExit(GONE)

    def paragraph(self, text: Text) -> None:
        """`text` indented: wrapped at the edge of a terminal, one line for a pipe."""
        lines = text.wrap(self, max(self.width - len(INDENT), 1)) if self.is_terminal else [text]
        for line in lines:
            self.print(Text(INDENT) + line)

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Rows with lines around them; words that are too long for their column go on in the next line."""
        table = Table(box=box.HEAVY_HEAD)
        for name in head:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*map(one_line, row))
        self.print(table, soft_wrap=False)


def styled(*parts: str | tuple[str, str]) -> Text:
    """Text of strings and (string, style), with control characters escaped."""
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    return Text.assemble(*((visible(text), style) for text, style in pairs))


def one_line(text: str) -> str:
    """`text` with control characters escaped, line ends too: nothing from outside begins a line of its own."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def number_of(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 document", "2,843 documents", "0 queries" for the `plural` "queries"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def complain(label: str, text: str, *, style: str = "yellow") -> None:
    """One line on stderr, of at most MAX_LINE characters of `text`."""
    line = one_line(text)
    shown = line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…"
    tell(styled((label, style), f" {shown}"))


def tell(text: str | Text) -> None:
    """Print `text` on stderr, or nothing where that cannot be written."""
    with suppress(OSError):
        Terminal(errors=True).print(text)


def print_json(data: object) -> None:
    """Print JSON on stdout; non-ASCII is escaped if stdout cannot encode it, or a terminal would obey some of it."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    if not _can_write(text) or (sys.stdout.isatty() and visible(text) != text):
        text = json.dumps(data, indent=2).replace("\x7f", "\\u007f")
    try:
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:
        abandon_stdout()
        raise SystemExit(GONE) from None


def _can_write(text: str) -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
