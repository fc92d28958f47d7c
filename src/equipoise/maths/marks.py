"""What a count of choices has to remember of earlier sentences: which repeated texts may still be chosen."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MANY = 1_000
"""Words of a unit at most: more are not counted."""
FEW, OPEN_IN_FEW, OPEN_IN_MANY = 200, 10, 4
"""Most marks that are followed at a time, with up to FEW units and with more. Each one doubles the work."""
NEAR = 60
"""With more than FEW units, marks over more than NEAR rows are not followed: they would be open nearly everywhere."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence that may be chosen.

    `passage` is the number of the passage it stands in, None where it stands in no single one. `follows` says that it
    is the next sentence of the document after the unit before it. `text` numbers its text: equal numbers, equal texts.
    `words` counts its words, `between` those of the text between it and the unit before.
    """

    passage: int | None
    follows: bool
    text: int
    words: int = MANY
    between: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """A text that stands at row `first` and again, for the last time, at row `last`: whether it may still be chosen."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks that are followed, by their first row, and which rules are therefore not followed everywhere."""

    by_row: Mapping[int, Mark]
    relaxed: tuple[str, ...]


def marks(units: Sequence[Unit]) -> Marks:
    """The marks of `units`: of those that are open at the same time the shortest, as many as can be followed."""
    repeated = _repeated(units)
    taken = list(_fitting(repeated, len(units)))
    relaxed = {
        "sentences with the same text count as different ones": len(taken) < len(repeated),
        "sentences that reach over the end of a passage count as shown": any(
            u.passage is None for u in units
        ),
    }
    return Marks({mark.first: mark for mark in taken}, tuple(s for s, holds in relaxed.items() if holds))


def _repeated(units: Sequence[Unit]) -> list[Mark]:
    """A mark for each text that several units have, from its first unit to its last."""
    rows: dict[int, list[int]] = defaultdict(list)
    for row, unit in enumerate(units):
        rows[unit.text].append(row)
    return [Mark(some[0], some[-1]) for some in rows.values() if len(some) > 1]


def _fitting(wanted: Iterable[Mark], size: int) -> Iterable[Mark]:
    """Those of `wanted`, shortest first, that can be followed over `size` units within the limits of this module."""
    load = [0] * size
    most, longest = (OPEN_IN_FEW, FEW) if size <= FEW else (OPEN_IN_MANY, NEAR)
    for mark in sorted(wanted, key=lambda mark: (mark.last - mark.first, mark.first)):
        rows = range(mark.first, mark.last + 1)
        if len(rows) <= longest and max(load[row] for row in rows) < most:
            yield mark
            for row in rows:
                load[row] += 1
