"""Charts of Office (ECMA-376, part 1, 21.2) as the tables that they show: a row for each category, a column for each
series, values as their number format says."""

from itertools import groupby
from typing import NamedTuple
from xml.etree.ElementTree import Element

from equipoise.corpus.loaders.grid import Cell
from equipoise.corpus.loaders.loaded import one_line, whole
from equipoise.corpus.loaders.outline import Outline
from equipoise.corpus.loaders.xlsxstyles import Formats

_FORMATS = Formats(Element(""))


class _Series(NamedTuple):
    """A series: its name, and by number of the point the category and the value."""

    name: str
    categories: dict[int, str]
    values: dict[int, str]

    def points(self) -> tuple[tuple[int, str], ...]:
        """The numbers and categories of its points."""
        return tuple((at, self.categories.get(at, "")) for at in sorted({*self.categories, *self.values}))


def add_chart(root: Element, outline: Outline) -> None:
    """Append a chart, its title and the unit of its values as a caption."""
    title, unit = _text(root.find("chart/title")), _text(root.find("chart/plotArea/valAx/title"))
    named = next((_text(axis.find("title")) for kind in ("catAx", "dateAx") for axis in root.iter(kind)), "")
    caption = f"{title} ({unit})" if title and unit else title or unit
    for points, group in groupby(map(_series, root.iter("ser")), _Series.points):
        series = list(group)
        names = [Cell(text) for text in (named, *(one.name for one in series))]
        rows = [
            [Cell(label), *(Cell(one.values.get(at, "")) for one in series)]
            for at, label in points
            if any(at in one.values for one in series)
        ]
        outline.table([names, *rows], header=1, caption=caption)


def _series(node: Element) -> _Series:
    categories, values = (
        next((each for each in node if each.tag in names), None)
        for names in (("cat", "xVal"), ("val", "yVal"))
    )
    return _Series(_text(node.find("tx")), _points(categories), _points(values))


def _points(node: Element | None) -> dict[int, str]:
    """The text of each point of a series by its number; of nested categories the outer one first: "2024 > May"."""
    said: dict[int, str] = {}
    for level in [] if node is None else list(node.iter("lvl")) or [node]:
        code = next((each.text or "" for each in level.iter("formatCode")), "")
        inner, said, outer = said, {}, ""
        own = {
            number: _value(each, code)
            for each in level.iter("pt")
            if (number := whole(each.get("idx"), -1)) >= 0
        }
        for number in sorted({*inner, *own}):
            outer = own.get(number, outer)
            said[number] = f"{outer} > {inner[number]}" if number in inner else outer
    return said


def _value(point: Element, code: str) -> str:
    text = one_line("".join(each.text or "" for each in point.iter("v")))
    return _FORMATS.formatted(text, point.get("formatCode", code)) if code else text


def _text(node: Element | None) -> str:
    """The words of a title or a name."""
    holders = [] if node is None else [*node.iter("p"), *node.iter("pt"), *node.iterfind("v")]
    words = (
        "".join(each.text or "" for each in holder.iter() if each.tag in {"t", "v"}) for holder in holders
    )
    return one_line(" ".join(words))
