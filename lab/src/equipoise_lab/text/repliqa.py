"""What the labels of RepliQA (ServiceNow/repliqa, Monteiro et al. 2024) say: the one rule for training and bench.

A row has `answer` and `long_answer`, the gold passage. Where the document does not answer the question, `answer`
is `NOT_FOUND` and `long_answer` is "NA". Not all rows keep to that; `label` says what the others mean.
"""

import re

from equipoise_lab.text.whole_words import place

NOT_FOUND = "The answer is not found in the document."
"""The answer to a question that its document does not answer."""

DENIAL = re.compile(
    r"\bdocument (?:does|did) ?(?:not|n['’]t)\b|\bdocument (?:does|did)n['’]t\b"
    r"|\b(?:is|are|was|were)(?: not|n['’]t) \w+ in the (?:document|text|passage)",
    re.IGNORECASE,
)
"""Answers that deny in words of their own: what the H&S paper corrected in split repliqa_3 by hand."""

NOTHING = ("", "na", "n/a")
"""How the rows write that a field holds nothing, in lower case and without a full stop."""


def passage(long_answer: str) -> str:
    """The passage that `long_answer` marks, without space around it; "" where it marks none.

    "NA" marks none: it is not to be looked for in a document, where it would be found in "NASA".
    """
    text = long_answer.strip()
    return "" if _bare(text) in (*NOTHING, "none") or text == NOT_FOUND else text


def label(answer: str, long_answer: str, document: str) -> bool | None:
    """Whether the document answers the question, after correction; None where the labels contradict each other.

    An answer that denies, in whatever words, is False. `NOT_FOUND` beside a passage that does stand in the
    document is None, and so is a row with neither answer nor passage.
    """
    marked = passage(long_answer)
    if answer.strip() == NOT_FOUND:
        return False if place(marked, document) is None else None
    if not marked and _bare(answer) in NOTHING:
        return None
    return DENIAL.search(answer) is None


def _bare(text: str) -> str:
    return text.strip().lower().rstrip(".")
