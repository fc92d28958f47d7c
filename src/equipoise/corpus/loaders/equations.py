"""Formulas written as one line of text, so that no power, fraction or root reads as another number: those of Office
(ECMA-376, part 1, 22.1), and helpers that LaTeX shares."""

import re
from collections.abc import Callable
from typing import NamedTuple
from xml.etree.ElementTree import Element

from equipoise.corpus.loaders.loaded import placed, words

_WHOLE = re.compile(r"[√∛∜]?+[^\W\d]\w*+|\d++(?:[.,]\d++)?+|\([^()]*+\)|.|")
_MARKS = words("* † ‡ § ′ ″ ' '' ° ∘ th st nd rd")  # written behind a word without `^`
_DELETED = frozenset({"del", "moveFrom"})
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_APART = frozenset({"f", "rad", "func"})
_OFF = frozenset({"0", "off", "false"})


def grouped(text: str) -> str:
    """`text` in brackets, unless it is one name, number or sign or stands in them.

    >>> grouped("ab"), grouped("a+b"), grouped("(a+b)")
    ('ab', '(a+b)', '(a+b)')
    """
    bare = text.strip()
    return bare if _WHOLE.fullmatch(bare) else f"({bare})"


def raised(before: str, text: str) -> str:
    """How a power is written behind `before`.

    >>> raised("10", "-6"), raised("x", "2"), raised("e", "-x²"), raised("5", "th")
    ('^-6', '²', '^(-x²)', 'th')
    """
    bare = text.strip()
    shown = placed(bare, before, "super")
    is_plain = shown != bare or bare in _MARKS or not before[-1:].strip()
    return shown if is_plain or not bare else f"^{grouped(bare)}"


def lowered(before: str, text: str) -> str:
    """How an index is written behind `before`.

    >>> lowered("H", "2"), lowered("10", "2"), lowered("x", "n+1"), lowered("∑", "i")
    ('2', '_2', '_(n+1)', '_i')
    """
    bare = text.strip()
    if before[-1:].isalnum() and (not bare or _WHOLE.fullmatch(bare)):
        return placed(bare, before, "sub")
    return f"_{grouped(bare)}" if bare else ""


def over(above: str, below: str) -> str:
    """A fraction.

    >>> over("a+b", "2")
    '(a+b)/2'
    """
    return f"{grouped(above)}/{grouped(below)}"


def root(inside: str, degree: str = "") -> str:
    """A root.

    >>> root("2"), root("x+1", "5")
    ('√2', '(x+1)^(1/5)')
    """
    sign = _ROOTS.get(degree.strip())
    return f"{sign}{grouped(inside)}" if sign else f"{grouped(inside)}^(1/{degree.strip()})"


def joined(before: str, text: str) -> str:
    """`text` as written behind `before`: with a space if the two would read as one number or name."""
    return f" {text}" if before[-1:].isalnum() and text[:1].isalnum() else text


def equation(node: Element, said: Callable[[Element], str]) -> str:
    """The formula in an element of Office's mathematics; `said` is the text that shows of a run."""
    text, was_apart = "", False
    for child in node:
        name = child.tag.removeprefix("m:")
        piece = (
            said(child) if name == "r" or name in _DELETED else _KINDS.get(name, _other)(_Part(child, said))
        )
        is_apart = name in _APART
        text += joined(text, piece) if is_apart or was_apart else piece
        was_apart = is_apart if piece else was_apart
    return text


class _Part(NamedTuple):
    """A part of a formula."""

    node: Element
    said: Callable[[Element], str]

    def of(self, name: str) -> str:
        """The formula in its child called `name`, empty without one."""
        return next((equation(each, self.said) for each in self.node if each.tag == f"m:{name}"), "")

    def each(self) -> list[str]:
        """The formulas in all its children but properties."""
        return [equation(each, self.said) for each in self.node if not each.tag.endswith("Pr")]

    def property(self, name: str, usual: str) -> str:
        """The value of its property called `name`, `usual` without one."""
        for properties in self.node:
            for each in properties if properties.tag.endswith("Pr") else ():
                if each.tag == f"m:{name}":
                    return each.get("m:val", "1" if name in {"degHide", "show"} else "")
        return usual


def _fraction(part: _Part) -> str:
    above, below = part.of("num"), part.of("den")
    return f"{above} choose {below}" if part.property("type", "bar") == "noBar" else over(above, below)


def _script(part: _Part) -> str:
    base = grouped(part.of("e"))
    base += lowered(base, part.of("sub"))
    return base + raised(base, part.of("sup"))


def _limit(part: _Part) -> str:
    mark = "_" if part.node.tag == "m:limLow" else "^"
    return f"{part.of('e').strip()}{mark}{grouped(part.of('lim'))}"


def _root(part: _Part) -> str:
    hides = part.property("degHide", "0") not in _OFF
    return root(part.of("e"), "" if hides else part.of("deg"))


def _large(part: _Part) -> str:
    limits = [mark + grouped(text) for mark, name in (("_", "sub"), ("^", "sup")) if (text := part.of(name))]
    return f"{part.property('chr', '∫')}{''.join(limits)} {part.of('e').strip()}"


def _function(part: _Part) -> str:
    text = part.of("e").strip()
    return f"{part.of('fName').strip()}{'' if text.startswith('(') else ' '}{text}"


def _brackets(part: _Part) -> str:
    inside = part.property("sepChr", "|").join(part.each())
    return part.property("begChr", "(") + inside + part.property("endChr", ")")


def _matrix(part: _Part) -> str:
    rows = (_Part(row, part.said).each() for row in part.node if row.tag == "m:mr")
    return "; ".join(", ".join(row) for row in rows)


def _phantom(part: _Part) -> str:
    return "" if part.property("show", "1") in _OFF else _other(part)


def _other(part: _Part) -> str:
    return "" if part.node.tag.endswith("Pr") else equation(part.node, part.said)


_KINDS: dict[str, Callable[[_Part], str]] = {
    "f": _fraction,
    **dict.fromkeys(["sSup", "sSub", "sSubSup"], _script),
    **dict.fromkeys(["limLow", "limUpp"], _limit),
    "rad": _root,
    "nary": _large,
    "func": _function,
    "d": _brackets,
    "m": _matrix,
    "eqArr": lambda part: "; ".join(part.each()),
    "phant": _phantom,
}
