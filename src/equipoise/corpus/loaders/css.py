"""CSS of `style` attributes and `<style>` elements: declarations that bear on whether text is seen, and rules.

tinycss2 reads the syntax, as https://www.w3.org/TR/css-syntax-3/ says; what a browser would not accept is left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import tinycss2

from equipoise.corpus.loaders.colors import color
from equipoise.corpus.loaders.lengths import length
from equipoise.corpus.loaders.loaded import words

Declarations = dict[str, tuple[bool, str]]
"""Property -> (important, value), both in lower case."""
Weight = tuple[int, int, int]
"""Ids, classes and types in a selector: of two rules the one of the greater weight holds."""
Tokens = Sequence[Any]
"""Tokens of tinycss2, which has no type hints."""

_DEEPEST = 32  # blocks inside one another
_LONGEST = 500  # characters of a value
_LONGEST_SELECTOR = 2_000

_WORDS = {
    "visibility": "visible hidden collapse initial inherit",
    "position": "static relative absolute fixed sticky initial",
    "content-visibility": "visible auto hidden initial",
    "display": "none block inline inline-block flex inline-flex grid inline-grid flow-root contents table "
    "table-row table-cell table-row-group table-header-group table-footer-group table-column table-caption "
    "table-column-group inline-table list-item run-in ruby inherit initial unset revert revert-layer -webkit-box "
    "-ms-flexbox -webkit-flex -webkit-inline-box",
}
_KEYWORDS = {name: words(text) for name, text in _WORDS.items()}


_LENGTHS = words(
    "left top right bottom width height max-width max-height min-height margin-left margin-top text-indent "
    "letter-spacing"
)
_SIZES = words(
    "xx-small x-small small medium large x-large xx-large xxx-large smaller larger initial inherit"
)
_COLORS = words("color background-color -webkit-text-fill-color")
_FREE = words(
    "background background-image background-clip -webkit-background-clip clip clip-path filter font inset list-style "
    "list-style-type margin mask mask-image -webkit-mask -webkit-mask-image overflow overflow-x overflow-y rotate "
    "scale text-decoration text-decoration-line transform translate zoom"
)
_PHYSICAL = {
    "block-size": "height", "inline-size": "width", "max-block-size": "max-height", "max-inline-size": "max-width",
    "min-block-size": "min-height", "inset-block-start": "top", "inset-block-end": "bottom",
    "inset-inline-start": "left", "inset-inline-end": "right", "inset-block": "top bottom",
    "inset-inline": "left right", "margin-block-start": "margin-top", "margin-inline-start": "margin-left",
    "margin-block": "margin-top", "margin-inline": "margin-left", "overflow-block": "overflow-y",
    "overflow-inline": "overflow-x",
}  # fmt: skip
"""What properties by the direction of writing set where it is that of English."""
_PROPERTIES = _FREE | _COLORS | _LENGTHS | _KEYWORDS.keys() | _PHYSICAL.keys() | {"font-size", "opacity"}
_GROUPS = words("layer container scope")
_ANY_OF = words("is matches -webkit-any -moz-any")  # the last three are older names of the first


class CssRule(NamedTuple):
    """Declarations for what one selector finds, with its weight."""

    selector: str
    weight: Weight
    declarations: Declarations


@lru_cache(maxsize=1024)
def declarations(text: str) -> Declarations:
    """The declarations of a `style` attribute that can hide text or show it again, or number items; the last valid
    one wins."""
    return _declared(tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True))


def rules(sheet: str) -> Iterator[CssRule]:
    """The rules of a style sheet that bear on whether text is seen on a screen, in their order.

    Rules for print and for other screens than one of 1,280 pixels are left out, and those of `@keyframes`.
    A nested rule gets its full selector.
    """
    parsed = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
    return _rules(parsed, (), _DEEPEST)


def holds(media: str) -> bool:
    """True where a list of media queries holds on a screen of 1,280 by 800 pixels; what is unknown holds."""
    return any(_query_holds(query) for query in media[: 4 * _LONGEST].lower().split(","))


def _rules(content: Iterable[Any], outer: tuple[str, ...], depth: int) -> Iterator[CssRule]:
    """The rules in the contents of a block; `outer` are the selectors of the rule around it, none at the top."""
    for found in content:
        if found.type not in {"qualified-rule", "at-rule"} or found.content is None or not depth:
            continue
        selectors = outer
        if found.type == "qualified-rule":
            selectors = tuple(_nested(_selectors(found.prelude), outer))
        elif not _holds(found.lower_at_keyword, _text(found.prelude)):
            continue
        inside = tinycss2.parse_blocks_contents(found.content, skip_comments=True, skip_whitespace=True)
        if declared := _declared(inside):
            for selector in selectors:
                yield CssRule(selector, _weight(tinycss2.parse_component_value_list(selector)), declared)
        if selectors or found.type == "at-rule":
            yield from _rules(inside, selectors, depth - 1)


def _selectors(prelude: Tokens) -> Iterator[str]:
    """The selectors of a list, but for those with the prefix of a namespace, which no sheet here declares."""
    for tokens in _split(prelude):
        text = _text(_known(tokens))
        if text and "|" not in {token.value for token in tokens if token.type == "literal"}:
            yield text


def _known(tokens: Tokens) -> list[Any]:
    """Tokens that lexbor knows: `:is` for its older names, and no `:defined`, which always holds."""
    known: list[Any] = []
    for token in tokens:
        if token.type == "function" and token.lower_name in _ANY_OF:
            token.name = "is"
        if known and known[-1] == ":" and token.type == "ident" and token.lower_value == "defined":
            known.pop()
        elif not (token.type == "literal" and token.value in {"<!--", "-->"}):
            known.append(token)
    return known


def _nested(selectors: Iterable[str], outer: tuple[str, ...]) -> Iterator[str]:
    around = outer[0] if len(outer) == 1 else f":is({', '.join(outer)})"
    for selector in selectors:
        inside = selector if not outer or "&" in selector else f"& {selector}"
        if len(inside) + inside.count("&") * len(around) <= _LONGEST_SELECTOR:
            yield inside.replace("&", around) if outer else inside


def _split(tokens: Tokens) -> list[list[Any]]:
    """Tokens between commas."""
    parts: list[list[Any]] = [[]]
    for token in tokens:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _weight(tokens: Tokens) -> Weight:
    """See Weight; https://www.w3.org/TR/selectors-4/#specificity-rules."""
    ids = classes = types = 0
    before = ""
    for token in tokens:
        if token.type == "hash":
            ids += 1
        elif token.type == "[] block" or (token.type == "ident" and before in {".", ":"}):
            classes += 1
        elif token.type == "ident":
            types += 1
        elif token.type == "function":
            inner: Weight = (0, 1, 0)
            if token.lower_name in {"is", "not", "has"}:
                inner = max(map(_weight, _split(token.arguments)))
            elif token.lower_name == "where":
                inner = (0, 0, 0)
            ids, classes, types = ids + inner[0], classes + inner[1], types + inner[2]
        before = token.value if token.type == "literal" else ""
    return ids, classes, types


def _declared(content: Iterable[Any]) -> Declarations:
    declared: Declarations = {}
    for found in content:
        if found.type != "declaration" or found.lower_name not in _PROPERTIES:
            continue
        for name, value in _set(found.lower_name, _text(found.value).lower()):
            if _is_valid(name, value) and (found.important or not declared.get(name, (False, ""))[0]):
                declared[name] = (found.important, value)
    return declared


def _set(name: str, value: str) -> list[tuple[str, str]]:
    """The physical properties that a declaration sets, and their values."""
    if name not in _PHYSICAL:
        return [(name, value)]
    names, values = _PHYSICAL[name].split(), value.split()
    if len(names) == 1 and name not in {"margin-block", "margin-inline"}:
        return [(names[0], value)]
    return [*zip(names, [*values, *values], strict=False)] if len(values) <= 2 else []


def _text(tokens: Iterable[Any]) -> str:
    """Tokens as text without comments and with single spaces; empty where they are nested too deep."""
    try:
        text: str = tinycss2.serialize(token for token in tokens if token.type != "comment")
    except RecursionError:
        return ""
    return " ".join(text.split())


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
    return name not in _LENGTHS or length(value) is not None or value.replace("-", "").isalpha()


def _holds(name: str, condition: str) -> bool:
    """True where the rules inside an at-rule count on a screen."""
    if name == "media":
        return holds(condition)
    if name == "supports":
        return not condition.lower().startswith("not")
    return name in _GROUPS


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
