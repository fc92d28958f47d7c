"""Feedback and operation: who asked rates an answer, admins see what was asked, and nobody else learns any of it."""

import csv
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.apps.server import answers
from equipoise.apps.server.routes_operation import cell
from serving import events_of, wait_until

GOOD = {"question": "Does logging work over a network?"}
BAD = {"question": "Which colour has tuesday morning?"}
PUBLIC = {"public": {"ask": True}}


def ask(served, body=GOOD, headers=None):
    reply = served.client.post("/v1/ask", json=body, headers=headers or served.as_asker())
    assert reply.status_code == 200, reply.text
    return reply.json()


def rate(served, answer_id, rating="down", comment="", headers=None):
    body = {"id": answer_id, "rating": rating, "comment": comment}
    return served.client.post("/v1/feedback", json=body, headers=headers or served.as_asker())


def questions(served, view, **more):
    reply = served.client.get("/v1/questions", params={"view": view} | more, headers=served.as_admin())
    assert reply.status_code == 200, reply.text
    return reply.json()["data"] if "format" not in more else reply


def test_an_answer_is_rated_with_a_comment_which_a_later_one_replaces(serve):
    served = serve(trace=True)
    result = ask(served)
    assert rate(served, result["id"], "down", "Not what I asked.").json() == {"rating": "down"}
    [row] = questions(served, "worst")
    [quote] = result["highlights"]
    assert row["question"] == GOOD["question"] and (row["up"], row["down"]) == (0, 1)
    assert row["spans"] == [[quote["doc_id"], quote["start"], quote["end"]]]
    assert row["comments"] == ["Not what I asked."]
    rate(served, result["id"], "up")
    assert questions(served, "worst") == []
    [row] = questions(served, "asked")
    assert (row["up"], row["down"], row["comments"]) == (1, 0, [])
    rate(served, result["id"], "none")
    assert questions(served, "asked")[0]["up"] == 0


def test_every_form_of_an_answer_can_be_rated(served):
    streamed = served.client.post(
        "/v1/ask", json=GOOD, headers=served.as_asker() | {"Accept": "text/event-stream"}
    )
    said = {"model": "equipoise", "messages": [{"role": "user", "content": GOOD["question"]}]}
    whole = served.client.post("/v1/chat/completions", json=said, headers=served.as_asker()).json()
    chunks = served.client.post(
        "/v1/chat/completions", json=said | {"stream": True}, headers=served.as_asker()
    )
    for answer_id in (
        dict(events_of(streamed.text))["done"]["id"],
        whole["id"],
        events_of(chunks.text)[0][1]["id"],
    ):
        assert rate(served, answer_id).status_code == 200, answer_id
    assert questions(served, "worst")[0]["down"] == 3


def test_nobody_rates_or_learns_of_what_another_key_asked(serve):
    served = serve(settings=PUBLIC)
    theirs = ask(served)["id"]
    _, other = served.keys.create("other")
    unknown = rate(served, "0" * 32)
    assert unknown.status_code == 404
    for headers in ({"Authorization": f"Bearer {other}"}, served.as_admin(), {"X-Nobody": "1"}):
        reply = rate(served, theirs, headers=headers)
        assert (reply.status_code, reply.json()) == (404, unknown.json())
    for path in ("/v1/questions", "/v1/usage", "/v1/keys"):
        assert served.client.get(path, headers=served.as_asker()).status_code == 403
        assert served.client.get(path).status_code == 401
    assert questions(served, "worst") == []


def test_a_visitor_rates_and_no_address_is_kept(serve):
    served = serve(settings=PUBLIC)
    answer_id = ask(served, headers={"X-Nobody": "1"})["id"]
    assert rate(served, answer_id, headers={"X-Nobody": "1"}).status_code == 200
    kept = served.service.book.rows("SELECT key_id FROM answers")
    assert kept == [("visitor-all",)]


def test_without_trace_a_question_is_a_hash_and_its_spelling_does_not_count(served):
    for question in (GOOD["question"], GOOD["question"].upper(), f"  {GOOD['question']} "):
        ask(served, {"question": question})
    [row] = questions(served, "asked")
    assert row["question"] is None and row["asked"] == 3
    assert row["question_hash"] == served.audit()[-1]["question_hash"]
    folder = served.service.folder
    assert not any(b"logging work" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_feedback_changes_no_answer(served):
    def told():
        return {name: value for name, value in ask(served).items() if name not in ("id", "timings")}

    before = told()
    for rating in ("up", "down"):
        rate(served, ask(served)["id"], rating, "Say that it works over a network, canary!")
    assert told() == before


def test_views_have_their_questions_in_order(serve):
    served = serve(trace=True)
    for body in (BAD, BAD, GOOD, {"question": "Do the fishermen feed the cats?"}):
        ask(served, body)
    ask(served, {"question": "Hi"})
    assert questions(served, "asked")[0]["question"] == BAD["question"]
    assert "Hi" not in [row["question"] for row in questions(served, "asked")]
    [row] = questions(served, "unanswered")
    assert row["question"] == BAD["question"] and row["refused"] == 2 and row["reason"]
    assert [row["question"] for row in questions(served, "asked", limit=1)] == [BAD["question"]]


def test_what_was_spent_is_listed_by_key_and_day(serve):
    served = serve(settings=PUBLIC)
    ask(served)
    ask(served)
    ask(served, headers={"X-Nobody": "1"})
    rows = served.client.get("/v1/usage", headers=served.as_admin()).json()["data"]
    assert {(row["name"], row["questions"]) for row in rows} == {("asker", 2), ("visitors", 1)}
    keys = served.client.get("/v1/keys", headers=served.as_admin()).json()["data"]
    assert [(row["name"], row["questions_today"]) for row in keys] == [
        ("asker", 2),
        ("admin", 0),
        ("visitors", 1),
    ]
    assert served.asker not in json.dumps(keys)


def test_sheets_hold_text_that_no_spreadsheet_computes(serve):
    served = serve(trace=True)
    for row, question in enumerate(
        ("=HYPERLINK(1) logging", "+logging 1", "@logging", "-logging", "\t=logging")
    ):
        rate(served, ask(served, {"question": question})["id"], "down", f"={row}+1")
    sheet = questions(served, "worst", format="csv")
    assert sheet.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert sheet.headers["Content-Disposition"].startswith("attachment")
    rows = list(csv.DictReader(io.StringIO(sheet.text)))
    assert len(rows) == 5
    for row in rows:
        assert row["question"].strip().startswith("'") and row["comments"].startswith("'=")
    usage = served.client.get("/v1/usage?format=csv", headers=served.as_admin()).text
    assert usage.splitlines()[0] == "day,key,name,questions,tokens"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=1", "'=1"), (" =1", " '=1"), ("\uff1d1", "'\uff1d1"), ("\r=1", "\r'=1"), ("a=1", "a=1"),
        ("a;=1", "a;'=1"), ("a; @b;-1", "a; '@b;'-1"), ("a\tb\t=1", "a\tb\t'=1"), ("a\n+1", "a\n'+1"),
        ('"a";"=1"', "\"a\";\"'=1\""), ("a, -5", "a, -5"), ("x -> y; z = 3", "x -> y; z = 3"),
        (3, "3"), (None, ""), ([], ""), (["=1", "=b"], "'=1\n'=b"), ([["d", 1, 2]], "d:1:2"),
    ],
)  # fmt: skip
def test_a_cell_is_text(value, shown):
    assert cell(value) == shown


@given(st.lists(st.text(alphabet="a1;\t\n,\"'=+-@ ", max_size=12), min_size=1, max_size=3))
def test_no_part_of_a_row_is_computed_whatever_a_program_takes_for_its_separator(values):
    text = io.StringIO()
    csv.writer(text).writerow([cell(value) for value in values])
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(text.getvalue()), delimiter=separator):
            assert not [part for part in row if part.strip(' "').startswith(("=", "+", "-", "@"))]


def test_the_oldest_answers_go(served, monkeypatch):
    monkeypatch.setattr(answers, "MOST", 2)
    for _ in range(4):
        ask(served)
    assert questions(served, "asked")[0]["asked"] == 2


def test_where_feedback_is_off_none_is_taken(serve):
    served = serve(feedback=False)
    assert not served.client.get("/v1/page", headers=served.as_asker()).json()["may"]["feedback"]
    assert rate(served, ask(served)["id"]).status_code == 404


@pytest.mark.parametrize("change", [{"rating": "best"}, {"id": "x"}, {"comment": "a" * 1001}, {"more": 1}])
def test_feedback_of_another_form_is_refused(served, change):
    body = {"id": "0" * 32, "rating": "up"} | change
    assert served.client.post("/v1/feedback", json=body, headers=served.as_asker()).status_code == 400


# The webhook


class Hook:
    """A place that a webhook tells: what it heard; `status` 0 takes a request and answers nothing until `go`."""

    def __init__(self, status):
        self.heard, self.go, hook = [], threading.Event(), self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                hook.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if not status:
                    hook.go.wait(60)
                self.send_response(status or 200)
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_given):
                """Nobody reads it."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def close(self):
        self.go.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def hook():
    made = []

    def opened(status=200):
        made.append(Hook(status))
        return made[-1]

    yield opened
    for one in made:
        one.close()


def test_a_webhook_is_told_of_questions_without_an_answer_alone(serve, hook):
    heard = hook()
    served = serve(webhook=heard.url)
    for body in (GOOD, {"question": "Hi"}, BAD):
        result = ask(served, body)
    wait_until(lambda: heard.heard)
    [said] = heard.heard
    assert said["event"] == "unanswered" and said["id"] == result["id"] and said["reason"] == result["reason"]
    assert said["question_hash"] == served.audit()[-1]["question_hash"] and "tuesday" not in str(said)


@pytest.mark.parametrize("status", [0, 302, 500, None])
def test_a_webhook_that_fails_or_hangs_keeps_no_answer(serve, hook, status):
    url = "http://127.0.0.1:9/none" if status is None else hook(status).url
    served = serve(webhook=url, trace=True)
    for _ in range(3):
        assert ask(served, BAD)["refused"]
    assert questions(served, "unanswered")[0]["asked"] == 3
