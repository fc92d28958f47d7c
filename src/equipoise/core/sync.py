"""Calling async code from sync code, and running several coroutines at once."""

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end and return its result, even where an event loop runs already (a notebook)."""
    results: list[T] = []

    async def kept() -> None:
        results.append(await work)

    # Not asyncio.run(work): in the main thread that takes the repr of the task's result, twice, and throws it away
    # (signal.getsignal tries the handler as an enum). The repr of vectors and documents takes milliseconds.
    if not _loop_is_running():
        asyncio.run(kept())
    else:
        with ThreadPoolExecutor(max_workers=1) as pool:
            pool.submit(asyncio.run, kept()).result()
    return results[0]


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all of `works`. Where one raises, the others are cancelled and its error is raised, not a group."""
    try:
        async with asyncio.TaskGroup() as tasks:
            for work in works:
                tasks.create_task(work)
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
