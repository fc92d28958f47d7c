"""Manual pages: headings, paragraphs, options with what they mean, and code (man(7), mdoc(7))."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

from equipoise.core.errors import UnreadableFile
from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, decoded, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.plain import load_text
from equipoise.text.labels import ENDED

_IS_PAGE = re.compile(r"^[.'](?:TH|Dt|SH|Sh|so)\b", re.MULTILINE)
_POINTS = re.compile(r"(?:\.\\\".*\n|\s)*+\.so[ \t]++(\S++)\s*+")
"""A page with nothing but a request (`.so`) to read another one."""
_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^]\\]*+\]|\(..|.)|s[-+]?\d++|m\[[^]\\]*+\]|\*(?:\(..|\[[^]\\]*+\]|.)|(?P<sign>\(..)|\[(?P<name>[^]\\]*+)\]"
    r"|[hvw]'[^']*+'|(?P<other>.)|\Z)"
)
_SIGNS = {
    "bu": "•", "em": "—", "en": "–", "hy": "-", "mi": "-", "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "aq": "'",
    "dq": '"', "co": "©", "rg": "®", "tm": "™", "de": "°", "mu": "×", "<=": "≤", ">=": "≥", "ha": "^", "ti": "~",
    "rs": "\\", "->": "→", "<-": "←", "bv": "|", "br": "|", "or": "|", "pl": "+", "+-": "±", "!=": "≠", "mc": "µ",
    "ul": "_", "fi": "fi", "fl": "fl", "ff": "ff",
    "ga": "`", "at": "@", "sh": "#", "Do": "$", "sl": "/", "la": "<", "ra": ">", "Fo": "«", "Fc": "»", "ss": "ß",
}  # fmt: skip
_ACCENTS = {":": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", ",": "\u0327", "~": "\u0303"}
_OTHERS = {
    "e": "\\", "-": "-", "~": " ", " ": " ", "0": " ", "t": "\t", "'": "´", "`": "`", ".": ".", "\\": "\\",
}  # fmt: skip
_STRINGS = {"Aq": "'", "lq": "“", "rq": "”", "--": "-", "R": "®", "Tm": "™"}
_DEFINED = re.compile(r"^\.[ \t]*+ds[ \t]++(\S++)[ \t]++\"?(.{0,80}+)$", re.MULTILINE)
_STRING = re.compile(r"\\\*(?:\((..)|\[([^]\\\n]*+)\]|(.))")
"""A reference to a string; _DEFINED takes short ones only, since a page may refer to one often."""
_TERMINAL = re.compile(r"^\.(?:if|ie) n (?=\.)", re.MULTILINE)
"""The condition for what only terminals show, as pod2man writes it before terms."""
_JOINED = frozenset({"BR", "RB", "BI", "IB", "IR", "RI", "SB", "MR"})
_PLAIN = frozenset({"B", "I", "SM", "R", "SY"})
_TAB = re.compile(r"tab ?\((.)\)")
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_BEGINS = frozenset({"PP", "P", "LP", "Pp", "HP", "sp", "Sp", "El"})
_INDENTS = {"RS": True, "INDENT": True, "RE": False, "UNINDENT": False}
_CODE = {"nf": True, "EX": True, "Bd": True, "Vb": True, "fi": False, "EE": False, "Ed": False, "Ve": False}
_NO_TEXT = frozenset({"Bl", "Bk", "Ek", "Dd", "Os", "Sm"})
_ENCLOSES = {"Op": "[{}]", "Bq": "[{}]", "Pq": "({})", "Aq": "<{}>", "Dq": "“{}”", "Qq": '"{}"', "Sq": "‘{}’"}
_OPENS = {"Fl": "-", "Oo": "[", "Bo": "[", "Po": "(", "Ao": "<", "Do": "“", "Qo": '"', "So": "‘"}
_CLOSES = {"Oc": "]", "Bc": "]", "Pc": ")", "Ac": ">", "Dc": "”", "Qc": '"', "Sc": "’"}
_CALLED = re.compile(r"[A-Z][a-z]")
_MARKS = ("•", "-", "*", "o", "·")
_NUMERAL = re.compile(r"\(?(?:\d{1,3}|[a-z])[.)]")
_TERM = 12  # words, at most, of a line that an indented block below explains


def load_man(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document; its title is the page's name with its section, its version and date a paragraph.

    Any other file with such a name, as a rotated log, is read as text. Raises UnreadableFile, also for a page
    that only points to another one.
    """
    text = clean(decoded(path, data).replace("\f", " "))
    if points := _POINTS.fullmatch(text):
        raise UnreadableFile(str(path), f"it only points to {points[1]}; index that one")
    if not _IS_PAGE.search(text):
        return load_text(path, data)
    page = _Page(Outline())
    before = ["", *text.split("\n")[:-1]]
    begun = [number for number, line in enumerate(before, 1) if not line.endswith("\\")]
    lines = _TERMINAL.sub("", _with_strings(text)).split("\n")
    for page.line, line in zip(begun, lines, strict=True):
        page.take(line)
    page.flush()
    return [page.outline.loaded(page.title or path.name)]


@dataclass(slots=True)
class _Page:
    """Reads lines into an outline. `terms` are what the running text explains: the names of an option."""

    outline: Outline
    title: str = ""
    line: int = 0  # of the file
    _first: int = 0  # the line that the running block begins on, 0 where it has no text yet
    _name: str = ""
    _running: list[str] = field(default_factory=list)
    _terms: list[str] = field(default_factory=list)
    _wants_term: bool = False
    _hanging: bool = False  # a paragraph as help2man writes a term: before an indented one without a tag
    _close: bool = False  # no distance between paragraphs: a term without text has another one below it
    _extended: bool = False  # a term goes on over several lines
    _in_item: bool = False
    _in_code: bool = False
    _within: list[tuple[bool, bool]] = field(default_factory=list)
    """For each open indented block whether it is in an item, and whether it explains the line above it."""
    _level: int = 0  # of the term above the innermost of these, until its text is put
    _table: list[str] | None = None  # the lines of a table (tbl(1))
    _skips: str = ""  # the macro that ends a skipped definition
    _link: str = ""  # the address that running text leads to

    def take(self, line: str) -> None:
        if self._table is not None:
            self._take_table(line)
        elif self._skips or line.startswith((".de", ".ig", ".am")):
            self._skips = "" if line.strip() in {"..", f".{self._skips}"} else self._skips or "."
        elif line.startswith((".", "'")):
            name, _, rest = line[1:].strip().partition(" ")
            if not name.startswith('\\"'):
                self._macro(name, rest)
        elif self._in_code:
            self._first = self._first or (self.line if line.strip() else 0)
            self._running.append(_plain(line))
        elif line.strip():
            self._text(_plain(line).strip())
        else:
            self.flush()

    def _text(self, text: str) -> None:
        self._first = self._first or self.line
        if self._wants_term and text:
            self._terms.append(text)
            self._wants_term = False
        elif text:
            self._running.append(text)

    def _macro(self, name: str, rest: str) -> None:
        """Take a macro that begins or ends a block; others are part of the running text."""
        words = _words(rest)
        if name in _CODE:
            self.flush()
            self._in_code = _CODE[name]
        elif name in {"TH", "Dt"}:
            named = [*map(_plain, words), *[""] * 5]
            self.title = f"{named[0].lower()}({named[1]})" if named[1] else named[0].lower()
            self.outline.add(
                BlockKind.PARAGRAPH, ", ".join(filter(None, [self.title, *named[2:5]])), line=self.line
            )
        elif name in _HEADINGS:
            self.flush()
            self._within, self._in_item = [], False
            self.outline.add(
                BlockKind.HEADING, _plain(" ".join(words)), level=_HEADINGS[name], line=self.line
            )
        elif name == "TS":
            self.flush()
            self._table, self._first = [], self.line
        elif name in {"TP", "TQ"}:
            if self._running or not (name == "TQ" or self._close):
                self.flush()
            self._wants_term = self._in_item = True
        elif name in {"IP", "It", "bP"}:
            self._begin(name, [_MARKS[0]] if name == "bP" else words)
        elif name == "PD":
            self._close = words[:1] == ["0"]
        elif name == "Xc" and self._extended:
            self._terms = [" ".join([*self._terms, *self._running])]
            self._running, self._extended = [], False
        elif name in _INDENTS:
            self._indent(deeper=_INDENTS[name])
        elif name in _BEGINS:
            self.flush()
            self._hanging = name == "HP"
            explains = bool(self._within) and self._within[-1][1]
            self._in_item = explains or (self._in_item and name not in {"PP", "P", "LP", "El", "HP"})
        else:
            self._inline(name, words)

    def _begin(self, name: str, words: list[str]) -> None:
        """Begin a paragraph with a term; without `words`, a hanging paragraph above it is its term."""
        joins = self._close and words and self._terms and not self._running
        kept, self._terms = (self._terms, []) if joins else ([], self._terms)
        hanging, said = self._hanging and not words, one_line(" ".join(self._running))
        self._running = [] if hanging else self._running
        first = self._first if joins or hanging else 0
        self.flush()
        self._extended = words[-1:] == ["Xo"]
        if name == "It":
            kept.append(_called(words) if words else _MARKS[0])
        elif own := _plain(words[0]).strip() if words else said * hanging:
            kept.append(own)
        self._terms = kept
        self._first = (first or self.line) if kept else 0
        self._in_item = bool(self._terms) or self._in_item

    def _indent(self, *, deeper: bool) -> None:
        """Begin or end an indented block; it explains a few words above it that end no sentence, as DocBook and
        Asciidoctor write options."""
        term = one_line(" ".join(self._running))
        explains = deeper and not (self._in_code or self._terms or self._wants_term)
        explains = explains and 0 < len(term.split()) <= _TERM and not ENDED.search(term)
        first = self._first
        if explains:
            self._running = []
        self.flush()
        if not deeper:
            self._in_item = self._within.pop()[0] if self._within else False
            return
        self._within.append((self._in_item, explains))
        self._level = len(self._within) if explains else 0
        self._in_item = self._in_item or explains
        self._terms, self._first = ([term], first) if explains else ([], 0)

    def _take_table(self, line: str) -> None:
        """A line of a table, whose format ends with a full stop; text between T{ and T} is one cell."""
        if self._table is None or not line.startswith(".TE"):
            self._table = [*(self._table or ()), line]
            return
        lines, self._table = self._table, None
        place, self._first = self._first, 0
        mark = next((found[1] for found in map(_TAB.search, lines[:1]) if found), "\t")
        first = next((at for at, each in enumerate(lines, 1) if each.rstrip().endswith(".")), 0)
        begun, *cells = "\n".join(lines[first:]).split("T{\n")
        text = begun + "".join(
            one_line(cell) + rest for cell, _, rest in (each.partition("T}") for each in cells)
        )
        said = [each.split(mark) for each in text.split("\n") if not each.startswith(".")]
        rows = [[Cell(one_line(_plain(cell))) for cell in each] for each in said]
        rules = [at for at, each in enumerate(rows) if len(each) == 1 and not each[0].text.strip("_=")]
        rows = [each for at, each in enumerate(rows) if at not in rules]
        header, intro = next((at for at in rules if at), 0), self.outline.announcement()
        self.outline.table(rows, header=header, intro=intro, lines=[place] * len(rows))

    def _inline(self, name: str, words: list[str]) -> None:
        if name in _JOINED:
            self._text(_plain("".join(words)))
        elif name in _PLAIN:
            self._text(_plain(" ".join(words)))
        elif name == "OP":
            self._text(f"[{_plain(' '.join(words))}]")
        elif name == "Nd":
            self._text(f"- {_plain(' '.join(words))}")
        elif name in {"UR", "MT"}:
            self._link = _plain(words[0]) if words else ""
        elif name in {"URL", "MTO"} and words:  # as Asciidoctor defines them
            address, said, after, *_ = [*map(_plain, words), "", ""]
            self._text(f"{said} <{address}>{after}".strip())
        elif name in {"UE", "ME"}:
            self._text(f"<{self._link}>{_plain(''.join(words))}" if self._link else "")
            self._link = ""
        elif name == "br" and self._running:
            self._running.append("\n")
        elif _CALLED.fullmatch(name) and name not in _NO_TEXT:
            self._name = words[0] if name == "Nm" and words and not self._name else self._name
            alone = {"Nm": [self._name], "Ar": ["file", "..."]}  # what some mean without words
            self._text(_called([name, *(words or alone.get(name, []))]))

    def flush(self) -> None:
        """End the running block."""
        running, self._running = self._running, []
        term, self._terms = ", ".join(self._terms), []
        self._wants_term = self._hanging = self._extended = False
        first, self._first = self._first, 0
        if self._in_code:
            for line in "\n".join(running).strip("\n").split("\n"):
                self.outline.code(line, first)
            return
        text = "\n".join(map(one_line, " ".join(running).split("\n"))).strip()
        between = " " if term in _MARKS or _NUMERAL.fullmatch(term) else ": " if term and text else ""
        kind = BlockKind.ITEM if term or self._in_item else BlockKind.PARAGRAPH
        level, self._level = self._level or len(self._within) + 1, 0
        self.outline.put(kind, f"{term}{between}{text}", level, more=not term, line=first)


def _with_strings(text: str) -> str:
    """The page with its strings filled in, so that none begins a macro; of two definitions the first counts, which is
    for terminals."""
    strings = dict(reversed(_DEFINED.findall(text))) | _STRINGS
    joined = text.replace("\\\n", "")
    return _STRING.sub(lambda said: "\\&" + strings.get(said[1] or said[2] or said[3], ""), joined)


def _words(rest: str) -> list[str]:
    """The arguments of a macro; one between quotes holds spaces."""
    try:
        lexer = shlex.shlex(rest, posix=True)
        lexer.whitespace_split, lexer.escape, lexer.commenters, lexer.quotes = True, "", "", '"'
        words = list(lexer)
    except ValueError:
        words = rest.replace('"', "").split()
    comment = next((at for at, word in enumerate(words) if word.startswith('\\"')), len(words))
    return words[:comment]


def _called(words: list[str]) -> str:
    """The text of an mdoc line, its macros replaced by the signs that they stand for."""
    said, glue, tight = "", "", False
    if words[:1] == ["Xr"] and len(words) > 2:
        words = [f"{words[1]}({words[2]})", *words[3:]]
    for at, word in enumerate(words):
        if word in _ENCLOSES:
            inner = _ENCLOSES[word].format(_called(words[at + 1 :]))
            return f"{said} {glue}{inner}".strip()
        if word in _CLOSES:
            said += _CLOSES[word]
        elif _CALLED.fullmatch(word):
            glue += _OPENS.get(word, "")
            tight = tight or word == "Ns"
        else:
            joins = said and not tight and not (len(word) == 1 and word in ".,:;)]")
            said += (" " if joins else "") + glue + _plain(word)
            glue, tight = "", False
    return (said + (" " if said and glue else "") + glue).strip()


def _plain(text: str) -> str:
    """The text without changes of font, and with the characters that its escapes stand for."""

    def shown(match: re.Match[str]) -> str:
        sign = (match["sign"] or "")[1:] or match["name"] or ""
        if len(sign) == 2 and sign[0] in _ACCENTS and sign[1].isalpha():
            return normalize("NFC", sign[1] + _ACCENTS[sign[0]])
        return _SIGNS.get(sign, "") if sign else _OTHERS.get(match["other"] or "", "")

    return _ESCAPE.sub(shown, text.partition('\\"')[0])
