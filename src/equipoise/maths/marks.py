"""What a count of choices has to remember of sentences passed: which texts are taken, and which leads were left out."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MANY = 1_000
"""Words of a unit at most: more are not counted."""
FEW, OPEN_IN_FEW, OPEN_IN_MANY = 200, 10, 4
"""Marks that are followed at a time: of up to FEW units, and of more. Each one doubles the work."""
NEAR = 60
"""Of more than FEW units, marks whose ends are farther apart are not followed: they would be open nearly everywhere."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence that may be chosen.

    `passage` is the number of the passage it stands in, None where it stands in no single one. `follows` says that it
    is the next sentence of the document after the unit before it. `text` numbers its text: equal numbers, equal texts.
    `leads` are the rows of the units that it is read with, all of them before it and of its document. It has so many
    `words`, and the text `between` it and the unit before it has so many.
    """

    passage: int | None
    follows: bool
    text: int
    leads: tuple[int, ...] = ()
    words: int = MANY
    between: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to remember from row `first` to row `last`. Of a lead: whether what it leads may be chosen; else
    whether the text of the unit at `first` may be."""

    first: int
    last: int
    is_lead: bool


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks that are followed, by their first row, and which rules are therefore not followed everywhere."""

    by_row: Mapping[int, tuple[Mark, ...]]
    relaxed: tuple[str, ...]


def marks(units: Sequence[Unit], short: int = 0) -> Marks:
    """The marks of `units`: of those that are open at the same time the shortest, so many as can be followed.

    A span of fewer than `short` words may be dropped, and what it leads stays: so leads are not followed that make one
    with a neighbour, or by themselves where their text is repeated.
    """
    texts, leads = _texts(units), _leads(units)
    load = [0] * len(units)
    most = (OPEN_IN_FEW, FEW) if len(units) <= FEW else (OPEN_IN_MANY, NEAR)
    repeated = {number: mark for number, mark in texts.items() if mark.last > mark.first}
    taken = set(_fitting(repeated.values(), load, most))
    open_texts = {number for number, mark in repeated.items() if mark not in taken}
    sure = [
        mark
        for mark in leads
        if units[mark.first].text not in open_texts
        and _in_passages(mark, units)
        and not _drops_with_a_neighbour(mark.first, units, short)
        and not (units[mark.first].text in repeated and units[mark.first].words < short)
    ]
    led = _fitting(sure, load, most)
    by_row: dict[int, list[Mark]] = defaultdict(list)
    for mark in (*taken, *led):
        by_row[mark.first].append(mark)
    relaxed = {
        "sentences with the same text count as different ones": bool(open_texts),
        "some sentences count also without what they are read with": len(led) < len(leads),
        "sentences that reach over the end of a passage count as shown": any(
            u.passage is None for u in units
        ),
    }
    return Marks(
        {row: tuple(some) for row, some in by_row.items()},
        tuple(s for s, holds in relaxed.items() if holds),
    )


def _texts(units: Sequence[Unit]) -> dict[int, Mark]:
    """From the first to the last unit of each text."""
    spread: dict[int, Mark] = {}
    for row, unit in enumerate(units):
        first = spread[unit.text].first if unit.text in spread else row
        spread[unit.text] = Mark(first, row, is_lead=False)
    return spread


def _leads(units: Sequence[Unit]) -> list[Mark]:
    """From each lead to the last unit that is read with it."""
    last = {lead: row for row, unit in enumerate(units) for lead in unit.leads}
    return [Mark(lead, row, is_lead=True) for lead, row in last.items()]


def _drops_with_a_neighbour(row: int, units: Sequence[Unit], short: int) -> bool:
    """Whether the unit and the one after or before it may be a span of fewer than `short` words."""
    pairs = [(at, at + 1) for at in (row - 1, row) if 0 <= at < len(units) - 1 and units[at + 1].follows]
    return any(units[a].words + units[b].between + units[b].words < short for a, b in pairs)


def _in_passages(mark: Mark, units: Sequence[Unit]) -> bool:
    led = (unit for unit in units[mark.first : mark.last + 1] if mark.first in unit.leads)
    return units[mark.first].passage is not None and all(unit.passage is not None for unit in led)


def _fitting(wanted: Iterable[Mark], load: list[int], most: tuple[int, int]) -> list[Mark]:
    """Those of `wanted` that can be followed beside what is in `load`, the number of open marks of each row: at `most`
    so many at a time, each over so many rows."""
    fitting: list[Mark] = []
    for mark in sorted(wanted, key=lambda mark: (mark.last - mark.first, mark.first)):
        rows = range(mark.first, mark.last + 1)
        if len(rows) <= most[1] and max(load[row] for row in rows) < most[0]:
            fitting.append(mark)
            for row in rows:
                load[row] += 1
    return fitting
