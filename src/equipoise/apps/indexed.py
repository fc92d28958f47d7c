"""Tells what somebody should know about an index run."""

from collections.abc import Iterable
from shlex import quote

from equipoise.apps.terminal import complain, number_of, one_line
from equipoise.corpus.report import IndexReport

MULTILINGUAL = "pip install 'equipoise[multilingual]' and index with --encoder multilingual"


def tell(done: IndexReport, held: Iterable[tuple[str, str]]) -> None:
    """Print what was not indexed, or not as the file has it; `held` has sources and why they are held back."""
    for failure in done.failed:
        complain("not indexed:", str(failure))
    for left in done.left_out:
        complain("left out:", str(left))
    for source, characters in done.hidden:
        complain("hidden text left out:", f"{source}: {characters:,} characters")
    for source, characters in done.invisible:
        complain("text that nobody sees is indexed:", f"{source}: {characters:,} characters")
    for source, _ in done.running[:1]:
        others = f" and {len(done.running) - 1:,} more" if len(done.running) > 1 else ""
        lines = number_of(sum(lines for _, lines in done.running), "line")
        complain("running headers and footers left out:", f"{source}{others}: {lines}")
    for source, encoding in done.guessed:
        complain(
            "encoding guessed:",
            f"{source} was read as {encoding}; save it as UTF-8 if its letters look wrong",
        )
    for source, script in done.unread[:1]:
        more = f" (and {len(done.unread) - 1:,} more)" if len(done.unread) > 1 else ""
        complain(
            "found by words only:", f"{source}{more}: the encoder does not read {script}; {MULTILINGUAL}"
        )
    for source, why in held:
        complain(
            "held back:",
            f"{source}: {why}; let it in with  equipoise documents trust untrusted {quote(source)}",
        )
    for source, name in done.alike:
        complain(f"looks like {one_line(name)}:", f"{source} is untrusted and is never cited under that name")
