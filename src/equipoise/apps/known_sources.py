"""The sources of an index as commands and the server list them: how each is read, and how its last run went."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from equipoise.core.settings import Settings
from equipoise.core.source_settings import SourceSettings
from equipoise.corpus.naming import document_id
from equipoise.corpus.sources.addresses import root
from equipoise.corpus.sources.memory import Memory, Run, SourceTurn
from equipoise.corpus.sources.opening import remembered
from equipoise.corpus.sources.source import COMMENTS

MOST_TRIES = 7
"""Failed tries in a row, over half an hour; then the source is read only when it is due, or asked for."""


@dataclass(frozen=True, slots=True)
class Known:
    """A source: how it is read, its last run, None before the first, and whether it was asked for or is being read."""

    address: str
    chosen: SourceSettings
    run: Run | None
    is_listed: bool
    turn: SourceTurn

    @property
    def source_id(self) -> str:
        """An id that can be used in any address of the server."""
        return document_id(self.address)

    @property
    def is_due(self) -> bool:
        """Whether its time has come; one without `every` is never due."""
        seconds = self.chosen.seconds
        return seconds > 0 and (self.run is None or time.time() >= self.run.began + seconds)

    @property
    def is_wanted(self) -> bool:
        """Whether somebody should read it now: it was asked for, is due, or the last try ended badly. Also true while
        it is being read: its reader holds the claim, or is dead."""
        is_left = 0 < self.turn.tries < MOST_TRIES
        return not self.turn.is_resting(time.time()) and (self.turn.asked or is_left or self.is_due)

    def row(self, keys: Collection[str]) -> dict[str, str | int | bool]:
        """Its row in lists; `keys` are those of its documents in the index."""
        comments = sum(key.endswith(COMMENTS) for key in keys)
        began = datetime.fromtimestamp(self.run.began, UTC).isoformat(timespec="seconds") if self.run else ""
        return {
            "id": self.source_id,
            "address": self.address,
            "trust": self.chosen.trust,
            "every": self.chosen.every,
            "pages": len(keys) - comments,
            "comments": comments,
            "read": began,
            "error": self.run.error if self.run else "",
            "in_settings": self.is_listed,
            "state": "running" if self.turn.running else "waiting" if self.turn.asked else "idle",
            "progress": self.turn.said,
        }


def known(chosen: Settings) -> list[Known]:
    """The sources in the settings, then those that this user indexed without having them there."""
    with Memory(chosen.store.path, create=False) as memory:
        return known_to(memory, chosen)


def known_to(memory: Memory, chosen: Settings) -> list[Known]:
    """As `known`, with a memory that is open already."""
    before = {address: (run, how) for address, run, how in remembered(memory)}
    turns = memory.turns()
    listed = [
        Known(address, one, before.get(address, (None, None))[0], True, turns.get(address, SourceTurn()))
        for one in chosen.sources.listed
        for address in (root(one.address),)
    ]
    there = {one.address for one in listed}
    return listed + [
        Known(address, how, run, False, turns.get(address, SourceTurn()))
        for address, (run, how) in before.items()
        if address not in there and how is not None and run.how
    ]
