"""XML of any vocabulary: text (DocBook, DITA, JATS, TEI, ...) as a page of HTML, data (feeds, exports) as JSON."""

import re
from collections import Counter
from collections.abc import Iterable
from html import entities, escape
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from equipoise.core.errors import UnreadableFile
from equipoise.corpus.loaders.html import read_page
from equipoise.corpus.loaders.json import value_loaded
from equipoise.corpus.loaders.loaded import LoadedDocument, one_line
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.xml import read_xml

_AS_HTML = {
    "p": "para simpara p shortdesc cmd info stepresult l",
    "ul": "itemizedlist ul simplelist list choices steps-unordered bulletlist",
    "ol": "orderedlist ol procedure steps substeps",
    "li": "listitem li step substep choice member item list-item",
    "pre": "programlisting screen literallayout codeblock pre msgblock synopsis preformat",
    "table": "informaltable table simpletable",
    "tr": "row tr strow sthead",
    "th": "th",
    "td": "entry td stentry cell",
    "sup": "superscript sup",
    "sub": "subscript sub",
    "del": "deleted del strike line-through",
    "dl": "dl variablelist glosslist parml def-list",
    "dt": "dt term glossterm pt",
    "dd": "dd pd glossdef def",
    "caption": "caption",
}
_DECLARED = re.compile(
    rb"""<\?xml\b[^>]{0,100}?encoding=["'](?!utf)([\w-]{1,40})["'][^>]{0,100}?\?>""", re.IGNORECASE
)
_TAGS = {name: tag for tag, names in _AS_HTML.items() for name in names.split()}
_TITLES = frozenset({"title", "head", "bridgehead", "article-title"})
_STRUCK = frozenset({"strikethrough", "strike", "line-through", "deleted"})
_NOT_SHOWN = frozenset({"indexterm", "remark", "draft-comment", "style", "script"})
_PARAGRAPHS = frozenset(_AS_HTML["p"].split()[:5])
_DEEPEST_HEADING = 6


def load_xml(path: Path, data: bytes) -> list[LoadedDocument]:
    """One document. Entities that the file itself declares are expanded; no other file is read."""
    try:
        if declared := _DECLARED.match(data):  # the parser knows few encodings
            data = data[declared.end() :].decode(declared[1].decode()).encode()
        root = read_xml(data, entities={name: chr(code) for name, code in entities.name2codepoint.items()})
        if not _is_text(root):
            return [value_loaded(path, _value(root))]
        _number(root)
        outline = Outline()
        title = next((one_line("".join(node.itertext())) for node in root.iter() if node.tag in _TITLES), "")
        read_page(path, f"<!DOCTYPE html><body>{_html(root, 0, inline=False)}", outline)
    except (ParseError, ValueError, LookupError) as error:
        raise UnreadableFile(str(path), f"it is not valid XML ({error}); correct it") from error
    return [outline.loaded(title or path.stem)]


def _number(root: Element) -> None:
    """Put the numbers of sections before their titles."""
    for node in root.iter():
        if len(node) > 1 and node[0].tag == "label" and node[1].tag in _TITLES:
            number = one_line("".join(node[0].itertext()))
            node[1].text = f"{number} {node[1].text or ''}".lstrip()
            node.remove(node[0])


def _is_text(root: Element) -> bool:
    """Whether it is made of paragraphs, or of elements among text."""
    return any(node.tag in _PARAGRAPHS or _is_mixed(node) for node in root.iter())


def _is_mixed(node: Element) -> bool:
    texts = [node.text, *(child.tail for child in node)]
    return len(node) > 0 and any(text and text.strip() for text in texts)


def _html(node: Element, depth: int, around: str = "", *, inline: bool) -> str:
    """An element inside one called `around` as HTML; an unknown one is a <div>, or among text a <span>."""
    if not isinstance(node.tag, str) or node.tag in _NOT_SHOWN:
        return ""
    has_title = _TAGS.get(node.tag) != "table" and any(child.tag in _TITLES for child in node)
    inside = "".join(_pieces(node, depth + has_title, inline=inline or _is_mixed(node)))
    if node.tag == "footnote":
        return f" [{inside}] "
    tag = "span" if inline else "div"
    if node.tag in _TITLES:
        tag = "caption" if _TAGS.get(around) == "table" else f"h{min(max(depth, 1), _DEEPEST_HEADING)}"
    elif _STRUCK & {node.get("role"), node.get("rend")}:
        tag = "del"
    elif node.tag == "xref" and node.get("ref-type") == "fn":
        tag = "sup"
    elif around == "varlistentry" and node.tag == "listitem":
        tag = "dd"
    elif node.tag in _TAGS and not (inline and _TAGS[node.tag] == "p"):
        tag = _TAGS[node.tag]
    return f"<{tag}{_spans(node)}>{inside}</{tag}>"


def _pieces(node: Element, depth: int, *, inline: bool) -> Iterable[str]:
    yield escape(node.text or "")
    for child in node:
        yield _html(child, depth, node.tag, inline=inline)
        yield escape(child.tail or "")


def _spans(node: Element) -> str:
    """How many rows and columns a cell spans, in HTML's terms."""
    rows = node.get("rowspan") or str(int(node.get("morerows", "0")[:5]) + 1)
    columns = node.get("colspan") or _width(node.get("namest", ""), node.get("nameend", ""))
    return f' rowspan="{escape(rows)}" colspan="{escape(columns)}"' if (rows, columns) != ("1", "1") else ""


def _width(first: str, last: str) -> str:
    """The number of columns from `first` to `last`, which have names such as col1."""
    numbers = ["".join(filter(str.isdecimal, name))[:5] for name in (first, last)]
    return str(max(int(numbers[1]) - int(numbers[0]), 0) + 1) if all(numbers) else "1"


def _value(node: Element) -> object:
    """Data as JSON has it: elements of one name are a list, attributes come first."""
    text = one_line("".join(node.itertext())) if len(node) == 0 else ""
    if "</" in text or "<br" in text:
        inside = Outline()
        read_page(Path(), f"<!DOCTYPE html><body>{text}", inside)
        text = inside.text()
    if len(node) == 0 and not node.attrib:
        return text
    made: dict[str, object] = dict(node.attrib)
    times = Counter(child.tag for child in node)
    for child in node:
        value = _value(child)
        if times[child.tag] > 1:
            listed = made.setdefault(child.tag, [])
            if isinstance(listed, list):
                listed.append(value)
        else:
            made[child.tag] = value
    return {**made, "text": text} if text else made
