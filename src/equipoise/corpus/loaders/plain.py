"""Markdown and plain text: kept as they are but for the rows of tables, so that lines are those of the file.

What a reader of the rendered page would not see becomes spaces of the same length.
"""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from equipoise.core.metadata import told
from equipoise.core.types import Block, BlockKind
from equipoise.core.where import value
from equipoise.corpus.loaders import marked
from equipoise.corpus.loaders.html import read_page
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, decoded, one_line, placed, with_lines
from equipoise.corpus.loaders.markdown import BREAK, Scan
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.rst import rst_hidden, with_bars
from equipoise.text.blocks import blocks

_TITLE_LINES = 200
_MARKDOWN_RULES = frozenset("=-")
_DRAWER = re.compile(
    r"^[ \t]*+:PROPERTIES:[ \t]*+\n(?:[ \t]*+:(?!END:)[^\n]{0,500}\n){0,30}+[ \t]*+:END:", re.MULTILINE
)
_ORG_TITLE = re.compile(r"^#\+title:([^\n]++)", re.MULTILINE | re.IGNORECASE)
_STARS = re.compile(r"(\*++)(?=[ \t])")
_KEYWORD = re.compile(r"[ \t]*+#\+(\w++)(?::|\b)")
_FENCES = frozenset({"begin_src", "end_src", "begin_example", "end_example"})
_SAID = frozenset({"title", "caption", "date", "author"})
_ORG_LINK = re.compile(r"\[\[[^\[\]\n]++\]\[([^\[\]\n]++)\]\]")
_ORG_STRUCK = re.compile(r"(?<![\w+])\+(?=\S)([^+\n]++(?:\n(?=\S)[^+\n]++)?+)(?<=\S)\+(?!\w)")
_ORG_PLACE = re.compile(r"([_^])\{([\w.+-]{1,20})\}")
_RST_PLACE = re.compile(r"(?:\\ )?+:(sup|sub):`([\w.+-]{1,20})`(?:\\ )?+")
_PLACES = {"sup": "super", "sub": "sub"}
_LEADS = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
_RST_RULES = frozenset("=-~^\"'#*+")


def load_markdown(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the source text. Its title is the front matter's, else the first heading."""
    return _markdown(path, decoded(path, data), has_html=True)


def _markdown(path: Path, raw: str, *, has_html: bool) -> list[LoadedDocument]:
    text = clean(raw)
    scan = Scan(text, has_html=has_html)
    pages = [_page(path, scan.sheets, text[start:end]) for start, end in scan.whole]
    hidden = sum(len(one_line(text[start:end])) for start, end in scan.hidden) + sum(
        one.hidden for one in pages
    )
    gone = [(start, end, _blank(text[start:end])) for start, end in (*scan.hidden, *scan.whole)]
    edited = _edited(text, sorted([*gone, *scan.shown]))
    lines = edited.replace(BREAK, " ").split("\n", _TITLE_LINES)[:_TITLE_LINES]
    front = _front_matter(lines)
    title = one_line(front.pop("title", "")) or _markdown_heading(lines)
    starts = with_lines(raw, text, [Block(BlockKind.PARAGRAPH, *whole) for whole in scan.whole])
    document = _document(raw, edited, title or path.stem, hidden, has_tables=True)
    placed = zip((one.line for one in starts), pages, strict=True)
    document = _with_pages(document, list(placed)) if pages else document
    return [replace(document, metadata=told({key: value(said) for key, said in front.items()}))]


def _page(path: Path, sheets: list[str], source: str) -> Outline:
    """The blocks of an element of HTML."""
    outline = Outline()
    read_page(path, "".join(f"<style>{sheet}</style>" for sheet in sheets) + source, outline)
    return outline


def _with_pages(document: LoadedDocument, pages: list[tuple[int, Outline]]) -> LoadedDocument:
    """The document with each of the pages before the first block behind the line that it begins on."""
    pieces: list[str] = []
    made: list[Block] = []
    rows: dict[int, int] = {-1: -1}
    length = end = behind = 0
    for at, block in enumerate([*document.blocks, None]):
        while pages and (block is None or pages[0][0] < block.line):
            line, page = pages.pop(0)
            said = f"\n\n{page.text()}\n\n"
            above = made[-1] if made else None
            leads = above and above.kind in _LEADS and pieces[-1].rstrip().endswith((":", "："))
            first, lead = len(made), len(made) - 1 if leads else -1
            for one in page.blocks:
                start, stop = (length + 2 + offset for offset in (one.start, one.end))
                intro = first + one.intro if one.intro >= 0 else lead
                made.append(one._replace(start=start, end=stop, intro=intro, line=line))
            pieces.append(said)
            length, behind = length + len(said), len(made)
        if block is not None:
            text = document.text[end : block.end]
            pieces.append(text)
            start, stop = length + block.start - end, length + len(text)
            rows[at], intro = len(made), rows[block.intro]
            made.append(block._replace(start=start, end=stop, intro=intro if intro >= behind else -1))
            length, end = length + len(text), block.end
    return replace(document, text="".join([*pieces, document.text[end:]]), blocks=tuple(made))


def load_org(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: an Org file as the Markdown that says the same, line by line. Its title is that of the file."""
    raw = decoded(path, data)
    markdown = "\n".join(
        map(_from_org, _DRAWER.sub(lambda drawer: "\n" * drawer[0].count("\n"), raw).split("\n"))
    )
    named = _ORG_TITLE.search(raw)
    markdown = _ORG_PLACE.sub(r"\1\2", _ORG_STRUCK.sub(r"~~\1~~", markdown))
    (document,) = _markdown(path, markdown, has_html=False)
    return [replace(document, title=one_line(named[1]) if named else document.title)]


def _from_org(line: str) -> str:
    """A line of Org as one of Markdown; comments and settings are comments."""
    if stars := _STARS.match(line):
        return "#" * min(len(stars[1]), 6) + line[stars.end(1) :]
    if keyword := _KEYWORD.match(line):
        kind, value = keyword[1].lower(), line[keyword.end() :].strip()
        return "~~~~~~" if kind in _FENCES else value if kind in _SAID else ""
    if line.lstrip().startswith(("# ", "#\t")):
        return f"<!--{line}-->"
    return line.replace("+", "|") if line.lstrip().startswith("|-") else _ORG_LINK.sub(r"\1", line)


def load_text(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the text. A reStructuredText file's title is its first underlined line."""
    raw = decoded(path, data)
    if path.suffix.lower() != ".rst":
        return [_document(raw, clean(raw), path.stem, 0)]
    raw = with_bars(raw)
    if ":su" in raw:
        raw = _RST_PLACE.sub(
            lambda found: placed(
                found[2], found.string[max(found.start() - 1, 0) : found.start()], _PLACES[found[1]]
            ),
            raw,
        )
    text = clean(raw)
    spans = rst_hidden(text)
    hidden = sum(len(one_line(text[start:end])) for start, end in spans)
    text = _edited(text, [(start, end, _blank(text[start:end])) for start, end in spans])
    lines = text.split("\n", _TITLE_LINES)[:_TITLE_LINES]
    return [_document(raw, text, _underlined(lines, _RST_RULES) or path.stem, hidden, has_tables=True)]


def _document(raw: str, text: str, title: str, hidden: int, *, has_tables: bool = False) -> LoadedDocument:
    found = with_lines(raw, text, blocks(text))
    text = text.replace(BREAK, "\n")
    text, found = marked.named(text, found) if has_tables else (text, found)
    return LoadedDocument(text, title, hidden=hidden, blocks=found)


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """`text` with other words in place of stretches (in order)."""
    parts: list[str] = []
    place = 0
    for start, end, said in edits:
        if start >= place:
            parts += [text[place:start], said]
            place = end
    return "".join([*parts, text[place:]])


def _blank(piece: str) -> str:
    """As many spaces, line ends kept."""
    return "\n".join(" " * len(line) for line in piece.split("\n"))


def _front_matter(lines: list[str]) -> dict[str, str]:
    """What stands between two lines `---` at the top, `name: value` on a line each, by the names in lower case; lists
    and what is nested are left out."""
    if not lines or lines[0].strip() != "---":
        return {}
    known: dict[str, str] = {}
    for line in lines[1:]:
        if line.strip() == "---":
            break
        name, colon, said = line.partition(":")
        bare = said.strip().strip("\"'")
        if colon and name.strip() == name and bare and bare[0] not in "[{&*!|>#":
            known.setdefault(name.lower(), bare)
    return known


def _markdown_heading(lines: list[str]) -> str:
    outside = _outside_fences(lines)
    for line, after in pairwise([*outside, ""]):
        if title := _atx(line):
            return title
        if _underlined([line, after], _MARKDOWN_RULES):
            return one_line(line)
    return ""


def _atx(line: str) -> str:
    """The text of a heading with `#` before it, empty for another line."""
    body = line.lstrip()
    marks = len(body) - len(body.lstrip("#"))
    if len(line) - len(body) > 3 or not 0 < marks <= 6 or not body[marks : marks + 1].isspace():
        return ""
    return one_line(body[marks:].rstrip().rstrip("#"))


def _outside_fences(lines: list[str]) -> list[str]:
    """`lines` without fenced code and without front matter, both replaced by empty lines."""
    kept, fence = [], ""
    for number, line in enumerate(lines):
        mark = line.lstrip()[:3] if len(line) - len(line.lstrip()) <= 3 else ""
        mark = mark if mark in {"```", "~~~"} else ""
        if number == 0 and line.strip() == "---" and any(x.strip() == "---" for x in lines[1:]):
            fence = "---"
        elif fence:
            fence = "" if mark == fence or (fence == "---" and line.strip() == "---") else fence
        elif mark:
            fence = mark
        else:
            kept.append(line)
            continue
        kept.append("")
    return kept


def _underlined(lines: list[str], rules: frozenset[str]) -> str:
    """The first line that has a rule below it and letters in it, empty without one."""
    for line, after in pairwise(lines):
        if _is_rule(after, rules) and not _is_rule(line, rules) and any(c.isalnum() for c in line):
            return one_line(line)
    return ""


def _is_rule(line: str, rules: frozenset[str]) -> bool:
    """True for three or more of one of the `rules` characters, indented by three spaces at most."""
    mark = line.strip()
    indented = len(line) - len(line.lstrip())
    return len(mark) >= 3 and indented <= 3 and mark[0] in rules and mark == mark[0] * len(mark)
