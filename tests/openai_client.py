"""What the tests of OpenAIChat share: a quick client of a loopback server, requests, and how they fail."""

import asyncio

import pytest

from chat_server import KEY
from equipoise.core import sync
from equipoise.core.types import Message
from equipoise.models.openai import OpenAIChat

HELLO = (Message("system", "Be brief."), Message("user", "hello"))
SCHEMA = {
    "title": "Yes or no?",
    "type": "object",
    "properties": {"yes": {"type": "boolean"}},
    "required": ["yes"],
    "additionalProperties": False,
}


def chat(server, **settings):
    quick = {"api_key": KEY, "base_url": server.url, "backoff_s": 0.001, "max_retries": 2} | settings
    return OpenAIChat("tiny-1", **quick)


def ask(model, **how):
    return sync.run(model.complete(HELLO, **how))


def failure_of(model, kind, **how):
    with pytest.raises(kind) as caught:
        asyncio.run(model.complete(HELLO, **how))
    return caught.value
