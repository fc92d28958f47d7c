"""Syncs sources when they are due: one after the other in the server, or by `equipoise worker` on as many machines as
wanted.

There is no queue of jobs. Which source is next follows from its remembered state (`corpus.sources.memory`), and whoever
reads a source claims it in the store (`Store.claim`), by a lock that ends with its process. All that a run writes may
be written twice, so a source whose reader was killed is simply read again, and nothing that is in the index already is
embedded again.
"""

import logging
import os
import socket
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event

from equipoise.apps.known_sources import Known, known_to
from equipoise.audit.scan.holding import Holding
from equipoise.core.errors import EquipoiseError
from equipoise.core.protocols import Encoder
from equipoise.core.settings import Settings
from equipoise.corpus import vectors
from equipoise.corpus.embedding import AT_A_TIME
from equipoise.corpus.sources.memory import Memory, SourceTurn
from equipoise.corpus.sources.opening import sync_source
from equipoise.corpus.sources.syncing import Taken, claimed
from equipoise.corpus.store import Store
from equipoise.corpus.writing import IndexProgress

LOG = logging.getLogger("equipoise")
POLL_S = 1.0
_TELL_S = 1.0


class Stopped(Exception):
    """Ends a run when `stopping` is set: another process reads the source, or this one after a restart."""


@dataclass(slots=True)
class Turns:
    """Reads sources of an index in one process: call `next` until `stopping` is set. `changed` is called with the open
    store after each run. A worker passes its open `store`; while no source waits it also makes vectors for what others
    read."""

    settings: Settings
    memory: Memory
    encoder: Callable[[Store], Encoder]
    changed: Callable[[Store], None] = lambda store: None
    store: Store | None = None
    stopping: Event = field(default_factory=Event)
    _told: float = 0.0

    def next(self) -> bool:
        """Read the next source; returns whether there was something to do."""
        try:
            every = known_to(self.memory, self.settings)
            wanted = sorted((one for one in every if one.is_wanted), key=_order)
            if self.store is not None:
                return self._taken(self.store, wanted) or self._embedded(self.store, every)
            if not wanted:
                return False
            with Store.open(self.settings.store.path) as store:
                return self._taken(store, wanted)
        except Stopped:
            return False
        except Exception:
            LOG.exception("sources cannot be read")
            self.stopping.wait(POLL_S)
            return False

    def _taken(self, store: Store, wanted: list[Known]) -> bool:
        return any(self._is_taken(store, one) for one in wanted)

    def _is_taken(self, store: Store, one: Known) -> bool:
        """Claim and read a source if it is still wanted; returns whether it was read, successfully or not."""
        if self.stopping.is_set():
            return False
        try:
            with claimed(store, one.address):
                again = {now.address: now for now in known_to(self.memory, self.settings)}.get(one.address)
                if again is None or not again.is_wanted:  # somebody has read it meanwhile
                    return False
                self._read(store, again)
                return True
        except Taken:
            return False

    def _read(self, store: Store, one: Known) -> None:
        """Read a claimed source."""
        begun = SourceTurn(running=True, tried=time.time(), tries=one.turn.tries + 1, said=_me())
        self.memory.turn(one.address, begun)
        holding = Holding() if self.settings.trust.hold == "always" else None
        try:
            with holding or nullcontext():
                sync_source(
                    one.chosen, store, self.encoder(store), progress=partial(self._tell, one), judge=holding
                )
        except Stopped:
            self.memory.turn(one.address, replace(begun, asked=True, running=False, tries=0, said=""))
            raise
        except EquipoiseError as error:
            LOG.warning("%s was not read: %s", one.address, error)
            self.memory.ended(one.address, well=False)
        else:
            self.memory.ended(one.address, well=True)
        finally:
            self.changed(store)

    def _tell(self, one: Known, step: IndexProgress) -> None:
        """Record the progress of a source, at most once in `_TELL_S` seconds. Raises Stopped."""
        self._go_on()
        if (now := time.monotonic()) < self._told + _TELL_S:
            return
        self._told = now
        done = f"{step.file:,} of {step.files:,} read"
        if step.passages:
            done = f"{step.embedded:,} of {step.passages:,} passages embedded"
        self.memory.tell(one.address, f"{done} ({_me()})")

    def _embedded(self, store: Store, every: list[Known]) -> bool:
        """Make vectors for passages that wait; returns whether it did. A few are left to whoever is reading."""
        waiting = sum(count for _, count in store.pending())
        if not waiting or (waiting < AT_A_TIME and any(one.turn.running for one in every)):
            return False
        for refused in vectors.make(store, self.encoder(store), lambda step: self._go_on()):
            LOG.warning("%s was taken out of the index: %s", refused.path, refused.reason)
        self.changed(store)
        return True

    def _go_on(self) -> None:
        if self.stopping.is_set():
            raise Stopped


def _me() -> str:
    return f"{socket.gethostname()} {os.getpid()}"


def _order(one: Known) -> tuple[bool, float]:
    """A sort key: sources that were asked for, then those that were read longest ago."""
    return not one.turn.asked, one.run.began if one.run else 0.0
