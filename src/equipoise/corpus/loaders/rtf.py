"""Rich Text Format: headings, paragraphs, list items and table rows (Microsoft's specification 1.9.1).

Read as a stream of control words, without recursion, so that deeply nested groups cost no more than others.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.colors import near
from equipoise.corpus.loaders.grid import Cell, Rows
from equipoise.corpus.loaders.hidden import SMALLEST, WHITE
from equipoise.corpus.loaders.loaded import LoadedDocument, comment, one_line, words
from equipoise.corpus.loaders.outline import Outline, Runs

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?+\d{1,9})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z'])|([{}])|([^\\{}\r\n]++)|[\r\n]++|.",
    re.DOTALL,
)
_SKIPPED = words("""
    atnid bkmkend bkmkstart blipuid colorschememapping colortbl datafield datastore
    themedata falt fldinst filetbl fonttbl footer footerf footerl footerr generator header headerf
    headerl headerr info latentstyles listoverridetable listtable listtext mmathPr nonshppict objdata panose pgdsctbl
    pict pntext pntxta pntxtb private revtbl rsidtbl shpinst sp stylesheet tc template userprops wgrffmtfilter
    xe xmlnstbl
""")
_KEPT_STARRED = frozenset({"shptxt", "shppict", "annotation", "atnauthor"})
_NOTES = frozenset({"footnote", "annotation", "atnauthor"})


def _is_on(number: int | None) -> bool:
    return number != 0


_MARKED = "highlight cb chcbpat chshdng cbpat clcbpat"
_CHANGES: dict[str, tuple[str, Callable[[int | None], object]]] = {
    **dict.fromkeys(["v", "deleted"], ("hidden", _is_on)),
    **dict.fromkeys(["strike", "striked"], ("struck", _is_on)),
    **dict.fromkeys(_MARKED.split(), ("marked", _is_on)),
    "intbl": ("in_table", _is_on),
    "super": ("place", lambda number: "super" * _is_on(number)),
    "sub": ("place", lambda number: "sub" * _is_on(number)),
    "nosupersub": ("place", lambda _: ""),
    "s": ("style", lambda number: number or 0),
    "li": ("indent", lambda number: number or 0),
    "cf": ("ink", lambda number: number or 0),
    "outlinelevel": ("outline", lambda number: number or 0),
    "fs": ("size", lambda number: (number or 0) / 2),
    "uc": ("unicode_skip", lambda number: max(0, min(number or 0, _MOST_SKIPPED))),
    "ilvl": ("level", lambda number: (number or 0) + 1),
}
"""For each control word that changes one field of the state: that field, and a function from the number behind the
word to its value."""
_DEEDS = words("par sect page cell nestcell row nestrow u ansicpg trhdr plain pard ls")
_DEFINES = frozenset({"trowd", "cellx", "clmrg", "clvmgf", "clvmrg"})
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_BULLET = re.compile(r"(?:[•◦▪‣●○■–\-*]|\(?\d{1,3}[.)])\t\s*+")
_INDENT = 360  # twips of a level of a list whose marks are typed
_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "\u2014", "endash": "\u2013", "bullet": "\u2022", "lquote": "\u2018",
    "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
_ESCAPED = {"~": "\u00a0", "_": "-", "-": "", "\\": "\\", "{": "{", "}": "}", "\n": "", "\r": ""}
_POINTS_TO_PIXELS = 4 / 3
_MOST_DEEP = 2_000
_MOST_SKIPPED = 32  # characters that stand in for one in Unicode
_BODY_TEXT = 9
_SAME_EDGE = 120  # twips


class _State(NamedTuple):
    """What holds inside a group."""

    skipped: bool = False
    hidden: bool = False
    struck: bool = False
    place: str = ""  # "super" and "sub" are above and below the line
    in_title: bool = False
    in_colors: bool = False
    in_styles: bool = False
    note: str = ""  # the kind of note, which stands apart from the text around it
    style: int = -1
    indent: int = 0
    ink: int = 0
    marked: bool = False
    size: float = 12.0
    unicode_skip: int = 1
    outline: int = _BODY_TEXT
    level: int = 0
    in_table: bool = False


class _Box(NamedTuple):
    """A cell, its right edge in twips, and whether it begins ("f") or continues ("r") a vertical merge."""

    text: str
    right: int
    merged: str


@dataclass(slots=True)
class _Reading:
    outline: Outline
    charset: str = "cp1252"
    heading: str = ""
    title: str = ""
    _colors: list[list[int]] = field(default_factory=lambda: [[]])
    _state: _State = field(default_factory=_State)
    _stack: list[_State] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[_Box]] = field(default_factory=list)
    _widths: list[tuple[int, str]] = field(
        default_factory=list
    )  # right edge and merging of each cell of a row
    _merging: str = ""
    _bytes: bytearray = field(default_factory=bytearray)
    _starred: bool = False
    _header: bool = False
    _to_skip: int = 0
    _levels: dict[int, int] = field(default_factory=dict)  # of headings, by the number of their style
    _style_name: str = ""
    _note: list[str] = field(default_factory=list)
    _author: str = ""

    def read(self, text: str, path: Path) -> None:
        """Go through the tokens once."""
        for match in _TOKEN.finditer(text):
            word, number, code, sign, brace, plain = match.groups()
            if code is None and self._bytes:
                self._decode()
            if brace:
                self._group(brace, path)
            elif code is not None:
                self._byte(code)
            elif word:
                self._word(word, int(number) if number else None)
            elif sign:
                self._starred = sign == "*" or self._starred
                self._take(_ESCAPED.get(sign, ""))
            elif plain:
                self._take(self._unskipped(plain))
        self._decode()
        self._end_paragraph()
        self._end_table()

    def _group(self, brace: str, path: Path) -> None:
        self._starred, self._to_skip = False, 0
        if brace == "{":
            if len(self._stack) >= _MOST_DEEP:
                raise UnreadableFile(
                    str(path), f"its groups are nested more than {_MOST_DEEP:,} deep; save it as text"
                )
            self._stack.append(self._state)
        elif self._stack:
            before, self._state = self._state, self._stack.pop()
            if before.in_styles:
                self._end_style(before.style)
            elif before.note and not self._state.note:
                self._end_note(before.note)

    def _end_style(self, number: int) -> None:
        """A style of the style sheet ends: keep its level if it is a heading."""
        if found := _HEADING.match(self._style_name.strip()):
            self._levels[number] = int(found[1])
        self._style_name = ""

    def _end_note(self, kind: str) -> None:
        text, self._note = one_line(_characters("".join(self._note))), []
        if kind == "atnauthor":
            self._author = text
        elif text:
            is_said_by = kind == "annotation" and self._author
            self.outline.held.append(comment(text, self._author) if is_said_by else text)

    def _byte(self, code: str) -> None:
        if self._to_skip:
            self._to_skip -= 1
        else:
            self._bytes.append(int(code, 16))

    def _decode(self) -> None:
        """Take the bytes so far as text in the file's own character set, which may have several for a character."""
        if self._bytes:
            data, self._bytes = bytes(self._bytes), bytearray()
            self._take(data.decode(self.charset, "replace"))

    def _unskipped(self, text: str) -> str:
        kept = text[self._to_skip :]
        self._to_skip -= len(text) - len(kept)
        return kept

    def _word(self, word: str, number: int | None) -> None:
        if self._starred and word not in _KEPT_STARRED:
            self._change(skipped=True)
        self._starred = False
        if word in _SKIPPED:
            self._change(skipped=True, in_colors=word == "colortbl", in_styles=word == "stylesheet")
        elif word in _NOTES:
            self._change(note=word, skipped=False, place="")
        elif word == "title":
            self._change(in_title=self._state.skipped)
        elif self._state.in_colors:
            self._color(number or 0)
        elif word in _SIGNS:
            self._take(_SIGNS[word])
        elif word in _CHANGES:
            name, value = _CHANGES[word]
            self._change(**{name: value(number)})
        elif word in _DEEDS:
            self._do(word, number or 0)
        elif word in _DEFINES and not self._state.skipped:
            self._define(word, number or 0)

    def _do(self, word: str, number: int) -> None:
        """Carry out a control word that does more than change one field of the state."""
        match word:
            case "par" | "sect" | "page":
                if self._state.note:
                    self._note.append(" ")
                else:
                    self._end_paragraph()
            case "cell" | "nestcell":
                self._end_cell()
            case "row" | "nestrow":
                self._end_row()
            case "u":
                self._take(chr(number % 0x10000))
                self._to_skip = self._state.unicode_skip
            case "ansicpg":
                self._set_charset(number or 1252)
            case "trhdr":
                self._header = self._header or not self._rows
            case "plain":
                self._change(hidden=False, struck=False, place="", size=12.0, ink=0, marked=False)
            case "pard":
                self._change(outline=_BODY_TEXT, level=0, in_table=False, marked=False, style=-1, indent=0)
            case "ls":
                self._change(level=max(1, self._state.level))

    def _change(self, **changes: object) -> None:
        self._state = self._state._replace(**changes)  # type: ignore[arg-type]

    def _set_charset(self, number: int) -> None:
        name = "utf-8" if number == 65001 else f"cp{number}"
        try:
            codecs.lookup(name)
        except LookupError:
            return
        self.charset = name

    def _take(self, text: str) -> None:
        state = self._state
        if state.in_title:
            self.title += text
        elif state.in_colors:
            self._colors += [[] for _ in range(text.count(";"))]
        elif state.in_styles:
            self._style_name += text
        if state.skipped or not text:
            return
        is_dust = state.size * _POINTS_TO_PIXELS < SMALLEST
        shows = not (state.hidden or state.struck or is_dust or self._is_white())
        parts = self._note if state.note else self._parts
        Runs(self.outline, parts).add(text, shows=shows, place=state.place)

    def _color(self, number: int) -> None:
        """A red, green or blue part of the colour that the next semicolon ends."""
        self._colors[-1].append(number)

    def _is_white(self) -> bool:
        """True for letters in the colour of the paper, unless something is painted behind them."""
        state = self._state
        parts = self._colors[state.ink] if 0 < state.ink < len(self._colors) else []
        return len(parts) == 3 and not state.marked and near((parts[0], parts[1], parts[2]), WHITE)

    def _end_paragraph(self) -> None:
        if self._state.skipped:
            return
        if self._state.in_table:
            self._parts.append(" ")
            return
        text = _characters("".join(self._parts)).strip()
        self._parts = []
        if not text:
            return
        self._end_table()
        outline = min(self._state.outline, self._levels.get(self._state.style, _BODY_TEXT + 1) - 1)
        kind, level = BlockKind.PARAGRAPH, self._state.level
        if 0 <= outline < _BODY_TEXT:
            self.heading = self.heading or one_line(text)
            kind, level = BlockKind.HEADING, outline + 1
        elif level > 0:
            kind = BlockKind.ITEM
        elif _BULLET.match(text):
            text = text.replace("\t", " ", 1)
            kind, level = BlockKind.ITEM, max(1, self._state.indent // _INDENT)
        self.outline.put(kind, text, level)

    def _define(self, word: str, number: int) -> None:
        """Where the cells of a row end, and which are merged."""
        if word == "trowd":
            self._widths, self._merging = [], ""
        elif word == "cellx":
            self._widths.append((number, self._merging))
            self._merging = ""
        else:
            self._merging += {"clmrg": "h", "clvmgf": "f", "clvmrg": "r"}[word]

    def _end_cell(self) -> None:
        self._cells.append(one_line(_characters("".join(self._parts))))
        self._parts = []

    def _end_row(self) -> None:
        boxes: list[_Box] = []
        fits = len(self._widths) == len(self._cells)
        widths = self._widths if fits else [(number, "") for number in range(len(self._cells))]
        for text, (right, merging) in zip(self._cells, widths, strict=True):
            if "h" in merging and boxes and not text:
                boxes[-1] = boxes[-1]._replace(right=right)
            else:
                boxes.append(_Box(text, right, merging.strip("h")))
        self._rows.append(boxes)
        self._cells = []

    def _end_table(self) -> None:
        if self._rows:
            self.outline.table(_spanning(self._rows), header=self._header, intro=self.outline.announcement())
        self._rows, self._header = [], False


def _spanning(rows: Sequence[Sequence[_Box]]) -> list[list[Cell]]:
    """The cells of a table with what they span, by the edges that its rows have."""
    edges: list[int] = []
    for edge in sorted({box.right for row in rows for box in row}):
        if not edges or edge - edges[-1] > _SAME_EDGE:
            edges.append(edge)
    table = Rows()
    for row in rows:
        table.begin()
        left = 0
        for box in row:
            column = bisect_right(edges, box.right)
            wide = max(column - left, 1)
            table.add(box.text, wide, merged=bool(box.merged), goes_on=box.merged == "r")
            left += wide
    return table.rows


def load_rtf(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document, notes and comments below their paragraphs. Hidden and deleted text, headers and pictures are left
    out."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableFile(str(path), "it is not an RTF file; save it as RTF or as text")
    outline = Outline()
    reading = _Reading(outline)
    reading.read(data.decode("cp1252", "replace"), path)
    return [outline.loaded(reading.title.strip() or reading.heading or path.stem)]


def _characters(text: str) -> str:
    """`text` with the halves of surrogate pairs, as RTF writes them, made whole."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
