"""Background work that one of several processes does at a time, and that a shutdown waits for."""

import asyncio
import fcntl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

POLL_S = 0.5


@asynccontextmanager
async def alone(lock: Path) -> AsyncIterator[None]:
    """Wait for the exclusive lock on the file `lock`, and hold it; the system releases it when this process ends."""
    with lock.open("ab") as held:
        while not _locked(held.fileno()):  # noqa: ASYNC110 - another process holds it
            await asyncio.sleep(POLL_S)
        yield


async def to_its_end(work: Callable[[], object], stop: Callable[[], None]) -> None:
    """Do `work` in a thread. When this is cancelled, `stop` is called and the work waited for: it uses what would be
    closed next."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        stop()
        with suppress(Exception):
            await running
        raise


def _locked(number: int) -> bool:
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
