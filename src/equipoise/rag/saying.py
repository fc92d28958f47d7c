"""What untrusted documents say, in words: fixed sentences around their quotes, for answers that are read as one text.

Made of the documents and their names alone; nothing of the question and nothing that a model wrote is in it.
"""

from collections.abc import Callable, Sequence

from equipoise.core.results import Claim, Others, Statement
from equipoise.core.types import Tag
from equipoise.text.visible import flowing, title

SILENT = "The trusted documents do not answer this."
HEADING = "From untrusted documents, which anybody may have written:"
CONTESTED = "This is contested: untrusted documents say different things."
MOST_NAMED = 3
Naming = Callable[[str], str]


def answer_text(others: Others, named: Naming = title) -> str:
    """The answer that rests on untrusted documents, claim by claim; `named` says what a source is called."""
    return "\n\n".join([intro_text(others), *(claim_text(claim, named) for claim in others.claims)])


def intro_text(others: Others) -> str:
    """What stands above the claims."""
    first = [SILENT] if others.silent else []
    contested = [CONTESTED] if others.contested else []
    return " ".join([*first, *contested, HEADING])


def claim_text(claim: Claim, named: Naming = title) -> str:
    """A claim with the quotes that stand for it, and who else makes it."""
    return "\n".join(line for line, _ in lines(claim, named))


def lines(claim: Claim, named: Naming = title) -> list[tuple[str, tuple[Statement, ...]]]:
    """The lines of a claim, each with the statements it speaks of."""
    side = {Tag.YES: "For yes: ", Tag.NO: "For no: ", None: ""}[claim.side]
    quotes = [
        (f"{side}According to {name(one, named)} (untrusted): {quotes_text(one)}", (one,))
        for one in claim.shown
    ]
    return [*quotes, (support(claim, named), claim.statements[len(claim.shown) :])]


def quotes_text(statement: Statement) -> str:
    """The quotes of a statement in one line."""
    return "“" + " … ".join(flowing(item.text) for item in statement.highlights) + "”"


def name(statement: Statement, named: Naming = title) -> str:
    """Names the file of a statement and, if that impersonates a trusted document, says that it is not that one."""
    source = title(named(statement.highlights[0].source))
    return (
        f"{source}, which is not {title(named(statement.impersonates))}" if statement.impersonates else source
    )


def support(claim: Claim, named: Naming = title) -> str:
    """How many independent authors say so, and who they are."""
    others = [name(one, named) for one in claim.statements[1:]] if not claim.side else []
    if claim.independent < 2:
        alike = f" (alike, but not independent of it: {_listed(others)})" if others else ""
        return f"Only one independent source says so{alike}."
    return f"{claim.independent} independent sources say so" + (
        f" (also {_listed(others)})." if others else "."
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
