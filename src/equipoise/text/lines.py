"""What a line of text is: prose that may be hard-wrapped, or a line that stands on its own.

`blocks` cuts a text into the stretches no sentence may cross: paragraphs, list items, headings, table rows
and lines of code. The rules are CommonMark's where it has one (https://spec.commonmark.org/0.31.2/).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(r"[^\r\n\u2029]*(?:\r\n|[\r\n\u2029]|\Z)")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_WHOLE = re.compile(
    r"""\ {0,3}\#{1,6}\s                # ATX heading
      | \s*\|                           # table row
      | [^|]*\S\ \|\ [^|]*\ \|\         # table row without an outer bar
      | [^\t]*\S\t[^\t]+\t\S            # tab-separated row
      | \s*(?:>>>|\.\.\.|\$)\ \S        # prompt of a shell session
      | (?:\ {4}|\t).*[{};]\s*$         # indented code
    """,
    re.VERBOSE,
)
_UNDERLINE = re.compile(r"\s*(?:={2,}|-{2,}|~{2,}|\*{3,}|_{3,})\s*$")
_SECTION = re.compile(r"\s*\d+(?:\.\d+)+\.?\s+[^\W\d_].{0,80}(?<![.;,:!?])\s*$")
_BULLET = re.compile(r"\s*(?:[-*+•‣▪◦●]|\(?\d{1,3}\)|\(?[a-z]\))\s+\S")
_NUMBER = re.compile(r"\s*(\d{1,3})\.\s+\S")
_QUOTE = re.compile(r"\s{0,3}>\s?")
_CLOSED = re.compile(r"[.:!?;]['\"”’)\]*_]*\s*$")


class Block(NamedTuple):
    """A stretch of text no sentence crosses; `prose` is False where it is one sentence by itself."""

    start: int
    end: int
    prose: bool


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for match in _LINE.finditer(text):
        if match.end() > match.start():
            yield match.start(), match.group()


def _opens_item(line: str, *, before: str, in_list: bool) -> bool:
    """True where `line` begins a list item; in running prose a number must be 1 (CommonMark 5.3)."""
    if _BULLET.match(line):
        return True
    number = _NUMBER.match(line)
    return number is not None and (in_list or not before or number.group(1) == "1")


def _opens_quote(line: str, before: str) -> bool:
    return bool(before) and bool(_QUOTE.match(line)) != bool(_QUOTE.match(before))


def _is_section(line: str, before: str) -> bool:
    return _SECTION.match(line) is not None and (not before or _CLOSED.search(before) is not None)


def blocks(text: str) -> Iterator[Block]:
    """The blocks of `text` in order, not overlapping; what lies between them is white space only.

    One pass over the lines; every pattern looks at one line.
    """
    start: int | None = None
    before, fenced, in_list = "", False, False
    for offset, line in _lines(text):
        if not line.strip():
            if start is not None:
                yield Block(start, offset, True)
            start, before, in_list = None, "", False
            continue
        end = offset + len(line)
        fence = _FENCE.match(line) is not None
        whole = fence or fenced or _WHOLE.match(line) is not None or _is_section(line, before)
        item = _opens_item(line, before=before, in_list=in_list)
        if start is not None and (whole or item or _opens_quote(line, before)):
            yield Block(start, offset, True)
            start = None
        fenced = fenced != fence
        if whole:
            yield Block(offset, end, False)
            before, in_list = "", False
        elif _UNDERLINE.match(line):
            yield Block(offset if start is None else start, end, start is not None)
            start, before, in_list = None, "", False
        else:
            start, before, in_list = offset if start is None else start, line, in_list or item
    if start is not None:
        yield Block(start, len(text), True)
