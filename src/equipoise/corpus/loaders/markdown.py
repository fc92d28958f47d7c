"""Markdown: what is in the source and not in the rendered page (CommonMark 0.31.2), and what HTML in it shows.

Hidden are comments, link definitions that lead nowhere and the titles of others, and raw HTML elements that the rule of
`hidden.py` hides. Tags and references to characters are read as HTML; tables, lists and preformatted text in HTML are
only located. Code is shown as it is. Every character is looked at a bounded number of times.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator

from equipoise.corpus.loaders.cascade import Cascade
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.loaded import clean, one_line, placed, words
from equipoise.corpus.loaders.templates import without_tags
from equipoise.text.lines import fence_of

_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)")
_ITEM = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}+[.)])[ \t]")
_BLANK = re.compile(r"\n[ \t]*+(?=\n)")
_TICKS = re.compile(r"`++")
_STRUCK = re.compile(r"~~(?=[^\s~])[^~\n]*+(?:\n(?=[^\s])[^~\n]*+){0,3}+(?<=\S)~~(?!~)")
_MARK = re.compile(
    r"\\.|`++|:(?:octicons|material|fontawesome|simple)-[\w-]++:(?:\{[^{}\n]*+\})?+|(?<!~)~~(?!~)|<(?:!--|/[a-zA-Z][^<>\n]{0,30}+>|(?=[a-zA-Z]))"
    r"|&(?:#\d{1,7}+|#[xX][0-9a-fA-F]{1,6}+|[a-zA-Z]\w{1,31}+);",
    re.DOTALL,
)
_MAY_HIDE = re.compile(r"[`~<\[&:\\]")
_ESCAPED = frozenset("$%&',/:;?@^\"=_")
"""Characters that begin no markup here, so that a backslash before them is dropped."""
_RAISED = re.compile(r"<(su[bp])>(<a\b[^<>\n]{0,200}+>)?+([^<\n]{1,40}+)(?:</a>)?+</\1>", re.IGNORECASE)
_PLACES = {"sup": "super", "sub": "sub"}
_WHOLE = frozenset({"dl", "ol", "pre", "table", "ul"})
"""Elements that are read by themselves, unless there is Markdown in them."""
_MARKED = re.compile(r"\n[ \t]*+\n[ \t]*+(?:#{1,6}\s|[-*+]\s|\d{1,9}+[.)]\s|\||>)|\n[ \t]*+(?:`{3}|~{3})")
_MOST_IN_VAIN = 50  # elements of _WHOLE that are tried and cannot be read by themselves
_RUNNING = words("""
    a abbr audio b bdi bdo big cite del dfn em embed font i iframe img ins kbd mark q s samp small span strike strong
    sub sup time tt u var video wbr
""")
_BLOCKS = words("""
    blockquote br center dd details div dl dt figcaption figure footer header hr li main ol p picture section source
    summary table tbody td tfoot th thead tr ul
""")
_ALT_WORDS = 3  # of a picture's text that says more than a name
BREAK = "\0"
"""Stands for `<br>`; no text contains it."""
_ATTRIBUTE = re.compile(
    r"""[\s/]++([a-zA-Z_:@][-\w.:@]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'=<>`]++)))?+"""
)
_TAG = re.compile(rf"<([a-zA-Z][-\w]*+)((?:{_ATTRIBUTE.pattern}){{0,50}}+)\s*+/?+>")
_SHEET = re.compile(r"<style[^>]*+>((?:[^<]++|<(?!/style))*+)", re.IGNORECASE)
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

_NOTE = re.compile(
    r"""([ \t]*+)(?:!!!|\?\?\?\+?+|===[+!]?+|:{3,}+)[ \t]*+"""
    r"""(?:(?P<kind>\w[\w-]*+)(?:[ \t]++(?P<more>[^\s"][^"\n]*+))?+)?+"""
    r"""[ \t]*+(?:"(?P<title>[^"\n]*+)"|\[(?P<named>[^\]\n]*+)\])?+[ \t]*+"""
)
_ALERT = re.compile(r"([ \t]*+>[ \t]*+)\[!(\w++)\][ \t]*+")
_NOTE_ENDS = re.compile(r"[ \t]*+:{3,}+[ \t]*+")
_CLOSED = (":", ".", "!", "?")

Offsets = tuple[int, int]


def with_notes(text: str) -> str:
    """`text` with the notes and tabs of MkDocs, Docusaurus and GitHub as items of a list, under their titles and on the
    same lines; code stays as it is.

    >>> with_notes('!!! tip "Default login"\\n\\n    Name: admin')
    '- Default login\\n\\n    Name: admin'
    """
    fence, lines = "", text.split("\n")
    for row, line in enumerate(lines):
        if mark := fence_of(line):
            fence = "" if fence and mark.startswith(fence) else fence or mark
        elif not fence and line.lstrip().startswith(("!!!", "???", "===", ":::", ">")):
            lines[row] = _as_item(line, goes_on=bool("".join(lines[row + 1 : row + 2]).strip()))
    return "\n".join(lines)


def _as_item(line: str, *, goes_on: bool) -> str:
    """The title of the note or tab that a line begins, "" if it ends one, else the line; with a colon if text `goes_on`
    right below (after a blank line the colon would make deeper lines code)."""
    if alert := _ALERT.fullmatch(line):
        return f"{alert[1]}{alert[2].capitalize()}:"
    if _NOTE_ENDS.fullmatch(line):
        return ""
    note = _NOTE.fullmatch(line)
    said = note and (note["title"] or note["named"] or note["more"] or (note["kind"] or "").capitalize())
    if not note or not said:
        return line
    said = said.strip()
    return f"{note[1]}- {said}{':' if goes_on and not said.endswith(_CLOSED) else ''}"


class Scan:
    """One pass over a Markdown text; with `has_html`, tags and character references are HTML. `hidden` are the spans
    that the rendered page does not show, `shown` those that it shows as another text, `whole` the elements of HTML that
    are read by themselves; each in order. `sheets` are the style sheets of the text."""

    def __init__(self, text: str, *, has_html: bool = True) -> None:
        self._text, self._has_html = text, has_html
        self.shown: list[tuple[int, int, str]] = []
        self.whole: list[Offsets] = []
        self.sheets = _SHEET.findall(text)
        self._cascade = Cascade(self.sheets)
        self._vain = 0
        self._ticks: dict[int, list[int]] = {}
        for run in _TICKS.finditer(text):
            self._ticks.setdefault(len(run.group()), []).append(run.start())
        self._paragraph_end = self._comment_end = -1
        self.hidden = list(self._spans())

    def _spans(self) -> Iterator[Offsets]:
        """What is hidden, line by line; code is passed over."""
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
                if self._has_html and not in_code and not without_tags(line):
                    self.shown.append((place, end, ""))
                elif not in_code and _MAY_HIDE.search(line):
                    for start, stop in self._in_line(place, end, starts_block=after_blank):
                        yield start, stop
                        end = max(end, stop)
                    end = max(end, self.whole[-1][1] if self.whole else 0)
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
            elif mark.group() in {"<!--", "~~"}:
                stop = self._after(mark, is_block=mark.start() == first)
                if stop:
                    yield mark.start(), stop
                    place = stop
            elif mark.group() == "<":
                start, place = self._element(mark.start(), is_first=mark.start() == first)
                if place > start:
                    yield start, place
            elif mark.group()[0] in ":\\":
                self._otherwise(mark)
            elif self._has_html:
                self._mark(mark)
            if place >= end:
                return

    def _after_code(self, mark: re.Match[str]) -> int:
        """The end of the code span that begins with these backticks, or of the backticks if none does."""
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

    def _after(self, mark: re.Match[str], *, is_block: bool) -> int:
        """The end of the comment or struck text that begins here, 0 if it never ends and so is plain text."""
        if mark.group() == "~~":
            struck = _STRUCK.match(self._text, mark.start())
            return struck.end() if struck else 0
        if self._text.startswith((">", "->"), mark.end()):
            return mark.end() + 2
        if self._comment_end < mark.end():
            end = self._text.find("-->", mark.end())
            self._comment_end = len(self._text) if end < 0 else end
        inside = self._comment_end < self._end_of_paragraph(mark.start())
        return min(self._comment_end + 3, len(self._text)) if is_block or inside else 0

    def _otherwise(self, mark: re.Match[str]) -> None:
        """An icon, which says nothing, or a character behind a backslash."""
        said = mark.group()
        if said[0] == ":":
            self.shown.append((*mark.span(), ""))
        elif said[1] in _ESCAPED:
            self.shown.append((*mark.span(), said[1]))

    def _mark(self, mark: re.Match[str]) -> None:
        """Take a closing tag or a character reference."""
        said = mark.group()
        if said[0] == "&":
            char = clean(html.unescape(said)).replace("\n", " ").replace("\xa0", " ")
            self.shown.append((*mark.span(), "\\|" if char == "|" else char))
        elif said[0] == "<":
            self._show(said[2:-1].strip().lower(), {}, *mark.span())

    def _show(self, tag: str, attributes: dict[str, str | None], start: int, end: int) -> None:
        """A tag stands for nothing, a picture for its text, `<br>` for the end of a line; an unknown one is text."""
        if not self._has_html or (tag not in _RUNNING and tag not in _BLOCKS and tag != "code"):
            return
        alt = one_line(attributes.get("alt") or "") if tag == "img" else ""
        glued = tag in _BLOCKS and self._text[start - 1 : start].strip()
        said = (
            f" [{alt}] " if len(alt.split()) >= _ALT_WORDS else "`" if tag == "code" else " " if glued else ""
        )
        if tag == "br":
            line = self._text[self._text.rfind("\n", 0, start) + 1 : self._line_end(end)]
            goes_on = self._text[end : self._line_end(end)].strip()
            said = "" if not goes_on else " " if "|" in line or line.startswith("#") else f" {BREAK}"
        self.shown.append((start, end, said + "\n" * self._text.count("\n", start, end)))

    def _whole(self, tag: str, start: int, behind: int) -> int:
        """Where an element ends that is read by itself, 0 for another one."""
        if tag not in _WHOLE or not self._has_html or self._vain > _MOST_IN_VAIN:
            return 0
        end = self._end_of_element(tag, behind)
        is_closed = self._text[behind:end].endswith(">") and self._text[start:end].lower().endswith(
            f"</{tag}>"
        )
        alone = not self._text[end : self._line_end(end)].strip()
        if is_closed and alone and (tag == "pre" or _MARKED.search(self._text, start, end) is None):
            self.whole.append((start, end))
            return end
        self._vain += 1
        return 0

    def _element(self, start: int, *, is_first: bool) -> Offsets:
        """The span of a hidden element; (end, end) of what was read, such as the tag, if nothing is hidden."""
        found = _TAG.match(self._text, start)
        if found is None:
            return start + 1, start + 1
        tag, behind = found[1].lower(), found.end()
        attributes: dict[str, str | None] = {}
        at = found.start(2)
        while attribute := _ATTRIBUTE.match(self._text, at, found.end(2)):
            name, *values = attribute.groups("")
            attributes.setdefault(name.lower(), html.unescape("".join(values)))
            at = attribute.end()
        shown = tag not in _NEVER_SHOWN and look(Look(), self._cascade.style_alone(tag, attributes)).shows
        if tag in _ALONE or shown:
            if is_first and (end := self._whole(tag, start, behind)):
                return end, end
            if self._has_html and (raised := _RAISED.match(self._text, start)):
                before = self._text[start - 1 : start]
                text = html.unescape(raised[3])
                place = _PLACES[raised[1].lower()]
                self.shown.append((*raised.span(), placed(text, before, place, is_note=bool(raised[2]))))
                return raised.end(), raised.end()
            self._show(tag, attributes, start, behind)
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
