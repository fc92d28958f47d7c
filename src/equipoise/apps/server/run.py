"""Runs the application with uvicorn, in one or several processes, and lets running answers finish before it ends.

SIGTERM and Ctrl-C begin to drain: `/readyz` fails, new requests get 503, running answers have `serve.drain` seconds.
Then uvicorn closes. A second signal ends it at once.
"""

import asyncio
import os
import resource
import socket
import tempfile
from functools import partial
from types import FrameType
from typing import Any

import uvicorn

from equipoise.apps.server.app import create_app, with_edge
from equipoise.apps.server.book import Book, folder_of
from equipoise.apps.server.connections import Connection
from equipoise.apps.server.edge import is_loopback
from equipoise.apps.server.keys import Keys
from equipoise.apps.server.logs import log_to_stderr
from equipoise.apps.server.metrics import FOLDER
from equipoise.apps.server.service import Service, open_service
from equipoise.apps.server.workers import Workers
from equipoise.core.errors import InputError
from equipoise.core.settings import Settings

KEEP_ALIVE_S = 5
MOST_HEADERS = 64_000


class DrainingServer(uvicorn.Server):
    """A server that finishes what it has accepted before it closes."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal drains, the second ends."""
        service = _service_of(self.config.loaded_app) if self.config.loaded else None
        if service is None or service.is_draining:
            self.force_exit, self.should_exit = self.should_exit, True
            return
        service.is_draining = True
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(self._drain, service)

    def _drain(self, service: Service) -> None:
        self._draining = asyncio.create_task(self._drained(service))

    async def _drained(self, service: Service) -> None:
        loop = asyncio.get_running_loop()
        last = loop.time() + service.settings.serve.drain
        while service.active and loop.time() < last:
            await asyncio.wait(set(service.active), timeout=last - loop.time())
        for task in service.active:
            task.cancel()  # its stream ends with an error that says so
        self.should_exit = True


def factory(settings: Settings) -> Any:  # noqa: ANN401
    """The whole application of one process, which logs to stderr."""
    log_to_stderr()
    return with_edge(create_app(partial(open_service, settings)), settings)


def check(settings: Settings, host: str) -> bool:
    """Whether there are keys. Raises InputError where others could reach a server without any."""
    with Book(folder_of(settings.store.path)) as book:
        has_keys = Keys(book).exist()
    if not has_keys and not settings.public.ask and not is_loopback(host):
        raise InputError(
            f"there are no keys, and {host} can be reached from elsewhere: run  equipoise keys create NAME , let "
            "anybody ask with --public, or leave --host out to serve this machine only"
        )
    return has_keys


def serve(settings: Settings, listening: socket.socket) -> None:
    """Serve in this process, which makes its files for their owner alone, or for `serve.group` too."""
    os.umask(0o007 if settings.serve.group else 0o077)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    DrainingServer(_config(settings)).run(sockets=[listening])


def run(settings: Settings, listening: socket.socket, workers: int = 1) -> None:
    """Serve at a bound socket until a signal comes."""
    if workers == 1:
        serve(settings, listening)
        return
    with tempfile.TemporaryDirectory(prefix="equipoise-metrics-") as folder:
        os.environ[FOLDER] = folder
        Workers(serve, settings, listening, workers).run()


def _config(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        partial(factory, settings),
        factory=True,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(int(settings.serve.drain), 1),
        h11_max_incomplete_event_size=MOST_HEADERS,
        http=partial(Connection, most=settings.serve.connections),  # type: ignore[arg-type]
        ws="none",
    )


def _service_of(app: Any) -> Service | None:  # noqa: ANN401
    """The service of an application that `factory` made, None before it is open."""
    return getattr(app.app.state, "service", None)
