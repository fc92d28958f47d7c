"""LaTeX: sections, paragraphs, lists, tables, notes and code. Commands that are not known are the text in their braces.

A reader of our own, since pylatexenc knows the arguments of fewer commands and stumbles over others, and pandoc is a
program of its own.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.equations import joined, lowered, over, raised, root
from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.loaded import LoadedDocument, decode, one_line, words
from equipoise.corpus.loaders.outline import Outline, Runs

_TOKEN = re.compile(
    r"\\(?:([a-zA-Z]++)\*?+[ \t]*+|(.))|%([^\n]*+)\n?+[ \t]*+|([{}$&~^_])|(\n[ \t]*+\n\s*+)|[^\\{}$&~%^_\n]++|\n",
    re.DOTALL,
)
_OPTION = re.compile(r"[ \t\n]*+\[([^\[\]]*+)\]")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BRANCH = re.compile(r"%[^\n]*+|\\(?:(if(?!f\b)[a-zA-Z@]*+)(?!\s*+\{)|(else|fi)(?![a-zA-Z@])|.)", re.DOTALL)
"""Where a condition begins (as \\iff does not, nor a command with arguments such as \\ifthenelse), turns or ends."""
_SECTIONS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6
}  # fmt: skip
_LISTS = frozenset({"itemize", "enumerate", "description", "compactitem", "compactenum"})
_TABLES = frozenset({"tabular", "tabularx", "tabulary", "longtable", "supertabular", "array"})
_CODE = frozenset({"verbatim", "Verbatim", "lstlisting", "minted", "alltt"})
_RULES = frozenset({"hline", "midrule", "toprule", "bottomrule"})
_REPEATED = frozenset({"endfirsthead", "endhead", "endfoot", "endlastfoot"})
"""Commands that end the rows which a long table repeats at the top or foot of each page."""
_PARTED = frozenset({"par", "newpage", "clearpage"})
_DROPPED_NAMES = """
    label index vspace hspace cite citep citet documentclass usepackage bibliography bibliographystyle newcommand
    renewcommand setlength includegraphics author date title pagestyle thispagestyle input include cline cmidrule sout
    st phantom hphantom vphantom addcontentsline hypersetup hypertarget color textcolor href setcounter noalign
    pandocbounded
"""
_DROPPED = (
    dict.fromkeys(_DROPPED_NAMES.split(), 1)
    | dict.fromkeys(("newcommand", "renewcommand", "setlength", "def", "rule", "fontsize", "resizebox"), 2)
    | {"specialrule": 3}
)
_DELETED = frozenset({"sout", "st", "phantom", "hphantom", "vphantom"})
_NOTES = frozenset({"footnote", "footnotetext", "thanks", "marginpar"})
_SIGNS = {
    "times": "×", "cdot": "·", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "ldots": "…", "dots": "…",
    "euro": "€", "EUR": "€", "pounds": "£", "degree": "°", "textdegree": "°", "circ": "°", "mu": "µ", "alpha": "α",
    "beta": "β", "approx": "≈", "ss": "ß", "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "l": "ł",
    "S": "§", "to": "→", "rightarrow": "→", "textbackslash": "\\", "LaTeX": "LaTeX", "TeX": "TeX", "quad": " ",
    "qquad": " ", "textendash": "–", "textemdash": "—", "copyright": "©", "infty": "∞", "neq": "≠", "sim": "~",
    "int": "∫", "oint": "∮", "sum": "∑", "prod": "∏", "partial": "∂", "nabla": "∇", "in": "∈", "cup": "∪",
    "cap": "∩", "ne": "≠", "div": "÷", "ll": "≪", "gg": "≫", "prime": "′", "propto": "∝", "equiv": "≡",
    "hbar": "ℏ", "ell": "ℓ", "mid": "|", "cdots": "…", "langle": "⟨", "rangle": "⟩", "leftarrow": "←",
    "Rightarrow": "⇒", "star": "*", "ast": "*", "dagger": "†", "ddagger": "‡", "gamma": "γ", "delta": "δ",
    "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "nicefrac", "sfrac"})
_FUNCTIONS = words("sin cos tan log ln exp min max lim sup inf det gcd")
_ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "c": "\u0327", "v": "\u030c",
    "H": "\u030b", "r": "\u030a", "=": "\u0304", "u": "\u0306", "k": "\u0328",
}  # fmt: skip
_DASHES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"))
_DEEPEST = 20


def load_tex(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document, notes below their paragraphs. Comments, struck text and `\\iffalse` are left out and counted."""
    text = decode(path, data)
    before, begins, body = text.partition("\\begin{document}")
    outline = Outline()
    titles = re.search(r"\\title\b(?:\[[^\]]*+\])?+", text.partition("\\end{document}")[0])
    title = "" if titles is None else _shown(_Source(text, titles.end()).group(), 0, outline)
    first = text.count("\n", 0, len(before)) if begins else 0
    _Page(outline, _Source(body if begins else text), first).read()
    return [outline.loaded(title or path.stem)]


@dataclass(slots=True)
class _Source:
    """LaTeX, and how far it is read."""

    text: str
    place: int = 0

    def option(self) -> str:
        """Read an optional argument, the text in brackets; "" without one."""
        found = _OPTION.match(self.text, self.place)
        self.place = found.end() if found else self.place
        return found[1] if found else ""

    def group(self) -> str:
        """Read an argument: the text in braces, else the next character or command."""
        while self.text[self.place : self.place + 1].isspace():
            self.place += 1
        if self.text[self.place : self.place + 1] != "{":
            token = _TOKEN.match(self.text, self.place)
            start = self.place
            self.place += 0 if token is None else token.end() - start if token[1] else 1
            return self.text[start : self.place]
        depth, start = 0, self.place + 1
        for brace in _BRACE.finditer(self.text, self.place):
            depth += {"{": 1, "}": -1}.get(brace.group(), 0)
            if depth == 0:
                self.place = brace.end()
                return self.text[start : brace.start()]
        self.place = len(self.text)
        return self.text[start:]

    def until(self, name: str) -> str:
        """Read the rest of an environment, up to its end."""
        end = self.text.find(f"\\end{{{name}", self.place)
        inside = self.text[self.place : end if end >= 0 else len(self.text)]
        self.place += len(inside)
        return inside

    def rest(self) -> str:
        """Read all that is left."""
        start, self.place = self.place, len(self.text)
        return self.text[start:]

    def untrue(self) -> str:
        """Read what a condition that is false skips: up to its `\\else` or its end."""
        depth, start = 0, self.place
        for branch in _BRANCH.finditer(self.text, self.place):
            begins, turns = branch.groups()
            if turns and not depth:
                self.place = branch.end()
                return self.text[start : branch.start()]
            depth += 1 if begins else -(turns == "fi")
        self.place = len(self.text)
        return self.text[start:]


def _shown(text: str, depth: int, outline: Outline) -> str:
    """The text of a part as one line; what is hidden in it is counted in `outline`."""
    inside = Outline()
    if depth < _DEEPEST:
        _Page(inside, _Source(text), depth=depth + 1).read()
    outline.hidden += inside.hidden
    return one_line(inside.text())


def _uncovered(rows: list[list[Cell]]) -> list[list[Cell]]:
    """The rows without the empty cells that LaTeX wants below one that spans rows."""
    covered: dict[int, int] = {}  # by column: the last row that one above spans
    made: list[list[Cell]] = []
    for number, row in enumerate(rows):
        made.append([])
        column = 0
        for cell in row:
            if cell.text or covered.get(column, -1) < number:
                made[-1].append(cell)
            if cell.rows > 1:
                last = number + cell.rows - 1
                covered |= dict.fromkeys(range(column, column + cell.columns), last)
            column += cell.columns
    return made


@dataclass(slots=True)
class _Page:
    """Reads a source into an outline. `first` is the line it begins on; `_lists` the depth of lists."""

    outline: Outline
    source: _Source
    first: int = 0
    depth: int = 0
    _running: list[str] = field(default_factory=list)
    _rows: list[list[Cell]] | None = None
    _rules: list[int] = field(default_factory=list)  # rows above each rule of the table
    _cell: tuple[int, int] = (1, 1)
    _header: list[list[Cell]] = field(default_factory=list)  # of a table over pages
    _lists: int = 0
    _begun: bool = False  # an item whose text has not come yet
    _line: int = 0
    _counted: tuple[int, int] = (0, 1)

    def read(self) -> None:
        """Read the whole source."""
        source = self.source
        while token := _TOKEN.match(source.text, source.place):
            begun, source.place = source.place, token.end()
            command, sign, comment, mark, gap = token.groups()
            if command:
                self._command(command, begun)
            elif sign:
                self._sign(sign)
            elif comment is not None:
                self.outline.hidden += len(one_line(comment))
            elif gap:
                self.flush()
            elif mark in {"^", "_"}:
                write = raised if mark == "^" else lowered
                self._add(write("".join(self._running[-1:]), self._part()), begun)
            elif mark == "&" and self._rows is not None:
                self._end_cell()
            elif mark not in {"{", "}", "$"}:
                self._add(" " if mark == "~" else token.group(), begun)
        self.flush()

    def _add(self, text: str, place: int, how: str = "") -> None:
        for written, sign in _DASHES:
            text = text.replace(written, sign)
        if text.strip() and not self._line:
            at, line = self._counted
            self._line = line + self.source.text.count("\n", at, place)
            self._counted = place, self._line
        Runs(self.outline, self._running).add(text, place=how)

    def _part(self) -> str:
        """The text of the next group."""
        return _shown(self.source.group(), self.depth, self.outline)

    def _apart(self, text: str, place: int) -> None:
        """Append part of a formula that is not to be read together with a number or name next to it."""
        after = self.source.text[self.source.place : self.source.place + 1].isalnum()
        self._add(joined("".join(self._running[-1:]), text) + " " * after, place)

    def _sign(self, sign: str) -> None:
        if sign == "\\" and self._rows is not None:
            self._end_cell()
            self._rows.append([])
        elif sign == "\\":
            self._running.append("\n")
        elif sign in _ACCENTS:
            self._accent(sign)
        elif not (sign in "/-!()[]" or sign == "@"):
            self._running.append(" " if sign in ",;: \n" else sign)

    def _accent(self, sign: str) -> None:
        letter = self.source.group().replace("\\i", "i").replace("\\j", "j")
        self._add(unicodedata.normalize("NFC", letter[:1] + _ACCENTS[sign]) + letter[1:], self.source.place)

    def _command(self, name: str, place: int) -> None:
        source = self.source
        if name == "tabularnewline":
            self._sign("\\")
        elif name in _SECTIONS:
            self.flush()
            source.option()
            self.outline.add(
                BlockKind.HEADING, _shown(source.group(), self.depth, self.outline), level=_SECTIONS[name]
            )
        elif name in {"begin", "end"}:
            self.flush()
            self._environment(source.group().rstrip("*"), begins=name == "begin")
        elif name == "item":
            self.flush()
            label = _shown(source.option(), self.depth, self.outline)
            self._begun = True
            self._add(f"{label}: " if label else "", place)
        elif name in _NOTES:
            source.option()
            self.outline.held.append(_shown(source.group(), self.depth, self.outline))
        elif name in {"textsuperscript", "textsubscript"}:
            how = name.removeprefix("text").removesuffix("script")
            self._add(_shown(source.group(), self.depth, self.outline), place, how)
        elif name in {"verb", "lstinline"}:
            mark = source.text[source.place : source.place + 1]
            end = source.text.find("}" if mark == "{" else mark, source.place + 1)
            self._add(source.text[source.place + 1 : end], place)
            source.place = end + 1
        else:
            self._other(name, place)

    def _other(self, name: str, place: int) -> None:
        source = self.source
        if name in _RULES:
            self._rules.append(sum(map(bool, self._rows or ())))
        elif name in {"multicolumn", "multirow"}:
            source.option()
            count, _ = source.group(), source.group()
            source.option()
            number = int(count) if count.isdecimal() and len(count) < 4 else 1
            self._cell = (self._cell[0], number) if name == "multicolumn" else (number, self._cell[1])
        elif name in _DROPPED:
            source.option()
            for _ in range(_DROPPED[name]):
                dropped = source.group()
                self.outline.hidden += len(one_line(dropped)) * (name in _DELETED)
            source.option()
        elif name == "caption":
            source.option()
            self.outline.add(BlockKind.PARAGRAPH, _shown(source.group(), self.depth, self.outline))
        elif name in _REPEATED and self._rows is not None:
            self._end_cell()
            rows = [row for row in self._rows if any(cell.text for cell in row)]
            self._header = self._header or rows
            self._rows = [[]]
        elif name in _PARTED:
            self.flush()
        elif name in {"iffalse", "endinput"}:
            self.outline.hidden += len(one_line(source.untrue() if name == "iffalse" else source.rest()))
        elif name in _ACCENTS:
            self._accent(name)
        elif not self._formula(name, place):
            source.option()

    def _formula(self, name: str, place: int) -> bool:
        """Append a sign or part of a formula; whether `name` is one."""
        if name in _SIGNS:
            self._add(_SIGNS[name], place)
        elif name in _FUNCTIONS:
            self._apart(name, place)
        elif name in _FRACTIONS:
            self._apart(over(self._part(), self._part()), place)
        elif name == "sqrt":
            degree = self.source.option()
            self._apart(root(self._part(), degree), place)
        else:
            return False
        return True

    def _environment(self, name: str, *, begins: bool) -> None:
        if name in _LISTS:
            self._lists += 1 if begins else -1
        elif name in _CODE and begins:
            self.source.option()
            _ = self.source.group() if name == "minted" else ""
            self.outline.add(
                BlockKind.CODE, self.source.until(name).strip("\n"), intro=self.outline.introducing()
            )
        elif name == "comment" and begins:
            self.outline.hidden += len(one_line(self.source.until(name)))
        elif name == "document" and not begins:  # LaTeX reads no further
            self.outline.hidden += len(one_line(self.source.rest()))
        elif name in _TABLES and begins:
            self.source.option()
            for _ in range(2 if name in {"tabularx", "tabulary"} else 1):
                self.source.group()
            self._rows, self._rules, self._header = [[]], [], []
        elif name in _TABLES and self._rows is not None:
            self._end_cell()
            rows = _uncovered([row for row in self._rows if any(cell.text for cell in row)])
            inner = [count for count in self._rules if 0 < count < len(rows)]
            header = len(self._header) or min(inner, default=0)
            rows, self._rows = self._header + rows, None
            self.outline.table(rows, header=header, intro=self.outline.announcement())
        elif begins:
            self.source.option()

    def _end_cell(self) -> None:
        text, self._running = one_line("".join(self._running)), []
        if self._rows is not None and (text or self._rows[-1] or self._rules or len(self._rows) > 1):
            self._rows[-1].append(Cell(text, *self._cell))
        self._cell = 1, 1

    def flush(self) -> None:
        """End the running block; its notes stand below it."""
        if self._rows is not None:
            self._running.append(" ")
            return
        text = "\n".join(
            filter(None, map(one_line, "".join(self._running).replace("\n\n", "\0").split("\0")))
        )
        line, self._line, self._running = self._line, 0, []
        if text:
            kind = BlockKind.ITEM if self._lists else BlockKind.PARAGRAPH
            text = f"- {text}" if self._lists and self._begun else text
            line += self.first
            self.outline.put(kind, text, self._lists, more=not self._begun, line=line)
            self._begun = False
