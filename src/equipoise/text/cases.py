"""Sentences that belong together: a rule and its exception, one case and another, what stands below a heading such as
"Not covered", and what begins with "It"."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from equipoise.core.types import BlockKind, Document
from equipoise.text.block_text import Offsets, next_row, pieces_of, without_marker
from equipoise.text.tokens import words

SAME = 4
"""Words of the beginning that two cases must share ("If you've been with us for ...")."""
_EXCEPTION = re.compile(
    r"(?:th(?:is|at|ese|ey|e (?:above|same|rule|limit))|it|which)(?: \w+)?"
    r"(?: (?:does|do|shall|will) not| doesn't| don't) (?:apply|hold|count|concern|affect)\b"
    r"|except(?:ion|ions|ed)?\b|(?:an?|the|one|only) (?:\w+ )?exceptions?\b"
    r"|(?:dies|das) gilt nicht\b|ausgenommen\b|ausnahmen?\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"(?:otherwise|if not|in (?:all|any) other cases?|andernfalls|ansonsten|sonst|sinon)\b", re.IGNORECASE
)
_CASE = re.compile(r"(?:if|when|where|unless|for|wenn|falls|für|bei|si|quand|pour)\b", re.IGNORECASE)

_TITLE = 8  # most words of a heading that negates what stands below it
_DENIED = re.compile(
    r"\b(?:not|no(?!\.)|never|don['’]?ts?|do not|cannot|can['’]?t|won['’]?t|without|except(?:ion|ions|ed)?|exclu\w{3,6}"
    r"|prohibit\w{0,4}|forbidden|disallowed|unsupported|unavailable|ineligible|limitations?|deprecated|obsolete|removed"
    r"|nicht|keine?[mnrs]?|verboten|ausgeschlossen|ausnahmen?|ungültig|pas|jamais|interdite?s?|sauf)\b",
    re.IGNORECASE,
)

_REFERS = re.compile(
    r"\W{0,3}(?:(?:it|they)\b(?! (?:is|was|may be|can be)(?: not| also| very)? (?:possible|impossible|important"
    r"|necessary|recommended|essential|advisable|likely|unlikely|clear|easy|hard|difficult|best|better|worth)\b"
    r"| (?:seems|depends)\b)"
    r"|(?:this|these|that|those) (?:also |only )?(?:is|are|was|were|does|do|can|may|must|will|has|have|should|means?"
    r"|applies|apply|includes?)\b)",
    re.IGNORECASE,
)


def denies(heading: str) -> bool:
    """Whether a heading negates what stands below it.

    >>> denies("## Not OK"), denies("Exclusions"), denies("Why does it not start?"), denies("Fares")
    (True, True, False, False)
    """
    short = len(heading.split()) <= _TITLE and not heading.endswith(("?", "？"))
    return short and _DENIED.search(heading) is not None


def goes_with(before: str, behind: str) -> bool:
    """Whether the sentence `behind` states an exception to the one before it, or what holds in another case.

    >>> goes_with("If you stay for a week, it is free.", "If you stay for longer, it is $10.")
    True
    """
    if _EXCEPTION.match(behind) or _OTHERWISE.match(behind):
        return True
    if not _CASE.match(behind):
        return False
    said, opening = words(before), words(behind)[:SAME]
    return any(said[n : n + SAME] == opening for n in range(len(said) - SAME + 1))


def refers_back(text: str) -> bool:
    """Whether a sentence begins with a pronoun that stands for something in the one before.

    >>> refers_back("- It can be set to off."), refers_back("It is important to rest."), refers_back("This lamp is on.")
    (True, False, False)
    """
    return _REFERS.match(without_marker(text)) is not None


def sentences_referred_to(document: Document, pieces: Iterable[Offsets]) -> Iterator[Offsets]:
    """The sentence before each of the pieces that begins with a pronoun: in its block, else in the one before it, if
    both are paragraphs of one section or items of one level."""
    for piece in pieces:
        row = document.block_row(piece[0])
        if row < 0 or not refers_back(document.text[slice(*piece)]):
            continue
        own, above = pieces_of(document, row), next_row(document, row, -1)
        if at := bisect_left(own, piece):
            yield own[at - 1]
        elif above >= 0 and _is_beside(document, above, row):
            yield from pieces_of(document, above)[-1:]


def _is_beside(document: Document, above: int, row: int) -> bool:
    one, other = document.blocks[above], document.blocks[row]
    prose = one.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM)
    return prose and (one.kind, one.level, one.under) == (other.kind, other.level, other.under)
