"""What a line of text is: prose that may be hard-wrapped, or a line that stands on its own.

The rules are CommonMark's (https://spec.commonmark.org/0.31.2/) and docutils' where they have one. Every pattern
looks at one line.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(r"[^\r\n\u2029]*+(?:\r\n|[\r\n\u2029]|\Z)")
_FENCE = re.compile(r"\s*+(`{3,}+(?![^`\n]*+`)|~{3,}+)")
_ATX = re.compile(r"\ {0,3}+(\#{1,6}+)\s")
_ROW = re.compile(r"\s*+\||[^|]*+(?<=\S\ )\|\ [^|]*+(?<=\ )\|\ |[^\t]*+(?<=\S)\t[^\t]++\t\S")
_SEPARATOR = re.compile(r"[\s|:+=-]++")
_BORDER = re.compile(r"\s*+\+(?::?+[-=]++:?+\+)++\s*+")
_COLUMNS = re.compile(r"(?:-{3,}+|={3,}+)(?:\s++(?:-{3,}+|={3,}+))++")
_PROMPT = re.compile(r"\s*+(?:>>>|\.\.\.|\$)\ \S")
_SECTION = re.compile(r"\s*+((?:\d++|[A-Z])(?:\.\d++)++)\.?+\s++[^\W\d_]")
_ADDRESS = re.compile(r"\s*+(?=\S*?(?:\b0\b|\d{3}))\d{1,3}+(?:\.\d{1,3}+){3}+\s")
BULLETS = "-*+•‣▪■◦●∗⁃"
"""Marks of items, for a class of a pattern."""
_BULLET = re.compile(rf"\s*+(?:[{BULLETS}]|\(?+\d{{1,3}}+\)|\(?+[a-z]\)|#\.)\s++\S")
_NUMBER = re.compile(r"\s*+(\d{1,3}+)\.\s++\S")
_ROUND = re.compile(r"\s*+o\s++\S")
_NOTE = re.compile(r"\[\^[^\[\]\s]++\]:\s|\[fn:\w++\]\s")
_DEFINITION = re.compile(
    r"\[(?!\^)[^\[\]]{1,200}+\]:\s*+(?:<[^<>]++>|(?=\S*?(?:[/#]|\.[^\W\d]))\S++)(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+"
)
_ENTRY = re.compile(
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2}\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d\ |\[\d{1,2}:\d\d(?::\d\d)?\]\ "
)
_QUOTE = re.compile(r"(?:\s{0,3}+>(?!>>))++[ \t]?+")
_CLOSERS = "'\"”’)]*_"
_DOTS = 4
_LEADER = re.compile(rf"(?:\.\s?){{{_DOTS}}}")
_RULES = frozenset("=-~*_^\"'#+`:.")
_SHORT_RULES = frozenset("=-~")
NAMED_CELL = re.compile(r"[^:]{1,150}: ")
BETWEEN_CELLS = "; "
_SECTION_LENGTH = 90
_CODE_MARKS = frozenset("{}=<>$|\\@&;#/_")
_PROSE_WORDS = 6
_DIGITS, _ROMAN = 4, 7  # characters of a page number


class Line(NamedTuple):
    """A line without white space around it: text[start:end]; `raw` is the line with its white space, and with spaces
    for the marks of a quotation (`> `), `indent` the spaces before its words, a tab for 4. `bare` are the words, empty
    for a blank line, also a quoted one."""

    start: int
    end: int
    indent: int
    raw: str
    quoted: bool
    bare: str


def lines(text: str) -> Iterator[Line]:
    """The lines of `text` in order; of a blank one that is not quoted, start and end are the same."""
    for match in _LINE.finditer(text):
        raw = match.group()
        if raw:
            words = raw.lstrip()
            start, bare = match.end() - len(words), words.rstrip()
            end, margin = start + len(bare), len(raw) - len(words)
            marks = _QUOTE.match(raw) if bare.startswith(">") else None
            if marks:
                inner = raw[marks.end() :]
                words, raw, bare = inner.lstrip(), " " * marks.end() + inner, inner.strip()
                margin = len(inner) - len(words)
            before = raw[len(raw) - len(words) - margin : len(raw) - len(words)]
            yield Line(start, end, margin + 3 * before.count("\t"), raw, marks is not None, bare)


def fence_of(line: str) -> str:
    """The backticks or tildes that open or close fenced code, empty for another line."""
    match = _FENCE.match(line)
    return match[1] if match else ""


def atx_level(line: str) -> int:
    """1 to 6 for a heading with `#` before it, 0 for another line."""
    match = _ATX.match(line)
    return len(match[1]) if match else 0


def is_numbered(text: str) -> bool:
    """Whether a line begins a numbered item."""
    return _NUMBER.match(text) is not None


def is_loaded_row(text: str) -> bool:
    """Whether a line of a loaded document is a row of a table: `name: value; name: value`, or cells between bars."""
    parts = text.split(BETWEEN_CELLS)
    named = sum(NAMED_CELL.match(part) is not None for part in parts)
    return (len(parts) > 1 and 2 * named > len(parts)) or (" | " in text and "---" not in text)


def is_row(line: str) -> bool:
    """True for a row of a table: cells between bars or tabs."""
    return _ROW.match(line) is not None


def is_separator(bare: str) -> bool:
    """True for the line below the head of a table, and any other of nothing but strokes."""
    return _SEPARATOR.fullmatch(bare) is not None


def is_border(line: str) -> bool:
    """True for a border of a table that is drawn with `+` and `-`."""
    return _BORDER.fullmatch(line) is not None


def rules_columns(bare: str) -> bool:
    """True for the line below column names that spaces separate: a run of `-` or `=` below each."""
    return _COLUMNS.fullmatch(bare) is not None


def is_prompt(line: str) -> bool:
    """True for a line typed into a shell or an interpreter."""
    return _PROMPT.match(line) is not None


def rule_of(bare: str) -> str:
    """The mark that a rule or an underline is made of, empty for another line."""
    least = 2 if bare[:1] in _SHORT_RULES else 3
    return bare[0] if len(bare) >= least and bare[0] in _RULES and not bare.strip(bare[0]) else ""


def section_depth(line: str, before: str) -> int:
    """The depth of a numbered heading, 2 for `3.2 Methods` or `A.1 Tables`; 0 where `line`, which comes after the line
    `before`, is none."""
    match = None if _ADDRESS.match(line) else _SECTION.match(line)
    if match is None or len(line.strip()) > _SECTION_LENGTH or line.rstrip().endswith(tuple(".;,:!?")):
        return 0
    begins = not before or is_closed(before) or (_NUMBER.match(before) and len(before) <= _SECTION_LENGTH)
    return match[1].count(".") + 1 if begins else 0


def opens_item(line: str, *, before: str, in_list: bool) -> bool:
    """True where `line` begins a list item; in running prose a number must be 1 (CommonMark 5.3)."""
    if _BULLET.match(line) or (_ROUND.match(line) and (in_list or not before)):
        return True
    number = _NUMBER.match(line)
    return number is not None and (in_list or not before or number.group(1) == "1")


def opens_entry(bare: str) -> bool:
    """Whether an entry of a log or a chat begins with its time.

    >>> opens_entry("2025-03-04 13:07:44 ERROR job 4061 failed"), opens_entry("[09:12] <ada> Who has the key?")
    (True, True)
    >>> opens_entry("13:07 is when the bus leaves."), opens_entry("2025-03-04 is a Tuesday.")
    (False, False)
    """
    return _ENTRY.match(bare) is not None


def opens_note(bare: str) -> bool:
    """True where a line begins a note of Markdown or Org."""
    return _NOTE.match(bare) is not None


def is_definition(bare: str) -> bool:
    """Whether a line says where a link of Markdown leads.

    >>> is_definition("[fares]: https://ferry.example/fares 'Fares'"), is_definition("[Ann]: Yes.")
    (True, False)
    """
    return _DEFINITION.fullmatch(bare) is not None


def is_closed(line: str) -> bool:
    """True where the line ends like a sentence, or with a colon or semicolon."""
    return line.rstrip().rstrip(_CLOSERS).endswith(tuple(".:!?;"))


def is_contents(bare: str) -> bool:
    """True for a line of a table of contents with its leader: dots, then a page number."""
    leader = _LEADER.search(bare) if bare.count(".") >= _DOTS else None
    page = bare[leader.end() :].strip(" .\t") if leader else ""
    return page.isdecimal() or (0 < len(page) <= _ROMAN and not page.strip("ivxlc"))


def has_page_number(bare: str) -> bool:
    """True where a number stands apart at the end of a line that begins with a letter."""
    words = bare.rstrip("0123456789")
    return bare[:1].isalpha() and 0 < len(bare) - len(words) <= _DIGITS and words.endswith(("  ", "\t", "."))


def is_prose(bare: str) -> bool:
    """True where most of a line are words: at least six of letters, and few marks of code."""
    words = bare.split()
    plain = sum(word.strip(".,;:!?()\"'“”‘’`*-—").isalpha() for word in words)
    marks = sum(map(bare.count, _CODE_MARKS))
    return plain >= _PROSE_WORDS and 3 * plain >= 2 * len(words) and 20 * marks <= len(bare)


def looks_like_code(bare: str) -> bool:
    """True where a line holds marks of code, does not end like a sentence and does not read as prose."""
    marked = not _CODE_MARKS.isdisjoint(bare) or "()" in bare or "--" in bare
    return marked and not bare.endswith(".") and not is_prose(bare)
