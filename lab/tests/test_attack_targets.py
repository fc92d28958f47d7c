"""Targets: what is sent to an endpoint, an address and an object, and what comes back."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from equipoise.core import sync
from equipoise.core.errors import InputError, ModelUnavailable, QuestionError, ServerError
from equipoise.core.types import Document, Proposal, Span
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.redteam.asking import further
from equipoise_lab.redteam.attack_types import AttackOutcome
from equipoise_lab.redteam.planter import is_planted
from equipoise_lab.redteam.poison import planted_document
from equipoise_lab.redteam.targets import (
    ChatTarget,
    HttpTarget,
    Inside,
    ObjectTarget,
    Planting,
    Response,
    Target,
    asked,
)
from weak_shop import shop


class Rag(BaseHTTPRequestHandler):
    """Answers with what was asked and how many documents it holds."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, body, self.headers.get("Authorization")))
        if self.path.endswith("/documents"):
            self.server.held += body["documents"]
        elif self.path.endswith("/reset"):
            self.server.held.clear()
        answer = {"answer": f"{body.get('query')} ({len(self.server.held)})"}
        content = b"<html>" if body.get("query") == "no JSON" else json.dumps(answer).encode()
        self.send_response(500 if body.get("query") == "fail" else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def rag():
    with ThreadingHTTPServer(("127.0.0.1", 0), Rag) as server:
        server.seen, server.held = [], []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        server.url = f"http://127.0.0.1:{server.server_port}/ask"
        yield server
        server.shutdown()


def test_an_address_is_asked_planted_and_reset(rag):
    target = HttpTarget(rag.url, "sk-mine")
    assert isinstance(target, Target) and isinstance(target, Planting) and not isinstance(target, Inside)
    sync.run(target.plant([planted_document("a", "One."), planted_document("b", "Two.")]))
    assert sync.run(target.ask("Why?", before=["Who?"])) == Response("Why? (2)")
    sync.run(target.reset())
    assert sync.run(target.ask("Why?")).text == "Why? (0)"
    assert [path for path, _, _ in rag.seen] == ["/ask/documents", "/ask", "/ask", "/ask/reset", "/ask"]
    assert rag.seen[0][1] == {"documents": ["One.", "Two."]}
    assert {key for _, _, key in rag.seen} == {"Bearer sk-mine"}


@pytest.mark.parametrize(("question", "said"), [("fail", "status 500"), ("no JSON", "no JSON")])
def test_an_address_that_fails_is_named(rag, question, said):
    with pytest.raises(ServerError, match=said):
        sync.run(HttpTarget(rag.url).ask(question))


def test_what_is_no_address_is_refused():
    with pytest.raises(InputError, match="is no address"):
        sync.run(HttpTarget("ftp://x").ask("Why?"))
    with pytest.raises(ServerError, match="does it run"):
        sync.run(HttpTarget("http://127.0.0.1:9/ask").ask("Why?"))


def test_an_endpoint_is_told_of_the_tool_and_of_the_conversation():
    chat = ScriptedChat(["Hello.", "Bye."])
    response = sync.run(ChatTarget(chat).ask("Why?", before=["Who?"], tool=True))
    assert response == Response("Bye.")
    first, second = chat.requests
    assert "send_email(to, body)" in first.messages[0].content
    assert [message.content for message in second.messages[1:]] == ["Who?", "Hello.", "Why?"]
    sync.run(ChatTarget(chat2 := ScriptedChat(["x"])).ask("Why?"))
    assert [message.role for message in chat2.requests[0].messages] == ["user"]


class Plain:
    def answer(self, question):
        return f"{question}!"


class Full:
    def __init__(self):
        self.texts = []

    async def answer(self, question):
        if question == "break":
            raise ValueError("it broke")
        return f"{question} {self.texts}"

    def add_documents(self, texts):
        self.texts += texts

    async def reset(self):
        self.texts.clear()


def test_an_object_with_answer_is_a_target():
    assert sync.run(ObjectTarget(Plain(), "mine").ask("Why?")).text == "Why?!"
    target = ObjectTarget(Full(), "theirs")
    sync.run(target.plant([planted_document("a", "One.")]))
    assert sync.run(target.ask("Why?")).text == "Why? ['One.']"
    sync.run(target.reset())
    assert sync.run(target.ask("Why?")).text == "Why? []"
    with pytest.raises(ServerError, match="theirs failed \\(ValueError: it broke\\)"):
        sync.run(target.ask("break"))


def test_an_object_that_lacks_a_method_is_named():
    with pytest.raises(InputError, match="no method answer"):
        ObjectTarget(object(), "thing")
    with pytest.raises(InputError, match="takes no documents"):
        sync.run(ObjectTarget(Plain(), "mine").plant([]))


def test_a_failure_is_a_response_and_a_refused_question_is_no_failure():
    async def failing(error):
        raise error

    assert sync.run(asked(failing(ModelUnavailable("gone")))).error == "ModelUnavailable: gone"
    refused = sync.run(asked(failing(QuestionError("too long"))))
    assert (refused.refused, refused.error, refused.reached) == ("too long", "", False)


def test_forced_spans_go_the_way_of_every_span():
    with shop() as targets:
        hs, weak = targets["hs"], targets["weak"]
        document = next(d for d in hs.ground.documents.values() if d.source.endswith("returns.md"))
        at = document.text.index("unbroken")
        half = Span(document.doc_id, at, at + len("unbroken"))
        assert sync.run(hs.force(Proposal((half,)))).refused == "nothing highlighted"
        assert sync.run(weak.force(Proposal((half,)))).evidence == ("unbroken",)
        whole = Span(document.doc_id, *document.sentences[0])
        response = sync.run(hs.force(Proposal((whole,))))
        assert response.reached
        (shown,) = response.quotes
        assert document.text[slice(*document.sentences[0])] in shown


def test_only_planted_ids_are_planted():
    with shop() as targets:
        with pytest.raises(InputError, match="no id of a planted document"):
            sync.run(targets["hs"].plant([Document("mine", "Text.", "mine.txt")]))
        assert not any(map(is_planted, targets["hs"].components.store.doc_ids()))


def test_the_try_that_came_furthest_is_kept():
    refused = AttackOutcome(False, reached=False, tries=1, asked="a")
    answered = AttackOutcome(False, reached=True, tries=2, asked="b", answered="text")
    later = AttackOutcome(False, reached=False, tries=3, asked="c")
    best = further(further(refused, answered), later)
    assert (best.asked, best.reached, best.tries) == ("b", True, 3)
    assert further(best, AttackOutcome(True, tries=4, asked="d")).attack_succeeded
