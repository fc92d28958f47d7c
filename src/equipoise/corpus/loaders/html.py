"""HTML: the text a reader sees. Block elements become paragraphs, table rows lines, the rest runs on.

Navigation and controls are left out, and by the rule of `hidden.py` what a browser does not show.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders import css
from equipoise.corpus.loaders.hidden import WHITE, Look, hints, look
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, decode, one_line
from equipoise.corpus.loaders.markup import refuse_tangles
from equipoise.corpus.loaders.selectors import Cascade, Element, TooTangled

_LEFT_OUT_TAGS = """
    audio button canvas datalist head iframe input math nav object script select style svg template textarea title
    video
"""
_LEFT_OUT = frozenset(_LEFT_OUT_TAGS.split())
_BLOCK_TAGS = """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main ol p pre section summary table tbody
    td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""", re.IGNORECASE)
_SNIFFED = 4096
_CHARSETS = (  # not punycode, utf-7 and the like, which are slow or hide what is written
    "utf-8", "iso8859", "cp125", "cp866", "cp874", "cp932", "cp949", "koi8", "gb", "big5", "euc", "shift", "iso2022",
    "mac", "ascii", "latin", "tis", "hz",
)  # fmt: skip
_LINKED = "link[rel~=stylesheet], link[rel~=STYLESHEET]"


def load_html(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the visible text. Its title is <title>, else the first <h1>."""
    source = _decode(path, data)
    refuse_tangles(path, source)
    tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
    root = tree.root
    if tree.body is None or root is None:
        raise UnreadableFile(str(path), "there is no page body in the file; check that it is HTML")
    sheets = _sheets(tree)
    page = _Page(Cascade(sheets), _layout_tables(root))
    elsewhere = any("@import" in sheet for sheet in sheets) or tree.css_first(_LINKED) is not None
    try:
        page.read(root, Look(paper="" if elsewhere else WHITE))
    except TooTangled as error:
        reason = "its style rules take too long to follow; save the page as text"
        raise UnreadableFile(str(path), reason) from error
    head = tree.css_first("head title")
    title = one_line(head.text(deep=True)) if head is not None else ""
    return [LoadedDocument(clean(page.text()), clean(title or page.heading) or path.stem, hidden=page.hidden)]


def _decode(path: Path, data: bytes) -> str:
    """By the page's own <meta charset> where it holds and is one that browsers know, else as any text file."""
    if found := _CHARSET.search(data[:_SNIFFED]):
        try:
            codec = codecs.lookup(found.group(1).decode("ascii"))
            if codec.name.startswith(_CHARSETS):
                return data.decode(codec.name)
        except (LookupError, UnicodeError):
            pass
    return decode(path, data)


def _sheets(tree: LexborHTMLParser) -> list[str]:
    """The style sheets in the page that hold on a screen."""
    sheets = []
    for node in tree.css("style"):
        attributes = node.attributes
        if (attributes.get("type") or "text/css").lower() == "text/css" and css.holds(
            attributes.get("media") or ""
        ):
            sheets.append(node.text(deep=True))
    return sheets


def _walk(top: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Every node below `top`, once when it opens and once when it closes; no recursion, so no depth limit."""
    node = top.child
    while node is not None:
        yield node, True
        below = node.child
        if below is not None:
            node = below
            continue
        while True:
            yield node, False
            if node.next is not None:
                node = node.next
                break
            node = node.parent
            if node is None or node.mem_id == top.mem_id:
                return


def _layout_tables(top: LexborNode) -> set[int]:
    """The tables with tables in them: they lay out a page and are read as blocks."""
    found: set[int] = set()
    opened: list[int] = []
    for node, opens in _walk(top):
        if node.tag == "table":
            if not opens:
                opened.pop()
                continue
            if opened:
                found.add(opened[-1])
            opened.append(node.mem_id)
    return found


def _is_last(node: LexborNode) -> bool:
    after = node.next
    while after is not None and (after.tag or "").startswith(("-", "!")):
        after = after.next
    return after is None


@dataclass(slots=True)
class _Open:
    """An open element, and how text looks in it."""

    look: Look
    element: Element | None = None
    last_child: Element | None = None


@dataclass(slots=True)
class _Page:
    """Collects paragraphs while the tree is walked. `hidden` counts characters that were left out."""

    cascade: Cascade
    layout: set[int]
    paragraphs: list[str] = field(default_factory=list)
    heading: str = ""
    hidden: int = 0
    _running: list[str] = field(default_factory=list)
    _prefix: str = ""
    _skipping: int = 0
    _table: "_Table | None" = None
    _preformatted: int = 0
    _in_heading: list[str] | None = None
    _opened: list[_Open] = field(default_factory=list)

    def read(self, root: LexborNode, around: Look) -> None:
        """Walk the tree below `root`, the <html> element, which stands in the look `around`."""
        self._opened = [_Open(around)]
        self._enter(root, "html")
        for node, opens in _walk(root):
            tag = node.tag or ""
            if tag == "-text":
                if opens:
                    self._take(node.text_content or "")
            elif tag.startswith(("-", "!")):
                continue
            elif opens:
                self._enter(node, tag)
            else:
                self._leave(tag)
        self._flush()

    def text(self) -> str:
        return "\n\n".join(paragraph for paragraph in self.paragraphs if paragraph.strip())

    def _enter(self, node: LexborNode, tag: str) -> None:
        above = self._opened[-1]
        attributes = node.attributes
        element = Element(tag, attributes)
        if self.cascade.has_rules:
            element = Element(tag, attributes, above.element, above.last_child, last=_is_last(node))
            above.last_child = element
        style = self.cascade.style(element, hints(tag, attributes))
        self._opened.append(_Open(look(above.look, style), element))
        self._skipping += tag in _LEFT_OUT
        if tag in _BLOCKS:
            self._border(tag, opens=True)
        if tag == "br":
            self._running.append("\n")
        elif tag == "table" and node.mem_id not in self.layout:
            self._flush(keep=self._preformatted > 0)
            self._table = _Table()
        elif tag == "pre" and self._table is None:
            self._preformatted += 1
        elif tag == "h1" and not self.heading:
            self._in_heading = []

    def _leave(self, tag: str) -> None:
        self._opened.pop()
        self._skipping -= tag in _LEFT_OUT
        if tag == "pre" and self._preformatted and self._table is None:
            self._flush(keep=True)
            self._preformatted -= 1
        elif tag in _BLOCKS:
            self._border(tag, opens=False)
        if tag == "table" and self._table is not None:
            self.paragraphs.append(self._table.text())
            self._table = None
        elif tag == "h1" and self._in_heading is not None:
            self.heading = one_line("".join(self._in_heading))
            self._in_heading = None

    def _take(self, text: str) -> None:
        """Text between tags: shown, hidden, or no text at all."""
        if self._skipping:
            return
        if not self._opened[-1].look.shows:
            self.hidden += len(one_line(text))
            return
        self._running.append(text if self._preformatted else re.sub(r"\s++", " ", text))
        if self._in_heading is not None:
            self._in_heading.append(text)

    def _border(self, tag: str, *, opens: bool) -> None:
        """A block begins or ends here."""
        if self._table is not None:
            self._running.append(" ")
            if tag in {"td", "th", "tr", "caption", "table"}:
                self._table.end_cell("".join(self._running), always=tag in {"td", "th"} and not opens)
                self._running = []
            if tag in {"tr", "caption", "table"}:
                self._table.end_row()
        elif self._preformatted:
            self._running.append("" if not self._running or self._running[-1].endswith("\n") else "\n")
        else:
            self._flush()
            self._prefix = "- " if tag == "li" and opens else self._prefix if opens else ""

    def _flush(self, *, keep: bool = False) -> None:
        """End the running paragraph. The mark of a list item goes before its first text."""
        text = "".join(self._running)
        self._running = []
        if keep:
            text = text.strip("\n")
        else:
            lines = [one_line(line) for line in text.split("\n")]
            text = "\n".join(line for line in lines if line)
        if text.strip():
            self.paragraphs.append(self._prefix + text)
            self._prefix = ""


class _Table:
    """A table that holds data: rows as lines, ` | ` between cells."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._cells: list[str] = []

    def end_cell(self, text: str, *, always: bool) -> None:
        """Take what was read since the last border; nothing is a cell too where one `always` ends."""
        if (text := one_line(text)) or always:
            self._cells.append(text)

    def end_row(self) -> None:
        if any(self._cells):
            self._rows.append(" | ".join(self._cells))
        self._cells = []

    def text(self) -> str:
        return "\n".join(self._rows)
