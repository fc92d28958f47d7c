"""What the tests of OpenAIChat share: a quick client of a loopback server, and a request."""

from chat_server import KEY
from equipoise.core import sync
from equipoise.core.types import Message
from equipoise.models.openai import OpenAIChat

HELLO = (Message("system", "Be brief."), Message("user", "hello"))


def chat(server, **settings):
    quick = {"api_key": KEY, "base_url": server.url, "backoff_s": 0.001, "max_retries": 2} | settings
    return OpenAIChat("tiny-1", **quick)


def ask(model, **how):
    return sync.run(model.complete(HELLO, **how))
