"""A server over a small index: words for vectors, a highlighter that takes the first sentence, a scripted model."""

import json
import time
from dataclasses import dataclass, field

from starlette.testclient import TestClient

from equipoise.apps.server.keys import Keys
from equipoise.core.types import Proposal, Span, Tag, Trust
from equipoise.corpus.indexing import index
from equipoise.corpus.roots import Author
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from hashed_words import HashedWords

WAL = "Write-ahead logging does not work over a network filesystem, since all processes share memory. It is fast."
CATS = "Cats of the harbour sleep on warm nets, and the fishermen of the town feed them every evening. They purr."
WAITS_S = 60


@dataclass
class FirstSentence:
    """Highlights the first sentence of the best passage that shares a long word with the question."""

    failure: Exception | None = None

    async def highlight(self, query, passages):
        if self.failure:
            raise self.failure
        words = {word for word in query.text.lower().strip("?").split() if len(word) > 4}
        for passage in passages:
            if words & set(passage.text.lower().replace(",", " ").replace(".", " ").split()):
                start, end = passage.sentences[0]
                span = Span(passage.doc_id, passage.start + start, passage.start + end)
                return Proposal((span,), probability=0.9, threshold=0.5, tags=frozenset[Tag]())
        return Proposal((), probability=0.1, threshold=0.5)


@dataclass
class Served:
    """A running application: `client` without a key, and the secrets of an asker and an admin."""

    client: TestClient
    service: object
    asker: str = ""
    admin: str = ""
    chat: ScriptedChat | None = None
    keys: Keys = field(init=False)

    def __post_init__(self):
        self.keys = self.service.keys

    def as_asker(self):
        return {"Authorization": f"Bearer {self.asker}"}

    def as_admin(self):
        return {"Authorization": f"Bearer {self.admin}"}

    def audit(self):
        path = self.service.audit.path
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def events_of(text):
    """(event, data) of a stream."""
    events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in lines:
            said = lines["data"]
            events.append((lines.get("event", ""), said if said == "[DONE]" else json.loads(said)))
    return events


def made_index(folder, **documents):
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    for name, text in (documents or {"wal": WAL, "cats": CATS}).items():
        (docs / f"{name}.txt").write_text(text)
    with Store.open(folder / "index.db", create=True) as store:
        index(docs, store, HashedWords())
    return folder / "index.db"


def add_forum(folder, **posts):
    """Untrusted documents beside those of `made_index`, each by an author of its own."""
    forum = folder / "forum"
    forum.mkdir(exist_ok=True)
    for name, text in posts.items():
        (forum / f"{name}.txt").write_text(text)
    with Store.open(folder / "index.db") as store:
        index(forum, store, HashedWords(), trust=Trust.UNTRUSTED, author=Author.FILE)
    return folder / "index.db"


def wait_until(true):
    last = time.monotonic() + WAITS_S
    while not true():
        assert time.monotonic() < last, "it did not come to pass"
        time.sleep(0.01)


def ready(client):
    wait_until(lambda: client.get("/readyz").status_code == 200)
