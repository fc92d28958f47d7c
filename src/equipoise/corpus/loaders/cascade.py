"""The cascade: which declarations of a page's own style sheets hold for an element (https://www.w3.org/TR/css-cascade-4/).

The HTML library finds the elements of a selector. A selector that it does not know (`::before`, `:target`) is left out;
states that a page does not begin with (`:hover`) find nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from equipoise.corpus.loaders.colors import CLEAR, Color
from equipoise.corpus.loaders.css import CssRule, Declarations, declarations, rules
from equipoise.corpus.loaders.hidden import Look, Style, hints, look

Attributes = Mapping[str, str | None]

_SAYING = "[style], [bgcolor], [background]"
_NOTHING = Look(paper=CLEAR, bare=True)


@dataclass(slots=True)
class Cascade:
    """The style rules of some sheets, and those that hold for each element of the page that was looked at last."""

    sheets: Iterable[str]
    _rules: list[CssRule] = field(init=False)
    _by_selector: dict[str, list[int]] = field(default_factory=dict)
    _held: dict[int, list[int]] = field(default_factory=dict)
    _papers: set[Color | str] | None = None

    def __post_init__(self) -> None:
        self._rules = sorted(
            (rule for sheet in self.sheets for rule in rules(sheet)), key=lambda rule: rule.weight
        )
        for row, rule in enumerate(self._rules):
            self._by_selector.setdefault(rule.selector, []).append(row)

    def look_at(self, page: LexborHTMLParser) -> None:
        """Find the elements of every rule. `style` is then asked about elements of this page."""
        self._held = {}
        for selector, rows in self._by_selector.items():
            try:
                nodes = page.css(selector)
            except SelectolaxError:
                continue
            for node in nodes:
                self._held.setdefault(node.mem_id, []).extend(rows)

    def style(self, tag: str, attributes: Attributes, place: int) -> Style:
        """The style of an element: for each property the strongest of HTML's own hints, the rules and its `style`.

        `place` is the element's `mem_id`.
        """
        said = hints(tag, attributes)
        inline = declarations(attributes.get("style") or "") if "style" in attributes else {}
        rows = sorted(self._held.get(place, ()))
        held = [*(self._rules[row].declarations for row in rows), inline]
        return _strongest(said, held) if inline or len(held) > 1 else said

    def papers(self, page: LexborHTMLParser) -> Iterator[Color | str]:
        """The background colour of every rule, even if it matches nothing, and of every element with its own style."""
        if self._papers is None:  # once for the pages that share these sheets
            held = (
                rule.declarations for rule in self._rules if any("background" in x for x in rule.declarations)
            )
            self._papers = {look(_NOTHING, _strongest({}, [declared])).paper for declared in held}
        yield from self._papers
        for node in page.css(_SAYING):
            yield look(_NOTHING, self.style(node.tag or "", node.attributes, node.mem_id)).paper

    def style_alone(self, tag: str, attributes: Attributes) -> Style:
        """`style` of an element without a page around it."""
        if not self._rules:
            return self.style(tag, attributes, 0)
        page = LexborHTMLParser("<body>")
        node = page.create_node(tag)
        for name, value in attributes.items():
            node.attrs[name] = value
        place = 0
        if page.body is not None:
            page.body.insert_child(node)  # a copy
            place = next(child.mem_id for child in page.body.iter())
        self.look_at(page)
        return self.style(tag, attributes, place)


def _strongest(said: Style, held: list[Declarations]) -> Style:
    made = dict(said)
    for important in (False, True):
        for declared in held:
            made.update({name: value for name, (strong, value) in declared.items() if strong == important})
    return made
