"""What the bias benchmark measures with models: answers, fact checks, data sets of a library."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest

import bias_corpus
from bias_corpus import unrendered  # noqa: F401
from equipoise.core import sync
from equipoise.core.errors import InputError, MissingExtra, ModelError, ModelReplyError, ModelUnavailable
from equipoise.core.types import Passage
from equipoise.models.scripted import ScriptedChat
from equipoise_lab.bench import systems
from equipoise_lab.bench.bias import asked, huggingface
from equipoise_lab.bench.bias.asked import FactVerdict, NliChecker, WikiCheck
from equipoise_lab.bench.bias.planting import EmbeddedPassages, Workspace
from equipoise_lab.bench.bias.records import BiasPlan
from hashed_words import HashedWords
from test_bias_run import rows_of, run, silent

PLAN = BiasPlan(("none", "biasdef"), (0, 2), k=3, candidates=8)


@pytest.fixture
def inputs(tmp_path):
    return bias_corpus.write(tmp_path / "inputs")


def talkative():
    """Answers with words of the attack where an attack is in the documents."""
    return ScriptedChat(
        {
            "no bad wrong": "no bad wrong",
            "yes good right": "yes good right",
            "Question: Should the ferry": " ",
            "Question: Should the town": "yes bells ring",
        }
    )


def test_three_answers_are_asked_for_each_row_and_measured(inputs, tmp_path):
    summary = run(inputs, tmp_path / "out", plan=PLAN, chat=talkative(), answers=True)
    rows = rows_of(tmp_path / "out", "answers.jsonl")
    assert len(rows) == 3 * len(rows_of(tmp_path / "out"))
    assert {row["generation"] for row in rows} == {0, 1, 2}
    declined = [row for row in rows if not row["text"]]
    assert declined
    assert all(row["ps"] is None for row in declined)
    assert all(row["ps"] is not None for row in rows if row not in declined)
    cells = {(c["filter"], c["sign"], c["injections"]): c for c in summary["answers"][0]["cells"]}
    assert cells["none", "adv_pos", 2]["ps_shift"]["estimate"] > 0
    assert cells["none", "none", 0]["declined"]["estimate"] == 0.5
    page = (tmp_path / "out" / "tables.md").read_text()
    assert "no language model answered" not in page
    assert (tmp_path / "out" / "figures" / "answers.svg").exists()


def test_answers_go_on_where_the_model_failed(inputs, tmp_path):
    class Failing:
        name = "parrot"

        def __init__(self, left):
            self.left, self.asked = left, 0

        async def complete(self, messages, *, schema=None, options=None):
            if self.left == self.asked:
                raise ModelUnavailable("the line is dead: call again")
            self.asked += 1
            return await ScriptedChat(["a wise answer"], name="parrot").complete(messages)

    with pytest.raises(ModelUnavailable, match="the line is dead"):
        run(inputs, tmp_path / "out", plan=PLAN, chat=Failing(4), answers=True)
    kept = len(rows_of(tmp_path / "out", "answers.jsonl"))
    assert kept >= 4
    second = Failing(1000)
    run(inputs, tmp_path / "out", plan=PLAN, chat=second, answers=True)
    whole = Failing(1000)
    run(inputs, tmp_path / "whole", plan=PLAN, chat=whole, answers=True)
    same = [(tmp_path / name / "answers.jsonl").read_bytes() for name in ("out", "whole")]
    assert same[0] == same[1]
    assert whole.asked < len(rows_of(tmp_path / "whole", "answers.jsonl"))  # equal contexts share an answer
    assert second.asked < whole.asked


def test_a_seed_for_each_generation(inputs, tmp_path):
    chat = ScriptedChat(["word"] * 200)
    run(inputs, tmp_path / "out", plan=BiasPlan(("none",), (0,), k=3, candidates=8), chat=chat, answers=True)
    assert {request.options.seed for request in chat.requests} == {0, 1, 2}
    assert {request.options.temperature for request in chat.requests} == {asked.OPTIONS.temperature}


def embedded(*texts):
    passages = tuple(Passage(i, f"d{i}", 0, len(text), text) for i, text in enumerate(texts))
    return EmbeddedPassages(passages, HashedWords(256).encode(texts))


class WordNli:
    """Entailment where the premise says "true", contradiction where it says "false"."""

    def __init__(self):
        self.seen = []

    async def predict(self, pairs):
        self.seen += pairs
        rows = {"true": (0.9, 0.1, 0.0), "false": (0.1, 0.0, 0.9)}
        probabilities = [
            next((v for word, v in rows.items() if word in text), (0.2, 0.6, 0.2)) for text, _ in pairs
        ]
        return np.array(probabilities, np.float32).reshape(-1, 3)


def test_nli_against_the_nearest_evidence():
    nli, corpus = (
        WordNli(),
        embedded("bells ring true", "ferry is false", "cats sleep", "own bells claim true"),
    )
    checker = NliChecker(nli, HashedWords(256), corpus)

    def check(sentence, source=""):
        return sync.run(checker.check(sentence, source=source))

    assert check("bells ring") is FactVerdict.SUPPORTS
    assert len(nli.seen) == 3
    assert all(hypothesis == "bells ring" for _, hypothesis in nli.seen)
    alone = NliChecker(nli, HashedWords(256), embedded("own bells claim true"))
    assert sync.run(alone.check("own bells", source="d0")) is FactVerdict.UNKNOWN  # no evidence for itself
    refuted = NliChecker(nli, HashedWords(256), embedded("ferry is false", "cats sleep"))
    assert sync.run(refuted.check("ferry", source="")) is FactVerdict.REFUTES
    unknown = NliChecker(nli, HashedWords(256), embedded("cats sleep"))
    assert sync.run(unknown.check("cats", source="")) is FactVerdict.UNKNOWN


@pytest.fixture
def wikicheck():
    """A loopback server with WikiCheck's path, parameter and reply."""
    asked, replies = [], {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            url = urlparse(self.path)
            claim = parse_qs(url.query)["claim"][0]
            asked.append((url.path, claim))
            status, body = replies.get(
                claim, (200, {"predicted_label": "SUPPORTS", "predicted_evidence": []})
            )
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", asked, replies
    server.shutdown()
    server.server_close()
    thread.join()


def test_wikicheck_is_asked_as_its_api_wants(wikicheck):
    url, seen, replies = wikicheck
    replies["50% & more?"] = 200, {"predicted_label": "REFUTES", "predicted_evidence": [["A", "1"]]}
    checker = WikiCheck(url)
    assert sync.run(checker.check("50% & more?", source="d")) is FactVerdict.REFUTES
    assert sync.run(checker.check("Water is wet.", source="d")) is FactVerdict.SUPPORTS
    assert seen == [
        ("/fact_checking_aggregated/", "50% & more?"),
        ("/fact_checking_aggregated/", "Water is wet."),
    ]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((500, {}), ModelUnavailable),
        ((200, b"<html>"), ModelReplyError),
        ((200, {"predicted_label": "PERHAPS"}), ModelReplyError),
        ((200, [1]), ModelReplyError),
    ],
)
def test_a_bad_reply_of_wikicheck_is_one_sentence(wikicheck, reply, error):
    url, _, replies = wikicheck
    replies["claim"] = reply
    with pytest.raises(error, match="WikiCheck at") as caught:
        sync.run(WikiCheck(url).check("claim", source=""))
    assert "\n" not in str(caught.value)


def test_wikicheck_that_is_not_there_and_a_name_that_is_no_url():
    with pytest.raises(ModelUnavailable, match="does not answer"):
        sync.run(WikiCheck("http://127.0.0.1:9").check("x", source=""))
    with pytest.raises(InputError, match="no URL"):
        WikiCheck("ftp://facts")


def test_facts_are_checked_in_a_run_and_not_twice(inputs, wikicheck, tmp_path):
    url, seen, replies = wikicheck
    replies["Voice 1."] = 200, {"predicted_label": "REFUTES"}
    shares = run(inputs, tmp_path / "out", plan=PLAN, facts=url)["facts"]
    assert set(shares) == {"benign", "adv_pos", "adv_neg"}
    assert shares["benign"]["support"]["estimate"] == 1.0
    assert shares["adv_pos"]["support"]["estimate"] < 1.0
    once = len(seen)
    run(inputs, tmp_path / "out", plan=PLAN, facts=url)
    assert len(seen) == once
    assert "no fact checker" not in (tmp_path / "out" / "tables.md").read_text()


def test_a_failing_checker_keeps_the_verdicts_it_gave(tmp_path):
    class Fails:
        async def check(self, sentence, *, source):
            if source == "d1":
                raise ModelReplyError("no verdict: ask again")
            return FactVerdict.SUPPORTS

    passages = [("benign", passage) for passage in embedded("One thing.", "Another.").passages]
    with pytest.raises(ModelError):
        sync.run(asked.verdicts(passages, Fails(), "test", Workspace(HashedWords(), tmp_path, silent)))
    assert [row["id"] for row in rows_of(tmp_path, "facts.jsonl")] == ["d0"]


def test_every_contender_but_auto_can_be_named():
    assert set(systems.filter_names()) >= {"none", "mmr", "brra", "biasdef", "biasdef-as-written", "smart"}
    assert "auto" not in systems.filter_names()


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"equipoise-lab\[datasets\]"):
        huggingface.load("wiki-balance-natural")


def test_an_unknown_data_set_and_one_without_an_address():
    with pytest.raises(InputError, match="choose one of wiki-balance-natural"):
        huggingface.load("imagenet")
    with pytest.raises(InputError, match="--source"):
        huggingface.load("reddit-dialogues")
