"""HTML: the text a reader sees. Block elements become paragraphs, table rows lines, the rest runs on.

What a browser does not show (scripts, styles, hidden elements) and navigation are left out: hidden text is
a known way to plant instructions that no human reviewer sees.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, decode, one_line

_DROPPED = (
    "script, style, nav, noscript, template, svg, math, iframe, object, canvas, audio, video, select, "
    "button, input, textarea, datalist, dialog:not([open]), [hidden]"
)
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])", re.I
)
_BLOCK_TAGS = """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main ol p section summary table tbody
    td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_SNIFFED = 4096


def load_html(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the visible text. Its title is <title>, else the first <h1>."""
    tree = LexborHTMLParser(_decode(path, data))
    if tree.body is None:
        raise UnreadableFile(str(path), "there is no page body in the file; check that it is HTML")
    title = _first_text(tree, "head title") or _first_text(tree, "h1") or path.stem
    for node in tree.css(_DROPPED):
        node.decompose()
    for node in tree.css("[style]"):
        if _HIDDEN_STYLE.search(node.attributes.get("style") or ""):
            node.decompose()
    return [LoadedDocument(clean(_Page().text_of(tree.body)), clean(title))]


def _decode(path: Path, data: bytes) -> str:
    """By the page's own <meta charset> where it holds, else as any text file."""
    if found := _CHARSET.search(data[:_SNIFFED]):
        try:
            return data.decode(found.group(1).decode("ascii"))
        except (LookupError, UnicodeError):
            pass
    return decode(path, data)


def _first_text(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return one_line(node.text(deep=True)) if node is not None else ""


class _Page:
    """Collects paragraphs while the tree is walked."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self.running: list[str] = []
        self.prefix = ""

    def text_of(self, body: LexborNode) -> str:
        for node, opens in _walk(body):
            tag = node.tag or ""
            if tag == "-text":
                self.running.append(re.sub(r"\s+", " ", node.text_content or "") if opens else "")
            elif _is_whole(node):
                if opens:
                    self.flush()
                    self.paragraphs.append(
                        _table(node) if tag == "table" else node.text(deep=True).strip("\n")
                    )
            elif tag == "br" and opens:
                self.running.append("\n")
            elif tag in _BLOCKS:
                self.flush()
                self.prefix = "- " if tag == "li" and opens else self.prefix if opens else ""
        self.flush()
        return "\n\n".join(p for p in self.paragraphs if p.strip())

    def flush(self) -> None:
        """End the running paragraph. The mark of a list item goes before its first text."""
        lines = [one_line(line) for line in "".join(self.running).split("\n")]
        self.running = []
        if text := "\n".join(line for line in lines if line):
            self.paragraphs.append(self.prefix + text)
            self.prefix = ""


def _walk(top: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Every node below `top`, once when it opens and once when it closes; no recursion, so no depth limit."""
    node = top.child
    while node is not None:
        yield node, True
        below = None if _is_whole(node) else node.child
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


def _is_whole(node: LexborNode) -> bool:
    """True for elements read in one go: preformatted text, and tables that hold data, not page layout."""
    return node.tag == "pre" or (node.tag == "table" and len(node.css("table")) == 1)


def _table(table: LexborNode) -> str:
    rows = []
    for row in table.css("caption, tr"):
        cells = row.css("td, th") or [row]
        texts = [one_line(cell.text(deep=True, separator=" ")) for cell in cells]
        if any(texts):
            rows.append(" | ".join(texts))
    return "\n".join(rows)
