"""HTML: the text a reader sees. Block elements become blocks, table rows lines, the rest runs on.

Navigation is an aside. Controls are left out, and by the rule of `hidden.py` what a browser does not show.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from equipoise.core import metadata
from equipoise.core.errors import UnreadableFile
from equipoise.core.metadata import Scalar
from equipoise.corpus.loaders import css, encodings
from equipoise.corpus.loaders.cascade import Cascade
from equipoise.corpus.loaders.colors import CLEAR, near
from equipoise.corpus.loaders.hidden import WHITE, Look, look
from equipoise.corpus.loaders.htmltables import layout_of
from equipoise.corpus.loaders.loaded import decode, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.page import Page

_CHARSET = re.compile(rb"""<meta[^<>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""", re.IGNORECASE)
_SNIFFED = 4096
_PICTURES = "button, canvas, embed, iframe, img, input, mark, object, select, svg, textarea, video"
_LINKED = "link[rel~=stylesheet], link[rel~=STYLESHEET]"
_DATES = (
    "article:modified_time", "last-modified", "dcterms.modified", "article:published_time", "dcterms.date", "date",
)  # fmt: skip


class Linked:
    """Finds the style sheets that pages link to, here none. `notes` has by id of a note the block that refers to it."""

    def __init__(self) -> None:
        self.notes: dict[str, int] = {}

    def find(self, href: str) -> str | None:
        """The text of a style sheet, None where it is not at hand."""
        return None

    def cascade(self, sheets: list[str]) -> Cascade:
        """The rules of these sheets."""
        return Cascade(sheets)


def read_page(path: Path, source: str, outline: Outline, linked: "Linked | None" = None) -> str:
    """Add the blocks of a page to `outline`; its title, empty without one. Raises UnreadableFile, MemoryError.

    `linked` has the style sheets that the page links to, none by default.
    """
    return read_tree(parsed(path, source), outline, linked)


def parsed(path: Path, source: str) -> LexborHTMLParser:
    """The tree of a page, which has a body. Raises UnreadableFile, MemoryError."""
    try:
        tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:  # any text is HTML: the parser fails only for want of memory
        raise MemoryError from error
    if tree.body is None or tree.root is None:
        raise UnreadableFile(str(path), "there is no page body in the file; check that it is HTML")
    return tree


def read_tree(tree: LexborHTMLParser, outline: Outline, linked: "Linked | None" = None) -> str:
    """As `read_page`, of a page that is `parsed`."""
    linked = linked or Linked()
    sheets, elsewhere = _sheets(tree, linked)
    cascade = linked.cascade(sheets)
    cascade.look_at(tree)
    page = Page(outline, cascade, *layout_of(tree), linked.notes)
    if (root := tree.root) is not None:
        bare = not elsewhere and _is_bare(tree, cascade)
        page.read(root, Look(paper="" if elsewhere else WHITE, bare=bare))
    head = tree.css_first("head title")
    title = one_line(head.text(deep=True)) if head is not None else ""
    return title or page.heading


def dated(tree: LexborHTMLParser) -> dict[str, Scalar]:
    """The day on which the page says that it was changed last, else published."""
    for name in _DATES:
        node = tree.css_first(f'meta[property="{name}" i][content], meta[name="{name}" i][content]')
        said = (node.attributes.get("content") or "").strip()[:10] if node else ""
        if isinstance(day := metadata.cleaned({metadata.DATE: said}).get(metadata.DATE), date):
            return {metadata.DATE: day}
    return {}


def decode_page(path: Path, data: bytes) -> str:
    """The text of a page: by its <meta charset> if browsers know that and its bytes fit, else as that of any file."""
    said = _CHARSET.search(data[:_SNIFFED])
    if said and (codec := encodings.known(said[1].decode("ascii"))):
        with suppress(UnicodeError):
            return data.decode(codec)
    return decode(path, data)


def _is_bare(tree: LexborHTMLParser, cascade: Cascade) -> bool:
    """True where a page has no picture, and no box of another colour than its own."""
    if tree.css_first(_PICTURES) is not None:
        return False
    page = Look(bare=True)
    for node in tree.css("html, body"):
        page = look(page, cascade.style(node.tag or "", node.attributes, node.mem_id))
    ground = page.paper
    return isinstance(ground, tuple) and all(
        paper == CLEAR or (isinstance(paper, tuple) and near(paper, ground)) for paper in cascade.papers(tree)
    )


def _sheets(tree: LexborHTMLParser, linked: Linked) -> tuple[list[str], bool]:
    """The style sheets that hold on a screen, and whether there are others that are not at hand."""
    sheets: list[str | None] = [
        linked.find(node.attributes.get("href") or "") for node in _holding(tree, _LINKED)
    ]
    for node in _holding(tree, "style"):
        if (node.attributes.get("type") or "text/css").lower() == "text/css":
            sheets.append(node.text(deep=True))
    texts = [sheet for sheet in sheets if sheet is not None]
    return texts, len(texts) < len(sheets) or any("@import" in sheet for sheet in texts)


def _holding(tree: LexborHTMLParser, selector: str) -> Iterator[LexborNode]:
    """The elements that `selector` finds, without style sheets for other `media` than a screen."""
    return (node for node in tree.css(selector) if css.holds(node.attributes.get("media") or ""))
