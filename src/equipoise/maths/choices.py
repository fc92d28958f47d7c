"""How many sets of sentences can be chosen under limits: exact, by dynamic programming over the sentences.

The rules are those of canonical highlights (`text.spans`, `rag.boundary`), stated without texts: sentences in order,
each in a passage; neighbours make one span, a longer run several; no two sentences with the same text; a sentence
brings the ones it is read with, where their passage is shown. Every set that keeps the rules can be forced, by
proposing it; whatever is proposed ends as one of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, factorial, log2

from equipoise.maths.grid import Grid
from equipoise.maths.marks import Mark, Unit, marks

State = tuple[int, bool, tuple[bool, ...]]
"""Sentences of the current span (0: the last sentence was not chosen), whether the current passage is counted, and of
each open mark whether what it is about may be chosen."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most passages, spans and sentences of a set, and the longest span in sentences; each 1 or more."""

    passages: int
    spans: int
    sentences: int
    longest: int


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
        """All of them."""
        return sum(self.counts.values())


def bits(count: int) -> float:
    """log2 of a count of 1 or more, 0 for none."""
    return log2(count) if count > 0 else 0.0


def choices(units: Sequence[Unit], limits: Limits, *, weights: Sequence[int] | None = None) -> Choices:
    """The sets that can be chosen of `units`; each counts as the product of its units' `weights` (n,), 1 by default.

    Worked value: 40 sentences in a row of one passage, one span of at most five: 40 + 39 + 38 + 37 + 36 = 190.
    Raises InputError where the limits are so wide that the counting does not fit into memory.
    """
    heavy = [1] * len(units) if weights is None else weights
    grid = _grid(units, limits, max(heavy, default=1))
    followed = marks(units)
    states: dict[State, int] = {(0, False, ()): grid.one}
    open_: list[Mark] = []
    for row, unit in enumerate(units):
        if row and unit.passage != units[row - 1].passage:
            states = _turned(
                states, [m.is_lead and units[m.first].passage == units[row - 1].passage for m in open_]
            )
        if not unit.follows:
            states = _merged(((0, *state[1:]), table) for state, table in states.items())
        own = followed.by_row.get(row, ())
        step = _Step(grid, limits.longest, heavy[row], unit, _about(open_, row, units), own)
        states = _merged(moved for state, table in states.items() for moved in step.moves(state, table))
        open_ += own
        stays = [mark.last > row for mark in open_]
        if not all(stays):
            states = _merged((_without(state, stays), table) for state, table in states.items())
            open_ = [mark for mark, stay in zip(open_, stays, strict=True) if stay]
    cells = grid.cells(sum(states.values()))
    return Choices({place: count for place, count in cells if count and any(place)}, followed.relaxed)


@dataclass(frozen=True, slots=True)
class _About:
    """Which open marks a unit is concerned by: those that allow it, and the one of its text, if any."""

    leads: tuple[int, ...]
    text: int | None


def _about(open_: Sequence[Mark], row: int, units: Sequence[Unit]) -> _About:
    unit = units[row]
    leads = tuple(at for at, mark in enumerate(open_) if mark.is_lead and mark.first in unit.leads)
    texts = (at for at, mark in enumerate(open_) if not mark.is_lead and units[mark.first].text == unit.text)
    return _About(leads, next(texts, None))


@dataclass(frozen=True, slots=True)
class _Step:
    """One sentence, which is chosen or not; `own` are the marks that begin with it."""

    grid: Grid
    longest: int
    weight: int
    unit: Unit
    about: _About
    own: tuple[Mark, ...]

    def moves(self, state: State, table: int) -> Iterable[tuple[State, int]]:
        """The states that `state` becomes, with their tables."""
        run, counted, known = state
        free = self.about.text is None or known[self.about.text]
        yield (0, counted, (*known, *(not mark.is_lead or not free for mark in self.own))), table
        if not free or not all(known[at] for at in self.about.leads):
            return
        taken = tuple(value and at != self.about.text for at, value in enumerate(known))
        begins = run in (0, self.longest)
        fresh = not counted and self.unit.passage is not None
        moved = self.grid.with_sentence(table, passage=fresh, span=begins) * self.weight
        after = 1 if begins else run + 1
        yield (after, counted or fresh, (*taken, *(mark.is_lead for mark in self.own))), moved


def _turned(states: Mapping[State, int], of_passage: Sequence[bool]) -> dict[State, int]:
    """A passage ends: what it leads may be chosen where nothing of it was, since it need not be shown."""
    return _merged(
        (
            (run, False, tuple(v or (led and not counted) for v, led in zip(known, of_passage, strict=True))),
            table,
        )
        for (run, counted, known), table in states.items()
    )


def _without(state: State, stays: Sequence[bool]) -> State:
    run, counted, known = state
    return run, counted, tuple(value for value, stay in zip(known, stays, strict=True) if stay)


def _merged(pairs: Iterable[tuple[State, int]]) -> dict[State, int]:
    """Each state once, with the sum of its tables; without the empty ones."""
    states: dict[State, int] = {}
    for state, table in pairs:
        if table:
            states[state] = states.get(state, 0) + table
    return states


def _grid(units: Sequence[Unit], limits: Limits, weight: int) -> Grid:
    """A table for the limits that bind."""
    sentences = min(limits.sentences, len(units))
    passages = len({unit.passage for unit in units} - {None})
    return Grid(
        limits.passages if limits.passages < min(passages, sentences) else 0,
        limits.spans if limits.spans < sentences else 0,
        sentences,
        int(min(sentences * log2(1 + len(units) * weight), len(units) * log2(1 + weight))) + 2,
    )


def families(by_groups: Sequence[int], *, tags: int) -> int:
    """How many families there are of 1 to q different groups whose union is one of the sets that were counted.

    `by_groups[i - 1]` is in how many ways i groups, some of them empty, make up such a union: the count with the
    weight 2^i - 1 for each unit. A group of a family is not empty and has one of `tags` tags. By inclusion and
    exclusion over the groups that are empty, and over those that are equal (Stirling numbers of the first kind).

    Worked value: one unit, two groups, 3 tags: 3 families of one group, 3 of two.
    """
    total, stirling = 0, [1]
    for size in range(1, len(by_groups) + 1):
        stirling = [a - (size - 1) * b for a, b in zip([0, *stirling], [*stirling, 0], strict=True)]
        tuples = sum(stirling[r] * tags**r * _none_empty(by_groups, r) for r in range(1, size + 1))
        total += tuples // factorial(size)
    return total


def _none_empty(by_groups: Sequence[int], r: int) -> int:
    return sum((-1) ** (r - i) * comb(r, i) * by_groups[i - 1] for i in range(1, r + 1))
