"""Two tenants on one server: through every route a key gets what a server gives that holds its documents alone."""

import json
import logging
import re

import pytest

from equipoise.apps.server.keys import Scope
from equipoise.core.errors import InputError
from equipoise.core.types import Trust
from equipoise.core.where import as_where, in_collection
from equipoise.corpus.indexing import index
from equipoise.corpus.naming import document_id
from equipoise.corpus.places import shown
from equipoise.corpus.roots import Author
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from hashed_words import HashedWords
from serving import FirstSentence, events_of, wait_until
from stores_here import cluster, new_place  # noqa: F401

TENANTS = ("acme", "globex")
CANARIES = {
    "acme": ("zanzibar", "quixotic", "marmalade", "Krakatoa"),
    "globex": ("xylophone", "Timbuktu", "rhubarb", "obsidian"),
}
OTHER = {"acme": "globex", "globex": "acme"}


def texts(tenant):
    a, b, c, d = CANARIES[tenant]
    trusted = {
        "refunds": f"# Refunds of {a}\n\nA refund of the {a} plan takes five working days. Write to the office.",
        "travel": f"# Travel to {d}\n\nThe ferry to {d} leaves the harbour at nine. Dogs travel free on the ferry.",
        "hidden": f"# Notes\n\nThe harbour of {tenant} opens when the {b} bell rings in the morning.",
    }
    forum = {
        "post": f"The casino near the harbour opens at midnight and sells {c} to every visitor.",
        "reply": f"I think the casino near the harbour sells no {c} at all, and it never opens.",
    }
    return trusted, forum


def store_of(folder, name, *tenants, place=None):
    """A store with the documents of these tenants, whose files are the same for every store."""
    chosen = place or folder / f"{name}.db"
    with Store.open(chosen, create=True) as store:
        for trust in (Trust.TRUSTED, Trust.UNTRUSTED):
            for tenant in tenants:
                place = folder / tenant / trust
                place.mkdir(parents=True, exist_ok=True)
                for title, text in texts(tenant)[trust is Trust.UNTRUSTED].items():
                    (place / f"{title}.md").write_text(text)
                said = {"collection": tenant}
                index(place, store, HashedWords(), trust=trust, author=Author.FILE, metadata=said)
    return chosen


def questions():
    yield "Hi"
    yield "thanks"
    yield "When does the ferry leave the harbour?"
    yield "Does the casino near the harbour open at midnight?"
    yield "How long does a refnd take? When does the fery leave the harbuor?"
    yield "What is the capital of Mongolia?"
    for words in CANARIES.values():
        for word in words:
            yield f"What of the {word} plan takes five working days?"
            yield f"Is there a {word[:-2]}{word[-1]}{word[-2]} near the harbour?"


class Everything:
    """All that a key can have of a server."""

    def __init__(self, client, key):
        self.client, self.headers = client, {"Authorization": f"Bearer {key}"}

    def post(self, path, body, **more):
        return self.client.post(path, json=body, headers=self.headers | more)

    def asked(self, question, **more):
        body = {"question": question, "others": True, **more}
        whole = self.post("/v1/ask", body).json()
        return whole, events_of(self.post("/v1/ask", body, Accept="text/event-stream").text)

    def completed(self, question, model="equipoise"):
        body = {"model": model, "messages": [{"role": "user", "content": question}]}
        whole = self.post("/v1/chat/completions", body).json()
        return whole, events_of(self.post("/v1/chat/completions", body | {"stream": True}).text)

    def called(self, tool, **arguments):
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        return self.rpc(body)

    def rpc(self, body):
        return self.post("/mcp", body, Accept="application/json, text/event-stream").text

    def read(self, doc_id):
        for path in ("", "/text", "/pages/1.png", "/original"):
            reply = self.client.get(f"/v1/documents/{doc_id}{path}", headers=self.headers)
            yield reply.status_code, reply.text
        yield 200, self.called("read", doc_id=doc_id)

    def everything(self, folder):
        for question in questions():
            yield self.asked(question)
            yield self.asked(question, before=["When does the ferry leave?"], k=2, trust="trusted-only")
            yield self.completed(question)
            yield self.completed(question, "equipoise-vanilla")
            yield self.called("ask", question=question, others=True)
            yield self.called("search", words=question, k=7)
        for where in (
            "collection = globex",
            "collection = acme",
            "not collection = acme",
            "folder = nowhere",
        ):
            yield self.asked("When does the ferry leave the harbour?", where=where)
            yield self.called("search", words="ferry harbour", where=where)
        for tenant in (*TENANTS, "nobody"):
            for trust, names in (
                ("trusted", ("refunds", "travel", "hidden")),
                ("untrusted", ("post", "reply")),
            ):
                for name in names:
                    yield list(self.read(document_id(shown(folder / tenant / trust / f"{name}.md"))))
        yield self.rpc({"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {}})
        yield self.called("documents")
        yield self.client.get("/v1/models", headers=self.headers).text
        yield self.client.get("/v1/page", headers=self.headers).text
        yield self.client.get("/v1/documents", headers=self.headers).text


CHANGING = re.compile(
    r'"(?:id|created|request|key|time|seconds|question_hash|x-request-id)": ?(?:"[^"]*"|[\d.e-]+)',
    re.IGNORECASE,
)


def same_for_all(said):
    return CHANGING.sub("", json.dumps(said, ensure_ascii=False, sort_keys=True).replace('\\"', '"'))


def told_by_model(messages):
    return "It takes five working days, and the ferry leaves at nine."


@pytest.fixture(params=[("acme", "sqlite"), ("globex", "sqlite"), ("acme", "postgres")], ids="-".join)
def world(request, new_place):  # noqa: F811
    """A tenant, and a function that gives a place for a new store."""
    tenant, kind = request.param
    return tenant, lambda: new_place(kind)


def test_a_key_has_what_a_server_of_its_own_documents_gives(serve, world, tmp_path, caplog):
    tenant, place = world
    pytest.importorskip("mcp")
    caplog.set_level(logging.DEBUG)
    said, logs, metrics = {}, {}, {}
    for name, tenants in (("both", TENANTS), ("alone", (tenant,))):
        caplog.clear()
        server = serve(
            path=store_of(tmp_path, name, *tenants, place=place()),
            chat=ScriptedChat(told_by_model),
            highlighter=FirstSentence(),
            vanilla=True,
            originals=True,
            url="http://docs.example",
            settings={"summarize": {"name": "extractive"}},
        )
        where = in_collection(tenant) if name == "both" else None
        key, secret = server.keys.create(tenant, Scope.ASK, where=where)
        assert server.keys.find(secret) == key
        said[name] = [same_for_all(one) for one in Everything(server.client, secret).everything(tmp_path)]
        logs[name] = [same_for_all(entry) for entry in server.audit()]
        page = server.client.get("/metrics", headers=server.as_admin()).text
        metrics[name] = [
            line
            for line in page.splitlines()
            if not any(word in line for word in ("seconds", "created", "/readyz", "waiting", "running"))
        ]
        theirs = (*CANARIES[OTHER[tenant]], OTHER[tenant])
        known = {word.lower() for question in questions() for word in re.findall(r"\w+", question)}
        for word in theirs:
            for text in (*logs[name], caplog.text, page):
                assert word.lower() not in text.lower() or (word.lower() in known and text is caplog.text)
    assert len(said["both"]) > 100
    for ours, alone in zip(said["both"], said["alone"], strict=True):
        assert ours == alone
    assert logs["both"] == logs["alone"]
    assert metrics["both"] == metrics["alone"]


def test_canaries_are_there_to_be_found(serve, tmp_path):
    """The texts above say them to a key without a filter, so that the test before means something."""
    pytest.importorskip("mcp")
    server = serve(
        path=store_of(tmp_path, "both", *TENANTS),
        chat=ScriptedChat(told_by_model),
        highlighter=FirstSentence(),
        vanilla=True,
        settings={"summarize": {"name": "extractive"}},
    )
    said = same_for_all(list(Everything(server.client, server.asker).everything(tmp_path)))
    assert '"isError":false' in said and '"nearest": [{' in said and '"spelling": [[' in said
    for words in CANARIES.values():
        assert all(word.lower() in said.lower() for word in words)


def test_a_filter_of_a_question_narrows_that_of_the_key_and_never_widens_it(serve, tmp_path):
    server = serve(path=store_of(tmp_path, "both", *TENANTS), highlighter=FirstSentence())
    _, secret = server.keys.create("acme", where=in_collection("acme"))
    question = "When does the ferry leave the harbour?"

    def sources(secret, **more):
        headers = {"Authorization": f"Bearer {secret}"}
        reply = server.client.post("/v1/ask", json={"question": question, **more}, headers=headers).json()
        read = " ".join(place["text"] for place in (*reply["passages"], *reply["highlights"]))
        return {tenant for tenant, words in CANARIES.items() if any(word in read for word in words)}

    assert sources(server.asker) == set(TENANTS)
    assert sources(server.asker, where="collection = globex") == {"globex"}
    assert sources(server.asker, where={"equal": {"collection": "acme"}}) == {"acme"}
    assert sources(secret) == {"acme"}
    for where in (
        "collection = globex",
        "collection = acme or collection = globex",
        "not collection = nothing",
    ):
        assert sources(secret, where=where) <= {"acme"}
    assert sources(secret, where='type = md and folder = "nowhere"') == set()


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ({"where": "collection"}, 400, "not understood"),
        ({"where": {"equal": {"a": [1]}}}, 400, "no value"),
        ({"where": {"regex": {"a": "b"}}}, 400, "not understood"),
        ({"where": {"and": []}}, 400, "not understood"),
        ({"where": 3}, 400, ""),
        ({"k": 0}, 400, ""),
        ({"k": 21}, 400, ""),
        ({"trust": "equal"}, 403, "Only admins"),
        ({"trust": "everybody"}, 400, ""),
    ],
)
def test_a_choice_that_cannot_be_used_is_one_clear_sentence_and_costs_nothing(served, more, status, said):
    chat = {"model": "equipoise", "messages": [{"role": "user", "content": "Who feeds cats?"}]}
    for address, body in (("/v1/ask", {"question": "Is it fast?"}), ("/v1/chat/completions", chat)):
        reply = served.client.post(address, json=body | more, headers=served.as_asker())
        assert reply.status_code == status, address
        assert said in reply.json()["error"]["message"]
    assert served.keys.spent(served.keys.find(served.asker))[0] == 0


def test_an_admin_has_no_filter(served):
    with pytest.raises(InputError, match="sees all documents"):
        served.keys.create("boss", Scope.ADMIN, where=as_where("team = hr"))


def test_files_of_the_same_name_in_two_collections_are_two_documents(served):
    content = {"Content-Type": "application/octet-stream"}
    for tenant in (*TENANTS, ""):
        more = f"&collection={tenant}" if tenant else ""
        text = f"The office of {tenant or 'everybody'} is open from nine to five on every day of the week."
        reply = served.client.post(
            f"/v1/documents?name=hours.txt{more}", content=text, headers=served.as_admin() | content
        )
        assert reply.status_code == 202
        job = reply.json()["id"]
        wait_until(
            lambda job=job: (
                served.client.get(f"/v1/jobs/{job}", headers=served.as_admin()).json()["state"] == "done"
            )
        )
    rows = served.client.get("/v1/documents", headers=served.as_admin()).json()["data"]
    assert [row["metadata"].get("collection") for row in rows if row["source"].endswith("hours.txt")] == [
        *TENANTS,
        None,
    ]
    narrowed = served.client.get("/v1/documents?where=collection = acme", headers=served.as_admin()).json()[
        "data"
    ]
    assert [row["source"] for row in narrowed] == ["collections/acme/hours.txt"]
    gone = served.client.delete(f"/v1/documents/{narrowed[0]['doc_id']}", headers=served.as_admin())
    assert gone.json() == {"documents": 1}
    assert not list(served.service.folder.rglob("acme/hours.txt"))
    bad = served.client.post(
        "/v1/documents?name=a.txt&collection=../b", content="x", headers=served.as_admin() | content
    )
    assert bad.status_code == 400
