"""A server that anybody may ask: neither an address nor all of them together spend more than their budget."""

import asyncio
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx2
import pytest
from visiting import ANSWER, QUESTION, asks, public, spent

from equipoise.models.scripted import ScriptedChat
from serving import WAITS_S, events_of

BUDGET = 6
STREAM = {"Accept": "text/event-stream"}


# Twelve ways to spend more than a budget


def refused(responses):
    return [one for one in responses if one.status_code == 429]


def in_parallel(url, _served):
    with ThreadPoolExecutor(20) as pool:
        return list(pool.map(lambda _: asks(httpx2.Client(base_url=url, timeout=WAITS_S)), range(20)))


def aborted(url, _served):
    """The connection is closed as soon as the question is sent, or at the first event."""
    address = urlsplit(url)
    body = json.dumps(QUESTION).encode()
    head = f"POST /v1/ask HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
    head += f"Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    for number in range(16):
        with socket.create_connection((address.hostname, address.port), timeout=WAITS_S) as client:
            client.sendall(head.encode() + body)
            if number % 2:
                client.recv(64)
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        return [asks(client) for _ in range(BUDGET + 1)]


def several_in_one(url, _served):
    many = " ".join(f"Does logging number {number} work over a network?" for number in range(4))
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        return [asks(client, {"question": many}) for _ in range(6)]


def follow_ups(url, _served):
    body = {"question": "And over a disk?", "before": [QUESTION["question"]] * 20}
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        return [asks(client, body) for _ in range(12)]


def titles(url, _served):
    """Housekeeping of a chat program is free with a key; a visitor's is a question like any other, or none."""
    task = "### Task:\nDoes logging work over a network?"
    chat = {"model": "equipoise", "messages": [{"role": "user", "content": task}]}
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        assert client.post("/v1/chat/completions", json=chat).status_code == 401
        return [asks(client, {"question": task}) for _ in range(12)]


def over_mcp(url, _served):
    pytest.importorskip("mcp")
    tool = {"name": "ask", "arguments": QUESTION}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        assert client.post("/mcp", json=call).status_code == 401
        return [asks(client) for _ in range(12)]


def in_a_batch(url, _served):
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        assert asks(client, [QUESTION] * 50).status_code == 400
        assert asks(client, QUESTION | {"questions": [QUESTION["question"]] * 50}).status_code == 400
        return [asks(client) for _ in range(12)]


def huge(url, _served):
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        assert asks(client, {"question": "logging? " * 1_000_000}).status_code in (400, 413)
        long = "Does logging work over a network, " + "really " * 500 + "?"
        return [asks(client, {"question": long, "before": [long] * 20, "others": True}) for _ in range(12)]


def slow(url, _served):
    """Bodies that come in piece by piece, all of them open at a time."""

    async def dripped():
        async def body():
            for piece in json.dumps(QUESTION):
                yield piece.encode()

        async with httpx2.AsyncClient(base_url=url, timeout=WAITS_S) as client:
            sent = [
                client.post("/v1/ask", content=body(), headers={"Content-Type": "application/json"})
                for _ in range(12)
            ]
            return await asyncio.gather(*sent)

    return asyncio.run(dripped())


def reconnecting(url, _served):
    return [
        asks(httpx2.Client(base_url=url, timeout=WAITS_S), headers={"Connection": "close"}) for _ in range(12)
    ]


def spoofed(url, _served):
    """The proxy, which is believed, appends who asked; what stands before that the visitor wrote."""
    said = []
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        for number in range(12):
            headers = {
                "X-Forwarded-For": f"192.0.2.{number}, 203.0.113.7",
                "Forwarded": f"for=192.0.2.{number}",
                "X-Real-IP": f"192.0.2.{number}",
                "True-Client-IP": f"192.0.2.{number}",
                "CF-Connecting-IP": f"192.0.2.{number}",
            }
            said.append(asks(client, headers=headers))
    return said


def neighbours(url, _served):
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        return [asks(client, headers={"X-Forwarded-For": f"2001:db8:0:1:{n:x}::{n:x}"}) for n in range(1, 13)]


WAYS = (
    in_parallel, aborted, several_in_one, follow_ups, titles, over_mcp, in_a_batch, huge, slow, reconnecting, spoofed,
    neighbours,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_an_address_alone_spends_no_more_than_its_budget(live, way):
    chat = ScriptedChat(lambda _: ANSWER)
    settings = public(questions=BUDGET, proxies=["127.0.0.1"], all_questions=0) | {
        "summarize": {"when": "always"}
    }
    url, service = live(chat=chat, settings=settings)
    responses = way(url, service)
    each, (questions, tokens) = spent(service)
    assert len(each) == 1 and list(each.values()) == [(questions, tokens)]
    assert questions <= BUDGET and len(chat.requests) <= BUDGET
    assert refused(responses) and {one.status_code for one in responses} <= {200, 429}


@pytest.mark.parametrize("way", [in_parallel, aborted, slow], ids=lambda way: way.__name__)
def test_tokens_are_put_aside_before_they_are_spent(live, way):
    """All that is asked at once would cost more than the budget before the first answer is counted."""
    chat = ScriptedChat(lambda _: ANSWER)
    context, most = 1024, 3000
    settings = public(questions=0, tokens=most, all_tokens=0) | {
        "summarize": {"when": "always"},
        "model": {"llm": "none", "context": context},
    }
    url, service = live(chat=chat, answers=8, settings=settings)
    way(url, service)
    each, (_, tokens) = spent(service)
    assert len(each) == 1 and 0 < tokens <= most


def test_all_addresses_together_have_a_budget(live):
    url, service = live(settings=public(all_questions=BUDGET, proxies=["127.0.0.1"]))
    with httpx2.Client(base_url=url, timeout=WAITS_S) as client:
        responses = [asks(client, headers={"X-Forwarded-For": f"198.51.100.{n}"}) for n in range(12)]
    each, (questions, _) = spent(service)
    assert len(each) == questions == BUDGET
    assert len(refused(responses)) == 12 - BUDGET
    assert refused(responses)[0].json()["error"]["code"] == "insufficient_quota"


def test_who_is_refused_by_the_budget_of_all_has_spent_nothing(serve):
    served = serve(keys=False, settings=public(all_questions=1))
    for status in (200, 429, 429):
        assert asks(served.client).status_code == status
    each, every = spent(served.service)
    assert list(each.values()) == [every] == [(1, 0)]


def test_an_address_has_a_rate(serve):
    served = serve(keys=False, settings=public(rate=4))
    assert [asks(served.client).status_code for _ in range(3)] == [200, 429, 429]


def test_a_greeting_costs_a_visitor_nothing_and_a_stream_is_charged(serve):
    served = serve(keys=False, settings=public(questions=1))
    for _ in range(3):
        assert asks(served.client, {"question": "Hello!"}).status_code == 200
    events = events_of(asks(served.client, headers=STREAM).text)
    assert events[-1][0] == "done"
    assert asks(served.client, headers=STREAM).status_code == 429
