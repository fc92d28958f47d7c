"""Fixtures that open servers: for tests/server, and tests/web with a browser."""

import socket
import threading

import pytest
import uvicorn
from starlette.testclient import TestClient

from equipoise.apps.server.app import create_app, with_edge
from equipoise.apps.server.keys import Scope
from equipoise.apps.server.service import open_service
from equipoise.core.settings import Settings
from hashed_words import HashedWords
from serving import FirstSentence, Served, made_index, ready, wait_until


@pytest.fixture
def opened(tmp_path):
    """Opens services: `opened(chat=..., highlighter=..., settings=..., **settings of the section serve)`."""

    def made(*, chat=None, path=None, highlighter=None, settings=None, objects=None, **wanted):
        chosen = Settings.model_validate(
            {"store": {"path": path or made_index(tmp_path)}, "serve": wanted, "model": {"llm": "none"}}
            | (settings or {})
        )
        return open_service(
            chosen,
            encoder=HashedWords(),
            reranker=None,
            chat=chat,
            highlighter=highlighter or FirstSentence(),
            **(objects or {}),
        )

    return made


@pytest.fixture
def serve(opened):
    """Makes servers in this process: as `opened`, and `keys=True` for an asker and an admin."""
    clients = []

    def made(*, keys=True, chat=None, **wanted):
        service = opened(chat=chat, **wanted)
        app = with_edge(create_app(lambda: service), service.settings)
        client = TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False)
        client.__enter__()
        clients.append(client)
        made = Served(client, service, chat=chat)
        if keys:
            made.asker = service.keys.create("asker", Scope.ASK)[1]
            made.admin = service.keys.create("admin", Scope.ADMIN)[1]
        ready(client)
        return made

    yield made
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def served(serve):
    return serve()


@pytest.fixture
def live(opened):
    """Makes servers on a port: `live(...)` as `opened`, without keys; returns the address and the service."""
    running = {}

    def made(**wanted):
        service = opened(**wanted)
        app = with_edge(create_app(lambda: service), service.settings)
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=5)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        running[id(service)] = server, thread
        wait_until(lambda: service.is_ready)
        return f"http://127.0.0.1:{listening.getsockname()[1]}", service

    def end(service):
        server, thread = running[id(service)]
        server.should_exit = True
        thread.join()

    made.end = end
    yield made
    for server, thread in running.values():
        server.should_exit = True
        thread.join()
