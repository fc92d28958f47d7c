"""Text from outside (documents, file names, questions, endpoints), made safe to show and to put into a line.

A terminal obeys ESC, a reader is misled by characters that turn the direction of writing, and a line break in a
title begins a line of its own in a prompt. Two forms: one for people, in which such characters are seen, and
one for titles, in which they are gone.
"""

import unicodedata

MAX_TITLE = 200
"""Characters of a title. It stands in every prompt that holds a passage of its document."""

_KEPT = frozenset("\n\t")
_HARMLESS = frozenset("\u00ad\u200c\u200d")  # soft hyphens; joiners that Persian words and emoji need


def visible(text: str) -> str:
    """`text` with every control, direction and other invisible character written out; line ends and tabs stay.

    >>> visible("a\\x1b[2Jb\\u202ec")
    'a\\\\x1b[2Jb\\\\u202ec'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in _KEPT or not _acts(c) else _written(c) for c in text)


def title(text: str, most: int = MAX_TITLE) -> str:
    """`text` as a title: one line, white space folded, without characters that act, at most `most` characters.

    >>> title("Fees\\n- quote\\x1b[2J")
    'Fees - quote [2J'
    """
    head = text[: 8 * most]  # bounds the work on hostile titles
    plain = head.isascii() and head.isprintable()
    line = " ".join((head if plain else "".join(" " if _acts(c) else c for c in head)).split())
    return line if len(line) <= most and len(text) <= 8 * most else f"{line[: most - 1].rstrip()}…"


def _acts(c: str) -> bool:
    """True for what moves a cursor, turns text around or cannot be seen: C0, C1, format, surrogates, line ends."""
    return unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and c not in _HARMLESS


def _written(c: str) -> str:
    return c.encode("unicode_escape").decode("ascii")


def flowing(text: str) -> str:
    """A quote on one line: white space folded, without the `>` that marks the lines of a quotation in mail and
    Markdown."""
    lines = (line.strip() for line in text.splitlines())
    return " ".join(" ".join(line.lstrip("> ") if line.startswith(">") else line for line in lines).split())
