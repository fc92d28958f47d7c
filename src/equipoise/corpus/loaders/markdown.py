"""Markdown: what is in the source and not in the rendered page (CommonMark 0.31.2).

Comments, link definitions that lead nowhere and the titles of others, and raw HTML elements that the rule of
`hidden.py` hides. Code is shown as it is, so nothing in it is hidden. Every character is looked at a bounded
number of times.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator

from equipoise.corpus.loaders.cascade import Cascade
from equipoise.corpus.loaders.hidden import Look, look

_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)")
_ITEM = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}+[.)])[ \t]")
_BLANK = re.compile(r"\n[ \t]*+(?=\n)")
_TICKS = re.compile(r"`++")
_STRUCK = re.compile(r"~~(?=[^\s~])[^~\n]*+(?:\n(?=[^\s])[^~\n]*+){0,3}+(?<=\S)~~(?!~)")
_MARK = re.compile(r"\\.|`++|(?<!~)~~(?!~)|<(?:!--|(?=[a-zA-Z]))", re.DOTALL)
_MAY_HIDE = re.compile(r"[`~<\[]")
_NAME = re.compile(r"<([a-zA-Z][-\w]*+)")
_ATTRIBUTE = re.compile(
    r"""[\s/]++([a-zA-Z_:@][-\w.:@]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'=<>`]++)))?+"""
)
_END = re.compile(r"\s*+/?+>")
_DEFINITION = re.compile(
    r""" {0,3}\[(?!\^)(?:[^\[\]\\\n]|\\.)++\]:[ \t]*+\n?[ \t]*+(?P<target><[^<>\n]*+>|[^\s<]\S*+)"""
    r"""(?P<title>\s++(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))(?=[ \t]*+(?:\n|\Z)))?+"""
    r"""[ \t]*+(?=\n|\Z)""",
    re.DOTALL,
)
_NEVER_SHOWN = frozenset({"script", "style", "template", "title", "noscript"})
_ALONE = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
_ENDS_WITH_PARAGRAPH = frozenset({"p", "span"})
_MOST_ATTRIBUTES = 50

Offsets = tuple[int, int]


def markdown_hidden(text: str) -> list[Offsets]:
    """(start, end) of every stretch that the rendered page does not show, in order."""
    return list(_Scan(text).spans())


class _Scan:
    """One pass over a Markdown text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._cascade = Cascade(list(_sheets(text)) if "<style" in text.lower() else [])
        self._ticks: dict[int, list[int]] = {}
        for run in _TICKS.finditer(text):
            self._ticks.setdefault(len(run.group()), []).append(run.start())
        self._paragraph_end = self._comment_end = -1

    def spans(self) -> Iterator[Offsets]:
        """The stretches, line by line; code is passed over."""
        place = 0
        fence, after_blank, in_list, in_code = "", True, False, False
        while place < len(self._text):
            end = self._line_end(place)
            line = self._text[place:end]
            opened = _FENCE.match(line)
            if fence:
                closes = opened and opened[1].startswith(fence) and not line[opened.end() :].strip()
                fence = "" if closes else fence
            elif opened:
                fence = opened[1]
            elif not line.strip():
                after_blank = True
                place = end + 1
                continue
            else:
                deep = line.startswith(("    ", "\t"))
                in_code = deep and not in_list and (after_blank or in_code)
                in_list = _ITEM.match(line) is not None or (
                    in_list and (deep or line[0] == " " or not after_blank)
                )
                if not in_code and _MAY_HIDE.search(line):
                    for start, stop in self._in_line(place, end, starts_block=after_blank):
                        yield start, stop
                        end = max(end, stop)
            after_blank = after_blank and self._text[place:end].lstrip().startswith("[")
            place = end + 1 if end == self._line_end(place) else end

    def _line_end(self, place: int) -> int:
        end = self._text.find("\n", place)
        return len(self._text) if end < 0 else end

    def _in_line(self, place: int, end: int, *, starts_block: bool) -> Iterator[Offsets]:
        """Hidden stretches that begin in one line; they may end in a later one."""
        definition = _DEFINITION.match(self._text, place) if starts_block else None
        if definition is not None:
            if not any(c.isalnum() for c in definition["target"]):
                yield definition.span()
            elif definition["title"]:
                yield definition.span("title")
            return
        first = place + len(self._text[place:end]) - len(self._text[place:end].lstrip())
        while (mark := _MARK.search(self._text, place, end)) is not None:
            place = mark.end()
            if mark.group().startswith("`"):
                place = self._after_code(mark)
            elif mark.group() == "<!--":
                stop = self._after_comment(mark, is_block=mark.start() == first)
                if stop:
                    yield mark.start(), stop
                    place = stop
            elif mark.group() == "~~":
                if struck := _STRUCK.match(self._text, mark.start()):
                    yield struck.span()
                    place = struck.end()
            elif mark.group() == "<":
                start, stop = self._element(mark.start())
                if stop > start:
                    yield start, stop
                place = stop
            if place >= end:
                return

    def _after_code(self, mark: re.Match[str]) -> int:
        """Behind the code span that begins with these backticks, or behind the backticks where none does."""
        starts = self._ticks.get(len(mark.group()), [])  # none where a backslash stands before a longer run
        number = bisect_right(starts, mark.start())
        if number < len(starts) and starts[number] < self._end_of_paragraph(mark.start()):
            return starts[number] + len(mark.group())
        return mark.end()

    def _end_of_paragraph(self, place: int) -> int:
        if self._paragraph_end < place:
            match = _BLANK.search(self._text, place)
            self._paragraph_end = match.start() if match else len(self._text)
        return self._paragraph_end

    def _after_comment(self, mark: re.Match[str], *, is_block: bool) -> int:
        """Behind the comment that begins here, 0 where it is text because it never ends."""
        if self._text.startswith((">", "->"), mark.end()):
            return mark.end() + 2
        if self._comment_end < mark.end():
            end = self._text.find("-->", mark.end())
            self._comment_end = len(self._text) if end < 0 else end
        inside = self._comment_end < self._end_of_paragraph(mark.start())
        return min(self._comment_end + 3, len(self._text)) if is_block or inside else 0

    def _element(self, start: int) -> Offsets:
        """The stretch of an element that is hidden; (end, end) of its tag, or of what is none, where it is not."""
        name = _NAME.match(self._text, start)
        tag = name[1].lower() if name else ""
        attributes, behind = _attributes(self._text, name.end() if name else start + 1)
        if behind is None:
            return start + 1, start + 1
        shown = tag not in _NEVER_SHOWN and look(Look(), self._cascade.style_alone(tag, attributes)).shows
        if tag in _ALONE or shown:
            return behind, behind
        return start, self._end_of_element(tag, behind)

    def _end_of_element(self, tag: str, place: int) -> int:
        depth = 1
        limit = self._end_of_paragraph(place) if tag in _ENDS_WITH_PARAGRAPH else len(self._text)
        for match in re.compile(rf"<(/?+){tag}(?=[\s/>])[^<>]*+>?+", re.IGNORECASE).finditer(
            self._text, place, limit
        ):
            depth += -1 if match[1] else 1
            if depth == 0:
                return match.end()
        return limit


def _attributes(text: str, place: int) -> tuple[dict[str, str | None], int | None]:
    """The attributes of a tag from behind its name, and where the tag ends: None where it is no tag."""
    attributes: dict[str, str | None] = {}
    for _ in range(_MOST_ATTRIBUTES):
        if end := _END.match(text, place):
            return attributes, end.end()
        match = _ATTRIBUTE.match(text, place)
        if match is None:
            return attributes, None
        value = next((group for group in match.groups()[1:] if group is not None), "")
        attributes.setdefault(match[1].lower(), html.unescape(value))
        place = match.end()
    return attributes, None


def _sheets(text: str) -> Iterator[str]:
    """The contents of the `<style>` elements."""
    lower = text.lower()
    place = lower.find("<style")
    while place >= 0:
        start = lower.find(">", place) + 1
        end = lower.find("</style", start)
        yield text[start : end if end >= 0 else len(text)] if start else ""
        place = lower.find("<style", end) if start and end >= 0 else -1
