"""One key does not learn what another has asked: what is computed for a question is the same, asked before or not.

Calls are counted, not seconds: of every function of the package, and of what the models are given to read.
"""

import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import equipoise
from equipoise.apps.server.app import create_app, with_edge
from equipoise.apps.server.keys import Scope
from equipoise.apps.server.service import open_service
from equipoise.core.errors import SettingsError
from equipoise.core.settings import Settings
from equipoise.core.types import Trust
from equipoise.corpus.indexing import index
from equipoise.corpus.roots import Author
from equipoise.corpus.store import Store
from equipoise.models import crossencoder, encoder
from serving import Served, ready

PACKAGE = str(Path(equipoise.__file__).parent)
TRUSTED = """The lighthouse of Kerrin was finished in 1874 and its lamp burned rape-seed oil.

The mill of Tasel was sold in 1812 to a baker, who pulled it down.

A hive of bees has one queen, and she may live for five years.

The ferry to the island of Orm takes forty minutes and does not sail in a gale."""
FORUM = {
    "anna": "Phones should be allowed in schools. They are a dictionary and a camera, and pupils learn with them.",
    "bert": "Phones should not be allowed in schools. They distract every pupil, and no pupil learns with them.",
    "cora": "I think phones should be allowed in schools, because parents want to reach their children at once.",
}
SUBJECTS = (
    "the lamp of the lighthouse of Kerrin",
    "the mill of Tasel",
    "the queen of a hive of bees",
    "the ferry to the island of Orm",
    "phones in schools",
)
ASKED = tuple(f"{form} {subject}?" for subject in SUBJECTS for form in ("What is said of", "Who knows about"))
OTHERS = tuple(
    f"{form} {subject}?" for subject in SUBJECTS for form in ("What is told of", "Who writes about")
)
SIDED = "Should phones be allowed in schools?"


@pytest.fixture
def server(tmp_path):
    """A server with the models of the package, over trusted and untrusted documents, with two askers."""
    (tmp_path / "manual.txt").write_text(TRUSTED)
    forum = tmp_path / "forum"
    forum.mkdir()
    for name, text in FORUM.items():
        (forum / f"{name}.txt").write_text(text)
    path = tmp_path / "index.db"
    with Store.open(path, create=True) as store:
        index(tmp_path / "manual.txt", store, encoder.EmbeddedEncoder())
        index(forum, store, encoder.EmbeddedEncoder(), trust=Trust.UNTRUSTED, author=Author.FILE)
    clients = []

    def made(mode):
        chosen = {"store": {"path": path}, "model": {"llm": "none"}, "trust": {"mode": mode}}
        service = open_service(Settings.model_validate(chosen))
        app = with_edge(create_app(lambda: service), service.settings)
        client = TestClient(app, base_url="http://127.0.0.1:8080", raise_server_exceptions=False)
        clients.append(client.__enter__())
        ready(client)
        keys = [service.keys.create(name, Scope.ASK)[1] for name in ("a", "b")]
        return [Served(client, service, asker=key) for key in keys]

    yield made
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def computed(monkeypatch):
    """A Counter of the pairs and texts that models have read."""
    counts = Counter()
    feed, batches = crossencoder._feed, encoder.batches

    def counted_feed(pairs):
        counts["pairs"] += len(pairs)
        return feed(pairs)

    def counted_batches(lengths, most):
        counts["texts"] += len(lengths)
        return batches(lengths, most)

    monkeypatch.setattr(crossencoder, "_feed", counted_feed)
    monkeypatch.setattr(encoder, "batches", counted_batches)
    return counts


def ask(asker, question):
    body = {"question": question, "others": True}
    reply = asker.client.post("/v1/ask", json=body, headers=asker.as_asker())
    assert reply.status_code == 200, reply.text
    return reply


def spent(counts, asker, questions):
    """What the models read for each of the questions."""
    read = []
    for question in questions:
        counts.clear()
        ask(asker, question)
        read.append((counts["pairs"], counts["texts"]))
    return read


@pytest.mark.parametrize("mode", ["trusted-first", "equal"])
def test_models_read_the_same_for_a_question_that_another_key_has_asked(server, computed, mode):
    first, second = server(mode)
    before = spent(computed, first, ASKED)
    again = spent(computed, second, [*ASKED, *OTHERS])
    assert again[: len(ASKED)] == before
    assert min(min(pair) for pair in again) > 0


@pytest.mark.parametrize("mode", ["trusted-first", "equal"])
def test_every_function_is_called_as_often_the_second_time(server, mode):
    """With any cache that a question fills, something is called less often."""
    library = server(mode)[0].service.library
    for warm in (OTHERS[0], "Are phones to be allowed in a schol?", "Should phones be allowed in a school?"):
        library.ask(warm, others=True)
    for question in (ASKED[0], ASKED[-1], SIDED, "Who sells the lamp of the lighthous of Kerrin?"):
        first, second = (
            calls(lambda question=question: library.ask(question, others=True)) for _ in range(2)
        )
        assert first == second


def calls(work):
    """How often each function of the package is called, in this thread and those that it starts."""
    counts = Counter()

    def noted(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            counts[code.co_filename.removeprefix(PACKAGE), code.co_qualname] += 1

    threading.setprofile(noted)
    sys.setprofile(noted)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counts


def test_a_server_does_not_answer_from_recorded_replies(tmp_path):
    chosen = {"store": {"path": tmp_path / "index.db"}, "model": {"replay": tmp_path / "replies.db"}}
    with pytest.raises(SettingsError, match=r"model\.replay .* take it out"):
        open_service(Settings.model_validate(chosen))
    assert not (tmp_path / "index.db").exists()
