"""OpenAIChat against a real loopback server: which requests it sends again, and when."""

import asyncio
import socket
from email.utils import formatdate
from threading import Thread
from types import SimpleNamespace

import pytest

from chat_server import Say, error
from equipoise.core.errors import ModelUnavailable
from equipoise.models import failures
from equipoise.models.openai import OpenAIChat
from openai_client import ask, chat, failure_of

NOW = 1_790_000_000
"""Seconds since 1970, by a clock that stands still."""


@pytest.fixture
def waits(monkeypatch):
    """The seconds that are waited between tries, without waiting them."""
    asked, sleep = [], asyncio.sleep

    async def at_once(seconds):
        asked.append(seconds)
        await sleep(0)

    monkeypatch.setattr("equipoise.models.openai.asyncio.sleep", at_once)
    return asked


def test_retry_after_is_honoured(server, waits):
    server.says.append(Say(429, error("slow down"), {"Retry-After": "0.2"}))
    assert ask(chat(server)).text == "HELLO"
    assert waits == [0.2]
    assert len(server.received) == 2


@pytest.mark.parametrize("header", ["86400", formatdate(NOW + 86_400, usegmt=True)], ids=["seconds", "date"])
@pytest.mark.parametrize("status", [429, 503])
def test_who_asks_for_a_longer_wait_than_the_cap_is_left_alone(server, waits, monkeypatch, header, status):
    monkeypatch.setattr(failures, "time", SimpleNamespace(time=lambda: NOW))
    server.says.append(Say(status, error("slow down"), {"Retry-After": header}))
    message = str(failure_of(chat(server), ModelUnavailable))
    assert "86,400 s without a request" in message and f"{status}" in message
    assert waits == [] and len(server.received) == 1


@pytest.mark.parametrize("header", ["inf", "9" * 400])
def test_a_wait_that_nobody_means_is_the_backoff(server, waits, header):
    server.says.append(Say(429, error("slow down"), {"Retry-After": header}))
    assert ask(chat(server, max_backoff_s=0.05)).text == "HELLO"
    assert len(waits) == 1 and waits[0] <= 0.05


def test_a_connection_that_is_cut_is_not_called_one_that_cannot_be_made():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"

        def hang_up():
            for _ in range(2):
                listening.accept()[0].close()

        thread = Thread(target=hang_up)
        thread.start()
        failure = failure_of(OpenAIChat("m", base_url=url, max_retries=1, backoff_s=0.001), ModelUnavailable)
        thread.join()
    assert f"{url} broke off the connection" in str(failure) and "(2 tries)" in str(failure)


def test_retry_after_that_is_no_number_falls_back_to_the_backoff(server):
    server.says.append(Say(503, error("busy"), {"Retry-After": "soon"}))
    assert ask(chat(server)).text == "HELLO"


def test_one_500_is_forgiven(server):
    server.says.append(Say(500, error("oops")))
    assert ask(chat(server)).text == "HELLO"
    assert len(server.received) == 2


def test_a_connection_that_breaks_is_tried_again(server):
    server.says.append(Say(hang_up=True))
    assert ask(chat(server)).text == "HELLO"


@pytest.mark.parametrize("retries", [0, 2])
def test_500_for_ever_is_unavailable_after_the_configured_tries(server, retries):
    server.says.extend([Say(500, error("oops"))] * 9)
    failure = failure_of(chat(server, max_retries=retries), ModelUnavailable)
    assert len(server.received) == retries + 1
    assert f"status 500 in {retries + 1} tries" in str(failure)


def test_backoff_doubles(server, waits):
    server.says.extend([Say(500, error("oops"))] * 3)
    assert ask(chat(server, max_retries=3, backoff_s=0.1)).text == "HELLO"
    assert len(waits) == 3
    assert all(most / 2 <= wait <= most for wait, most in zip(waits, (0.1, 0.2, 0.4), strict=True))


@pytest.mark.parametrize(
    "say",
    [
        Say(429, error("no money", code="insufficient_quota")),
        Say(503, error("no"), {"x-should-retry": "false"}),
        Say(401, error("bad key")),
    ],
)
def test_what_cannot_pass_is_not_tried_again(server, say):
    server.says.append(say)
    failure_of(chat(server), ModelUnavailable)
    assert len(server.received) == 1
