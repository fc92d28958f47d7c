"""MCP on the server: behind the same keys, limits and audit log as every other route, with the real client."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("mcp")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from test_routes import every

from equipoise.apps.server.keys import Scope
from equipoise.apps.server.views import EMPTY
from equipoise.core.errors import CorpusError
from equipoise.core.types import Trust
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from serving import WAL, FirstSentence, add_forum, made_index

QUESTION = "Does logging work over a network?"
OFF = "Which colour has tuesday morning?"
MODES = ["auto", "legacy"]
"""The protocol of 2026, and the handshake of earlier clients."""
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def connected(url, secret, mode="auto"):
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def within(url, secret, work, mode="auto"):
    async def run():
        async with connected(url, secret, mode) as client:
            return await work(client)

    return asyncio.run(run())


def call(url, secret, name, mode="auto", **arguments):
    return within(url, secret, lambda client: client.call_tool(name, arguments), mode)


@pytest.fixture
def keyed(live):
    """An address, the service, and the secrets of an asker and an admin."""

    def made(**wanted):
        url, service = live(**wanted)
        return (
            url,
            service,
            service.keys.create("asker", Scope.ASK)[1],
            service.keys.create("admin", Scope.ADMIN)[1],
        )

    return made


def audit(service):
    return [json.loads(line) for line in service.audit.path.read_text("utf-8").splitlines()]


def test_the_route_is_among_those_whose_keys_are_tested(served):
    assert ("POST", "/mcp") in every(served)


@pytest.mark.parametrize("secret", [None, "eqp_wrong", "revoked"])
def test_without_a_key_that_opens_it_nothing_is_said(served, secret):
    if secret == "revoked":
        made, secret = served.keys.create("gone")
        served.keys.revoke(made.key_id)
    headers = ACCEPT | ({"Authorization": f"Bearer {secret}"} if secret else {})
    for body in (LIST, {"jsonrpc": "2.0", "id": 1, "method": "initialize"}, [], "x"):
        response = served.client.post("/mcp", json=body, headers=headers)
        assert response.status_code == 401
        assert response.json()["error"]["code"] == "invalid_api_key"
        assert "ask" not in response.json()


@pytest.mark.parametrize("mode", MODES)
def test_a_question_is_answered_counted_and_written_into_the_audit_log(keyed, mode):
    url, service, asker, _ = keyed()
    body = call(url, asker, "ask", mode, question=QUESTION).structured_content
    [quote] = body["quotes"]
    assert quote["text"] == WAL and quote["trust"] == "trusted"
    [entry] = audit(service)
    assert (entry["ended"], entry["model"]) == ("answered", "equipoise")
    assert entry["spans"] and QUESTION not in str(entry)
    key = service.keys.find(asker)
    assert service.keys.spent(key)[0] == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_refusal_is_what_the_public_sees(keyed, mode):
    url, _, asker, admin = keyed()
    for secret in (asker, admin):
        body = call(url, secret, "ask", mode, question=OFF).structured_content
        assert body["refused"] and body["reason"] == "nothing highlighted"
        assert not set(EMPTY) & set(body)
        assert "0.1" not in json.dumps(body)


def test_no_folder_of_the_machine_is_shown(keyed, tmp_path):
    url, service, asker, admin = keyed()

    async def everything(client):
        said = [
            await client.call_tool("ask", {"question": QUESTION}),
            await client.call_tool("search", {"words": "logging"}),
            await client.list_resources(),
        ]
        doc_id = service.store.doc_ids()[0]
        return [*said, await client.call_tool("read", {"doc_id": doc_id})]

    for secret in (asker, admin):
        assert str(tmp_path) not in str(within(url, secret, everything))


def test_lists_are_for_admins_as_elsewhere(keyed):
    url, service, asker, admin = keyed()
    refused = call(url, asker, "documents")
    assert refused.is_error and refused.content[0].text == "This needs a key with the scope admin."
    assert within(url, asker, lambda client: client.list_resources()).resources == []
    rows = call(url, admin, "documents").structured_content["documents"]
    assert len(rows) == 2
    resources = within(url, admin, lambda client: client.list_resources()).resources
    assert [resource.uri for resource in resources] == [row["uri"] for row in rows]
    text = within(url, asker, lambda client: client.read_resource(resources[0].uri)).contents[0].text
    assert text == service.store.document(rows[0]["doc_id"]).text


def test_where_documents_are_closed_only_quotes_are_given(keyed):
    url, service, asker, admin = keyed(documents=False)
    doc_id = service.store.doc_ids()[0]
    for name, arguments in (("read", {"doc_id": doc_id}), ("search", {"words": "logging"})):
        refused = call(url, asker, name, **arguments)
        assert refused.is_error and refused.content[0].text.startswith("Documents cannot be opened here")
        assert not call(url, admin, name, **arguments).is_error

    async def read(client):
        with pytest.raises(MCPError, match="Documents cannot be opened here"):
            await client.read_resource(f"equipoise://documents/{doc_id}")

    within(url, asker, read)
    assert not call(url, asker, "ask", question=QUESTION).is_error


@pytest.mark.parametrize(
    ("name", "arguments"), [("ask", {"question": QUESTION}), ("search", {"words": "wal"})]
)
def test_over_the_rate_is_said_with_when_to_come_back(keyed, name, arguments):
    url, service, _, _ = keyed()
    secret = service.keys.create("slow", Scope.ASK, rate=1)[1]
    assert not call(url, secret, name, **arguments).is_error
    refused = call(url, secret, name, **arguments)
    assert refused.is_error
    assert refused.content[0].text.startswith("This key may ask 1 questions a minute. Try again in ")
    assert len(audit(service)) == 1


def test_a_search_is_written_into_the_audit_log(keyed):
    url, service, asker, _ = keyed()
    body = call(url, asker, "search", words="cats of the harbour", k=1).structured_content
    assert body["passages"][0]["trust"] == "trusted"
    [entry] = audit(service)
    assert (entry["model"], entry["ended"]) == ("search", "answered")
    assert "harbour" not in str(entry) and entry["question_hash"]
    assert service.queue.running == 0


def test_what_fails_is_in_the_servers_log_alone(keyed, caplog):
    url, service, asker, _ = keyed(highlighter=FirstSentence(CorpusError("secret")))
    refused = call(url, asker, "ask", question=QUESTION)
    assert refused.is_error and refused.content[0].text.startswith("Something failed here")
    assert "secret" not in str(refused) and "secret" in caplog.text
    assert audit(service)[0]["ended"] == "failed"


def test_a_written_answer_is_charged(keyed):
    chat = ScriptedChat(
        lambda _: '{"answer": "Write-ahead logging does not work over a network filesystem."}'
    )
    url, service, asker, _ = keyed(chat=chat, settings={"summarize": {"when": "always"}})
    assert call(url, asker, "ask", question=QUESTION).structured_content["grounded"]
    assert service.keys.spent(service.keys.find(asker))[1] > 1
    assert QUESTION not in repr(chat.requests)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Content-Length": "99999999"}, 413),
        ({"Content-Type": "text/plain"}, 400),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_the_edge_holds_here_too(served, headers, status):
    response = served.client.post("/mcp", json=LIST, headers=ACCEPT | served.as_asker() | headers)
    assert response.status_code == status
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600, "This is no JSON-RPC request: it needs "),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": 5}', -32600, "This is no JSON-RPC"),
        (b"[]", -32600, "This is no JSON-RPC request"),
        (b"", -32700, "The request's body is not valid JSON."),
        (b"[" * 100_000, -32700, "The request's body is not valid JSON."),
        (b"\xff", -32700, "The request's body is not valid JSON."),
    ],
)
@pytest.mark.parametrize("version", [{}, {"MCP-Protocol-Version": "2026-07-28"}])
def test_what_is_no_message_is_refused_in_one_sentence(served, body, code, said, version):
    headers = ACCEPT | served.as_asker() | version | {"Content-Type": "application/json"}
    response = served.client.post("/mcp", content=body, headers=headers)
    assert response.status_code == 400 and response.json()["error"]["code"] == code
    message = response.json()["error"]["message"]
    assert message.startswith(said) and "\n" not in message and "pydantic" not in message


def test_without_keys_only_this_machine_speaks_to_it(serve):
    served = serve(keys=False)
    assert served.client.post("/mcp", json=LIST, headers=ACCEPT | {"Host": "evil.example"}).status_code == 403
    assert served.client.post("/mcp", json=LIST, headers=ACCEPT).status_code == 200


def test_while_draining_it_is_turned_away(served):
    served.service.is_draining = True
    assert served.client.post("/mcp", json=LIST, headers=ACCEPT | served.as_asker()).status_code == 503


def test_fifty_at_once_get_their_own_answers(keyed):
    url, _, asker, _ = keyed(answers=4)

    async def many():
        async def asked(number):
            async with connected(url, asker) as client:
                question = QUESTION if number % 2 else OFF
                return number % 2, (await client.call_tool("ask", {"question": question})).structured_content

        return await asyncio.gather(*map(asked, range(50)))

    for answered, body in asyncio.run(many()):
        assert body["refused"] is not bool(answered)


def test_what_untrusted_documents_say_is_named_without_folders(keyed, tmp_path):
    made_index(tmp_path)
    url, _, asker, _ = keyed(path=add_forum(tmp_path, anna="A ticket for a dog costs 2 euros on the ferry."))
    said = call(url, asker, "ask", question="How much is the dog on a ferry?").structured_content
    assert "According to anna.txt (untrusted):" in said["answer"]
    assert tmp_path.name not in str(said) and said["quotes"][0]["trust"] == "untrusted"
    beside = call(url, asker, "ask", question=QUESTION, others=True).structured_content
    plain = call(url, asker, "ask", question=QUESTION).structured_content
    assert beside["others"] is not None and plain["others"] is None
    assert beside | {"others": None} == plain


def test_what_is_held_back_does_not_exist_for_anybody(keyed):
    url, service, asker, admin = keyed()
    [held, *_] = service.library.documents()
    with Store.open(service.settings.store.path) as store:
        store.set_trust([held.doc_id], Trust.HELD)

    async def everything(client):
        with pytest.raises(MCPError, match="There is no such document"):
            await client.read_resource(f"equipoise://documents/{held.doc_id}")
        return await client.list_resources()

    for secret in (asker, admin):
        assert call(url, secret, "read", doc_id=held.doc_id).is_error
        assert held.doc_id not in str(within(url, secret, everything))
    listed = call(url, admin, "documents").structured_content["documents"]
    assert listed and held.doc_id not in str(listed)
