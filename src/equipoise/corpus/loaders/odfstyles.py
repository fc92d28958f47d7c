"""The styles of an OpenDocument text: how text of each looks, and what a paragraph of it is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.corpus.loaders.hidden import Style

_CODE = re.compile(r"\b(?:code|listing|preformatted|source|verbatim)\b")
_HEADING = re.compile(r"heading(?: ([1-9]))?+$")
_LONGEST_NAME, _MOST_NAMES = 60, 9  # characters of a name, and names of styles that one is based on
_FAMILIES = frozenset({"paragraph", "table", "table-cell", "table-row", "section", "graphic", "text"})


@dataclass(slots=True)
class _Entry:
    name: str = ""
    parent: str = ""
    own: dict[str, str] = field(default_factory=dict)


class Styles:
    """Reads the styles of styles.xml and content.xml: CSS properties, and the names of those they are based on.

    `paper` is what is said of pages.
    """

    def __init__(self) -> None:
        self.paper: Style = {}
        self._styles: dict[str, _Entry] = {}
        self._resolved: dict[str, tuple[Style, str]] = {"": ({}, "")}
        self._defaults = _Entry()
        self._current: _Entry | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "style" and attributes.get("family") in _FAMILIES:
            shown = attributes.get("display-name") or attributes.get("name", "").replace("_20_", " ")
            self._current = _Entry(shown.lower(), attributes.get("parent-style-name", ""))
            self._styles[attributes.get("name", "")] = self._current
        elif name == "default-style":
            self._current = self._defaults if attributes.get("family") == "paragraph" else None
        elif name == "page-layout-properties":
            if attributes.get("background-color", "transparent") != "transparent":
                self.paper = {"background-image": "unknown"}
        elif name.endswith("-properties") and self._current is not None:
            self._current.own.update(_properties(attributes))

    def end(self, name: str) -> None:
        if name in {"style", "default-style"}:
            self._current = None

    def characters(self, text: str) -> None:
        """Styles hold no text."""

    def style(self, name: str, *, is_paragraph: bool) -> Style:
        """What a style says of the look of text, for a paragraph with what holds for all of them."""
        own = self._resolve(name)[0]
        return {**self._defaults.own, **own} if is_paragraph else own

    def is_code(self, name: str) -> bool:
        """True for a style that is made for code, or based on one."""
        return _CODE.search(self._resolve(name)[1]) is not None

    def heading(self, name: str) -> int:
        """The level of a heading's style, 1 for that of a title, 0 for another one."""
        named = self._resolve(name)[1].split("\n")
        heading = next((match for label in named if (match := _HEADING.match(label))), None)
        return int(heading[1] or 1) if heading else int("title" in named)

    def _resolve(self, name: str) -> tuple[Style, str]:
        """Look, and names of a style and those it is based on, one a line."""
        chain: dict[str, None] = {}
        while name in self._styles and name not in self._resolved and name not in chain:
            chain[name] = None
            name = self._styles[name].parent
        resolved = self._resolved.get(name, ({}, ""))
        for link in reversed(chain):
            entry = self._styles[link]
            names = "\n".join([entry.name[:_LONGEST_NAME], *resolved[1].split("\n")[:_MOST_NAMES]])
            resolved = self._resolved[link] = ({**resolved[0], **entry.own}, names)
        return resolved


def _properties(attributes: Mapping[str, str]) -> dict[str, str]:
    """Properties of OpenDocument as CSS; nothing where they do not bear on what is seen."""
    style = {
        name: attributes[name].lower()
        for name in ("color", "font-size", "background-color")
        if attributes.get(name)
    }
    if attributes.get("use-window-font-color") == "true":
        style["color"] = "canvastext"
    if attributes.get("display") in {"none", "true", "false"}:
        style["display"] = "inline" if attributes["display"] == "true" else "none"
    if attributes.get("text-line-through-style", "none") != "none":
        style["text-decoration"] = "line-through"
    if place := attributes.get("text-position", "").partition(" ")[0]:
        style["vertical-align"] = "sub" if place[0] == "-" else {"sub": "sub", "0%": ""}.get(place, "super")
    if attributes.get("fill", "none") != "none":
        style["background-image"] = "unknown"
    return style
