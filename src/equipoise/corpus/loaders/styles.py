"""The styles of Word and OpenDocument: how text of each looks, and what a paragraph of it is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.colors import CLEAR
from equipoise.corpus.loaders.hidden import Style
from equipoise.corpus.loaders.loaded import whole

OFF = frozenset({"0", "false", "off", "none"})
"""How a switch of Word is said to be off."""
UNKNOWN_PAPER: Style = {"background-image": "unknown"}

_HEADING = re.compile(r"heading(?: ([1-9])|\Z)")
_LIST = re.compile(r"list (?:bullet|number)(?: ([1-9]))?+")
_CODE = re.compile(r"\b(?:code|listing|preformatted|source|verbatim)\b")
_ASIDES = ("toc ", "table of ", "index ", "contents ")
_LONGEST_NAME, _MOST_NAMES = 60, 9  # characters of a name, and names of styles that one is based on
_BODY_TEXT = 9  # the outline level of what is no heading
_CLEAR_FROM = 90_000  # thousandths of a per cent by which an effect of letters lets the paper through
_FAMILIES = frozenset({"paragraph", "table", "table-cell", "table-row", "section", "graphic", "text"})


@dataclass(slots=True)
class _Entry:
    """A style: its name, the id of the one it is based on, and what it says itself as CSS properties.

    Word's properties of lists and outlines stand among them, under names that CSS does not have.
    """

    name: str = ""
    parent: str = ""
    own: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Styles:
    """The styles of a document by id. `plain` is the style of paragraphs without one, `paper` the look of pages."""

    paper: Style = field(default_factory=dict)
    plain: str = ""
    _entries: dict[str, _Entry] = field(default_factory=dict)
    _defaults: dict[str, str] = field(default_factory=dict)
    _resolved: dict[str, tuple[Style, tuple[str, ...]]] = field(default_factory=dict)

    def read_word(self, root: Element) -> None:
        """Take the styles of a Word document (ECMA-376, part 1, 17.7)."""
        for style in root.iter("style"):
            said = {part.tag: part.get("val", "") for part in style if part.tag in {"name", "basedOn"}}
            entry = _Entry(said.get("name", "").lower(), said.get("basedOn", ""))
            for part in (*style.iterfind("pPr"), *style.iterfind("rPr")):
                entry.own.update(word_style(part))
            self._entries[style.get("styleId", "")] = entry
            if style.get("type") == "paragraph" and style.get("default", "0") not in OFF:
                self.plain = style.get("styleId", "")
        for part in root.iterfind("docDefaults/rPrDefault/rPr"):
            self._defaults.update(word_style(part))

    def read_odf(self, root: Element) -> None:
        """Take the styles of a part of an OpenDocument file (OASIS OpenDocument 1.3, part 3, 16)."""
        for style in root.iter():
            if style.tag == "style" and style.get("family") in _FAMILIES:
                shown = style.get("display-name") or style.get("name", "").replace("_20_", " ")
                entry = _Entry(shown.lower(), style.get("parent-style-name", ""), _odf_style(style))
                self._entries[style.get("name", "")] = entry
            elif style.tag == "default-style" and style.get("family") == "paragraph":
                self._defaults.update(_odf_style(style))
            elif style.tag == "page-layout-properties":
                clear = style.get("background-color", "transparent") == "transparent"
                self.paper = self.paper if clear else UNKNOWN_PAPER

    def paragraph(self, style: str) -> Style:
        """What a paragraph of this style looks like."""
        return {**self._defaults, **self.named(style or self.plain)}

    def named(self, style: str) -> Style:
        """The properties of a style, with those of the styles that it is based on."""
        return self._resolve(style)[0]

    def kind(self, style: str, own: Style) -> tuple[BlockKind, int]:
        """The kind and level of a paragraph with this style and properties of its `own`."""
        look, names = self._resolve(style)
        said = {**look, **own}
        if known := next(filter(None, map(_by_name, names)), None):
            return known
        outline = whole(said.get("outlineLvl"), _BODY_TEXT)
        if outline < _BODY_TEXT:
            return BlockKind.HEADING, outline + 1
        listed = next((match for name in names if (match := _LIST.match(name))), None)
        if said.get("numId", "0" if listed is None else "") != "0":
            depth = whole(said.get("ilvl")) + 1
            return BlockKind.ITEM, max(depth, int(listed[1] or 1) if listed else 1)
        return BlockKind.PARAGRAPH, 0

    def _resolve(self, style: str) -> tuple[Style, tuple[str, ...]]:
        """What a style says, and its name and those of the styles it is based on."""
        chain: dict[str, None] = {}
        while style in self._entries and style not in self._resolved and style not in chain:
            chain[style] = None
            style = self._entries[style].parent
        look, names = self._resolved.get(style, ({}, ()))
        for link in reversed(chain):
            entry = self._entries[link]
            look, names = {**look, **entry.own}, (entry.name[:_LONGEST_NAME], *names[:_MOST_NAMES])
            self._resolved[link] = look, names
        return look, names


def _by_name(name: str) -> tuple[BlockKind, int] | None:
    """What the name of a style says of its paragraphs, None for nothing."""
    if match := _HEADING.match(name):
        return BlockKind.HEADING, int(match[1] or 1)
    if name == "title":
        return BlockKind.HEADING, 1
    if name.startswith(_ASIDES):
        return BlockKind.ASIDE, 0
    return (BlockKind.CODE, 0) if _CODE.search(name) else None


def word_style(properties: Element) -> dict[str, str]:
    """The properties of a run, paragraph or cell as CSS, as far as they bear on what is seen, and those of lists."""
    style: dict[str, str] = {}
    for node in properties:
        value = node.get("val", "")
        if node.tag == "numPr":
            style |= word_style(node)
        elif node.tag in {"outlineLvl", "ilvl", "numId"}:
            style[node.tag] = value
        else:
            style |= _word_look(node.tag, value, node)
    return style | _drawn_ink(properties) if properties.find("textFill") is not None else style


def _drawn_ink(properties: Element) -> dict[str, str]:
    """The colour of letters that are painted by an effect (MS-DOCX, 2.2.1: `w14`); none of the theme or a gradient."""
    inks = {_effect_ink(node) for node in properties if node.tag in {"textFill", "textOutline"}} - {CLEAR}
    if "" in inks:
        return {}
    return {"-webkit-text-fill-color": "canvastext" if len(inks) > 1 else next(iter(inks), CLEAR)}


def _effect_ink(effect: Element) -> str:
    """The colour of a fill or an outline, empty for a gradient or a colour of the theme."""
    if effect.find("solidFill") is None and effect.find("gradFill") is None:
        return CLEAR
    paint = effect.find("solidFill/srgbClr")
    if paint is None:
        return ""
    clear = any(whole(part.get("val")) > _CLEAR_FROM for part in paint.iterfind("alpha"))
    return CLEAR if clear else f"#{paint.get('val', '').lower()}"


def _word_look(name: str, value: str, node: Element) -> Mapping[str, str]:
    if name == "vanish":
        return {"display": "inline" if value in OFF else "none"}
    if name in {"strike", "dstrike"}:
        return {"text-decoration": "none" if value in OFF else "line-through"}
    if name == "vertAlign":
        return {"vertical-align": value.removesuffix("script")}
    if name == "sz" and value[:4].isdecimal():
        return {"font-size": f"{int(value[:4]) / 2}pt"}
    if name == "color":
        return {"color": "canvastext" if value == "auto" else f"#{value.lower()}"}
    return _word_paper(name, value, node.get("fill", "auto").lower())


def _word_paper(name: str, value: str, fill: str) -> Mapping[str, str]:
    if (name == "highlight" and value != "none") or (name == "shd" and value not in {"clear", "nil", ""}):
        return UNKNOWN_PAPER
    return {"background-color": f"#{fill}"} if name == "shd" and fill != "auto" else {}


def _odf_style(style: Element) -> dict[str, str]:
    """What a style of OpenDocument says, as CSS."""
    look: dict[str, str] = {}
    for node in style:
        if node.tag.endswith("-properties"):
            look |= _odf_look(node)
    return look


def _odf_look(node: Element) -> dict[str, str]:
    names = ("color", "font-size", "background-color")
    look = {name: value.lower() for name in names if (value := node.get(name))}
    if node.get("use-window-font-color") == "true":
        look["color"] = "canvastext"
    if node.get("display") in {"none", "true", "false"}:
        look["display"] = "inline" if node.get("display") == "true" else "none"
    if node.get("text-line-through-style", "none") != "none":
        look["text-decoration"] = "line-through"
    if place := node.get("text-position", "").partition(" ")[0]:
        look["vertical-align"] = "sub" if place[0] == "-" else {"sub": "sub", "0%": ""}.get(place, "super")
    if node.get("fill", "none") != "none":
        look |= UNKNOWN_PAPER
    return look
