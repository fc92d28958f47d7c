"""The styles of a Word document: how text of each looks, and what a paragraph of it is (ECMA-376, part 1, 17.7)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.core.types import BlockKind
from equipoise.corpus.loaders.hidden import Style

OFF = frozenset({"0", "false", "off", "none"})
"""How a switch is said to be off."""
UNKNOWN_PAPER: Style = {"background-image": "unknown"}

_HEADING = re.compile(r"heading ([1-9])")
_LIST = re.compile(r"list (?:bullet|number)(?: ([1-9]))?+")
_CODE = re.compile(r"\b(?:code|listing|preformatted|source|verbatim)\b")
_ASIDES = ("toc ", "table of ", "index ", "contents ")
_MOST_NAMES = 9  # styles that one is based on, whose names say something about it
_BODY_TEXT = 9  # the outline level of what is no heading


@dataclass(slots=True)
class Role:
    """What a paragraph is said to be: `outline` and `depth` count from 0, None where nothing is said.

    `in_list` is False where numbering is switched off.
    """

    outline: int | None = None
    depth: int | None = None
    in_list: bool | None = None

    def read(self, name: str, value: str) -> None:
        """Take a paragraph property."""
        if name == "outlineLvl":
            self.outline = small_number(value)
        elif name == "ilvl":
            self.depth = small_number(value)
        elif name == "numId":
            self.in_list = value != "0"

    def over(self, other: "Role") -> "Role":
        """This role, and the other one where nothing is said here."""
        return Role(
            other.outline if self.outline is None else self.outline,
            other.depth if self.depth is None else self.depth,
            other.in_list if self.in_list is None else self.in_list,
        )


@dataclass(slots=True)
class _StyleEntry:
    name: str = ""
    based_on: str = ""
    own: dict[str, str] = field(default_factory=dict)
    role: Role = field(default_factory=Role)


class Styles:
    """Reads styles.xml: what each style says about the look of text, as CSS properties, and about its role."""

    def __init__(self) -> None:
        self._styles: dict[str, _StyleEntry] = {}
        self._resolved: dict[str, tuple[Style, tuple[str, ...], Role]] = {}
        self._defaults = _StyleEntry()
        self._current: _StyleEntry | None = None
        self._plain = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "style":
            self._current = self._styles[attributes.get("styleId", "")] = _StyleEntry()
            if attributes.get("type") == "paragraph" and attributes.get("default", "0") not in OFF:
                self._plain = attributes.get("styleId", "")
        elif name == "rPrDefault":
            self._current = self._defaults
        elif name == "tblStylePr":
            self._current = None  # a part of a table only
        elif self._current is not None:
            if name == "name":
                self._current.name = value.lower()
            elif name == "basedOn":
                self._current.based_on = value
            else:
                self._current.own.update(properties(name, attributes))
                self._current.role.read(name, value)

    def end(self, name: str) -> None:
        if name in {"style", "rPrDefault"}:
            self._current = None

    def characters(self, text: str) -> None:
        """Styles hold no text."""

    def paragraph(self, style: str) -> Style:
        """What a paragraph of this style looks like; "" is the default style."""
        return {**self._defaults.own, **self.named(style or self._plain)}

    def named(self, style: str) -> Style:
        """What a style says, with what it is based on."""
        return self._resolve(style)[0]

    def kind(self, style: str, own: Role) -> tuple[BlockKind, int]:
        """What a paragraph of this style is, which says `own` of itself, and its level."""
        _, names, role = self._resolve(style)
        role = own.over(role)
        if named := next(filter(None, map(_by_name, names)), None):
            return named
        if role.outline is not None and role.outline < _BODY_TEXT:
            return BlockKind.HEADING, role.outline + 1
        listed = next((match for name in names if (match := _LIST.match(name))), None)
        if role.in_list or (listed and role.in_list is None):
            return BlockKind.ITEM, max((role.depth or 0) + 1, int(listed[1] or 1) if listed else 1)
        return BlockKind.PARAGRAPH, 0

    def _resolve(self, style: str) -> tuple[Style, tuple[str, ...], Role]:
        """Look, names and role of a style, with what it is based on; its own name is first."""
        chain: dict[str, None] = {}
        while style in self._styles and style not in self._resolved and style not in chain:
            chain[style] = None
            style = self._styles[style].based_on
        resolved: tuple[Style, tuple[str, ...], Role] = self._resolved.get(style, ({}, (), Role()))
        for link in reversed(chain):
            entry = self._styles[link]
            names = (entry.name, *resolved[1][:_MOST_NAMES])
            resolved = self._resolved[link] = (
                {**resolved[0], **entry.own},
                names,
                entry.role.over(resolved[2]),
            )
        return resolved


def _by_name(name: str) -> tuple[BlockKind, int] | None:
    """What the name of a style says of its paragraphs, None for nothing."""
    if match := _HEADING.match(name):
        return BlockKind.HEADING, int(match[1])
    if name == "title":
        return BlockKind.HEADING, 1
    if name.startswith(_ASIDES):
        return BlockKind.ASIDE, 0
    return (BlockKind.CODE, 0) if _CODE.search(name) else None


def properties(name: str, attributes: Mapping[str, str]) -> Style:
    """A property of a run, paragraph or cell as CSS; nothing where it does not bear on what is seen."""
    value = attributes.get("val", "")
    style: Style = {}
    if name == "vanish":
        style = {"display": "inline" if value in OFF else "none"}
    elif name in {"strike", "dstrike"}:
        style = {"text-decoration": "none" if value in OFF else "line-through"}
    elif name == "vertAlign":
        style = {"vertical-align": value.removesuffix("script")}
    elif name == "sz" and value[:4].isdecimal():
        style = {"font-size": f"{int(value[:4]) / 2}pt"}
    elif name == "color":
        style = {"color": "canvastext" if value == "auto" else f"#{value.lower()}"}
    elif (name == "highlight" and value != "none") or (name == "shd" and value not in {"clear", "nil", ""}):
        style = UNKNOWN_PAPER
    elif name == "shd" and (fill := attributes.get("fill", "auto").lower()) != "auto":
        style = {"background-color": f"#{fill}"}
    return style


def small_number(text: str) -> int:
    """A number of at most nine digits, else 1."""
    return int(text) if text.isdecimal() and len(text) < 10 else 1
