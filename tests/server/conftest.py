"""Servers for tests."""

import pytest

pytest.importorskip("fastapi", reason="the server is not installed: pip install 'equipoise[serve]'")

from starlette.testclient import TestClient

from equipoise.apps.server.app import create_app, with_edge
from equipoise.apps.server.keys import Scope
from equipoise.apps.server.service import open_service
from equipoise.core.settings import Settings
from hashed_words import HashedWords
from serving import FirstSentence, Served, made_index, ready


@pytest.fixture
def serve(tmp_path):
    """Makes servers: `serve(chat=..., keys=True, **settings of the section serve)`."""
    opened = []

    def made(*, chat=None, keys=True, path=None, highlighter=None, settings=None, **wanted):
        chosen = Settings.model_validate(
            {"store": {"path": path or made_index(tmp_path)}, "serve": wanted, "model": {"llm": "none"}}
            | (settings or {})
        )
        service = open_service(
            chosen,
            encoder=HashedWords(),
            reranker=None,
            chat=chat,
            highlighter=highlighter or FirstSentence(),
        )
        app = with_edge(create_app(lambda: service), chosen.serve)
        client = TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False)
        client.__enter__()
        opened.append(client)
        found = Served(client, service, chat=chat)
        if keys:
            found.asker = service.keys.create("asker", Scope.ASK)[1]
            found.admin = service.keys.create("admin", Scope.ADMIN)[1]
        ready(client)
        return found

    yield made
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def served(serve):
    return serve()
