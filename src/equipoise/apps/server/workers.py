"""Several server processes behind one socket: each that dies is replaced, and all drain together."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from types import FrameType

from equipoise.core.settings import Settings

LOG = logging.getLogger("equipoise")
PAUSE_S = 1.0
"""Seconds before a process that has ended is replaced."""

Serve = Callable[[Settings, socket.socket], None]


@dataclass(slots=True)
class Workers:
    """`number` processes that run `serve`, until a signal comes.

    Not uvicorn's supervisor: it replaces the server object that drains.
    """

    serve: Serve
    settings: Settings
    listening: socket.socket
    number: int
    _processes: list[SpawnProcess] = field(default_factory=list)
    _ending: bool = False

    def run(self) -> None:
        """Returns when all have ended after a signal."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        self._processes = [self._started() for _ in range(self.number)]
        while not self._ending:
            wait([process.sentinel for process in self._processes], timeout=PAUSE_S)
            self._replace_dead()
        for process in self._processes:
            process.join()

    def _replace_dead(self) -> None:
        for row, process in enumerate(self._processes):
            if not self._ending and not process.is_alive():
                LOG.error("a server process ended with code %s: another is started", process.exitcode)
                time.sleep(PAUSE_S)
                if not self._ending:
                    self._processes[row] = self._started()

    def _started(self) -> SpawnProcess:
        process = multiprocessing.get_context("spawn").Process(
            target=_serving, args=(self.serve, self.settings, self.listening)
        )
        process.start()
        return process

    def _end(self, number: int, _frame: FrameType | None) -> None:
        self._ending = True
        for process in self._processes:
            if process.is_alive() and process.pid:
                process.terminate()


def _serving(serve: Serve, settings: Settings, listening: socket.socket) -> None:
    """Serve until a signal comes, or the process that started this one is gone, however it ended."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    serve(settings, listening)


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
