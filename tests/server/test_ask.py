"""POST /v1/ask: one object, a stream, and who sees what."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from equipoise.apps.server.views import EMPTY, SHOWN, for_asker
from equipoise.core.errors import CorpusError, ModelUnavailable
from equipoise.models.scripted import ScriptedChat
from serving import CATS, WAITS_S, WAL, FirstSentence, events_of, made_index, wait_until
from wordless import WORDLESS

QUESTION = {"question": "Does logging work over a network?"}
OFF = {"question": "Which colour has tuesday morning?"}


def test_an_admin_gets_what_ask_prints(served):
    response = served.client.post("/v1/ask", json=QUESTION, headers=served.as_admin())
    assert response.status_code == 200
    body = response.json()
    direct = served.service.library.ask(QUESTION["question"]).to_dict()
    assert set(body) - set(direct) == {"id", "summarizer_saw", "cited"}
    cited = body.pop("cited")
    assert "".join(piece["text"] for piece in cited) == WAL
    assert [piece["quotes"] for piece in cited] == [[], [1]]
    same = {name: value for name, value in body.items() if name not in ("id", "timings", "summarizer_saw")}
    assert same == {name: direct[name] for name in same}
    assert body["highlights"][0]["text"] == WAL
    assert body["probability"] == 0.9


def test_who_asks_sees_no_probability_score_name_or_path(serve, tmp_path):
    served = serve(highlighter=None)
    for question in (QUESTION, OFF):
        body = served.client.post("/v1/ask", json=question, headers=served.as_asker()).json()
        assert body["probability"] is None
        assert body["failure"] == "" and body["models"] == {} and body["timings"] == {}
        assert all(passage["score"] is None for passage in body["passages"])
        assert str(tmp_path) not in str(body)
    assert body["refused"] and body["reason"] == "nothing highlighted"


def test_every_key_of_a_result_is_for_somebody(served):
    """A new key has to be put into one of the lists, or nobody who asks gets it."""
    for question in (
        QUESTION["question"],
        OFF["question"],
        f"{QUESTION['question']} Who feeds the cats of the harbour?",
    ):
        fields = served.service.library.ask(question).to_dict()
        assert set(fields) - {"sub_answers"} == set(SHOWN) | set(EMPTY)
        assert set(for_asker(served.service.library.ask(question))) == set(fields)


def test_a_question_that_the_encoder_does_not_read_is_said_to_be_one(served):
    body = {"question": "Когда открывается гавань?"}
    reply = served.client.post("/v1/ask", json=body, headers=served.as_asker()).json()
    assert reply["notice"] == (
        "The question is in Cyrillic, which the encoder does not read: only its words count in a search."
    )
    assert served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker()).json()["notice"] is None


def test_a_failing_model_is_not_named_to_who_asks(serve):
    from serving import FirstSentence

    failing = FirstSentence(ModelUnavailable("gpt-9 at https://secret.example did not answer"))
    served = serve(highlighter=failing)
    body = served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker()).json()
    assert body["reason"] == "model failed" and "secret.example" not in str(body)
    body = served.client.post("/v1/ask", json=QUESTION, headers=served.as_admin()).json()
    assert "secret.example" in body["failure"]


def test_a_stream_tells_each_stage_then_quotes_then_checked_text(serve):
    chat = ScriptedChat(['{"answer": "Write-ahead logging does not work over a network filesystem."}'])
    served = serve(chat=chat, settings={"summarize": {"when": "always"}})
    headers = served.as_asker() | {"Accept": "text/event-stream"}
    response = served.client.post("/v1/ask", json=QUESTION, headers=headers)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response.text)
    assert [name for name, _ in events] == [
        "retrieved", "filtered", "highlighted", "quotes", "answer", "done",
    ]  # fmt: skip
    told = dict(events)
    assert told["quotes"]["parts"][0]["highlights"][0]["text"] == WAL
    assert told["answer"]["text"] == told["done"]["answer"]
    assert told["done"]["summarizer_saw"][0]["messages"][-1]["content"]


def test_what_is_not_supported_never_leaves(serve):
    chat = ScriptedChat(['{"answer": "It works over NFS since version 77 of Quixotic."}'])
    served = serve(chat=chat, settings={"summarize": {"when": "always"}})
    headers = served.as_asker() | {"Accept": "text/event-stream"}
    response = served.client.post("/v1/ask", json=QUESTION, headers=headers)
    assert "Quixotic" not in response.text


def test_the_summarizer_saw_no_question(serve):
    chat = ScriptedChat(lambda messages: '{"answer": "Write-ahead logging does not work over a network."}')
    served = serve(chat=chat, settings={"summarize": {"when": "always"}})
    marked = {"question": "ZEBRAMARK does logging work over a network?"}
    seen = served.client.post("/v1/ask", json=marked, headers=served.as_asker()).json()["summarizer_saw"]
    [request] = served.chat.requests
    assert [message["content"] for message in seen[0]["messages"]] == [
        message.content for message in request.messages
    ]
    assert "ZEBRAMARK" not in str(seen)


@pytest.mark.parametrize("kind", [CorpusError, RuntimeError])
def test_an_error_inside_a_stream_has_the_form_of_errors(serve, kind):
    class Broken:
        async def highlight(self, query, passages):
            raise kind("the store /srv/secret.db is damaged")

    served = serve(highlighter=Broken())
    stream = served.as_asker() | {"Accept": "text/event-stream"}
    events = events_of(served.client.post("/v1/ask", json=QUESTION, headers=stream).text)
    assert events[-1][0] == "error" and events[-1][1]["error"]["code"] == "failed"
    plain = served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker())
    assert plain.status_code == 500 and "secret" not in plain.text
    assert plain.json()["error"]["code"] == "failed"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"question": ""}', 400),
        (b'{"question": "  "}', 400),
        (b'{"question": 7}', 400),
        (b'{"question": "Who?", "unknown": 1}', 400),
        (b'{"question": "' + b"a" * 5000 + b'"}', 400),
        (b'{"question": "Who?", "model": "gpt-9"}', 404),
        (b'{"question": "Who?", "model": "equipoise-vanilla"}', 404),
        (b'{"question": "' + b"a" * 10_000_000 + b'"}', 413),
    ],
)
def test_bad_input_gets_one_sentence_in_the_form_of_errors(served, body, status):
    headers = served.as_asker() | {"Content-Type": "application/json"}
    response = served.client.post("/v1/ask", content=body, headers=headers)
    assert response.status_code == status
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"} and len(error["message"]) < 300


def test_what_is_wrong_is_said_without_words_of_the_program(served):
    plain = served.client.post("/v1/ask", content=b'{"question": "Who?"}', headers=served.as_asker())
    assert "Content-Type: application/json" in plain.json()["error"]["message"]
    empty = served.client.post("/v1/ask", json={"question": " "}, headers=served.as_asker())
    assert empty.json()["error"]["message"] == "question: it is empty, or of another form."


def test_chunks_over_the_limit_are_refused_too(served):
    def chunks():
        yield b'{"question": "'
        for _ in range(40):
            yield b"a" * 100_000

    headers = served.as_asker() | {"Content-Type": "application/json"}
    assert served.client.post("/v1/ask", content=chunks(), headers=headers).status_code == 413


def test_the_audit_log_has_a_line_and_no_question(served):
    served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker())
    [line] = served.audit()
    assert line["ended"] == "answered" and line["spans"] and line["tokens"] == 0
    assert "network" not in str({**line, "spans": None})


def test_with_trace_the_log_has_the_question(serve):
    served = serve(trace=True)
    served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker())
    assert served.audit()[0]["question"] == QUESTION["question"]


def test_candidates_are_for_admins(served):
    wanted = QUESTION | {"candidates": True}
    body = served.client.post("/v1/ask", json=wanted, headers=served.as_admin()).json()
    assert {"relevance", "polarization", "kept", "reason"} <= set(body["candidates"][0])
    assert "candidates" not in served.client.post("/v1/ask", json=wanted, headers=served.as_asker()).json()


def test_without_the_right_to_read_an_asking_key_gets_quotes_alone(serve, tmp_path):
    texts = {
        "wal": f"{WAL}\n\nA SECRETWORD stands in a paragraph of its own.",
        "cats": f"{CATS}\n\nA SECRETWORD stands here, too, by itself.",
    }
    (tmp_path / "shown").mkdir()
    hidden = serve(documents=False, path=made_index(tmp_path, **texts))
    shown = serve(path=made_index(tmp_path / "shown", **texts))
    both = {"question": f"{QUESTION['question']} Which colour has tuesday morning?"}
    for question in (QUESTION, OFF, both):
        for stream in ({}, {"Accept": "text/event-stream"}):
            reply = hidden.client.post("/v1/ask", json=question, headers=hidden.as_asker() | stream)
            assert reply.status_code == 200 and "SECRETWORD" not in reply.text
    whole = shown.client.post("/v1/ask", json=QUESTION, headers=shown.as_asker()).json()
    quotes = hidden.client.post("/v1/ask", json=QUESTION, headers=hidden.as_asker()).json()
    assert quotes["highlights"][0]["text"] == whole["highlights"][0]["text"] and quotes["passages"] == []
    assert "SECRETWORD" in str(whole["passages"])
    admin = hidden.client.post("/v1/ask", json=QUESTION, headers=hidden.as_admin()).json()
    assert "SECRETWORD" in str(admin["passages"])


@pytest.mark.parametrize("text", WORDLESS)
def test_a_question_without_a_word_is_not_searched_for_and_costs_nothing(served, text):
    made, secret = served.keys.create("one", questions=1)
    headers = {"Authorization": f"Bearer {secret}"}
    body = served.client.post("/v1/ask", json={"question": text}, headers=headers).json()
    assert body["reason"] == "no question" and body["passages"] == []
    assert served.keys.spent(made) == (0, 0)


class Waits(FirstSentence):
    """Highlights once it may."""

    begun, go = threading.Event(), threading.Event()

    async def highlight(self, query, passages):
        self.begun.set()
        await asyncio.to_thread(self.go.wait, WAITS_S)
        return await super().highlight(query, passages)


def test_a_full_queue_is_503_before_any_work_and_an_answer_has_its_time(serve):
    slow = Waits()
    served = serve(highlighter=slow, answers=1, queue=0)

    def ask():
        return served.client.post("/v1/ask", json=QUESTION, headers=served.as_asker())

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask)
        wait_until(slow.begun.is_set)
        second = ask()
        assert second.status_code == 503 and second.headers["Retry-After"]
        assert second.json()["error"]["code"] == "busy"
        assert served.keys.spent(served.keys.find(served.asker))[0] == 1
        slow.go.set()
        assert first.result().status_code == 200
    slow.go.clear()
    served = serve(highlighter=slow, timeout=0.01)
    late = ask()
    slow.go.set()
    assert late.status_code == 504 and late.json()["error"]["code"] == "timeout"
