"""The replay cache: keys, hits, misses, damage, several tasks, threads and processes."""

import asyncio
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipoise
from equipoise.core import sync
from equipoise.core.errors import ModelUnavailable
from equipoise.core.types import ChatOptions, ChatReply, Message, TokenLogprob, Usage
from equipoise.models import replay
from equipoise.models.replay import ReplayCache, Replayed, request_key
from equipoise.models.scripted import ScriptedChat

HELLO = (Message("user", "hello there"),)
SOURCES = str(Path(equipoise.__file__).parent.parent)


@pytest.fixture
def cache(tmp_path):
    return ReplayCache(tmp_path / "new folder" / "replies.sqlite", lock_timeout_s=100)


def ask(model, messages=HELLO, **how):
    return asyncio.run(model.complete(messages, **how))


# recording and replaying


def test_a_reply_is_asked_for_once_and_replayed_for_nothing(cache):
    model = ScriptedChat(["hi", "never said"])
    first = ask(Replayed(model, cache))
    second = ask(Replayed(model, cache))
    assert (first.text, first.usage) == ("hi", Usage(1, 2, 1, 0))
    assert (second.text, second.usage) == ("hi", Usage(0, 2, 1, 1))
    assert len(model.requests) == 1


def test_a_replayed_reply_is_the_recorded_one_in_every_field(cache):
    logprobs = (TokenLogprob("\ud83d", -0.25, (("é", -0.25), ("\x00", -9999.0))), TokenLogprob("x", -1.5))
    reply = ChatReply("naïve \ud800 text\n", "big-1", Usage(1, 7, 3), "length", logprobs)
    cache.put("k", reply)
    again = ReplayCache(cache.path).get("k")
    assert again == ChatReply(reply.text, "big-1", Usage(0, 7, 3, 1), "length", logprobs)


def test_errors_are_not_kept(cache):
    model = Replayed(ScriptedChat([ModelUnavailable("down"), "up again"]), cache)
    with pytest.raises(ModelUnavailable, match="down"):
        ask(model)
    assert ask(model).text == "up again"


def test_the_first_recording_stays(cache):
    cache.put("k", ChatReply("first", "m"))
    cache.put("k", ChatReply("second", "m"))
    assert cache.get("k").text == "first"


# keys


def test_a_key_is_steady_across_releases():
    canonical = (
        r'{"format":1,"messages":[["user","\u00e9"]],"model":"m",'
        r'"options":{"max_tokens":512,"seed":0,"temperature":0.0,"top_logprobs":0},'
        r'"schema":"{\"type\":\"object\"}"}'
    )
    key = request_key("m", [Message("user", "é")], {"type": "object"}, ChatOptions())
    assert key == hashlib.sha256(canonical.encode()).hexdigest()
    assert key == "69ec7dbc4202b800704582e2453be9c73cf625b34d9b435db2fd6c3e2d026f5b"


def test_everything_that_changes_a_reply_changes_the_key():
    schema = {"type": "object", "properties": {"a": {}, "b": {}}}
    turned = {"type": "object", "properties": {"b": {}, "a": {}}}
    requests = [
        ("m", HELLO, schema, ChatOptions()),
        ("n", HELLO, schema, ChatOptions()),
        ("m", (*HELLO, *HELLO), schema, ChatOptions()),
        ("m", (Message("system", "hello there"),), schema, ChatOptions()),
        ("m", HELLO, None, ChatOptions()),
        ("m", HELLO, turned, ChatOptions()),
        ("m", HELLO, schema, ChatOptions(temperature=0.5)),
        ("m", HELLO, schema, ChatOptions(max_tokens=5)),
        ("m", HELLO, schema, ChatOptions(seed=5)),
        ("m", HELLO, schema, ChatOptions(top_logprobs=5)),
    ]
    assert len({request_key(*r) for r in requests}) == len(requests)


def test_a_temperature_of_integer_type_is_the_same_request():
    assert request_key("m", HELLO, None, ChatOptions(temperature=0)) == request_key(
        "m", HELLO, None, ChatOptions(temperature=0.0)
    )


contents = st.lists(st.text(alphabet=st.characters(), max_size=4), max_size=3)


@given(contents, contents)
def test_different_messages_have_different_keys(one, other):
    first, second = ([Message("user", c) for c in some] for some in (one, other))
    keys = [request_key("m", m, None, ChatOptions()) for m in (first, second)]
    assert (keys[0] == keys[1]) == (one == other)


# at once


def test_identical_requests_at_once_ask_the_model_once(cache):
    model = ScriptedChat(["hi"])
    first, second = Replayed(model, cache), Replayed(model, cache)

    async def ask_all():
        return await asyncio.gather(*(m.complete(HELLO) for m in [first, second] * 10))

    replies = asyncio.run(ask_all())
    assert {r.text for r in replies} == {"hi"}
    assert sum(r.usage.calls for r in replies) == 1
    assert sum(r.usage.replayed for r in replies) == 19
    assert len(model.requests) == 1


def test_identical_requests_from_several_threads_ask_the_model_once(cache):
    model = Replayed(ScriptedChat(["hi"]), cache)
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(ask(model))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r.text for r in replies] == ["hi"] * 8


def test_an_error_is_told_to_all_who_wait(cache):
    model = ScriptedChat([ModelUnavailable("down")])

    async def ask_all():
        asked = (Replayed(model, cache).complete(HELLO) for _ in range(5))
        return await asyncio.gather(*asked, return_exceptions=True)

    assert [str(r) for r in asyncio.run(ask_all())] == ["down"] * 5
    assert len(model.requests) == 1


class Slow:
    """A model that answers when it is let."""

    name = "slow"

    def __init__(self):
        self.calls = 0
        self.asked, self.let = asyncio.Event(), asyncio.Event()

    async def complete(self, messages, *, schema=None, options=None):
        self.calls += 1
        self.asked.set()
        await self.let.wait()
        return ChatReply("hi", self.name, Usage(1, 1, 1))


@pytest.mark.parametrize("cancelled", ["who asks", "who waits"])
def test_a_cancelled_request_does_not_take_the_others_along(cache, cancelled):
    async def scene():
        slow = Slow()
        model = Replayed(slow, cache)
        first = asyncio.create_task(model.complete(HELLO))
        await slow.asked.wait()
        others = [asyncio.create_task(model.complete(HELLO)) for _ in range(3)]
        await asyncio.sleep(0.01)
        gone = first if cancelled == "who asks" else others.pop()
        gone.cancel()
        await asyncio.sleep(0.01)
        slow.let.set()
        kept = others if gone is first else [first, *others]
        replies = await asyncio.gather(*kept)
        assert gone.cancelled()
        return slow.calls, [r.text for r in replies], sum(r.usage.calls for r in replies)

    calls, texts, counted = asyncio.run(scene())
    assert calls == (2 if cancelled == "who asks" else 1)
    assert set(texts) == {"hi"}
    assert counted == 1


WRITER = """
import sys
from equipoise.core.types import ChatReply
from equipoise.models import replay
from equipoise.models.replay import ReplayCache
cache = ReplayCache(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for i in range(int(sys.argv[3])):
    cache.put(f"{sys.argv[2]}-{i}", ChatReply("x" * 2000, "m"))
    cache.put(f"shared-{i}", ChatReply(sys.argv[2], "m"))
    print(i, flush=True)
"""


def writer(path, name, count):
    command = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    environment = os.environ | {"PYTHONPATH": SOURCES}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_several_processes_create_and_fill_one_file(cache):
    cache.path.parent.mkdir()
    processes = [writer(cache.path, f"p{i}", 10) for i in range(3)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with sqlite3.connect(cache.path) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (3 * 10 + 10,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_killed_writer_loses_nothing_it_had_reported(cache):
    cache.path.parent.mkdir()
    process = writer(cache.path, "p", 100_000)
    process.stdin.write("\n")
    process.stdin.flush()
    while int(reported := process.stdout.readline()) < 20:
        pass
    process.send_signal(signal.SIGKILL)
    rest = process.communicate()[0].split()
    last = int(rest[-1] if rest else reported)
    assert process.returncode == -signal.SIGKILL
    assert all(cache.get(f"p-{i}") and cache.get(f"shared-{i}") for i in range(last + 1))
    cache.put("after", ChatReply("fine", "m"))
    assert cache.get("after").text == "fine"


# damage


def test_a_file_that_is_no_database_is_a_clear_error(cache):
    cache.path.parent.mkdir()
    cache.path.write_bytes(b"not a database at all" * 100)
    model = ScriptedChat(["hi"])
    with pytest.raises(ModelUnavailable, match="damaged or not a replay cache") as caught:
        ask(Replayed(model, cache))
    assert str(cache.path) in str(caught.value)
    assert model.requests == []
    assert cache.path.read_bytes().startswith(b"not a database")


def test_a_database_with_other_tables_or_another_format_is_left_alone(cache):
    cache.path.parent.mkdir()
    connection = sqlite3.connect(cache.path)
    connection.execute("CREATE TABLE mine (a)")
    with pytest.raises(ModelUnavailable, match="not a replay cache"):
        cache.put("k", ChatReply("hi", "m"))
    connection.execute("DROP TABLE mine")
    connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ModelUnavailable, match="format 99"):
        cache.get("k")
    connection.close()


def test_damaged_pages_are_a_clear_error(cache):
    for i in range(50):
        cache.put(str(i), ChatReply("x" * 1000, "m"))
    data = bytearray(cache.path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    cache.path.write_bytes(data)
    with pytest.raises(ModelUnavailable, match="is damaged"):
        cache.get("7")


FINE = {"text": "hi", "model": "m", "usage": {}, "finish_reason": "stop", "logprobs": []}
TOKEN = {"token": "a", "logprob": -1.0, "top": []}
DAMAGED = [
    "{", "[]", '{"text": 1}', "null", "7", "[" * 100_000, '{"a":' * 100_000, "1" * 10_000, None, 7, b"\xff\x00",
    *[
        json.dumps(FINE | damage)
        for damage in [
            {"text": 1}, {"model": None}, {"finish_reason": []}, {"usage": {"calls": "x"}}, {"usage": 7},
            {"logprobs": 7}, {"logprobs": [7]}, {"logprobs": {"a": 1}},
            {"logprobs": [TOKEN | {"logprob": float("nan")}]}, {"logprobs": [TOKEN | {"logprob": 1e6}]},
            {"logprobs": [TOKEN | {"top": [["a", float("inf")]]}]}, {"logprobs": [TOKEN | {"top": [["a"]]}]},
            {"logprobs": [TOKEN | {"top": [[1, -1.0]]}]}, {"text": "x" * (replay.MOST_CHARACTERS + 1)},
        ]
    ],
]  # fmt: skip


@pytest.mark.parametrize("value", DAMAGED, ids=lambda value: repr(value)[:40])
def test_a_damaged_reply_is_a_clear_error(cache, value):
    cache.put("k", ChatReply("hi", "m"))
    connection = sqlite3.connect(cache.path)
    with connection:
        connection.execute("DROP TABLE replies")
        connection.execute("CREATE TABLE replies (key, reply)")  # as whoever tampers may have it
        connection.execute("INSERT INTO replies VALUES ('k', ?)", (value,))
    connection.close()
    with pytest.raises(ModelUnavailable, match="holds a damaged reply") as caught:
        cache.get("k")
    assert str(cache.path) in str(caught.value)
    assert len(str(caught.value)) < 600


def test_what_is_fine_is_read(cache):
    cache.put("k", ChatReply("hi", "m"))
    assert ReplayCache(cache.path).get("k").text == json.loads(json.dumps(FINE))["text"]


def test_a_locked_file_is_a_clear_error_and_blocks_no_reader(cache):
    cache.put("k", ChatReply("hi", "m"))
    connection = sqlite3.connect(cache.path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    assert cache.get("k").text == "hi"
    with pytest.raises(ModelUnavailable, match="locked by another process"):
        ReplayCache(cache.path, lock_timeout_s=0).put("other", ChatReply("hi", "m"))
    connection.execute("ROLLBACK")
    connection.close()
    cache.put("other", ChatReply("hi", "m"))


def test_a_path_that_cannot_be_a_file_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "cache.sqlite"):
        with pytest.raises(ModelUnavailable, match="cannot be"):
            ReplayCache(path).put("k", ChatReply("hi", "m"))


def test_a_waiting_cache_does_not_stop_the_loop(cache):
    cache.put("k", ChatReply("hi", "m"))
    connection = sqlite3.connect(cache.path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")

    async def scene():
        model = ScriptedChat(["hi"])
        asked = asyncio.create_task(Replayed(model, cache).complete(HELLO))
        while not model.requests:  # noqa: ASYNC110 - what follows is the writing of its reply
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert not asked.done()
        connection.execute("ROLLBACK")
        return await asked

    assert asyncio.run(scene()).text == "hi"
    connection.close()


def test_values_are_json_and_hold_no_request(cache):
    sync.run(Replayed(ScriptedChat(["hi"]), cache).complete([Message("user", "a secret question")]))
    connection = sqlite3.connect(cache.path)
    rows = connection.execute("SELECT * FROM replies").fetchall()
    connection.close()
    assert json.loads(rows[0][1])["text"] == "hi"
    assert b"secret question" not in cache.path.read_bytes()
