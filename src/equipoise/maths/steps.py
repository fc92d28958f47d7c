"""One sentence after the other: what a count of choices knows so far, and how a sentence changes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from equipoise.maths.grid import CountGrid
from equipoise.maths.marks import Unit

NO_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class SetLimits:
    """The most passages, spans and sentences of a set, the longest span in sentences, and the most pieces: spans of
    fewer than `short` words that do not go on from another one. Each limit is 1 or more, `short` 0 or more."""

    passages: int
    spans: int
    sentences: int
    longest: int
    pieces: int = NO_LIMIT
    short: int = 0


class StepState(NamedTuple):
    """`run` sentences of the current span (0: the last sentence was not chosen), the `words` it has so far (no more
    than matter); how many spans are `pieces`; whether the current passage is `counted`; and of each open mark, whether
    its text is `free` to be chosen."""

    run: int
    words: int
    pieces: int
    counted: bool
    free: tuple[bool, ...]


EMPTY = StepState(0, 0, 0, False, ())


@dataclass(frozen=True, slots=True)
class Steps:
    """How a sentence changes the states of a count. A span of fewer than `short` words is a piece."""

    grid: CountGrid
    limits: SetLimits
    short: int

    def closed(self, state: StepState, table: int) -> tuple[StepState, int]:
        """The state and table once the current span, if any, has ended; the table is 0 if it is one piece too many."""
        if not state.run:
            return state, table
        pieces = state.pieces + (state.words < self.short)
        return StepState(0, 0, pieces, state.counted, state.free), 0 if pieces > self.limits.pieces else table

    def moves(
        self, state: StepState, table: int, unit: Unit, weight: int, text: int | None
    ) -> Iterable[tuple[StepState, int]]:
        """The states after a unit that is left out or chosen, with their tables; `text` is the place of its text's open
        mark, if it has one."""
        ended, rest = self.closed(state, table)
        yield ended, rest
        if text is not None and not state.free[text]:
            return
        goes_on = state.run == self.limits.longest
        if goes_on:
            state, table = ended, rest
        begins = state.run == 0
        words = self.short if goes_on else state.words + unit.words + (0 if begins else unit.between)
        fresh = not state.counted and unit.passage is not None
        after = StepState(
            state.run + 1,
            min(self.short, words),
            state.pieces,
            state.counted or fresh,
            tuple(free and at != text for at, free in enumerate(state.free)),
        )
        yield after, self.grid.with_sentence(table, passage=fresh, span=begins) * weight


def without(state: StepState, stays: Sequence[bool]) -> StepState:
    """The state with only those open marks for which `stays` is true."""
    return state._replace(free=tuple(v for v, stay in zip(state.free, stays, strict=True) if stay))


def merged(pairs: Iterable[tuple[StepState, int]]) -> dict[StepState, int]:
    """Each state once, with the sum of its tables; without the empty ones."""
    states: dict[StepState, int] = {}
    for state, table in pairs:
        if table:
            states[state] = states.get(state, 0) + table
    return states
