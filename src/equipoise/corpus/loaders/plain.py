"""Markdown, Org, reStructuredText and plain text: the source text, each block with its line; tables become rows.

What a reader of the rendered page would not see becomes spaces of the same length.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from equipoise.core.metadata import Scalar, cleaned
from equipoise.core.types import Block, BlockKind
from equipoise.core.where import value
from equipoise.corpus.loaders.html import read_page
from equipoise.corpus.loaders.loaded import LoadedDocument, clean, decoded, one_line, with_lines
from equipoise.corpus.loaders.markdown import BREAK, Scan, with_notes
from equipoise.corpus.loaders.marked import add_blocks
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.rst import rst_hidden, with_places, without_tables
from equipoise.text.blocks import blocks
from equipoise.text.outline import heading_text

_FRONT_LINES = 200
_YAML_NAME = re.compile(r":(?:[ \t]|\Z)")
_YAML_TEXT = re.compile(r"(?<=[:-][ \t])[|>][-+\d]{0,2}[ \t]*+\Z")
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
_BOXED = re.compile(
    r"^([ \t]*+[┌┏╔╭]([─━═])\2*+(?:[┬┯┰┳╤╥╦]\2++)++[┐┓╗╮])[ \t]*+\r?+\n"
    r"(?:[ \t]*+[│┃║├┝┠┣╞╟╠][^\n]*+\n)++[ \t]*+[└┗╚╰][^\n]*+",
    re.MULTILINE,
)
_BOX = str.maketrans(
    dict.fromkeys("│┃║", "|")
    | dict.fromkeys("─━", "-")
    | {"═": "="}
    | dict.fromkeys("┌┏╔╭┐┓╗╮└┗╚╰┘┛╝╯├┝┠┣╞╟╠┤┥┨┫╡╢╣┬┯┰┳╤╥╦┴┷┸┻╧╨╩┼┿╂╋╪╫╬", "+")
)
_ORG_PLACE = re.compile(r"([_^])\{([\w.+-]{1,20})\}")


def load_markdown(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the source text. Its title is the front matter's, else the first heading."""
    return _markdown(path, with_notes(decoded(path, data)), has_html=True)


def _markdown(path: Path, raw: str, *, has_html: bool) -> list[LoadedDocument]:
    outline = Outline()
    title, said = add_markdown(outline, path, raw, has_html=has_html)
    return [replace(outline.loaded(title or _title(outline) or path.stem), metadata=said)]


def add_markdown(
    outline: Outline, path: Path, raw: str, *, has_html: bool = True
) -> tuple[str, dict[str, Scalar]]:
    """Append the blocks of a Markdown text; the title, if any, and the other metadata of its front matter."""
    text = clean(raw)
    scan = Scan(text, has_html=has_html)
    unsaid = [*scan.hidden, *(_yaml_comments(text) if has_html else ())]
    pages = [_page(path, scan.sheets, text[start:end]) for start, end in scan.whole]
    gone = [(start, end, _blank(text[start:end])) for start, end in (*unsaid, *scan.whole)]
    edited = _edited(text, sorted([*gone, *scan.shown]))
    front = _front_matter(edited.split("\n", _FRONT_LINES)[:_FRONT_LINES])
    starts = with_lines(raw, text, [Block(BlockKind.PARAGRAPH, *whole) for whole in scan.whole])
    outline.hidden += sum(len(one_line(text[start:end])) for start, end in unsaid)
    apart = [(one.line, page) for one, page in zip(starts, pages, strict=True)]
    add_blocks(outline, edited.replace(BREAK, "\n"), with_lines(raw, edited, blocks(edited)), apart)
    title = one_line(front.pop("title", ""))
    return title, cleaned({key: value(said) for key, said in front.items()})


def _page(path: Path, sheets: list[str], source: str) -> Outline:
    """The blocks of an element of HTML."""
    outline = Outline()
    read_page(path, "".join(f"<style>{sheet}</style>" for sheet in sheets) + source, outline)
    return outline


def load_org(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: an Org file, turned into Markdown line by line. Its title is `#+title`, else as in Markdown."""
    raw = decoded(path, data)
    bare = _DRAWER.sub(lambda drawer: "\n" * drawer[0].count("\n"), raw)
    markdown = "\n".join(map(_from_org, _commented(bare.split("\n"))))
    named = _ORG_TITLE.search(raw)
    markdown = _ORG_PLACE.sub(r"\1\2", _ORG_STRUCK.sub(r"~~\1~~", markdown))
    (document,) = _markdown(path, markdown, has_html=False)
    return [replace(document, title=one_line(named[1]) if named else document.title)]


def _commented(lines: list[str]) -> Iterator[str]:
    """Lines of Org; those from `#+begin_comment` to its end, outside of code, are comments like `# this`."""
    names = [(_KEYWORD.match(line) or ("", ""))[1].lower() for line in lines]
    last = max((row for row, name in enumerate(names) if name == "end_comment"), default=-1)
    inside = ""  # the name of the line that ends the block
    for row, (line, name) in enumerate(zip(lines, names, strict=True)):
        if not inside and (name in _FENCES or (name == "begin_comment" and row < last)):
            inside = name.replace("begin", "end")
        yield f"# {line}" if inside == "end_comment" else line
        inside = "" if name == inside else inside


def _from_org(line: str) -> str:
    """A line of Org as one of Markdown; a comment becomes one of HTML, a setting an empty line."""
    if stars := _STARS.match(line):
        return "#" * min(len(stars[1]), 6) + line[stars.end(1) :]
    if keyword := _KEYWORD.match(line):
        kind, value = keyword[1].lower(), line[keyword.end() :].strip()
        return "~~~~~~" if kind in _FENCES else value if kind in _SAID else ""
    if line.lstrip().startswith(("# ", "#\t")):
        return f"<!--{line.replace('-->', ' ')}-->"
    return line.replace("+", "|") if line.lstrip().startswith("|-") else _ORG_LINK.sub(r"\1", line)


def load_text(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: the text, its tables as those of every other format."""
    raw = _BOXED.sub(_unboxed, decoded(path, data))
    text = clean(raw)
    outline = Outline()
    add_blocks(outline, text, with_lines(raw, text, blocks(text)))
    return [outline.loaded(path.stem)]


def _unboxed(table: re.Match[str]) -> str:
    """A table in box-drawing characters, drawn as in reStructuredText; as it is if its lines differ in length."""
    even = all(len(line.rstrip()) == len(table[1]) for line in table[0].split("\n"))
    return table[0].translate(_BOX) if even else table[0]


def load_rst(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document: a reStructuredText file. Its title is the first underlined line."""
    bare, tables = without_tables(decoded(path, data))
    raw = with_places(bare)
    text = clean(raw)
    spans = rst_hidden(text)
    outline = Outline(hidden=sum(len(one_line(text[start:end])) for start, end in spans))
    text = _edited(text, [(start, end, _blank(text[start:end])) for start, end in spans])
    add_blocks(outline, text, with_lines(raw, text, blocks(text)), tables)
    return [outline.loaded(_title(outline) or path.stem)]


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """`text` with another text in place of each span (start, end); `edits` are in order."""
    parts: list[str] = []
    place = 0
    for start, end, said in edits:
        if start >= place:
            parts += [text[place:start], said]
            place = end
    return "".join([*parts, text[place:]])


def _blank(piece: str) -> str:
    """The text as spaces of the same length; line ends stay."""
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


def _yaml_comments(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each line of front matter that is a comment of YAML; none where no `---` ends it, or what
    it holds are no names with values. In a text below `name: |` a "#" is one of its characters."""
    lines = text.split("\n", _FRONT_LINES)[:_FRONT_LINES]
    end = next((row for row, line in enumerate(lines) if row and line.rstrip() in {"---", "..."}), 0)
    named = [line for line in lines[1:end] if line.strip() and line[0] not in " \t#-]}"]
    if lines[0].rstrip() != "---" or not named or not all(map(_YAML_NAME.search, named)):
        return
    place, inside = 0, -1  # how far the name is indented that has the text
    for line in lines[:end]:
        bare, depth = line.strip(), len(line) - len(line.lstrip())
        inside = -1 if bare and depth <= inside else inside
        if inside < 0 and bare.startswith("#"):
            yield place, place + len(line)
        elif inside < 0 and _YAML_TEXT.search(line):
            inside = depth
        place += len(line) + 1


def _title(outline: Outline) -> str:
    """The words of the first heading with marks, empty without one."""
    headings = (
        outline.text_of(row) for row, block in enumerate(outline.blocks) if block.kind is BlockKind.HEADING
    )
    return next((heading_text(raw) for raw in headings if raw.lstrip().startswith("#") or "\n" in raw), "")
