"""Layouts: tables as data. A TOML file beside a benchmark says which rows and cells each of its tables has.

A cell is a template such as `{row.precision:number+n}`: a path from a row, the section (`s`) or the place of the row
(`key`, `outer`) to a value, and how it is shown. A value that is not there is a dash, never a 0. What a paper prints
stands in the same files, and is shown in grey beneath ours.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from equipoise_lab.bench.tables import MISSING, Show, Table, TableLine, interval, number, percent
from equipoise_lab.maths.rates import Estimate

SHOWS: Mapping[str, Show] = {
    "number": number,
    "percent": percent,
    "points": lambda value: f"{value:.0f}",
    "one": lambda value: f"{value:.1%}",
    "three": lambda value: f"{value:.3f}",
    "four": lambda value: f"{value:.4f}",
    "thousands": lambda value: f"{value:,}",
    "short": lambda value: f"{value:g}",
}
"""How a number is shown, by name: an estimate with its interval, and with `+n` with its n."""

RATE, LISTED = "rate", "listed"
"""An estimate as `3/35 9% [2%, 23%]`; counts by name with commas between."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One table. `rows` is a path from the section to its rows, a sequence or a mapping by name (`key`); with `each`,
    a path from such a row (`outer`) to the rows of the table. `missing` is said where there are none of ours.

    Rows that have nothing at any path of `needs` are left out; an `optional` table without rows is left out whole.
    `published` names a table of the paper's numbers, `published_cells` how they are shown (`{p.0:number}`).
    """

    title: str
    rows: str = ""
    label: str = ""
    head: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    each: str = ""
    note: str = ""
    missing: str = ""
    empty: str = ""
    published: str = ""
    published_cells: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    optional: bool = False


class _Template(Formatter):
    """str.format with paths through mappings, sequences and attributes, and with SHOWS."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return value_at(kwargs, field_name), field_name

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401
        return shown(value, format_spec)


_TEMPLATE = _Template()


def filled(template: str, **context: object) -> str:
    """The template with its values."""
    return _TEMPLATE.vformat(template, (), context)


def shown(value: Any, how: str = "") -> str:  # noqa: ANN401
    """`value` as SHOWS says by name; a dash for None."""
    if value is None:
        return MISSING
    if how == RATE:
        return f"{value.hits}/{value.n} {interval(value, percent)}"
    name, plus, _ = how.partition("+n")
    if isinstance(value, Mapping) and "estimate" in value:
        value = Estimate.read(value)
    if isinstance(value, Estimate):
        return interval(value, SHOWS[name]) + (f" n={value.n}" if plus else "")
    if isinstance(value, Mapping):
        between = ", " if how == LISTED else "; "
        return between.join(f"{key}: {entry}" for key, entry in value.items()) or MISSING
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return SHOWS[name](value) if name else str(value)


def value_at(place: object, path: str) -> Any:  # noqa: ANN401
    """What stands at `path` below `place`; None where something on the way is None or not there."""
    for name in path.split("."):
        if place is None:
            return None
        if isinstance(place, Mapping):
            place = place.get(name)
        elif isinstance(place, list | tuple):
            place = place[int(name)] if int(name) < len(place) else None
        else:
            place = getattr(place, name)
    return place


@cache
def layouts(benchmark: str) -> Mapping[str, Layout]:
    """The tables of a benchmark by name, in the order of its file `BENCHMARK/layout.toml`."""
    return {name: _layout(template) for name, template in data(benchmark, "layout").items()}


@cache
def data(benchmark: str, name: str) -> Mapping[str, Any]:
    """A TOML file of the package: `BENCHMARK/NAME.toml`."""
    source = files("equipoise_lab.bench").joinpath(benchmark, f"{name}.toml")
    return tomllib.loads(source.read_text("utf-8"))


def table(layout: Layout, section: object, **context: object) -> Table:
    """The table of a section of numbers, without what a paper prints."""
    lines = [
        TableLine(filled(layout.label, **place), tuple(filled(cell, **place) for cell in layout.cells))
        for place in places(layout, section, **context)
    ]
    return whole(layout, section, lines, ours=bool(lines), **context)


def whole(
    layout: Layout, section: object, lines: Sequence[TableLine], *, ours: bool, **context: object
) -> Table:
    """A table with these lines; `ours` is whether there are numbers of ours in it."""
    title, note = (filled(text, s=section, **context) for text in (layout.title, layout.note))
    head = tuple(filled(heading, s=section, **context) for heading in layout.head)
    return Table(title, head, tuple(lines), note if lines or not layout.empty else layout.empty,
                 "" if ours else layout.missing)  # fmt: skip


def places(layout: Layout, section: object, **context: object) -> Iterator[dict[str, object]]:
    """What the templates of each row may name: `s`, `key` and `row`, with `each` also `outer`."""
    for key, row in _named(value_at(section, layout.rows)):
        if layout.needs and all(value_at(row, path) is None for path in layout.needs):
            continue
        if not layout.each:
            yield {"s": section, "key": key, "row": row, **context}
            continue
        for inner, part in _named(value_at(row, layout.each)):
            yield {"s": section, "outer": row, "key": inner, "row": part, **context}


def as_json(value: Any) -> Any:  # noqa: ANN401
    """Numbers as JSON has them, estimates in their own form.

    A dataclass is its fields.
    """
    if isinstance(value, Estimate):
        return value.as_json()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(entry) for entry in value]
    return value


def _named(rows: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    if isinstance(rows, Mapping):
        yield from rows.items()
    else:
        yield from ((str(number), row) for number, row in enumerate(rows or ()))


def _layout(template: Mapping[str, Any]) -> Layout:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in template.items()
    }
    return Layout(**values)
