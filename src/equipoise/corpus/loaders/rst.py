"""reStructuredText: where its comments stand, which are not in the rendered page, and its simple tables."""

import re

_MARKUP = re.compile(r"\s*+\.\.(?:\s++(?P<first>\S++)(?P<rest>[^\n]*+)|\s*+\Z)")
_BORDER = re.compile(r"\s*+=++(?:\s++=++)++\s*+")
_BORDERS = 3  # above the names, below them, and below the rows
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


def with_bars(text: str) -> str:
    """`text` with its simple tables (`====` above and below their columns) as tables of Markdown, line by line.

    A line without a first cell goes on in the row above, and is empty itself.
    """
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if _BORDER.fullmatch(lines[at]) is None:
            at += 1
            continue
        end = next((row for row in range(at, len(lines)) if not lines[row].strip()), len(lines))
        borders = [row for row in range(at, end) if _BORDER.fullmatch(lines[row])]
        if len(borders) == _BORDERS and borders[-1] == end - 1:
            places = [match.start() for match in re.finditer("=+", lines[at])]
            rows = {row: _cells(lines[row], places) for row in range(at, end) if row not in borders}
            _join(rows, borders[1])
            lines[at:end] = [_bar(rows[row]) if row in rows else "" for row in range(at, end)]
            lines[borders[1]] = "|---" * len(places) + "|"
        at = end
    return "\n".join(lines)


def _cells(line: str, places: list[int]) -> list[str]:
    return [line[start:end].strip() for start, end in zip(places, [*places[1:], None], strict=True)]


def _join(rows: dict[int, list[str]], middle: int) -> None:
    """Put lines that go on with the row above into it."""
    whole = next(iter(rows))
    for row, cells in rows.items():
        if row > whole and (not cells[0] or row < middle):
            rows[whole] = [
                f"{above} {below}".strip() for above, below in zip(rows[whole], cells, strict=True)
            ]
            rows[row] = [""] * len(cells)
        else:
            whole = row


def _bar(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
