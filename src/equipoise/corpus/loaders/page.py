"""The blocks of an HTML page: headings, paragraphs, list items, code, table rows, and what only leads elsewhere."""

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.asides import ASIDE_TAGS, aside_of, is_panel
from equipoise.corpus.loaders.cascade import Cascade
from equipoise.corpus.loaders.grid import is_label, nested_text
from equipoise.corpus.loaders.hidden import Look, look
from equipoise.corpus.loaders.htmltables import OpenTable
from equipoise.corpus.loaders.loaded import LOWEST, one_line, placed, whole, words
from equipoise.corpus.loaders.numbering import html_list, numeral
from equipoise.corpus.loaders.outline import APART, Outline
from equipoise.corpus.loaders.templates import without_tags

_LEFT_OUT = words("""
    audio button canvas datalist head iframe input math object script select style svg template textarea title video
""")
_BLOCKS = words("""
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol p pre section summary table
    tbody td tfoot th thead tr ul
""")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"dl", "menu", "ol", "ul"})
_ITEMS = frozenset({"dd", "dt", "li"})
_RIGHTS = re.compile(r"[^\w©(]*+(?:©|\(c\)|copyright|all rights)", re.IGNORECASE)
_CONTROLS = "[role=tab], [aria-expanded]"
_FOLDING = frozenset({"display", "visibility", "height", "max-height", "content-visibility"})
"""Properties that hide the panel of a tab or an accordion until a reader clicks."""
_RAISED = {"sub": "sub", "sup": "super"}
_BRACKETS = frozenset("()（）[]【】")  # of an `<rp>`, which part a word from how it is read
_ALT_WORDS = 3  # of a picture's text that says more than a name
_LONG = 60  # characters of text outside links that is no navigation, whatever the element is called
_STOPS = (".", "!", "?")
_LETTER = re.compile(r"[^\W\d_]")
_WAYS = re.compile(r"\b(?:next|prev(?:ious)?|up|top|home|contents|index)\b", re.IGNORECASE)
"""What stands beside links to neighbouring pages."""
_DIGIT = re.compile(r"\d")
_BACK = " \u21a9\ufe0e\u2191^"  # signs of the link from a note back to the text
_STEP = "  "  # before an item of a list within another, for each
_BREAK = "\0"  # stands for <br>; no page can hold it


@dataclass(slots=True)
class _Open:
    """An open element, and how text looks in it. `aside` is 2 inside navigation, 1 inside what may be navigation.

    In the footer of a page (`foot`) all is an aside, too, but for addresses, numbers and dates.
    """

    look: Look
    shows: bool
    aside: int = 0
    link: bool = False
    foot: bool = False


@dataclass(slots=True)
class _List:
    """An open list: the block that it is read with, the last term of a list of definitions, and the last item."""

    intro: int
    kind: str = ""  # of its numbers, as `numbering.numeral` has it; empty without any
    next: int = 1
    step: int = 1
    term: int = -1
    last: int = -1

    def mark(self, node: LexborNode) -> str:
        """What stands before an item, which counts."""
        if node.tag != "li" or not self.kind:
            return "- " if node.tag == "li" else ""
        number = whole(node.attributes.get("value"), self.next, LOWEST)
        self.next = number + self.step
        return f"{numeral(self.kind, number)}. "


@dataclass(slots=True)
class _Item:
    """An open list item, and its first block."""

    tag: str
    within: _List
    level: int
    mark: str
    row: int = -1


@dataclass(slots=True)
class Page:
    """Adds the blocks of a page to an outline. `heading` is the text of its first <h1>, `notes` has the row of the
    block that refers to each."""

    outline: Outline
    cascade: Cascade
    layout: set[int]
    data: dict[int, bool]
    notes: dict[str, int] = field(default_factory=dict)
    heading: str = ""
    _note: int = -1  # the block that refers to the note that begins
    _referred: list[str] = field(default_factory=list)  # the notes that the running text refers to
    _by_link: bool = False
    _folds: bool = False  # the page has controls that open what is folded
    _running: list[str] = field(default_factory=list)
    _outside: list[str] = field(default_factory=list)
    _links: int = 0
    _table: OpenTable | None = None
    _raised: tuple[int, int] = (0, 0)  # where superscript begins in `_running`, and the links before it
    _preformatted: int = 0
    _level: int = 0
    _lists: list[_List] = field(default_factory=list)
    _items: list[_Item] = field(default_factory=list)
    _opened: list[_Open] = field(default_factory=list)

    def read(self, root: LexborNode, around: Look) -> None:
        """Walk the tree below `root`, the <html> element, which stands in the look `around`: no recursion."""
        self._opened = [_Open(around, around.shows)]
        self._folds = root.css_first(_CONTROLS) is not None
        self._enter(root, "html")
        node, top = root.child, root.mem_id
        while node is not None:
            tag, below = node.tag or "", None
            if tag == "-text":
                self._take(node)
            elif not tag.startswith(("-", "!")):
                self._enter(node, tag)
                below = None if tag in _LEFT_OUT else node.child
                if below is None:
                    self._leave(node, tag)
            if below is not None:
                node = below
                continue
            after = node.next
            while after is None:
                node = node.parent
                if node is None or node.mem_id == top:
                    break
                self._leave(node, node.tag or "")
                after = node.next
            node = after
        self._flush()

    def _enter(self, node: LexborNode, tag: str) -> None:
        opened = self._look_of(node, tag)
        if tag in _BLOCKS:
            is_data = tag == "table" and (self._table is not None or node.mem_id not in self.layout)
            if is_data and self._table is not None:
                self._table = OpenTable(around=(self._table, self._cell_text(self._table)))
                self._opened.append(opened)
                return
            self._border(tag, opens=True)
            if is_data or (self._table is None and node.mem_id in self.data):
                self._table = OpenTable()
            elif tag in {"td", "th"} and self._table is not None:
                self._table.open_cell(node)
            elif self._table is None:
                self._open_block(tag, node)
        elif tag == "br":
            self._running.append("\n" if self._preformatted else _BREAK)
        elif tag == "a":
            self._links += opened.link
            self._refer(node)
        elif tag in {"img", "area"}:
            self._picture(one_line(node.attributes.get("alt") or ""), opened)
        elif tag in _RAISED and self._running:
            self._raised = len(self._running), self._links
        if self.notes and (name := node.attributes.get("id")) in self.notes:
            self._note = self.notes[name or ""]
        self._opened.append(opened)

    def _refer(self, node: LexborNode) -> None:
        """A link begins: if it is raised, keep where it leads. A link to a note is raised in any case."""
        kinds = f"{node.attributes.get('role')} {node.attributes.get('epub:type')}"
        if "noteref" in kinds and not self._raised[0] and self._running:
            self._raised, self._by_link = (len(self._running), self._links - 1), True
        if self._raised[0]:
            self._referred.append((node.attributes.get("href") or "").rpartition("#")[2])

    def _look_of(self, node: LexborNode, tag: str) -> _Open:
        """How text looks in an element, by what its attributes and the style sheets say."""
        above = self._opened[-1]
        attributes = node.attributes
        aside, foot = aside_of(tag, attributes) if attributes else (ASIDE_TAGS.get(tag, 0), tag == "footer")
        made = _Open(above.look, above.shows, max(above.aside, aside), above.link, above.foot or foot)
        made.link = made.link or (tag == "a" and "href" in attributes)
        tag = "span" if tag == "rp" and node.text().strip() in _BRACKETS else tag
        style = self.cascade.style(tag, attributes, node.mem_id)
        if style and self._folds and is_panel(attributes):
            style = {name: value for name, value in style.items() if name not in _FOLDING}
        made.look = look(above.look, style)
        made.shows = above.shows if made.look is above.look else made.look.shows
        return made

    def _open_block(self, tag: str, node: LexborNode) -> None:
        if tag == "pre" or self._preformatted:
            self._preformatted += tag == "pre"
        elif tag in _HEADINGS:
            self._level = int(tag[1])
        elif tag in _LISTS:
            style = self.cascade.style(tag, node.attributes, node.mem_id) if tag == "ol" else {}
            lead = self._leading(node)
            self._lists.append(_List(lead, *html_list(node, style)) if tag == "ol" else _List(lead))
        elif tag in _ITEMS:
            within = self._lists[-1] if self._lists else _List(-1)
            self._items.append(_Item(tag, within, max(1, len(self._lists)), within.mark(node)))

    def _leading(self, node: LexborNode) -> int:
        """The block that a list is read with: the item that it stands in, or right behind within another list; else the
        paragraph before it."""
        last = self._lists[-1].last if self._lists else -1
        if last >= 0 and node.parent is not None and node.parent.tag in _LISTS:
            return last
        intro, above = self.outline.introducing(), self._holder()
        is_item = intro >= 0 and self.outline.blocks[intro].kind is BlockKind.ITEM
        return above if is_item else intro

    def _holder(self) -> int:
        """The block of the innermost open item that has one, or the term that it explains, else -1."""
        for item in reversed(self._items):
            row = item.within.term if item.row < 0 and item.tag == "dd" else item.row
            if row >= 0:
                return row
        return -1

    def _leave(self, node: LexborNode, tag: str) -> None:
        if tag in _BLOCKS:
            self._border(tag, opens=False)
            ends = tag == "table" or not self.data.get(node.mem_id, True)
            if ends and self._table is not None:
                self._end_table(self._table)
            elif self._table is None:
                self._close_block(tag)
        elif tag == ("a" if self._by_link else _RAISED.get(tag) and tag) and 0 < self._raised[0] < len(
            self._running
        ):
            self._raise(_RAISED.get(tag, "super"), *self._raised)
        self._opened.pop()

    def _raise(self, place: str, start: int, links: int) -> None:
        """Write the running text from `start` on as superscript or subscript; a link in it leads to a note."""
        is_note = self._opened[-1].link or self._links > links
        text = "".join(self._running[start:])
        self._running[start:] = [placed(text, self._running[start - 1], place, is_note=is_note)]
        self._raised, self._by_link = (0, 0), False

    def _close_block(self, tag: str) -> None:
        if self._preformatted:
            self._preformatted -= tag == "pre"
        elif tag in _HEADINGS:
            self._level = 0
        elif tag in _LISTS:
            self._lists.pop()
        elif tag in _ITEMS:
            item = self._items.pop()
            if tag == "dt":
                item.within.term = item.row

    def _take(self, node: LexborNode) -> None:
        """Text between tags: shown or hidden; a few hidden words in navigation, as of a search box, do not count."""
        here, text = self._opened[-1], node.text_content or ""
        if not self._preformatted and node.parent is not None and node.parent.tag in _BLOCKS:
            text = without_tags(text)
        if not here.shows:
            line = one_line(text)
            self.outline.hidden += len(line) if here.aside < 2 or len(line) >= _LONG else 0
            return
        self._running.append(text)
        if not here.link:
            self._outside.append(text)
        elif not self._links:
            self._links = 1  # a link with blocks in it

    def _picture(self, alt: str, opened: _Open) -> None:
        """The text of a picture where it says more than a name, behind what runs."""
        if opened.shows and len(alt.split()) >= _ALT_WORDS:
            self._running.append(f" [{alt}] ")
            self._outside += [] if opened.link else [alt]

    def _border(self, tag: str, *, opens: bool) -> None:
        """A block begins or ends here."""
        if self._table is not None:
            self._running.append(" ")
            if tag in {"td", "th", "tr", "caption", "table"}:
                self._end_cell(self._table, tag, opens=opens)
        elif self._preformatted and (opens or tag != "pre"):
            self._running.append("" if not self._running or self._running[-1].endswith("\n") else "\n")
        else:
            self._flush()

    def _cell_text(self, table: OpenTable) -> str:
        """The text of the cell that ends."""
        text = one_line("".join(self._running).replace(_BREAK, " "))
        table.only_links = table.only_links and (not text or self._is_linked())
        self._reset()
        return text

    def _end_cell(self, table: OpenTable, tag: str, *, opens: bool) -> None:
        text = self._cell_text(table)
        if tag == "caption" and not opens:
            table.caption = text
        elif text or (tag in {"td", "th"} and not opens):
            table.add(text, tag)
        if tag in {"tr", "caption", "table"}:
            table.end_row()

    def _end_table(self, table: OpenTable) -> None:
        if table.around:
            self._table, before = table.around
            self._outside = [nested_text(table.rows)]
            self._running = [before, " ", *self._outside, " "]
            return
        is_aside = self._opened[-1].aside or (table.only_links and not table.header)
        kind = BlockKind.ASIDE if is_aside else BlockKind.ROW
        intro = -1 if table.caption else self.outline.announcement()
        self.outline.table(table.rows, header=table.header, caption=table.caption, intro=intro, kind=kind)
        self._table = None

    def _is_linked(self) -> bool:
        """True where every word of the running text is in a link, or only says where one leads (`_WAYS`)."""
        return self._links > 0 and not any(_LETTER.search(_WAYS.sub("", text)) for text in self._outside)

    def _reset(self) -> None:
        self._running, self._outside, self._links, self._raised = [], [], 0, (0, 0)

    def _flush(self) -> None:
        """End the running block."""
        if not self._running:
            self._links = 0
            return
        text = "".join(self._running)
        if self._preformatted:
            text = text.strip("\n").replace(_BREAK, "\n")
        elif _BREAK in text:
            text = "\n".join(line for part in text.split(_BREAK) if (line := one_line(part)))
        else:
            text = one_line(text)
        if text.strip():
            self._add(text)
        self._reset()

    def _add(self, text: str) -> None:
        """Append a block; a note is read with the one that refers to it."""
        before, note, self._note = len(self.outline.blocks), self._note, -1
        self._add_block(text.rstrip(_BACK) if note >= 0 else text)
        if len(self.outline.blocks) > before:
            self.notes.update(dict.fromkeys(self._referred, before))
            if note >= 0:
                self.outline.blocks[before] = self.outline.blocks[before]._replace(intro=note)
        self._referred = []

    def _add_block(self, text: str) -> None:
        item = self._items[-1] if self._items else None
        first = item is not None and item.row < 0
        if self._level and not self._preformatted:
            text = text.removesuffix("¶").rstrip()
            row = self.outline.add(self._kind(BlockKind.HEADING, text), text, level=self._level)
            self.heading = self.heading or (text if self._level == 1 else "")
        elif self._preformatted:
            row = self.outline.add(
                self._kind(BlockKind.CODE, text), text, intro=self.outline.introducing(), level=0
            )
        elif item is None:
            self.outline.add(self._kind(BlockKind.PARAGRAPH, text), text)
            return
        elif not first:
            intro = item.within.term if item.tag == "dd" and item.within.term >= 0 else item.row
            self.outline.add(self._kind(BlockKind.PARAGRAPH, text), text, intro=intro)
            return
        else:
            row = self._add_item(item, text)
        if item is not None and first:
            item.row = item.within.last = row

    def _add_item(self, item: _Item, text: str) -> int:
        """Append the first block of a list item; a term that is a label is an aside once it is explained."""
        intro, term = item.within.intro, item.within.term
        if item.tag == "dd" and term >= 0:
            intro = term
            if self.outline.blocks[term].kind is BlockKind.ITEM and is_label(self.outline.text_of(term)):
                self.outline.change(term, BlockKind.ASIDE)
        kind = self._kind(BlockKind.ITEM, text)
        gap = APART + _STEP * (item.level - 1)
        return self.outline.add(kind, item.mark + text, level=item.level, intro=intro, gap=gap)

    def _kind(self, kind: BlockKind, text: str) -> BlockKind:
        """`kind`, or an aside in navigation, and where there are only links."""
        here = self._opened[-1]
        says = here.foot and not self._links and _DIGIT.search(text) and not _RIGHTS.match(text)
        leads = here.aside and (here.foot or self._links or not text.endswith(_STOPS))
        if not says and (here.aside == 2 or (leads and sum(map(len, self._outside)) < _LONG)):
            return BlockKind.ASIDE
        may_be = kind is BlockKind.ITEM or (
            kind is BlockKind.PARAGRAPH and (self._links > 1 or is_label(text))
        )
        return BlockKind.ASIDE if may_be and self._is_linked() else kind
