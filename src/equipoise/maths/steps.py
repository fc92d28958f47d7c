"""One sentence after the other: what a count of choices knows so far, and how a sentence changes it."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from equipoise.maths.grid import Grid
from equipoise.maths.marks import Mark, Unit

NO_LIMIT = 1_000_000
BARRED, FREE, ALONE = 0, 1, 2
"""What is known of a mark: what it is about may not be chosen, may be, and: its lead is so far a piece by itself."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most passages, spans and sentences of a set, the longest span in sentences, and the most pieces: spans of
    fewer than `short` words that neither go on from another one nor are a single sentence that a chosen one is read
    with. Each limit is 1 or more, `short` 0 or more."""

    passages: int
    spans: int
    sentences: int
    longest: int
    pieces: int = NO_LIMIT
    short: int = 0


class State(NamedTuple):
    """`run` sentences of the current span (0: the last sentence was not chosen), the `words` it has so far (no more
    than matter); how many spans are `pieces`; whether the current passage is `counted`; and what is `known` of each
    open mark."""

    run: int
    words: int
    pieces: int
    counted: bool
    known: tuple[int, ...]


EMPTY = State(0, 0, 0, False, ())


class About(NamedTuple):
    """Which open marks a unit is concerned by: those of its leads and that of its text. Of the unit before it, whether
    it leads others, and its mark, if it is followed."""

    leads: tuple[int, ...]
    text: int | None
    after_lead: bool
    lead: int | None


def about_unit(open_: Sequence[Mark], row: int, units: Sequence[Unit], leading: Set[int]) -> About:
    """What concerns the unit at `row`, or the end behind the last one; `leading` are the rows of all leads."""
    places = {mark.first: at for at, mark in enumerate(open_) if mark.is_lead}
    before = (row - 1 in leading, places.get(row - 1))
    if row == len(units):
        return About((), None, *before)
    leads = tuple(places[lead] for lead in units[row].leads if lead in places)
    texts = [at for at, m in enumerate(open_) if not m.is_lead and units[m.first].text == units[row].text]
    return About(leads, texts[0] if texts else None, *before)


@dataclass(frozen=True, slots=True)
class Steps:
    """How a sentence changes what is known. A span of fewer than `short` words is a piece."""

    grid: Grid
    limits: Limits
    short: int

    def closed(self, state: State, table: int, about: About) -> tuple[State, int]:
        """The current span ends, if there is one: it may be a piece, and one too many."""
        if not state.run:
            return state, table
        pieces, known = state.pieces, state.known
        by_itself = state.run == 1 and about.after_lead
        if state.words < self.short and not (by_itself and about.lead is None):
            pieces += 1
            if by_itself and about.lead is not None:
                known = (*known[: about.lead], ALONE, *known[about.lead + 1 :])
        over = pieces - known.count(ALONE) > self.limits.pieces
        return State(0, 0, pieces, state.counted, known), 0 if over else table

    def moves(
        self, state: State, table: int, step: tuple[Unit, int, About, tuple[Mark, ...]]
    ) -> Iterable[tuple[State, int]]:
        """The states after a unit that is left out or chosen, with their tables. `step` is the unit, what it weighs,
        what concerns it, and the marks that begin with it."""
        unit, weight, about, own = step
        free = about.text is None or state.known[about.text] == FREE
        ended, rest = self.closed(state, table, about)
        opened = (BARRED if mark.is_lead and free else FREE for mark in own)
        yield ended._replace(known=(*ended.known, *opened)), rest
        if not free or any(state.known[at] == BARRED for at in about.leads):
            return
        goes_on = state.run == self.limits.longest
        if goes_on:
            state, table = ended, rest
        begins = state.run == 0
        words = self.short if goes_on else state.words + unit.words + (0 if begins else unit.between)
        known = list(state.known)
        freed = [at for at in about.leads if known[at] == ALONE]
        for at in freed:
            known[at] = FREE
        if about.text is not None:
            known[about.text] = BARRED
        fresh = not state.counted and unit.passage is not None
        after = State(
            state.run + 1,
            min(self.short, words),
            state.pieces - len(freed),
            state.counted or fresh,
            (*known, *(FREE if mark.is_lead else BARRED for mark in own)),
        )
        yield after, self.grid.with_sentence(table, passage=fresh, span=begins) * weight


def turned(state: State, of_passage: Sequence[bool]) -> State:
    """A passage ends: what it leads may be chosen where nothing of it was, since it need not be shown."""
    known = (
        FREE if led and value == BARRED and not state.counted else value
        for value, led in zip(state.known, of_passage, strict=True)
    )
    return state._replace(counted=False, known=tuple(known))


def without(state: State, stays: Sequence[bool]) -> State:
    """What is known of the marks that stay open."""
    return state._replace(known=tuple(v for v, stay in zip(state.known, stays, strict=True) if stay))


def merged(pairs: Iterable[tuple[State, int]]) -> dict[State, int]:
    """Each state once, with the sum of its tables; without the empty ones."""
    states: dict[State, int] = {}
    for state, table in pairs:
        if table:
            states[state] = states.get(state, 0) + table
    return states
