"""Sentences that belong together: a rule and its exception, one case and another, and what stands below a heading such
as "Not covered"."""

import re

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
