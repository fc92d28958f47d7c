"""How many sets of sentences can be chosen under limits: exact, by dynamic programming over the sentences.

The rules are those of canonical highlights (`text.spans`, `rag.boundary`), stated without texts: sentences in order,
each in a passage; neighbours make one span, a longer run several; no two sentences with the same text. What is shown
around a sentence follows from it, and is no choice. Every set that keeps the rules can be forced, by
proposing it; whatever is proposed ends as one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import comb, factorial, log2

from equipoise.maths.grid import CountGrid
from equipoise.maths.marks import Mark, Unit, marks
from equipoise.maths.steps import EMPTY, SetLimits, Steps, StepState, merged, without


@dataclass(frozen=True, slots=True)
class Choices:
    """How many sets there are, by (passages, spans, sentences) of a set; the empty one is not among them.

    An axis whose limit does not bind is 0 throughout. `relaxed` says which rules were not followed everywhere, so that
    the numbers are upper bounds; empty where they are exact.
    """

    counts: Mapping[tuple[int, int, int], int]
    relaxed: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of all sets."""
        return sum(self.counts.values())


def bits(count: int) -> float:
    """log2 of a count of 1 or more, 0 for none."""
    return log2(count) if count > 0 else 0.0


def choices(units: Sequence[Unit], limits: SetLimits, *, weights: Sequence[int] | None = None) -> Choices:
    """The sets that can be chosen of `units`; each counts as the product of its units' `weights` (n,), 1 by default.

    Worked value: 40 sentences in a row of one passage, one span of at most five: 40 + 39 + 38 + 37 + 36 = 190.
    Raises InputError where the limits are so wide that the counting does not fit into memory.
    """
    heavy = [1] * len(units) if weights is None else weights
    short = limits.short if limits.pieces < min(limits.spans, limits.sentences) else 0
    steps = Steps(_grid(units, limits, max(heavy, default=1)), limits, short)
    followed = marks(units)
    states: dict[StepState, int] = {EMPTY: steps.grid.one}
    open_: list[Mark] = []
    for row, unit in enumerate(units):
        if row and unit.passage != units[row - 1].passage:
            states = merged((state._replace(counted=False), table) for state, table in states.items())
        if not unit.follows:
            states = merged(steps.closed(state, table) for state, table in states.items())
        if row in followed.by_row:
            open_.append(followed.by_row[row])
            states = {state._replace(free=(*state.free, True)): table for state, table in states.items()}
        texts = [units[mark.first].text for mark in open_]
        text = texts.index(unit.text) if unit.text in texts else None
        moves = (steps.moves(state, table, unit, heavy[row], text) for state, table in states.items())
        states = merged(chain.from_iterable(moves))
        stays = [mark.last > row for mark in open_]
        if not all(stays):
            states = merged((without(state, stays), table) for state, table in states.items())
            open_ = [mark for mark, stay in zip(open_, stays, strict=True) if stay]
    total = sum(steps.closed(state, table)[1] for state, table in states.items())
    cells = {place: count for place, count in steps.grid.cells(total) if count and any(place)}
    return Choices(cells, followed.relaxed)


def _grid(units: Sequence[Unit], limits: SetLimits, weight: int) -> CountGrid:
    """A table for the limits that bind."""
    sentences = min(limits.sentences, len(units))
    passages = len({unit.passage for unit in units} - {None})
    return CountGrid(
        limits.passages if limits.passages < min(passages, sentences) else 0,
        limits.spans if limits.spans < sentences else 0,
        sentences,
        int(min(sentences * log2(1 + len(units) * weight), len(units) * log2(1 + weight))) + 2,
    )


def families(by_groups: Sequence[int], *, tags: int, unions: int = 0) -> int:
    """How many families there are of 1 to q different groups whose union is one of the sets that were counted.

    `by_groups[i - 1]` is the number of ways in which i groups, some of them empty, make up such a union: the count of
    `choices` with the weight 2^i - 1 for each unit. Where a union may hold units that no group has, the weight is 2^i,
    and `unions` is the number of unions (a family then counts once for each). A group is not empty and has one of
    `tags` tags. By inclusion and exclusion over the groups that are empty, and over those that are equal (Stirling
    numbers of the first kind).

    Worked value: one unit, two groups, 3 tags: 3 families of one group, 3 of two.
    """
    total, stirling = 0, [1]
    for size in range(1, len(by_groups) + 1):
        stirling = [a - (size - 1) * b for a, b in zip([0, *stirling], [*stirling, 0], strict=True)]
        tuples = sum(stirling[r] * tags**r * _none_empty((unions, *by_groups), r) for r in range(1, size + 1))
        total += tuples // factorial(size)
    return total


def _none_empty(by_groups: Sequence[int], r: int) -> int:
    return sum((-1) ** (r - i) * comb(r, i) * by_groups[i] for i in range(r + 1))
