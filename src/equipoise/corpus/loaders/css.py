"""CSS of `style` attributes and `<style>` elements: declarations that bear on whether text is seen, and rules.

Syntax as in https://www.w3.org/TR/css-syntax-3/: comments, strings, escapes and nested blocks are taken apart,
what a browser would not accept is left out, and an unclosed block ends with the text. One pass, no recursion.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from equipoise.corpus.loaders.colors import color
from equipoise.corpus.loaders.lengths import length

Declarations = dict[str, tuple[bool, str]]
"""Property -> (important, value), both in lower case."""

_TOKEN = re.compile(
    r"""/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)   # comment, closed or not
      | "(?:[^"\\\n]++|\\.)*+"?+ | '(?:[^'\\\n]++|\\.)*+'?+
      | url\(\s*+[^"')\s][^)]*+\)?+
      | \\. | <!-- | --> | [{};:] | [^{};:"'\\/u<-]++ | .""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})[ \t\n\f]?+|(.))", re.IGNORECASE | re.DOTALL)
_BREAK = "\0"  # stands for a comment: it parts words, but is no white space
_NAME = re.compile(r"[-a-z]++")
_DEEPEST = 32  # blocks inside one another
_LONGEST = 500  # characters of a value

_WORDS = {
    "visibility": "visible hidden collapse initial inherit",
    "position": "static relative absolute fixed sticky initial",
    "content-visibility": "visible auto hidden initial",
    "display": "none block inline inline-block flex inline-flex grid inline-grid flow-root contents table "
    "table-row table-cell table-row-group table-header-group table-footer-group table-column table-caption "
    "table-column-group inline-table list-item run-in ruby inherit initial unset revert revert-layer -webkit-box "
    "-ms-flexbox -webkit-flex -webkit-inline-box",
}
_KEYWORDS = {name: frozenset(words.split()) for name, words in _WORDS.items()}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LENGTHS = _words(
    "left top right bottom width height max-width max-height margin-left margin-top text-indent"
)
_SIZES = _words(
    "xx-small x-small small medium large x-large xx-large xxx-large smaller larger initial inherit"
)
_COLORS = _words("color background-color -webkit-text-fill-color")
_FREE = _words(
    "background background-image background-clip -webkit-background-clip clip clip-path filter font inset margin "
    "overflow overflow-x overflow-y scale transform translate zoom"
)
_PROPERTIES = _FREE | _COLORS | _LENGTHS | _KEYWORDS.keys() | {"font-size", "opacity"}


@dataclass(frozen=True, slots=True)
class Rule:
    """Declarations for what a selector of a list finds; the text of the list is as in the sheet."""

    selectors: str
    declarations: Declarations


@lru_cache(maxsize=1024)
def declarations(text: str) -> Declarations:
    """The declarations of a `style` attribute that can hide text or show it again; the last valid one wins."""
    declared: Declarations = {}
    for name, value in _pairs(_tokens(text)):
        _declare(declared, name, value)
    return declared


def rules(sheet: str) -> Iterator[Rule]:
    """The rules of a style sheet that bear on whether text is seen on a screen, in their order.

    Rules for print and for other screens than one of 1,280 pixels are left out, and those of `@keyframes`.
    A rule inside another is given the selector that it means.
    """
    stack: list[_Block] = []
    waiting: list[str] = []
    for token in _tokens(sheet):
        if token == "{":
            stack.append(_Block.opened("".join(waiting), stack))
            waiting = []
        elif token == "}":
            if stack:
                stack[-1].declare(waiting)
                yield from stack.pop().rule()
            waiting = []
        elif token == ";":
            if stack:
                stack[-1].declare(waiting)
            waiting = []
        else:
            waiting.append(token)
    if stack:
        stack[-1].declare(waiting)
    while stack:
        yield from stack.pop().rule()


@dataclass(slots=True)
class _Block:
    """One pair of braces: `selectors` for a rule, None where rules inside do not count, "" for a group."""

    selectors: str | None
    declared: Declarations = field(default_factory=dict)

    @classmethod
    def opened(cls, prelude: str, stack: list["_Block"]) -> "_Block":
        prelude = prelude.replace("<!--", " ").replace("-->", " ").strip()
        outer = stack[-1].selectors if stack else ""
        if outer is None or len(stack) >= _DEEPEST:
            return cls(None)
        if prelude.startswith("@"):
            return cls(outer if _holds(prelude) else None)
        if not outer:
            return cls(prelude)
        if len(prelude) + (prelude.count("&") + 1) * len(outer) > 4 * _LONGEST:
            return cls(None)
        inside = ", ".join(
            selector if "&" in selector else f"& {selector}" for selector in prelude.split(",")
        )
        return cls(inside.replace("&", f":is({outer})" if "," in outer else outer))

    def declare(self, tokens: list[str]) -> None:
        if self.selectors:
            for name, value in _pairs(tokens):
                _declare(self.declared, name, value)

    def rule(self) -> Iterator[Rule]:
        if self.selectors and self.declared:
            yield Rule(self.selectors, self.declared)


def unescaped(text: str) -> str:
    """`text` with CSS escapes as the characters they stand for."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def holds(media: str) -> bool:
    """True where a list of media queries holds on a screen of 1,280 by 800 pixels; what is unknown holds."""
    return any(_query_holds(query) for query in media[: 4 * _LONGEST].lower().split(","))


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        yield _BREAK if token.startswith("/*") else token


def _pairs(tokens: Iterator[str] | list[str]) -> Iterator[tuple[str, str]]:
    """Name and value of every declaration, unescaped and in lower case."""
    name: str | None = None
    parts: list[str] = []
    for token in [*tokens, ";"]:
        if token == ":" and name is None:
            name, parts = "".join(parts), []
        elif token == ";":
            if name is not None:
                yield _plain(name).replace(_BREAK, " ").strip(), _plain("".join(parts)).replace(_BREAK, " ")
            name, parts = None, []
        else:
            parts.append(token)


def _plain(text: str) -> str:
    return unescaped(text[: 2 * _LONGEST]).lower()


def _character(match: re.Match[str]) -> str:
    if match.group(1) is None:
        return match.group(2)
    code = int(match.group(1), 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _declare(declared: Declarations, name: str, value: str) -> None:
    if name not in _PROPERTIES:
        return
    value = " ".join(value.split())
    head = value.removesuffix("important").rstrip()
    important = head != value and head.endswith("!")
    if important:
        value = head[:-1].rstrip()
    if _is_valid(name, value) and (important or not declared.get(name, (False, ""))[0]):
        declared[name] = (important, value)


def _is_valid(name: str, value: str) -> bool:
    if not value or len(value) > _LONGEST:
        return bool(value) and name in {"background", "background-image"}
    if name in _KEYWORDS:
        return all(word in _KEYWORDS[name] for word in value.split())
    if name in _COLORS:
        return color(value) is not None
    if name == "font-size":
        return value in _SIZES or length(value) is not None
    if name == "opacity":
        return length(value) is not None
    return name not in _LENGTHS or length(value) is not None or _NAME.fullmatch(value) is not None


def _holds(at_rule: str) -> bool:
    """True where the rules inside an at-rule count on a screen."""
    name, _, condition = at_rule.replace(_BREAK, " ").partition(" ")
    name, bracket, rest = name.lower().partition("(")
    if name == "@media":
        return holds(bracket + rest + " " + condition)
    if name == "@supports":
        return not (bracket + condition).strip().lower().startswith("not")
    return name in {"@layer", "@container", "@scope"}


def _query_holds(query: str) -> bool:
    query = query.strip()
    turned = query.startswith("not ")
    parts = query.removeprefix("not ").removeprefix("only ").split(" and ")
    return all(_feature_holds(part.strip()) for part in parts) != turned


def _feature_holds(feature: str) -> bool:
    if not feature.startswith("("):
        return feature in {"", "all", "screen"}
    name, _, value = feature.strip("()").partition(":")
    name, value = name.strip(), value.strip()
    pixels = length(value)
    if name in {"min-width", "min-device-width", "max-width", "max-device-width"} and pixels is not None:
        return pixels <= 1280 if name.startswith("min") else pixels >= 1280
    if name in {"min-height", "max-height"} and pixels is not None:
        return pixels <= 800 if name.startswith("min") else pixels >= 800
    known = {
        "orientation": "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference",
        "prefers-contrast": "no-preference", "forced-colors": "none", "hover": "hover", "any-hover": "hover",
        "pointer": "fine", "any-pointer": "fine", "scripting": "enabled", "display-mode": "browser",
        "inverted-colors": "none", "update": "fast",
    }  # fmt: skip
    return not value or known.get(name, value) == value
