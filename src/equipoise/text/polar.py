"""Questions that want yes or no."""

import re

_AUXILIARY = (
    r"am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|hasn't|haven't|hadn't|can't|couldn't|won't|wouldn't|shouldn't"
)
_OPENING = re.compile(rf"(?:\A|[:;,.]\s+)(?:{_AUXILIARY})\b", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b(?!\s+not\b)", re.IGNORECASE)


def is_yes_no(question: str) -> bool:
    """Whether `question` is of the form that "yes" or "no" answers: it, or its last clause, begins with an
    auxiliary verb, and it offers no choice ("red or blue?").

    >>> is_yes_no("Can I return it after 30 days?"), is_yes_no("When can I return it?")
    (True, False)
    """
    text = " ".join(question.replace("\u2019", "'").split())
    asked = text.rstrip("?")
    opens = _OPENING.search(asked, asked.rfind("?") + 1) is not None
    return opens and not _CHOICE.search(text)
