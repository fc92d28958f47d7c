"""Where words stand in a text as whole words: "NA" does not stand in "NASA", nor "no" in "know"."""


def place(words: str, document: str) -> int | None:
    """Where `words` stand first in the document without cutting a word in two; None where nowhere."""
    at = document.find(words) if words else -1
    while at >= 0:
        if not cuts_a_word(document, at, at + len(words)):
            return at
        at = document.find(words, at + 1)
    return None


def cuts_a_word(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] begins or ends inside a word or a number."""
    return any(0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum() for at in (start, end))
