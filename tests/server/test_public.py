"""A server that anybody may ask: what a visitor gets, what stays closed, and whose address it is."""

import json
import re
import subprocess
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import httpx2
import pytest
from visiting import ANSWER, QUESTION, asks, public, spent

from equipoise.apps.server import visitors
from equipoise.apps.server.book import Book
from equipoise.apps.server.keys import VISITOR, Keys, Scope
from equipoise.core.errors import StoreError
from equipoise.core.settings import PublicSettings
from equipoise.corpus.indexing import index
from equipoise.corpus.naming import document_id
from equipoise.corpus.places import shown
from equipoise.corpus.store import Store
from equipoise.models.scripted import ScriptedChat
from hashed_words import HashedWords
from processes_cli import COMMAND, environment, piped
from serving import CATS, WAITS_S, WAL, wait_until

SHOP = "https://shop.example"


# What a visitor gets


def test_a_visitor_asks_without_a_key_and_sees_nothing_of_the_operator(serve):
    chat = ScriptedChat(lambda _: ANSWER)
    served = serve(keys=False, chat=chat, settings=public() | {"summarize": {"when": "always"}})
    body = served.client.post("/v1/ask", json=QUESTION | {"candidates": True}).json()
    assert body["answer"].startswith("Write-ahead logging does not")
    assert body["cited"][0]["quotes"] == [1]
    assert chat.requests and body["summarizer_saw"] == [] and "candidates" not in body
    assert body["probability"] is None and body["models"] == {} and body["passages"] == []
    for entry in served.audit():
        assert "testclient" not in str(entry) and entry["key"].startswith(VISITOR)


@pytest.mark.parametrize("filter_", ["audience = all", "not audience = staff"])
def test_for_a_visitor_there_are_no_documents_beyond_the_operators_filter(serve, tmp_path, filter_):
    for name, text in (("all", WAL), ("staff", CATS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}-notes.txt").write_text(text)
        with Store.open(tmp_path / "index.db", create=True) as store:
            index(tmp_path / name, store, HashedWords(), metadata={"audience": name})
    wanted = public(where=filter_, documents=True)
    served = serve(path=tmp_path / "index.db", keys=False, settings=wanted)
    inside, outside = (
        served.client.post("/v1/ask", json={"question": question}).json()
        for question in ("Does logging work over a network?", "Where do cats of the harbour sleep?")
    )
    assert inside["answer"].startswith("Write-ahead") and outside["refused"]
    asked_for_it = {"question": "Where do cats sleep?", "where": "audience = staff"}
    assert served.client.post("/v1/ask", json=asked_for_it).json()["refused"]
    said = json.dumps([inside, outside]) + served.client.get("/v1/page").text
    assert "staff-notes" not in said and "nets" not in said and "all-notes" in said
    for name, status in (("all", 200), ("staff", 404)):
        doc_id = document_id(shown(tmp_path / name / f"{name}-notes.txt"))
        assert served.client.get(f"/v1/documents/{doc_id}/text").status_code == status


def test_a_filter_for_visitors_that_nobody_can_read_is_an_error():
    with pytest.raises(ValueError, match="audience"):
        PublicSettings(where="audience === all")


def test_everything_but_asking_stays_closed_also_on_this_machine(serve):
    served = serve(keys=False, settings=public())
    chat = {"model": "equipoise", "messages": [{"role": "user", "content": "Who?"}]}
    for method, address, body in (
        ("GET", "/v1/documents", None),
        ("POST", "/v1/documents?name=a.txt", None),
        ("DELETE", "/v1/documents/" + "0" * 16, None),
        ("PATCH", "/v1/documents/" + "0" * 16, {"trust": "trusted"}),
        ("GET", "/v1/jobs", None),
        ("GET", "/v1/sources", None),
        ("POST", f"/v1/sources/{'0' * 16}/sync", None),
        ("GET", "/metrics", None),
        ("GET", "/openapi.json", None),
        ("GET", "/v1/models", None),
        ("POST", "/v1/chat/completions", chat),
    ):
        assert served.client.request(method, address, json=body).status_code == 401, address
    wrong = {"Authorization": "Bearer eqp_wrong"}
    assert served.client.post("/v1/ask", json=QUESTION, headers=wrong).status_code == 401
    admin = served.keys.create("admin", Scope.ADMIN)[1]
    opened = {"Authorization": f"Bearer {admin}"}
    assert served.client.get("/v1/documents", headers=opened).status_code == 200


def test_mcp_stays_closed(serve):
    pytest.importorskip("mcp")
    assert serve(keys=False, settings=public()).client.post("/mcp", json={}).status_code == 401


def test_only_the_protected_pipeline_is_for_visitors(serve):
    served = serve(keys=False, chat=ScriptedChat(lambda _: ANSWER), vanilla=True, settings=public())
    vanilla = QUESTION | {"model": "equipoise-vanilla"}
    assert served.client.post("/v1/ask", json=vanilla).status_code == 404


@pytest.mark.parametrize("opens", [True, False])
def test_a_quote_opens_without_a_key_where_the_operator_allows_it(serve, opens):
    served = serve(settings={"public": {"documents": opens}})
    [item, *_] = served.service.library.ask(QUESTION["question"]).highlights.items
    response = served.client.get(
        f"/v1/documents/{item.doc_id}/text", params={"start": item.start, "end": item.end}
    )
    assert response.status_code == (200 if opens else 401)
    if opens:
        assert response.json()["text"] == item.text
        about = served.client.get(f"/v1/documents/{item.doc_id}").json()
        assert about["scan"] is None and about["source"].endswith("wal.txt")
    assert served.client.post("/v1/ask", json=QUESTION).status_code == 401
    may = served.client.get("/v1/page").json()["may"]
    assert (may["read"], may["ask"], may["manage"]) == (opens, False, False)


def test_files_are_fetched_only_where_the_operator_allows_it(serve):
    for opens in (True, False):
        served = serve(originals=opens, settings=public(documents=True))
        [item, *_] = served.service.library.ask(QUESTION["question"]).highlights.items
        response = served.client.get(f"/v1/documents/{item.doc_id}/original")
        assert response.status_code == (200 if opens else 404)
        if opens:
            assert response.headers["Content-Disposition"] == "attachment; filename*=UTF-8''wal.txt"
            assert response.content.startswith(b"Write-ahead logging")


def test_reading_has_a_rate(serve):
    served = serve(keys=False, settings=public(documents=True, rate=1))
    address = "/v1/documents/" + "0" * 16
    statuses = [served.client.get(address).status_code for _ in range(12)]
    assert set(statuses) == {404, 429} and statuses[0] == 404


def test_where_nothing_can_be_counted_no_visitor_is_answered(serve, monkeypatch):
    served = serve(settings=public())

    def full(*_given, **_named):
        raise StoreError("the disk is full")

    monkeypatch.setattr(Keys, "admit", full)
    assert served.client.post("/v1/ask", json=QUESTION).status_code == 503
    assert served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker()).status_code == 200


# Pages of other hosts


def test_pages_of_listed_origins_may_ask_and_show_the_chat(serve):
    served = serve(keys=False, settings=public(origins=[SHOP]))
    foreign = {"Origin": SHOP, "Sec-Fetch-Site": "cross-site"}
    asks = foreign | {"Access-Control-Request-Method": "POST"}
    before = served.client.options("/v1/ask", headers=asks)
    assert before.status_code == 204 and before.headers["Access-Control-Allow-Origin"] == SHOP
    assert "authorization" not in before.headers["Access-Control-Allow-Headers"].lower()
    assert "Access-Control-Allow-Credentials" not in before.headers
    response = served.client.post("/v1/ask", json=QUESTION, headers=foreign)
    assert response.status_code == 200 and response.headers["Access-Control-Allow-Origin"] == SHOP
    assert "Origin" in response.headers["Vary"]
    page = served.client.get("/")
    assert f"frame-ancestors {SHOP};" in page.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in page.headers
    framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    assert served.client.get("/", headers=framed).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://shop.example", f"{SHOP}.evil.example", "null"]
)
def test_pages_of_other_origins_may_not(serve, origin):
    served = serve(keys=False, settings=public(origins=[SHOP]))
    foreign = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
    for method in ("OPTIONS", "POST"):
        response = served.client.request(method, "/v1/ask", json=QUESTION, headers=foreign)
        assert response.status_code == 403 and "Access-Control-Allow-Origin" not in response.headers


def test_a_server_without_keys_for_this_machine_alone_takes_no_other_page(serve):
    served = serve(keys=False, settings={"public": {"origins": [SHOP]}})
    assert served.client.post("/v1/ask", json=QUESTION, headers={"Origin": SHOP}).status_code == 403


def test_pages_of_listed_origins_use_nothing_else(serve):
    served = serve(settings=public(origins=[SHOP]))
    for address in ("/v1/documents", "/v1/chat/completions", "/mcp", "/openapi.json"):
        response = served.client.get(address, headers={"Origin": SHOP} | served.as_admin())
        assert response.status_code == 403
    script = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    assert served.client.get("/widget.js", headers=script).status_code == 200
    assert served.client.get("/static/app.js", headers=script).status_code == 403


def test_without_origins_nobody_frames_the_page(served):
    headers = served.client.get("/").headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"


# The operator's test for people


@pytest.fixture
def tester():
    """A service that takes the token "good"; what it was asked."""
    heard = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            heard.append(form)
            body = json.dumps({"success": form.get("response") == ["good"]}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_given):
            """Nobody reads it."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/siteverify", heard
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_visitor_passes_the_test_and_a_key_needs_none(serve, tester):
    address, heard = tester
    served = serve(settings=public(challenge=address, secret="shh"))
    assert served.client.get("/v1/page").json()["challenge"]
    for token, status in ((None, 403), ("bad", 403), ("good", 200)):
        headers = {"X-Challenge": token} if token else {}
        response = served.client.post("/v1/ask", json=QUESTION, headers=headers)
        assert response.status_code == status
        if status == 403:
            assert response.json()["error"]["code"] == "challenge"
    assert [form["response"] for form in heard] == [["bad"], ["good"]] and heard[0]["secret"] == ["shh"]
    assert spent(served.service)[1][0] == 1
    assert served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker()).status_code == 200
    assert len(heard) == 2


def test_where_the_test_cannot_be_checked_nobody_is_let_in(serve):
    served = serve(keys=False, settings=public(challenge="http://127.0.0.1:9/none"))
    response = served.client.post("/v1/ask", json=QUESTION, headers={"X-Challenge": "good"})
    assert response.status_code == 503 and response.json()["error"]["code"] == "challenge_failed"


# Whose address it is


@pytest.mark.parametrize(
    ("peer", "passed_on", "proxies", "network"),
    [
        ("203.0.113.7", [], (), "203.0.113.7"),
        ("203.0.113.7", ["198.51.100.1"], (), "203.0.113.7"),
        ("203.0.113.7", ["198.51.100.1"], ("10.0.0.0/8",), "203.0.113.7"),
        ("10.0.0.1", ["198.51.100.1"], ("10.0.0.0/8",), "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.1"], ("10.0.0.0/8",), "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1", "198.51.100.1, 10.0.0.2"], ("10.0.0.0/8",), "198.51.100.1"),
        ("10.0.0.1", ["1.1.1.1, nonsense"], ("10.0.0.0/8",), "10.0.0.1"),
        ("10.0.0.1", [], ("10.0.0.0/8",), "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1:5678"], ("10.0.0.0/8",), "198.51.100.1"),
        ("::1", ["[2001:db8::1]:443"], ("::1/128",), "2001:db8::/64"),
        ("2001:db8:0:1:ffff::9", [], (), "2001:db8:0:1::/64"),
        ("::ffff:203.0.113.7", [], (), "203.0.113.7"),
        ("fe80::1%eth0", [], (), "fe80::/64"),
        ("a socket", ["1.1.1.1"], ("10.0.0.0/8",), "None"),
    ],
)
def test_only_own_proxies_say_who_asks(peer, passed_on, proxies, network):
    assert visitors.network_of(visitors.address(peer, passed_on, proxies)) == network


def test_an_address_is_kept_nowhere(serve):
    served = serve(keys=False, settings=public(proxies=["127.0.0.0/8"]))
    served.client.post("/v1/ask", json=QUESTION)
    assert b"testclient" not in Book(served.service.folder).path.read_bytes()
    assert "testclient" not in served.service.audit.path.read_text()


def test_what_visitors_spent_is_forgotten_the_day_after(serve):
    served = serve(keys=False, settings=public())
    keys, every = served.keys, []
    for day, network in enumerate(("198.51.100.1", "198.51.100.2")):
        request = Asking(network)
        key = visitors.visitor_of(request, served.service)
        keys.admit(key, 1_800_000_000.0 + day * 86_400)
        every.append(key.key_id)
    there = {row[0] for row in keys.book.rows("SELECT key_id FROM spent")}
    assert every[0] not in there and every[1] in there


class Asking:
    """As much of a request as says where it came from."""

    def __init__(self, host):
        self.client = type("Client", (), {"host": host})
        self.headers = httpx2.Headers()
        self.headers.getlist = self.headers.get_list


def test_from_the_command_line_to_an_answer(tmp_path):
    """Without a key at an address that others reach; only with --public."""
    home = environment(tmp_path)
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "wal.txt").write_text(WAL)
    assert piped("index", "handbook", cwd=tmp_path, env=home).returncode == 0
    anywhere = ["serve", "--host", "0.0.0.0", "--port", "0"]
    assert b"--public" in piped(*anywhere, cwd=tmp_path, env=home).stderr
    with subprocess.Popen(
        [*COMMAND, *anywhere, "--public"],
        cwd=tmp_path,
        env=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as server:
        try:
            said = [server.stdout.readline().decode() for _ in range(2)]
            assert "anybody may ask, 100 questions a day from an address" in said[0]
            [port] = re.findall(r":(\d+)$", said[1].strip())
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=WAITS_S) as client:

                def is_ready():
                    with suppress(httpx2.ConnectError):
                        return client.get("/readyz").status_code == 200

                wait_until(is_ready)
                body = asks(client, headers={"Host": "bot.example.org"}).json()
                assert "network filesystem" in body["answer"]
        finally:
            server.terminate()
    [all_visitors] = json.loads(piped("keys", "list", "--json", cwd=tmp_path, env=home).stdout)["keys"]
    assert (all_visitors["name"], all_visitors["questions"]) == ("visitors", "1 of 5000")
