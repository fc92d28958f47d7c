"""CSS selectors and the cascade: which declarations of a page's own style sheets hold for an element.

Read: types, classes, ids, attributes, all four combinators, `:root`, `:first-child`, `:last-child`,
`:nth-child()`, and `:not()`, `:is()`, `:where()` of selectors without a combinator. A selector with anything
else (states such as `:hover`, `::before`) is left out. Classes and ids are compared without regard to case, as
browsers do on pages without a doctype.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from equipoise.corpus.loaders.css import Declarations, declarations, rules, unescaped
from equipoise.corpus.loaders.hidden import Style

_IDENT = r"(?:[-\w]|[^\x00-\x7f]|\\(?:[0-9a-f]{1,6}[ \t\n\f]?+|[^\n]))++"
_PART = re.compile(
    rf"""(?P<relation>[\s\0]*+[>+~][\s\0]*+|\s[\s\0]*+) | (?P<any>\*) | \#(?P<id>{_IDENT}) | \.(?P<class>{_IDENT})
      | \[(?P<attribute>[^\]]*+)\] | (?P<pseudo>:[-a-z]++)(?:\((?P<argument>[^()]*+(?:\([^()]*+\)[^()]*+)*+)\))?+
      | (?P<tag>{_IDENT}) | (?P<nothing>\0)""",
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""\s*+([-\w]++)\s*+(?:([~|^$*]?+=)\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"']++))\s*+[is]?+\s*+)?+""",
    re.IGNORECASE,
)
_NTH = re.compile(r"\s*+(?:(odd|even)|([-+]?+\d*+)n\s*+(?:([-+])\s*+(\d++))?+|(\+?+\d++))\s*+", re.IGNORECASE)
_ALWAYS = frozenset({":link", ":any-link", ":enabled", ":defined", ":read-only"})
_LISTS = frozenset({":is", ":where", ":matches", ":-webkit-any", ":-moz-any"})
_LONGEST = 2_000  # characters of a selector
_MOST_PARTS = 16
_STEPS, _STEPS_EACH = 100_000, 300


class TooTangled(ValueError):
    """The style rules ask for more work than their page is worth."""


@dataclass(slots=True, eq=False)
class Element:
    """What selectors ask of an element; `before` is the element before it under the same parent."""

    tag: str
    attributes: Mapping[str, str | None]
    parent: "Element | None" = None
    before: "Element | None" = None
    last: bool = False
    place: int = field(init=False)
    classes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.place = self.before.place + 1 if self.before is not None else 1
        self.classes = frozenset((self.attributes.get("class") or "").lower().split())


@dataclass(frozen=True, slots=True)
class _Test:
    """One condition on an element. `value` is a name, or what an attribute is compared with."""

    kind: str
    name: str = ""
    value: str = ""
    inner: tuple["_Compound", ...] = ()
    step: tuple[int, int] = (0, 0)

    def holds(self, element: Element) -> bool:
        """True where an element fulfils this condition. Kinds that end with `=` compare an attribute."""
        match self.kind:
            case "tag":
                matches = element.tag == self.name
            case "class":
                matches = self.name in element.classes
            case "id":
                matches = (element.attributes.get("id") or "").lower() == self.name
            case "root":
                matches = element.parent is None
            case "last":
                matches = element.last
            case "nth":
                matches = self._counts(element.place)
            case "is" | "not":
                inside = any(all(test.holds(element) for test in compound) for compound in self.inner)
                matches = inside == (self.kind == "is")
            case _:
                matches = self.name in element.attributes and self._compares(
                    element.attributes[self.name] or ""
                )
        return matches

    def _counts(self, place: int) -> bool:
        times, offset = self.step
        rest = place - offset
        return rest == 0 if times == 0 else rest % times == 0 and rest // times >= 0

    def _compares(self, text: str) -> bool:
        value = self.value
        match self.kind:
            case "=":
                matches = text == value
            case "~=":
                matches = value in text.split()
            case "|=":
                matches = text == value or text.startswith(f"{value}-")
            case "^=":
                matches = bool(value) and text.startswith(value)
            case "$=":
                matches = bool(value) and text.endswith(value)
            case "*=":
                matches = bool(value) and value in text
            case _:
                matches = True
        return matches


_Compound = tuple[_Test, ...]


@dataclass(frozen=True, slots=True)
class _Selector:
    """Compounds from the right, each with its relation to the one before it in this order."""

    compounds: tuple[_Compound, ...]
    relations: tuple[str, ...]
    weight: tuple[int, int, int, int]
    declared: Declarations


@dataclass(slots=True)
class Cascade:
    """The style rules of one page, and the work that matching them has taken."""

    sheets: Iterable[str]
    _by_key: dict[str, list[_Selector]] = field(default_factory=dict)
    _steps: int = _STEPS

    def __post_init__(self) -> None:
        order = 0
        for sheet in self.sheets:
            for rule in rules(sheet):
                for text in _listed(rule.selectors):
                    order += 1
                    if selector := _selector(text, order, rule.declarations):
                        self._by_key.setdefault(_key(selector.compounds[0]), []).append(selector)

    @property
    def has_rules(self) -> bool:
        """False where an element's place among others does not matter."""
        return bool(self._by_key)

    def style(self, element: Element, hints: Style) -> Style:
        """The properties that hold for an element: of hints, rules and its `style`, the strongest of each.

        Raises TooTangled where matching takes more than 300 steps for each element of the page.
        """
        inline = declarations(element.attributes.get("style") or "") if "style" in element.attributes else {}
        if not self._by_key:
            return {**hints, **{name: value for name, (_, value) in inline.items()}} if inline else hints
        self._steps += _STEPS_EACH
        matched = sorted(self._matching(element), key=lambda selector: selector.weight)
        made = dict(hints)
        for important in (False, True):
            for declared in (*(selector.declared for selector in matched), inline):
                made.update(
                    {name: value for name, (strong, value) in declared.items() if strong == important}
                )
        return made

    def _matching(self, element: Element) -> Iterator[_Selector]:
        keys = {"*", element.tag, *(f".{name}" for name in element.classes)}
        if identifier := element.attributes.get("id"):
            keys.add(f"#{identifier.lower()}")
        for key in keys:
            for selector in self._by_key.get(key, ()):
                if self._holds(selector, 0, element):
                    yield selector

    def _holds(self, selector: _Selector, number: int, element: Element) -> bool:
        """True where compound `number` holds for this element and those left of it for elements around it."""
        compound = selector.compounds[number]
        self._steps -= 1 + sum(1 + len(test.inner) for test in compound)
        if self._steps < 0:
            raise TooTangled
        if not all(test.holds(element) for test in compound):
            return False
        if number + 1 == len(selector.compounds):
            return True
        relation = selector.relations[number]
        other = element.parent if relation in {" ", ">"} else element.before
        while other is not None:
            if self._holds(selector, number + 1, other):
                return True
            if relation in {">", "+"}:
                return False
            other = other.parent if relation == " " else other.before
        return False


def _key(compound: _Compound) -> str:
    """By what an element must have to be looked at: an id, else a class, else a type, else nothing."""
    for kind, mark in (("id", "#"), ("class", "."), ("tag", "")):
        for test in compound:
            if test.kind == kind:
                return mark + test.name
    return "*"


def _listed(selectors: str) -> list[str]:
    """A selector list parted at the commas outside brackets and quotes."""
    if not any(mark in selectors for mark in "([\"'\\"):
        return selectors.split(",")
    parts, start, depth, quote = [], 0, 0, ""
    for place, character in enumerate(selectors):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(selectors[start:place])
            start = place + 1
    return [*parts, selectors[start:]]


def _selector(text: str, order: int, declared: Declarations) -> _Selector | None:
    text = text.strip(" \t\n\r\f\0")
    if not text or len(text) > _LONGEST:
        return None
    compounds: list[_Compound] = []
    relations: list[str] = []
    tests: list[_Test] = []
    ids = classes = types = place = 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None or len(compounds) >= _MOST_PARTS:
            return None
        place = part.end()
        if part["relation"]:
            relations.append(part["relation"].strip(" \t\n\r\f\0") or " ")
            compounds.append(tuple(tests))
            tests = []
        elif not (part["any"] or part["nothing"]):
            made = _test(part)
            if made is None:
                return None
            ids += made.kind == "id"
            types += made.kind == "tag"
            classes += made.kind not in {"id", "tag", "always"}
            if made.kind != "always":
                tests.append(made)
    weight = (ids, classes, types, order)
    return _Selector((tuple(tests), *reversed(compounds)), tuple(reversed(relations)), weight, declared)


def _test(part: re.Match[str]) -> _Test | None:
    if part["attribute"] is not None:
        match = _ATTRIBUTE.fullmatch(part["attribute"])
        if match is None:
            return None
        return _Test(match[2] or "has", match[1].lower(), match[3] or match[4] or match[5] or "")
    for kind in ("tag", "class", "id"):
        if part[kind]:
            return _Test(kind, unescaped(part[kind]).lower())
    return _pseudo(part["pseudo"].lower(), part["argument"])


def _pseudo(name: str, argument: str | None) -> _Test | None:
    simple = {":root": _Test("root"), ":first-child": _Test("nth", step=(0, 1)), ":last-child": _Test("last")}
    if name in _ALWAYS:
        return _Test("always")
    if argument is None or name in simple:
        return simple.get(name)
    if name == ":nth-child" and (nth := _NTH.fullmatch(argument)):
        return _Test("nth", step=_step(nth))
    return _test_of_list(name, argument) if name in _LISTS or name == ":not" else None


def _test_of_list(name: str, argument: str) -> _Test | None:
    inner = [_selector(text, 0, {}) for text in _listed(argument)]
    compounds = tuple(
        selector.compounds[0] for selector in inner if selector is not None and len(selector.compounds) == 1
    )
    if len(compounds) < len(inner):
        return None
    return _Test("not" if name == ":not" else "is", inner=compounds)


def _step(nth: re.Match[str]) -> tuple[int, int]:
    word, times, sign, offset, only = nth.groups()
    if word:
        return 2, int(word.lower() == "odd")
    if only:
        return 0, int(only[:9])
    step = times[:9] + "1" if times in {"", "+", "-"} else times[:9]
    return int(step), int((sign or "") + (offset or "0")[:9])
