"""The fair queue before the models: so many answers at a time, so many that wait, and users take turns."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Hashable


class Busy(Exception):
    """There is no room in the queue, or a place in it did not come up in time."""


class FairQueue:
    """At most `running` at a time, and `waiting` in the queue, for at most `patience` seconds.

    Users take turns, however many places each has. If the queue is full and somebody has more places in it than a
    newcomer would have, the last of these is dropped.
    """

    def __init__(self, running: int, waiting: int, patience: float) -> None:
        self._free = running
        self._most = waiting
        self._patience = patience
        self._queues: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()
        self.running = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._queues.values()))

    async def enter(self, user: Hashable) -> None:
        """Returns when it is the turn of `user`; `leave` must follow. Raises Busy."""
        if self._free and not self._queues:
            self._free -= 1
        else:
            await self._wait(user)
        self.running += 1

    def leave(self) -> None:
        """Give the place to whoever is next."""
        self.running -= 1
        self._pass_on()

    def _pass_on(self) -> None:
        while self._queues:
            user, queue = self._queues.popitem(last=False)
            first = queue.popleft()
            if queue:
                self._queues[user] = queue  # behind everybody else
            if not first.done():
                first.set_result(None)
                return
        self._free += 1

    async def _wait(self, user: Hashable) -> None:
        if self.waiting >= self._most:
            self._make_room(user)
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(user, deque()).append(mine)
        try:
            async with asyncio.timeout(self._patience):
                await mine
        except TimeoutError:
            self._forget(user, mine)
            raise Busy from None
        except BaseException:
            self._forget(user, mine)
            raise

    def _forget(self, user: Hashable, mine: "asyncio.Future[None]") -> None:
        """Take a place out of the queue; one that has just been let in gives its place on."""
        if mine.done() and not mine.cancelled() and mine.exception() is None:
            self._pass_on()
            return
        queue = self._queues.get(user)
        if queue is not None and mine in queue:
            queue.remove(mine)
            if not queue:
                del self._queues[user]

    def _make_room(self, user: Hashable) -> None:
        heaviest = max(self._queues, key=lambda other: len(self._queues[other]), default=None)
        mine = len(self._queues.get(user, ()))
        if heaviest is None or len(self._queues[heaviest]) <= mine + 1:
            raise Busy
        last = self._queues[heaviest].pop()
        if not last.done():
            last.set_exception(Busy())
