"""reStructuredText: where its comments stand. They are not in the rendered page."""

import re

_MARKUP = re.compile(r"\s*+\.\.(?:\s++(?P<first>\S++)(?P<rest>[^\n]*+)|\s*+\Z)")
_LITERAL = re.compile(
    r"\s*+\.\. (?:code-block|code|sourcecode|parsed-literal|prompt|doctest|testcode|raw|math)::"
)


def rst_hidden(text: str) -> list[tuple[int, int]]:
    """(start, end) of every line of a comment.

    A comment is `..` that begins no directive, target, footnote or substitution, with the lines after it that
    are indented deeper; literal blocks hold none.
    """
    comments: list[tuple[int, int]] = []
    place = 0
    comment = literal = -1  # how far the block is indented, -1 outside of one
    before = ""
    for line in text.split("\n"):
        end = place + len(line)
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            comment = -1 if before.strip() == ".." else comment
        elif 0 <= comment < indent:
            comments.append((place, end))
        elif not 0 <= literal < indent:
            starts = not before.strip() or before.lstrip().startswith("..")
            comment = indent if starts and _is_comment(line) else -1
            literal = indent if _opens_literal(line) else -1
            if comment >= 0:
                comments.append((place, end))
                literal = -1
        place = end + 1
        before = line
    return comments


def _is_comment(line: str) -> bool:
    markup = _MARKUP.match(line)
    if markup is None:
        return False
    first, rest = markup["first"], markup["rest"] or ""
    if first is None:
        return True
    return not (first.startswith(("_", "[", "|")) or "::" in first or rest.lstrip().startswith("::"))


def _opens_literal(line: str) -> bool:
    if line.lstrip().startswith(".. "):
        return _LITERAL.match(line) is not None
    return line.rstrip().endswith("::")
